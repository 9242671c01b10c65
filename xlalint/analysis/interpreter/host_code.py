"""What has nothing to do with TensorFlow: host code that need not be read to know what is compiled."""

from __future__ import annotations

from ..domain.values import (
    Api,
    ApiObject,
    Class,
    ClassValue,
    Dict,
    FunctionValue,
    Instance,
    ModuleValue,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from .frames import Arguments


def is_plain(value: FunctionValue, arguments: Arguments) -> bool:
    """Whether a call on the host stays in plain Python: a file without TensorFlow, passed plain values."""
    module = value.function.module
    if module.serves_tensorflow or module.file.may_be_fragment or arguments.rest is not None:
        return False
    if isinstance(value.bound, Instance | ClassValue) and _is_about_tensors(value.bound.cls):
        return False
    return all(map(_is_plain_value, (*arguments.positional, *arguments.keywords.values())))


def _is_plain_value(value: Value) -> bool:
    """Whether a value has nothing to do with TensorFlow."""
    match value:
        case Static() | Unknown() | Api() | ModuleValue():
            return True
        case Instance(cls, attributes):
            held = any(isinstance(item, Tensor | Structure | ApiObject) for item in attributes.values())
            return not held and not _is_about_tensors(cls)
        case ClassValue(cls):
            return not _is_about_tensors(cls)
        case Sequence(items=items, element=element):
            return all(map(_is_plain_value, (*(items or ()), *((element,) if element is not None else ()))))
        case Dict(entries, element):
            return all(map(_is_plain_value, (*entries.values(), *((element,) if element is not None else ()))))
        case OneOf(alternatives):
            return all(map(_is_plain_value, alternatives))
        case _:
            return False


def _is_about_tensors(cls: Class) -> bool:
    """Whether a class is written for TensorFlow, whatever file its bases are written in."""
    return any(not isinstance(ancestor, str) and ancestor.module.file.uses_tensorflow for ancestor in cls.mro)
