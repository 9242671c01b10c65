class Queue:
    def __init__(self, maxsize=0):
        self.items = []

    def put(self, item, block=True, timeout=None):
        self.items.append(item)

    def get(self, block=True, timeout=None):
        return self.items.pop(0)

    def put_nowait(self, item):
        self.items.append(item)

    def get_nowait(self):
        return self.items.pop(0)


class PriorityQueue(Queue):
    def get(self, block=True, timeout=None):
        self.items = sorted(self.items)
        return self.items.pop(0)

    def get_nowait(self):
        return self.get()


class LifoQueue(Queue):
    def get(self, block=True, timeout=None):
        return self.items.pop()

    def get_nowait(self):
        return self.items.pop()


SimpleQueue = Queue
