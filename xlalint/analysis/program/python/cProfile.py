class Profile:
    def __init__(self, *arguments, **keywords):
        pass

    def runcall(self, func, /, *args, **kw):
        return func(*args, **kw)

    def enable(self, *arguments, **keywords):
        pass

    def disable(self):
        pass

    def __enter__(self):
        return self
