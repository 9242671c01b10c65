"""What XLA205 says of a size that comes from data, and what to write instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from xlalint.analysis.domain.values import Tensor
from xlalint.analysis.interpreter.events import ApiCall, IndexWith
from xlalint.fixes.quoted import one_line, replaced
from xlalint.linter.rule import Draft, Effect, origin_note
from xlalint.syntax import nodes as cst

from ._shapes import NOT_FOLDED

_REASONS: Final[Mapping[Effect, str]] = {
    Effect.RECOMPILES: "XLA recompiles for every new value",
    Effect.FAILS: f"{NOT_FOLDED}, and it must be a compile-time constant",
    Effect.NAMED: f"{NOT_FOLDED}, so the shape is bounded and dynamic",
}
# Calls that have a form of their own at a static size.
_REWRITES: Final[Mapping[str, str]] = {
    "keras.ops.bincount": "tf.reduce_sum(tf.one_hot({x}, NUMBER_OF_VALUES), axis=0)",
    "tf.math.bincount": "tf.math.unsorted_segment_sum(tf.ones_like({arr}), {arr}, NUMBER_OF_VALUES)",
    "tf.math.confusion_matrix": "tf.math.confusion_matrix({labels}, {predictions}, num_classes=NUMBER_OF_CLASSES)",
    "tf.sequence_mask": "tf.sequence_mask({lengths}, maxlen=MAXIMUM)",
}


def sized_draft(event: ApiCall | IndexWith, tensor: Tensor, effect: Effect, what: str, help: str | None) -> Draft:
    """What is said of a size that comes from data."""
    if tensor.bounded is not None:
        reason = "a bounded dynamic shape is not a compile-time constant"
    else:
        reason = _REASONS[effect]
    return Draft(
        f"{what} depends on data and decides a shape: {reason}", effect, help, notes=origin_note(tensor.origin, event)
    )


def as_mask(node: cst.Subscript, syntax: cst.Slice, axis: int) -> str | None:
    """A slice from the beginning or to the end of the first axis, as a mask."""
    match syntax:
        case cst.Slice(lower=None, upper=cst.BaseExpression() as bound) if axis == 0:
            sign = "<"
        case cst.Slice(lower=cst.BaseExpression() as bound, upper=None) if axis == 0:
            sign = ">="
        case _:
            return None
    x = one_line(node.value)
    selected = f"tf.range({x}.shape[0]) {sign} {one_line(bound)}"
    return f"tf.where({selected}, {x}, tf.zeros_like({x}))  # for one dimension"


def at_the_largest(event: ApiCall, size: cst.BaseExpression) -> str:
    """The call at the largest size that occurs, and the mask of what is valid."""
    nodes = {name: one_line(node) for name, node in event.argument_nodes.items()}
    if event.api in _REWRITES and "maxlen" not in nodes:
        return _REWRITES[event.api].format_map(defaultdict(lambda: "..", nodes))
    return (
        f"{replaced(event.node, {size: 'MAXIMUM'})}  # a Python int, the largest that occurs\n"
        f"valid = tf.range(MAXIMUM) < {one_line(size)}"
    )
