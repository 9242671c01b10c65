class Parallel:
    def __init__(self, *arguments, **keywords):
        pass

    def __call__(self, iterable):
        return [function(*args, **kwargs) for function, args, kwargs in iterable]

    def __enter__(self):
        return self


def delayed(function):
    def later(*args, **kwargs):
        return function, args, kwargs

    return later
