"""What the rules about sizes and positions share: which part of an argument is data, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor, options
from xlalint.analysis.domain.values import NONE, Dependence, Origin, Sequence, Slice, Static, Tensor, Value
from xlalint.analysis.interpreter.events import Consume
from xlalint.linter.rule import Effect
from xlalint.syntax import nodes as cst

# Why a size or position is no constant to the compiler, and is not told from the arguments either.
NOT_FOLDED: Final = "XLA does not fold what computes it (a loop, a random number, a matrix product)"


def data_in(
    value: Value, node: cst.BaseExpression, at_least: Dependence = Dependence.VALUE
) -> Iterator[tuple[Tensor, cst.BaseExpression]]:
    """The tensors in an argument that depend on data, each with its expression: `n` in `[n, 4]`."""
    match value, node:
        case Sequence(items=(_, *_) as items), cst.List(elements=elements) | cst.Tuple(elements=elements) if len(
            items
        ) == len(elements):
            for item, element in zip(items, elements, strict=True):
                yield from data_in(item, element.value, at_least)
        case Sequence(items=items, element=element), _:
            for item in (*(items or ()), *((element,) if element is not None else ())):
                yield from data_in(item, node, at_least)
        case _ if (tensor := as_tensor(value, at_least)) is not None and not _counts_by_python(value):
            yield tensor, node


def _counts_by_python(value: Value) -> bool:
    """Whether a size is an item of a list that holds floats as well, of which no size is one: so it is the number."""
    tensors = [option for option in options(value) if isinstance(option, Tensor)]
    numbers = any(isinstance(option, Static) and option != NONE for option in options(value))
    return numbers and all(tensor.dtype == "float" for tensor in tensors)


def arguments_from_data(
    parameters: str, values: Mapping[str, Value], nodes: Mapping[str, cst.BaseExpression]
) -> list[tuple[Tensor, cst.BaseExpression]]:
    """The data in the arguments of these parameters."""
    return [found for name in parameters.split() if name in values for found in data_in(values[name], nodes[name])]


def outcome(tensor: Tensor, carried: Effect | None) -> Effect | None:
    """What comes of a size or position from data: `carried` where a loop makes it, else a compilation per value, as
    also where a loop makes it of data from outside and nothing worse happens (measured)."""
    if not tensor.carried or (tensor.mixed and carried is not Effect.FAILS):
        return Effect.RECOMPILES
    return carried


def length_from(cut: Slice, syntax: cst.Slice) -> Tensor | None:
    """The tensor that decides how long a slice is: one of its bounds, its stride, or the length of a window that moves,
    of which the bounds say nothing."""
    start, stop, step = (as_tensor(value) if value is not None else None for value in (cut.start, cut.stop, cut.step))
    if step is not None:
        return step
    if _moves(syntax):
        return as_tensor(cut.length) if cut.length is not None else None
    if start is not None and stop is not None:
        return max((stop, start), key=lambda tensor: tensor.carried)
    return stop or start


def _moves(syntax: cst.Slice) -> bool:
    """Both bounds are one expression, apart from what is added: `x[i:i + 2]`."""
    lower, upper = syntax.lower, syntax.upper
    return lower is not None and upper is not None and _base(lower).deep_equals(_base(upper))


def _base(node: cst.BaseExpression) -> cst.BaseExpression:
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract()):
            return left
        case _:
            return node


class BoundedSizes:
    """Sizes of bounded dynamic shapes (`tf.size(x[mask])`): XLA has them as numbers, and does not compile per value."""

    def __init__(self) -> None:
        self._origins: set[Origin] = set()

    def remember(self, event: Consume) -> None:
        """A bounded tensor is consumed, perhaps by `tf.shape`."""
        if event.tensor.bounded is not None:
            self._origins.add(event.tensor.bounded)

    def __contains__(self, tensor: Tensor) -> bool:
        return tensor.origin in self._origins
