class SimpleNamespace:
    def __init__(self, mapping=None, /, **attributes):
        if mapping is not None:
            for name, value in mapping.items():
                setattr(self, name, value)
        for name, value in attributes.items():
            setattr(self, name, value)


class ModuleType:
    def __init__(self, name, doc=None):
        self.__name__ = name


def MappingProxyType(mapping):
    return mapping


def new_class(name, bases=(), kwds=None, exec_body=None):
    namespace = {}
    if exec_body is not None:
        exec_body(namespace)
    return type(name, (*bases,), namespace)


DynamicClassAttribute = property


def coroutine(gen_func):
    return gen_func


class CoroutineEnd(StopIteration):
    """What leaves a coroutine that has come to its end."""

    def __init__(self, value):
        self.value = value
        raise self
