"""Records: named tuples and dataclasses, and the functions and methods that make others of them."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import UNKNOWN, Api, ApiObject, ClassValue, Dict, Instance, Sequence, Static, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..program.definitions import DefinedClass


def _namedtuple(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.get(0, "typename"), arguments.get(1, "field_names"):
        case Static(str(name)), Static(str(text)):
            names = text.replace(",", " ").split()
        case Static(str(name)), Sequence(items=tuple(items)):
            names = [item.constant for item in items if isinstance(item, Static) and isinstance(item.constant, str)]
        case _:
            return UNKNOWN
    made = DefinedClass(frame.module, name, name, attributes=dict.fromkeys(names, UNKNOWN))
    made.base_values = (Api("collections.namedtuple"),)
    return ClassValue(made)


def _made(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`dataclasses.make_dataclass("Name", ["field", ("other", int)])`."""
    match arguments.get(0, "cls_name"), arguments.get(1, "fields"):
        case Static(str(name)), Sequence(items=tuple(items)):
            fields = (item.items[0] if isinstance(item, Sequence) and item.items else item for item in items)
            names = [field.constant for field in fields if isinstance(field, Static)]
            attributes: dict[str, Value] = {field: UNKNOWN for field in names if isinstance(field, str)}
            texts = ("dataclasses.dataclass",)
            return ClassValue(DefinedClass(frame.module, name, name, attributes=attributes, decorator_texts=texts))
        case _:
            return UNKNOWN


def _replaced(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`dataclasses.replace(record, field=..)`."""
    match arguments.positional:
        case [Instance(cls, attributes)]:
            return Instance(cls, {**attributes, **arguments.keywords}, traced=frame.context.becomes_graph)
        case _:
            return UNKNOWN


def _made_of(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`Record._make(values)`."""
    match owner, arguments.positional:
        case ClassValue(), [Sequence(items=tuple(items))]:
            return interpreter.call(frame, owner, Arguments(list(items)), node)
        case ClassValue(), [values]:
            item = interpreter.element(frame, interpreter.iterate(frame, values, node, "list"), node)
            return interpreter.call(frame, owner, Arguments(rest=item), node)
        case _:
            return None


def _as_dict(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [Instance(attributes=attributes)]:
            return Dict(dict(attributes))
        case _:
            return UNKNOWN


def _as_tuple(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    match arguments.positional:
        case [Instance(attributes=attributes)]:
            return Sequence("tuple", tuple(attributes.values()))
        case _:
            return UNKNOWN


def _method(function: FunctionModel) -> MethodModel:
    """The method of a record that does what a function does."""

    def handle(
        interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
    ) -> Value | None:
        if not isinstance(owner, Instance):
            return None
        return function(interpreter, frame, Arguments([owner], arguments.keywords), node)

    return handle


def _checkpoint(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`tf.train.Checkpoint(step=variable)`, which has what it saves as attributes."""
    return ApiObject("tf.train.Checkpoint", payload=Dict(dict(arguments.keywords)))


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "tf.train.Checkpoint": _checkpoint,
    "collections.namedtuple": _namedtuple,
    "dataclasses.make_dataclass": _made,
    "dataclasses.replace": _replaced,
    "copy.replace": _replaced,
    "dataclasses.asdict": _as_dict,
    "dataclasses.astuple": _as_tuple,
}
METHODS: Final[dict[str, MethodModel]] = {
    "._replace": _method(_replaced),
    "._asdict": _method(_as_dict),
    "._make": _made_of,
}
