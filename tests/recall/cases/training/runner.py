"""A loop over steps and data that it is passed, which knows no TensorFlow."""


class Runner:
    def __init__(self, step, loaders, hooks=()):
        self.step = step
        self.loaders = loaders
        self.hooks = list(hooks)

    def epoch(self, phase):
        for batch in self.loaders[phase]:
            result = self.step(**batch)
            for hook in self.hooks:
                hook(phase, result)

    def run(self, epochs):
        for _ in range(epochs):
            for phase in self.loaders:
                self.epoch(phase)
