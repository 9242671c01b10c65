class Signature:
    def __init__(self, names):
        self.names = names
        self.parameters = dict.fromkeys(names)

    def bind(self, /, *arguments, **keywords):
        return BoundArguments(self.names, arguments, keywords)

    def bind_partial(self, /, *arguments, **keywords):
        return BoundArguments(self.names, arguments, keywords)


class BoundArguments:
    def __init__(self, names, arguments, keywords):
        self.args = arguments
        self.kwargs = keywords
        self.arguments = {**dict(zip(names, arguments)), **keywords}

    def apply_defaults(self):
        pass


def getmembers(object, predicate=None):
    found = []
    for name in dir(object):
        value = getattr(object, name)
        if predicate is None or predicate(value):
            found.append((name, value))
    return found


def getattr_static(obj, attr, *default):
    return getattr(obj, attr, *default)


def unwrap(func, *, stop=None):
    return getattr(func, "__wrapped__", func)


def isfunction(object):
    return callable(object)


ismethod = isroutine = isfunction
