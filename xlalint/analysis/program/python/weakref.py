def ref(object, callback=None):
    return lambda: object


WeakMethod = ref


def proxy(object, callback=None):
    return object


def finalize(obj, func, /, *args, **kwargs):
    return lambda: func(*args, **kwargs)


WeakValueDictionary = WeakKeyDictionary = dict
WeakSet = set
