def heappush(heap, item):
    heap.append(item)


def heappop(heap):
    heap.sort()
    return heap.pop(0)


def heappushpop(heap, item):
    heap.append(item)
    return heappop(heap)


def heapreplace(heap, item):
    least = heappop(heap)
    heap.append(item)
    return least


def heapify(x):
    x.sort()


def merge(*iterables, key=None, reverse=False):
    values = ()
    for iterable in iterables:
        values = (*values, *iterable)
    return sorted(values, key=key, reverse=reverse)


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]
