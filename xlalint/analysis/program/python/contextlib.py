class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing


class ExitStack:
    def enter_context(self, manager):
        return enter(manager)

    def push(self, exit):
        return exit

    def callback(self, function, /, *arguments, **keywords):
        function(*arguments, **keywords)
        return function

    def pop_all(self):
        return self

    def close(self):
        pass

    def __enter__(self):
        return self


def enter(manager):
    with manager as value:
        return value


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class redirect_stdout:
    def __init__(self, new_target):
        self.new_target = new_target

    def __enter__(self):
        return self.new_target


redirect_stderr = redirect_stdout
