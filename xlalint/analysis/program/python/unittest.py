class Patched:
    def __init__(self, new):
        self.new = new

    def __enter__(self):
        return self.new

    def __exit__(self, *error):
        pass

    def start(self):
        return self.new

    def stop(self):
        pass


def mock_patch_object(target, attribute, new=None, **options):
    if new is not None:
        setattr(target, attribute, new)
    return Patched(new)


class mock_Mock:
    def __init__(self, spec=None, side_effect=None, return_value=None, wraps=None, **attributes):
        self.side_effect = side_effect
        self.return_value = return_value
        self.wraps = wraps

    def __call__(self, /, *args, **kwargs):
        if callable(self.side_effect):
            return self.side_effect(*args, **kwargs)
        if callable(self.wraps):
            return self.wraps(*args, **kwargs)
        return self.return_value


mock_MagicMock = mock_Mock
