"""One position of a condition, the first or the last, at a static shape."""

from __future__ import annotations

from typing import Final

from ..analysis.domain.values import Tensor, Value
from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .rewrite import Rewrite, replace
from .syntax import plain

_NOWHERE: Final = "where the condition is False everywhere, or has more than one dimension"


def one_position(location: Location, condition_value: Value | None, tf: str) -> Rewrite | None:
    """`tf.where(c)[0, 0]` as `tf.argmax` of the condition; None for other uses of the positions."""
    if isinstance(condition_value, Tensor) and condition_value.rank not in (1, None):
        return None
    match location.node, next(location.unit.around(location.node)):
        case cst.Call(args=[cst.Arg(value=condition, keyword=None)]), cst.Subscript(
            slice=[cst.SubscriptElement(cst.Index(which)), cst.SubscriptElement(cst.Index(cst.Integer("0")))]
        ) as whole:
            text = _first(plain(condition), tf) if _is(which, "0") else _last(plain(condition), tf)
            if _is(which, "0") or _is(which, "-1"):
                edits = (replace(location.at(whole), text),)
                return Rewrite("Take the index of the largest element", edits, Safety.UNSAFE, _NOWHERE)
    return None


def _first(condition: str, tf: str) -> str:
    return f"{tf}.argmax({tf}.cast({condition}, {tf}.int32))"


def _last(condition: str, tf: str) -> str:
    return f"{tf}.size({condition}, {tf}.int64) - 1 - {_first(f'{tf}.reverse({condition}, [0])', tf)}"


def element(values: str, mask: str, which: cst.BaseExpression, tf: str) -> str | None:
    """The first or the last element that a mask of one dimension selects."""
    if _is(which, "0"):
        return f"{tf}.gather({values}, {_first(mask, tf)})"
    if _is(which, "-1"):
        return f"{tf}.gather({values}, {_last(mask, tf)})"
    return None


def _is(node: cst.BaseExpression, text: str) -> bool:
    return plain(node) == text
