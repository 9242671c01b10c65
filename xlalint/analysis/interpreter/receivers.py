"""Methods and fields of objects that nobody knows: what only one class of a file's, or of those it imports, has."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import Class, ClassValue, FunctionValue, Module
from .eager_steps import asks_for_graph
from .frames import Frame
from .interface import Interpreter, method_value


def compiled_method(interpreter: Interpreter, frame: Frame, called: cst.Attribute) -> FunctionValue | None:
    """The method that `agent.name(..)` runs, where the one class that has such a method has it compiled, and has all
    else that the code around asks the object for."""
    name = called.attr.value
    owners = [cls for cls in visible_classes(frame.module) if name in cls.functions]
    if len(owners) != 1 or not (method := owners[0].functions[name]).decorator_texts:
        return None
    (owner,) = owners
    made = interpreter.canonical_instance(owner)
    value = interpreter.decorated(method_value(method, made))
    if not asks_for_graph(value):
        return None
    asked = _asked_of(frame, called.value)
    return value if all(owner.find(one) is not None or one in made.attributes for one in asked) else None


def _asked_of(frame: Frame, receiver: cst.BaseExpression) -> set[str]:
    """What the function around asks of an object, by the name that it has there."""
    function = frame.function
    inside = () if function is None else cst.within(function.node)
    return {
        node.attr.value
        for node in inside
        if isinstance(node, cst.Attribute) and type(node.value) is type(receiver) and node.value.deep_equals(receiver)
    }


def is_number_field(interpreter: Interpreter, frame: Frame, name: str) -> bool:
    """Whether `name` is a Python number of the only record here that has such a field."""
    module = frame.module
    if module not in interpreter.visible_records:
        interpreter.visible_records[module] = [*filter(interpreter.is_record, visible_classes(module))]
    owners = [cls for cls in interpreter.visible_records[module] if name in interpreter.any_record(cls)]
    return len(owners) == 1 and name in interpreter.number_fields(owners[0])


def visible_classes(module: Module) -> list[Class]:
    """The classes that a file defines or imports by name."""
    found = dict.fromkeys(module.classes)
    for binding in module.file.imports:
        if binding.attribute not in (None, "*"):
            match module.imported(binding):
                case ClassValue(cls):
                    found[cls] = None
    return [*found]
