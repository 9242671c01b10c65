"""Along which axes the result of a call has a bounded dynamic shape: by its name, or by the rule of its rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from ..domain.bounds import FIRST, Axes, counted, multiplied, numbers_of, of_all
from ..domain.joins import as_list
from ..domain.values import NONE, Sequence, Static, Value
from .ranks import rank_of
from .result_tables import words

if TYPE_CHECKING:
    from .call import Call

_Follow: TypeAlias = Callable[["Call", Axes], Axes | None]
_AXIS: Final = ("axis", "axes", "reduction_indices", "dim", "dimension")


def result_axes(rule: str, call: Call, rank: int | None) -> Axes | None:
    """The axes of a result of this rank; `domain.bounds` says how they are counted."""
    follow = _BY_NAME.get(call.name.rpartition(".")[2]) or _BY_RULE.get(rule.partition(":")[0], _unknown)
    axes = of_all(call.arguments.values() if call.owner is None else (call.owner, *call.arguments.values()))
    if axes and rank == 1 and rule.partition(":")[0] in ("flat", "reshape"):
        return FIRST  # `tf.reshape(x, [-1])`: there is no other
    found = None if axes is None else follow(call, axes)
    return found if found is None else counted(found, rank)


def masked_axes(call: Call, rank: int | None) -> Axes | None:
    """Of what a mask selects: where it is laid."""
    axis = call.get("axis")
    if axis is None or axis == NONE:
        return FIRST
    named = numbers_of(axis)
    return counted(named, rank) if named and len(named) == 1 else None


def gathered_axes(call: Call) -> Axes | None:
    """Of what is gathered along the first axis: the indices' own."""
    first = call.get("axis") in (None, NONE, Static(0))
    return of_all([call.get("indices", "ids")]) if first else None


def is_laid_behind(call: Call, axes: Axes | None) -> bool:
    """Whether tensors are put together along a bounded axis, or multiplied: the others do not decide its size."""
    word = call.name.rpartition(".")[2]
    if word == "matmul":
        return True
    if word not in ("concat", "concatenate") or axes is None:
        return False
    named = numbers_of(call.get("axis") or Static(0))
    return named is not None and axes <= {*named}


def extended(call: Call, axes: Axes) -> int:
    """Whether a call makes one of these axes of its argument longer: 1, else 0."""
    along = _EXTENDING.get(call.name.rpartition(".")[2])
    return int(along is not None and along(call, counted(axes, rank_of(_subject(call)))))


def _of_several(call: Call, axes: Axes) -> bool:
    parts = call.get("values", "arrays", "xs", "*0")
    several = not (isinstance(parts, Sequence) and parts.items is not None and len(parts.items) == 1)
    return several and _names_one(call.get("axis", "*1"), axes)


def _repeats_one(call: Call, axes: Axes) -> bool:
    return call.get("repeats") != Static(1) and _names_one(call.get("axis", "*2"), axes)


def _names_one(axis: Value | None, axes: Axes) -> bool:
    named = (0,) if axis in (None, NONE) else numbers_of(axis)
    return named is not None and not axes.isdisjoint(named)


def _by_entries(parameters: tuple[str, ...], unchanged: tuple[Value, ...], call: Call, axes: Axes) -> bool:
    """Of what has an entry for each axis; `unchanged`: those that leave an axis as long as it is."""
    entries = as_list(call.get(*parameters) or NONE)
    if not isinstance(entries, Sequence) or entries.items is None:
        return False
    return any(axis < len(entries.items) and entries.items[axis] not in unchanged for axis in axes if axis >= 0)


def _unknown(call: Call, axes: Axes) -> Axes | None:
    return None


def _kept(call: Call, axes: Axes) -> Axes | None:
    return axes


def _transposed(call: Call, axes: Axes) -> Axes | None:
    order = call.get("perm", "axes", "pattern")
    if order is None or order == NONE:
        return frozenset(-1 - axis for axis in axes)
    named = numbers_of(order)
    return None if named is None or not axes <= {*named} else frozenset(map(named.index, axes))


def _matrix_transposed(call: Call, axes: Axes) -> Axes | None:
    rank = rank_of(_subject(call)) or 2
    swapped = {rank - 1: rank - 2, rank - 2: rank - 1}
    return frozenset(swapped.get(axis, axis) for axis in counted(axes, rank))


def _multiplied(call: Call, axes: Axes) -> Axes | None:
    turned = [call.get(flag) or Static(False) for flag in ("transpose_a", "transpose_b")]
    if not all(isinstance(flag, Static) and isinstance(flag.constant, bool) for flag in turned):
        return None
    left, right = call.get("a", "x1", "x"), call.get("b", "x2", "y")
    return multiplied(left, right, (turned[0] == Static(True), turned[1] == Static(True)))


def _expanded(call: Call, axes: Axes) -> Axes | None:
    match numbers_of(call.get("axis", "dim")):
        case [new] if new >= 0:
            return frozenset(axis + (axis >= new) for axis in axes if axis >= 0)
        case [new]:
            return frozenset(axis - (axis <= new) if axis < 0 else axis for axis in axes)
        case _:
            return None


def _reshaped(call: Call, axes: Axes) -> Axes | None:
    """Where the new shape has a -1, for what is left."""
    match call.get("shape", "dims", "newshape", "new_shape"):
        case Sequence(items=tuple(items)) if all(isinstance(item, Static) and item.known for item in items):
            sizes: list[object] = [item.constant for item in items if isinstance(item, Static)]
        case Static(list() | tuple() as written):
            sizes = [*written]
        case _:
            return None
    return frozenset((sizes.index(-1),)) if axes and -1 in sizes else None


def _repeated(call: Call, axes: Axes) -> Axes | None:
    return FIRST if call.get("axis") in (None, NONE) else axes


def _one_hot(call: Call, axes: Axes) -> Axes | None:
    return axes if call.get("axis") in (None, Static(-1)) and min(axes, default=0) >= 0 else None


def _squeezed(call: Call, axes: Axes) -> Axes | None:
    named, rank = numbers_of(call.get("axis")), rank_of(_subject(call))
    if named is None or rank is None:
        return None
    gone = counted(named, rank)
    return frozenset(axis - sum(other < axis for other in gone) for axis in counted(axes, rank) - gone)


def _of_the_largest(call: Call, axes: Axes) -> Axes | None:
    rank = rank_of(_subject(call))
    return None if rank is None else counted(axes, rank) - {rank - 1}


def _reduced(call: Call, axes: Axes) -> Axes | None:
    axis = call.get(*_AXIS)
    if axis is None or axis == NONE:
        return frozenset()
    named = numbers_of(axis)
    if named is None:
        return None
    rank = rank_of(_subject(call))
    gone = counted(named, rank)
    kept = axes - gone
    if rank is None and kept == {-1} and gone == {1}:
        return frozenset()  # of a transposed one, counted from the other end: most often a matrix
    if call.get("keepdims", "keep_dims") == Static(True):
        return kept
    return frozenset(axis - sum(0 <= other < axis for other in gone) for axis in kept)


def _subject(call: Call) -> Value | None:
    return call.owner if call.owner is not None else next(iter(call.arguments.values()), None)


_NO_PADDING: Final = (Static([0, 0]), Sequence("list", (Static(0), Static(0))), Sequence("tuple", (Static(0),) * 2))
_EXTENDING: Final[Mapping[str, Callable[[Call, Axes], bool]]] = {
    "concat": _of_several,
    "concatenate": _of_several,
    "pad": partial(_by_entries, ("paddings", "pad_width", "*1"), _NO_PADDING),
    "repeat": _repeats_one,
    "tile": partial(_by_entries, ("multiples", "repeats", "*1"), (Static(1),)),
}
# Results of the same rank, of which the axes are not those of the argument, or are those of two.
_MOVING: Final = words(
    "stack ensure_shape split swapaxes moveaxis rot90 take_along_axis slice einsum solve lstsq triangular_solve"
    " cholesky_solve tridiagonal_solve conv conv_transpose depthwise_conv separable_conv Permute __call__"
)
_BY_RULE: Final[Mapping[str, _Follow]] = {
    "same": _kept,
    "all": _kept,
    "reduce": _reduced,
    "fold": _reduced,
    "expand": _expanded,
    "reshape": _reshaped,
}
_BY_NAME: Final[Mapping[str, _Follow]] = {
    "transpose": _transposed,
    "permute_dimensions": _transposed,
    "matrix_transpose": _matrix_transposed,
    "adjoint": _matrix_transposed,
    "matmul": _multiplied,
    "concat": _kept,
    "concatenate": _kept,
    "expand_dims": _expanded,
    "one_hot": _one_hot,
    "repeat": _repeated,
    "squeeze": _squeezed,
    "top_k": _of_the_largest,
    **dict.fromkeys(_MOVING, _unknown),
}
