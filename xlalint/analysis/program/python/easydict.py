class _Innermost:
    def __init__(self, d=None, /, **kwargs):
        self.update(d, **kwargs)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def __contains__(self, name):
        return hasattr(self, name)

    def __iter__(self):
        return iter(vars(self))

    def _nested(self, value):
        return value

    def update(self, d=None, /, **kwargs):
        if d is not None:
            for name, value in d.items():
                setattr(self, name, self._nested(value))
        for name, value in kwargs.items():
            setattr(self, name, self._nested(value))

    def get(self, name, default=None):
        return getattr(self, name, default)

    def keys(self):
        return vars(self).keys()

    def values(self):
        return vars(self).values()

    def items(self):
        return vars(self).items()

    def copy(self):
        return self

    def clone(self):
        return self

    def copy_and_resolve_references(self):
        return self

    def to_dict(self):
        return vars(self)

    # What a file or the command line says instead is not known: these are the defaults.
    def merge_from_file(self, cfg_filename):
        pass

    def merge_from_list(self, cfg_list):
        pass

    def merge_from_other_cfg(self, cfg_other):
        pass

    def freeze(self):
        pass

    def defrost(self):
        pass

    def lock(self):
        return self

    def unlock(self):
        return self

    def set_new_allowed(self, is_new_allowed):
        pass


# Settings in settings, three deep: what holds itself would have no end.
class _Inner(_Innermost):
    def _nested(self, value):
        return _Innermost(value) if isinstance(value, dict) else value


class EasyDict(_Inner):
    def _nested(self, value):
        return _Inner(value) if isinstance(value, dict) else value


def create(**kwargs):
    return EasyDict(kwargs)
