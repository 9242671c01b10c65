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
