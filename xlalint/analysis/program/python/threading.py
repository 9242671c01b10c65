class local:
    pass


class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self.target = target
        self.arguments = args
        self.keywords = {} if kwargs is None else kwargs

    def start(self):
        self.run()

    def run(self):
        if self.target is not None:
            self.target(*self.arguments, **self.keywords)

    def join(self, timeout=None):
        pass

    def is_alive(self):
        return False


class Timer(Thread):
    def __init__(self, interval, function, args=(), kwargs=None):
        self.target = function
        self.arguments = args
        self.keywords = {} if kwargs is None else kwargs

    def cancel(self):
        pass
