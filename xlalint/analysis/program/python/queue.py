class Queue:
    def __init__(self, maxsize=0):
        self.items = []

    def put(self, item, block=True, timeout=None):
        self.items.append(item)

    def get(self, block=True, timeout=None):
        return self.items.pop(0)

    def put_nowait(self, item):
        self.put(item)

    def get_nowait(self):
        return self.get()

    def qsize(self):
        return len(self.items)

    def empty(self):
        return not self.items

    def full(self):
        return False

    def task_done(self):
        pass

    def join(self):
        pass


class PriorityQueue(Queue):
    def get(self, block=True, timeout=None):
        self.items.sort()
        return self.items.pop(0)


class LifoQueue(Queue):
    def get(self, block=True, timeout=None):
        return self.items.pop()


SimpleQueue = Queue
