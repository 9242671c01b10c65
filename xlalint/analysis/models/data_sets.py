"""Whether what a model is asked about is a whole set of examples, of which nobody knows how many, or a single one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.counts import Count
from ..domain.kinds import options
from ..domain.values import NONE, Array, Dict, Sequence, Static, Value
from ..domain.varying_shapes import WINDOW, of_sizes, variations_of
from ..files.unit import Unit

# What is asked for all results: of a single example, too.
_ASKED: Final = frozenset(("evaluate", "predict"))
_TRAINS: Final = frozenset(("evaluate", "fit"))


def is_data_set(
    value: Value | None, targets: Value | None, size: Value | None, method: str, *, elsewhere: bool
) -> bool:
    """Whether so many examples are passed that Keras cuts them, and no other number of them each time: somebody says
    how to cut them, they have targets, here or `elsewhere`, or they are as many as something that is counted."""
    if method not in _ASKED or size == Static(1) or _is_of_own_size(value):
        return False
    told = size not in (None, NONE) or targets not in (None, NONE)
    return told or elsewhere or any(map(_has_many, options(value or NONE)))


def is_data_set_elsewhere(unit: Unit, node: cst.Call, passed: cst.CSTNode) -> bool:
    """Whether the code around trains with what is passed, or measures by it: a name of many examples."""
    if not isinstance(passed, cst.Name | cst.Attribute):
        return False
    around = unit.function_around(node)
    text = unit.code(passed)
    parts = cst.within(unit.tree if around is None else around.body)
    return any(
        unit.code(given) == text for call in parts if isinstance(call, cst.Call) for given in _examples_passed(call)
    )


def _examples_passed(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The inputs that a call of `fit` or `evaluate` is passed beside their targets."""
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)), args=[first, *others]) if method in _TRAINS:
            if first.keyword is None and any(one.keyword is None or one.keyword.value == "y" for one in others):
                yield first.value
            for one in call.args:
                match one:
                    case cst.Arg(keyword=cst.Name("x"), value=inputs):
                        yield inputs
                    case cst.Arg(
                        keyword=cst.Name("validation_data"),
                        value=cst.Tuple(elements=[held, *_]) | cst.List(elements=[held, *_]),
                    ):
                        yield held.value


def _is_of_own_size(value: Value | None) -> bool:
    """Whether another number of rows is passed each time, or another piece of the same size."""
    varies = variations_of(value)
    return any(each.kind == WINDOW for each in varies) or bool(of_sizes(varies))


def _has_many(value: Value) -> bool:
    """Whether an array has as many rows as somebody counts of something else: `np.zeros((len(files), 4))`."""
    match value:
        case Array(length=length):
            return isinstance(length, Count)
        case Sequence(items=(first, *_)):
            return _has_many(first)
        case Dict(entries, element):
            return any(map(_has_many, (*entries.values(), *([] if element is None else [element]))))
        case _:
            return False
