from queue import Queue


class pool_AsyncResult:
    def __init__(self, value):
        self.value = value

    def get(self, timeout=None):
        return self.value

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return True


class pool_Pool:
    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        if initializer is not None:
            initializer(*initargs)

    def apply(self, func, args=(), kwds={}):
        return func(*args, **kwds)

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
        value = func(*args, **kwds)
        if callback is not None:
            callback(value)
        return pool_AsyncResult(value)

    def map(self, func, iterable, chunksize=None):
        return [func(one) for one in iterable]

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        value = [func(one) for one in iterable]
        if callback is not None:
            callback(value)
        return pool_AsyncResult(value)

    def imap(self, func, iterable, chunksize=1):
        return [func(one) for one in iterable]

    def imap_unordered(self, func, iterable, chunksize=1):
        return [func(one) for one in iterable]

    def starmap(self, func, iterable, chunksize=None):
        return [func(*row) for row in iterable]

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        value = [func(*row) for row in iterable]
        if callback is not None:
            callback(value)
        return pool_AsyncResult(value)

    def close(self):
        pass

    def terminate(self):
        pass

    def join(self):
        pass

    def __enter__(self):
        return self


Pool = pool_ThreadPool = dummy_Pool = pool_Pool


class Process:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs={}, *, daemon=None):
        self.target = target
        self.arguments = args
        self.keywords = kwargs

    def start(self):
        self.run()

    def run(self):
        if self.target is not None:
            self.target(*self.arguments, **self.keywords)

    def join(self, timeout=None):
        pass

    def is_alive(self):
        return False

    def terminate(self):
        pass

    def kill(self):
        pass

    def close(self):
        pass


dummy_Process = Process
JoinableQueue = SimpleQueue = Queue


class context_BaseContext:
    Process = Process
    Pool = pool_Pool
    Queue = JoinableQueue = SimpleQueue = Queue


def get_context(method=None):
    return context_BaseContext()
