def bisect_left(a, x, lo=0, hi=None, *, key=None):
    for index in range(len(a)):
        if not (a[index] if key is None else key(a[index])) < x:
            return index
    return len(a)


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    for index in range(len(a)):
        if x < (a[index] if key is None else key(a[index])):
            return index
    return len(a)


bisect = bisect_right


def insort_right(a, x, lo=0, hi=None, *, key=None):
    a.append(x)
    a.sort(key=key)


insort = insort_left = insort_right
