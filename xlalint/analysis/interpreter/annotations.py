"""What a type annotation says of a value."""

from __future__ import annotations

import ast
from typing import Final

from ...sources.outline import OutlineError, parsed
from ...syntax import nodes as cst
from ...syntax.build import parse_expression
from ...syntax.expression_builder import NestedTooDeepError
from ..domain.joins import join_all
from ..domain.values import (
    NONE,
    STATIC,
    Api,
    ApiObject,
    Array,
    Class,
    ClassValue,
    Dependence,
    Dict,
    Instance,
    Sequence,
    Static,
    Structure,
    Tensor,
    Value,
)
from ..library.datasets import DATASET
from .frames import Frame
from .interface import Interpreter

PROMISED: Final = Tensor(Dependence.VALUE)  # by an annotation, and nothing else
_NAMED: Final[dict[str, Value]] = {
    "tf.Tensor": PROMISED,
    "tf.Variable": Tensor(Dependence.VALUE, variable=True),
    "keras.KerasTensor": PROMISED,
    "np.ndarray": Array(),
    "tf.data.Dataset": ApiObject(DATASET, payload=Structure()),
    **{f"builtins.{name}": STATIC for name in ("int", "float", "bool", "str", "bytes", "complex")},
    "tf.DType": STATIC,
    "tf.TensorShape": STATIC,
}
_SEQUENCES: Final = {
    "typing.List": "list",
    "typing.Tuple": "tuple",
    "typing.Sequence": "list",
    "typing.Iterable": "list",
    "builtins.list": "list",
    "builtins.tuple": "tuple",
    "collections.abc.Sequence": "list",
    "collections.abc.Iterable": "list",
}
_DICTS: Final = frozenset(("typing.Dict", "typing.Mapping", "builtins.dict", "collections.abc.Mapping"))
_UNIONS: Final = frozenset(("typing.Optional", "typing.Union"))
# Subscripts name dtype and dimensions: `Float[tf.Tensor, "b t"]`.
_JAXTYPING: Final = {
    "Float": "float",
    "Int": "int",
    "Integer": "int",
    "Bool": "bool",
    "UInt": "int",
    "Complex": "complex",
}


def value_of_annotation(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> Value | None:
    """The value that an annotation promises; None when it says nothing that matters here."""
    match node:
        case cst.Name(value="None"):
            return NONE
        case cst.SimpleString(value=text):
            try:
                written = ast.literal_eval(text)
                if not isinstance(written, str):
                    return None  # bytes are no annotation
                parsed(written)
                return value_of_annotation(interpreter, frame, parse_expression(written))
            except (SyntaxError, OutlineError, NestedTooDeepError, ValueError):
                return None
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return _union(interpreter, frame, [left, right])
        case cst.Subscript(value=head, slice=elements):
            parts = [element.slice.value for element in elements if isinstance(element.slice, cst.Index)]
            return _generic(interpreter, frame, head, parts)
        case cst.Name() | cst.Attribute():
            return _plain(interpreter, frame, node)
        case _:
            return None


def _plain(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> Value | None:
    match interpreter.evaluate(frame, node):
        case Api(name):
            if name in _NAMED:
                return _NAMED[name]
            return Sequence(_SEQUENCES[name], None) if name in _SEQUENCES else Dict({}) if name in _DICTS else None
        case ClassValue(cls) if interpreter.is_record(cls):
            return Instance(cls, interpreter.any_record(cls))
        case ClassValue(cls) if _holds_tensors(cls):
            return interpreter.canonical_instance(cls)
        case _:
            return None


def _holds_tensors(cls: Class) -> bool:
    """Whether an object of a class of the project's own, of which none derives, is set up with TensorFlow: models,
    variables. What Keras knows it tells by itself."""
    made = cls.find("__init__")
    own = not cls.derived and not any(True for _ in cls.external_bases)
    return own and made is not None and made.uses_tensorflow


def _generic(
    interpreter: Interpreter, frame: Frame, head: cst.BaseExpression, parts: list[cst.BaseExpression]
) -> Value | None:
    value = interpreter.evaluate(frame, head)
    if not isinstance(value, Api):
        return None
    name = value.name
    if name in _UNIONS:
        extra: list[cst.BaseExpression] = [cst.Name("None")] if name == "typing.Optional" else []
        return _union(interpreter, frame, [*parts, *extra])
    if name in _SEQUENCES:
        ends = bool(parts) and isinstance(parts[-1], cst.Ellipsis)
        inner = [value_of_annotation(interpreter, frame, part) for part in parts if not isinstance(part, cst.Ellipsis)]
        if _SEQUENCES[name] == "tuple" and not ends and all(item is not None for item in inner):
            return Sequence("tuple", tuple(item for item in inner if item is not None))
        return Sequence(_SEQUENCES[name], None, inner[0] if inner else None)
    if name in _DICTS:
        said = value_of_annotation(interpreter, frame, parts[-1]) if parts else None
        # Who writes `Dict[str, tf.Tensor]` may keep lists of tensors in it as well.
        return Dict({}, Structure() if said == PROMISED else said)
    last = name.rpartition(".")[2]
    if name.startswith("jaxtyping.") and last in _JAXTYPING and parts:
        inner_value = value_of_annotation(interpreter, frame, parts[0])
        return Tensor(Dependence.VALUE, _JAXTYPING[last]) if isinstance(inner_value, Tensor) else None
    return None


def _union(interpreter: Interpreter, frame: Frame, parts: list[cst.BaseExpression]) -> Value | None:
    """Arrays beside tensors are turned into tensors by whoever compiles."""
    found = [value_of_annotation(interpreter, frame, part) for part in parts]
    known = [value for value in found if value is not None]
    if len(known) < len(found) or not known:
        return None
    if any(isinstance(value, ApiObject) for value in known) and set(map(type, known)) - {ApiObject, Static}:
        return None  # a dataset or what one is made of: the code asks which
    if any(isinstance(value, Tensor) for value in known):
        if STATIC in known:
            return None  # a tensor or a number: only the caller knows
        known = [value for value in known if not isinstance(value, Array)]
    return join_all(*known)
