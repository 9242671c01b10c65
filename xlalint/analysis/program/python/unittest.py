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
