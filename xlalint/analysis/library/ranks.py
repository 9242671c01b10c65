"""The ranks of results: the rules of `api_tables`' language, as functions of a call's arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..domain.kinds import options
from ..domain.values import NONE, ApiObject, Dependence, OneOf, Sequence, Static, Tensor, Value
from .result_tables import CONFIGURATION

if TYPE_CHECKING:
    from .call import Call


def chosen(rule: str, call: Call, values: list[Value]) -> tuple[str, list[Value]]:
    """A rule without the parameters that it names, and the arguments that decide."""
    if ":" not in rule:
        return rule, values  # most rules
    rule, _, parameters = rule.partition(":")
    return rule, [call.arguments.get(name, NONE) for name in parameters.split("+")]


def rank_of(value: Value | None) -> int | None:
    """The rank of a tensor made of this value."""
    match value:
        case Tensor(rank=rank):
            return rank
        case Static(list() | tuple() as constant):
            inner = rank_of(Static(constant[0])) if constant else 0
            return None if inner is None else inner + 1
        case Static(constant) if constant is not None:
            return 0
        case Sequence(_, items, element):
            inner = rank_of(items[0] if items else element) if items or element else 0
            return None if inner is None else inner + 1
        case OneOf(alternatives):
            ranks = {rank_of(option) for option in alternatives if option != NONE}
            return ranks.pop() if len(ranks) == 1 else None
        case ApiObject("tf.TensorArray", payload=payload):
            return rank_of(payload)
        case _:
            return None


def length_of(value: Value | None) -> int | None:
    """How many entries a shape or a list of axes has; 1 for a number."""
    match value:
        case Static(list() | tuple() as constant):
            return len(constant)
        case Static(int()):
            return 1
        case Sequence(_, items, _) if items is not None:
            return len(items)
        case Tensor(rank=0):
            return 1
        case _:
            return None


def _shifted(rank: int | None, by: int | None) -> int | None:
    return None if rank is None or by is None or rank + by < 0 else rank + by


_AXIS: Final = ("axis", "axes", "reduction_indices", "dim", "dimension")
_KEEPDIMS: Final = ("keepdims", "keep_dims")


def _reduced_rank(call: Call, values: list[Value], default: Value = NONE) -> int | None:
    axis, keep = call.get(*_AXIS) or default, call.get(*_KEEPDIMS) or Static(False)
    rank = rank_of(values[0] if values else None)
    match keep:
        case Static(True):
            return rank
        case Static(False | None):
            return 0 if axis == NONE else _shifted(rank, -count if (count := length_of(axis)) is not None else None)
        case _:
            return None


def drops_first_axis(call: Call, values: list[Value]) -> bool:
    """A reduction over everything, or over the first dimension, where a bounded one is."""
    match call.get(*_AXIS):
        case None | Static(None | 0):
            return True
        case Static(-1) if rank_of(values[0] if values else None) == 1:
            return True
        case Static(list() | tuple() as axes):
            return 0 in axes
        case Sequence(_, items, _):
            return Static(0) in (items or ())
        case _:
            return False


def _ranks(values: list[Value]) -> list[int | None]:
    return [rank_of(value) for value in values if value != NONE]


def _rank_all(call: Call, values: list[Value]) -> int | None:
    given = [value for name, value in call.arguments.items() if name not in CONFIGURATION]
    ranks = _ranks(given if call.owner is None else [call.owner, *given])
    return None if not ranks or None in ranks else max(rank for rank in ranks if rank is not None)


def _rank_matmul(call: Call, values: list[Value]) -> int | None:
    match _ranks(values[:2]):
        case [int(left), int(right)] if min(left, right) > 1:
            return max(left, right)
        case [int(left), int(right)] if min(left, right) == 1:
            return max(left, right) - (2 if left == right else 1)
        case _:
            return None


def _rank_gather(call: Call, values: list[Value]) -> int | None:
    indices, axis = rank_of(call.get("indices", "ids")), call.get("axis")
    if call.get("batch_dims") is not None:
        return None
    if call.name in ("keras.ops.take", "tnp.take") and axis in (None, NONE):
        return indices
    return _shifted(rank_of(values[0] if values else None), indices - 1 if indices is not None else None)


def _rank_reshape(call: Call, values: list[Value]) -> int | None:
    return length_of(call.get("shape", "dims", "newshape", "new_shape"))


def names_every_size(call: Call) -> bool:
    """Whether a new shape is made of numbers and sizes of other tensors only, without a -1 to be filled in."""
    match call.get("shape", "dims", "newshape", "new_shape"):
        case Sequence(items=tuple(items)):
            sizes = [option for item in items for option in options(item)]
            return all(
                size.dependence < Dependence.VALUE
                if isinstance(size, Tensor)
                else isinstance(size, Static) and size != Static(-1)
                for size in sizes
            )
        case Static(tuple() | list() as numbers):
            return -1 not in numbers
        case _:
            return False


def _rank_flat(call: Call, values: list[Value]) -> int | None:
    match call.get(*_AXIS):
        case None | Static(None):
            return 1
        case Static(int()) | Tensor():
            return rank_of(values[0] if values else None)
        case _:
            return None


def _rank_tile(call: Call, values: list[Value]) -> int | None:
    rank, count = rank_of(values[0] if values else None), length_of(call.get("repeats", "reps", "multiples"))
    return None if rank is None or count is None else max(rank, count)


def _rank_squeeze(call: Call, values: list[Value]) -> int | None:
    axis = length_of(call.get("axis", "squeeze_dims"))
    return _shifted(rank_of(values[0] if values else None), -axis if axis is not None else None)


def _rank_expand(call: Call, values: list[Value]) -> int | None:
    axis = call.get("axis", "dim")
    count = 1 if axis is None or isinstance(axis, Tensor) else length_of(axis)
    return _shifted(rank_of(values[0] if values else None), count)


def _rank_einsum(call: Call, values: list[Value]) -> int | None:
    match call.get("equation", "subscripts"):
        case Static(str() as equation) if "->" in equation and "..." not in equation:
            return len(equation.partition("->")[2].replace(" ", ""))
        case _:
            return None


def _rank_same(call: Call, values: list[Value]) -> int | None:
    """That of the first argument, or as many dimensions as a shape has that is given beside it: `tf.constant(0.0,
    shape=[1, 6])`."""
    shape = call.get("shape")
    return rank_of(values[0] if values else None) if shape in (None, NONE) else length_of(shape)


def _rank_mask(call: Call, values: list[Value]) -> int | None:
    mask = rank_of(call.get("mask"))
    return _shifted(rank_of(values[0] if values else None), 1 - mask if mask is not None else None)


_RANKS: Final = {
    "same": _rank_same,
    "?": lambda call, values: None,
    "all": _rank_all,
    "matmul": _rank_matmul,
    "above": lambda call, values: _shifted(_rank_all(call, values), 1),
    "reduce": _reduced_rank,
    "fold": lambda call, values: _reduced_rank(call, values, Static(-1)),
    "flat": _rank_flat,
    "tile": _rank_tile,
    "gather": _rank_gather,
    "reshape": _rank_reshape,
    "squeeze": _rank_squeeze,
    "expand": _rank_expand,
    "einsum": _rank_einsum,
    "mask": _rank_mask,
}


def result_rank(rule: str, call: Call, values: list[Value]) -> int | None:
    """The rank that a rule of the language gives, of these deciding arguments."""
    rule, values = chosen(rule, call, values)
    if rule.isdigit():
        return int(rule)
    if rule[0] in "+-":
        return _shifted(rank_of(values[0] if values else None), int(rule))
    return _RANKS[rule](call, values)
