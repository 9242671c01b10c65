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

    def get_field(self, field_name, args, kwargs):
        first, *keys = field_name.replace("]", "").split("[")
        first, *names = first.split(".")
        found = args[int(first)] if first.isdigit() else kwargs[first]
        for name in names:
            found = getattr(found, name)
        for key in keys:
            found = found[int(key)] if key.isdigit() else found[key]
        return found, first
