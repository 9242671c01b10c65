"""Methods and fields of objects that nobody knows: what only one class of a file's, or of those it imports, has."""

from __future__ import annotations

from ...sources.outline import ImportOutline
from ..domain.values import Class, ClassValue, FunctionValue, Module
from .frames import Compilation, Frame
from .interface import Interpreter, method_value


def compiled_method(interpreter: Interpreter, frame: Frame, name: str) -> tuple[FunctionValue, Compilation] | None:
    """The method that `agent.name(..)` runs, where the one class that has such a method has XLA compile it."""
    methods = [cls.functions[name] for cls in _visible_classes(frame.module) if name in cls.functions]
    if len(methods) != 1 or not methods[0].decorator_texts:
        return None
    value = interpreter.decorated(method_value(methods[0], None))
    compiled = value.compiled
    return (value, compiled) if isinstance(compiled, Compilation) and compiled.jit else None


def is_number_field(interpreter: Interpreter, frame: Frame, name: str) -> bool:
    """Whether `name` is a Python number of the only record here that has such a field."""
    module = frame.module
    if module not in interpreter.visible_records:
        interpreter.visible_records[module] = [*filter(interpreter.is_record, _visible_classes(module))]
    owners = [cls for cls in interpreter.visible_records[module] if name in interpreter.any_record(cls)]
    return len(owners) == 1 and name in interpreter.number_fields(owners[0])


def _visible_classes(module: Module) -> list[Class]:
    """The classes that a file defines or imports by name."""
    found = dict.fromkeys(module.classes)
    for bindings in module.outline.bindings.values():
        for binding in bindings:
            if isinstance(binding, ImportOutline) and binding.attribute is not None:
                match module.imported(binding):
                    case ClassValue(cls):
                        found[cls] = None
    return [*found]
