class Template:
    def __init__(self, template):
        self.template = template

    def substitute(self, mapping=(), /, **kws):
        text = self.template
        for name, value in dict(mapping, **kws).items():
            text = text.replace("${" + name + "}", str(value)).replace("$" + name, str(value))
        return text

    def safe_substitute(self, mapping=(), /, **kws):
        return self.substitute(mapping, **kws)


class Formatter:
    def format(self, format_string, /, *args, **kwargs):
        return format_string.format(*args, **kwargs)

    def vformat(self, format_string, args, kwargs):
        return format_string.format(*args, **kwargs)
