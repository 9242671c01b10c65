class futures_Future:
    def __init__(self, value=None):
        self.value = value

    def set_result(self, result):
        self.value = result

    def result(self, timeout=None):
        return self.value

    def done(self):
        return True

    def add_done_callback(self, fn):
        fn(self)


class futures_Executor:
    def __init__(self, *arguments, **keywords):
        pass

    def submit(self, fn, /, *args, **kwargs):
        return futures_Future(fn(*args, **kwargs))

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        return [fn(*row) for row in zip(*iterables)]

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass

    def __enter__(self):
        return self


futures_ThreadPoolExecutor = futures_ProcessPoolExecutor = futures_Executor


def futures_as_completed(fs, timeout=None):
    return fs
