def ChainMap(*maps):
    merged = {}
    for mapping in reversed(maps):
        merged.update(mapping)
    return merged


class UserDict:
    def __init__(self, mapping=(), /, **items):
        self.data = dict(mapping, **items)

    def __getitem__(self, key):
        return self.data[key]

    def __setitem__(self, key, value):
        self.data[key] = value

    def __contains__(self, key):
        return key in self.data

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def __or__(self, other):
        return self.data | dict(other)

    def get(self, key, default=None):
        return self.data.get(key, default)

    def pop(self, key, *default):
        return self.data.pop(key, *default)

    def setdefault(self, key, default=None):
        return self.data.setdefault(key, default)

    def update(self, mapping=(), /, **items):
        self.data.update(dict(mapping, **items))

    def items(self):
        return self.data.items()

    def values(self):
        return self.data.values()

    def keys(self):
        return self.data.keys()

    def copy(self):
        return self


class OwnDict:
    def __init__(self, mapping=(), /, **items):
        self._own_items = dict(mapping, **items)

    def __getitem__(self, key):
        if key in self._own_items or getattr(self, "__missing__", None) is None:
            return self._own_items[key]
        return self.__missing__(key)

    def __setitem__(self, key, value):
        self._own_items[key] = value

    def __contains__(self, key):
        return key in self._own_items

    def __iter__(self):
        return iter(self._own_items)

    def __len__(self):
        return len(self._own_items)

    def __or__(self, other):
        return self._own_items | dict(other)

    def get(self, key, default=None):
        return self._own_items.get(key, default)

    def pop(self, key, *default):
        return self._own_items.pop(key, *default)

    def setdefault(self, key, default=None):
        return self._own_items.setdefault(key, default)

    def update(self, mapping=(), /, **items):
        self._own_items.update(dict(mapping, **items))

    def items(self):
        return self._own_items.items()

    def values(self):
        return self._own_items.values()

    def keys(self):
        return self._own_items.keys()

    def copy(self):
        return self


class UserList:
    def __init__(self, iterable=()):
        self.data = [*iterable]

    def __getitem__(self, index):
        return self.data[index]

    def __setitem__(self, index, value):
        self.data[index] = value

    def __contains__(self, value):
        return value in self.data

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def __add__(self, other):
        return [*self.data, *other]

    def append(self, value):
        self.data.append(value)

    def extend(self, values):
        self.data.extend(values)

    def insert(self, index, value):
        self.data.insert(index, value)

    def pop(self, *index):
        return self.data.pop(*index)


class OwnList:
    def __init__(self, iterable=()):
        self._own_items = [*iterable]

    def __getitem__(self, index):
        return self._own_items[index]

    def __setitem__(self, index, value):
        self._own_items[index] = value

    def __contains__(self, value):
        return value in self._own_items

    def __iter__(self):
        return iter(self._own_items)

    def __len__(self):
        return len(self._own_items)

    def __add__(self, other):
        return [*self._own_items, *other]

    def append(self, value):
        self._own_items.append(value)

    def extend(self, values):
        self._own_items.extend(values)

    def insert(self, index, value):
        self._own_items.insert(index, value)

    def pop(self, *index):
        return self._own_items.pop(*index)


class Mapping:
    def get(self, key, default=None):
        return self[key]

    def items(self):
        return [(key, self[key]) for key in self]

    def values(self):
        return [self[key] for key in self]

    def keys(self):
        return [key for key in self]

    def pop(self, key, *default):
        return self[key]

    def update(self, mapping=(), /, **items):
        for key, value in dict(mapping, **items).items():
            self[key] = value
