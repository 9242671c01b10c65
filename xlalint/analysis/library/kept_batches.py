"""Elements that a filter keeps by their size: of batches, `batches.filter(lambda x: tf.shape(x)[0] == size)`."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import FunctionValue, Value

_EQUAL: Final = "equal"  # `tf.equal`, `tf.math.equal`, `keras.ops.equal`
_CASTS: Final = ("cast", "int", "to_int64")


def axis_of_one_size(predicate: Value | None) -> int | None:
    """The axis of which a function lets one size pass alone; None: it lets others pass, or nobody knows."""
    if not isinstance(predicate, FunctionValue):
        return None
    match predicate.function.node:
        case cst.Lambda(body=kept):
            return _axis_asked(kept)
        case cst.FunctionDef(body=cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[cst.Return(value=kept)])])):
            return None if kept is None else _axis_asked(kept)
        case _:
            return None


def _axis_asked(kept: cst.BaseExpression) -> int | None:
    """The axis whose size is compared with a number."""
    match kept:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=right)]):
            sides = (left, right)
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value=name)), args=[cst.Arg(value=left), cst.Arg(value=right), *_]
        ) if name == _EQUAL:
            sides = (left, right)
        case _:
            return None
    match [axis for axis in map(_axis_of_size, sides) if axis is not None]:
        case [axis]:
            return axis
        case _:
            return None


def _axis_of_size(side: cst.BaseExpression) -> int | None:
    """0 of `tf.shape(x)[0]`, `x.shape[0]`, `tf.shape(x, out_type=tf.int64)[0]`, also if it is cast."""
    match side:
        case cst.Subscript(
            value=cst.Call(func=cst.Attribute(attr=cst.Name(value="shape"))) | cst.Attribute(attr=cst.Name("shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer() as axis))],
        ):
            return axis.evaluated_value
        case cst.Call(
            func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)), args=[cst.Arg(value=inner), *_]
        ) if name in _CASTS:
            return _axis_of_size(inner)
        case _:
            return None
