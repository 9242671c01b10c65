@dataclass
class Field:
    name: str


def fields(class_or_instance):
    return (*(Field(name) for name in vars(class_or_instance).keys()),)
