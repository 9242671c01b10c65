"""What a result has its first dimension of: how many rows there are in the last batch goes on through a call.

`facts/first_axes.json` tells which arguments the length of a result goes with where no argument names an axis or a
size; those that do are followed here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from ...facts import FOLDER
from ..domain.bounds import FIRST, Axes, numbers_of
from ..domain.kinds import leaves, united
from ..domain.row_counts import in_shape
from ..domain.values import NONE, Array, Sequence, Static, Structure, Tensor, Unknown, Value, Variation
from ..domain.varying_shapes import LAST, carried_over, transposed
from ..record import replace
from .ranks import rank_of
from .result_tables import NUMERIC, words

if TYPE_CHECKING:
    from .call import Call

_SHAPES: Final = ("tf.shape", "keras.backend.shape")
_TRANSPOSE: Final = (".transpose", ".permute_dimensions")
_AXIS: Final = ("axis", "axes", "reduction_indices", "squeeze_dims", "dim", "dimension")
_REDUCING: Final = ("reduce", "fold")  # rules of ranks
# What a function follows: the arguments, each with the place of their first dimension in the result.
_Followed: TypeAlias = Iterator[tuple[Value, int]]


def remaining(call: Call, rank_rule: str, varies: tuple[Variation, ...]) -> tuple[Variation, ...]:
    """What remains of the arguments' variations in the result of a call, at the places of its dimensions."""
    if call.name in _SHAPES:
        return in_shape(varies)
    kept = carried_over(call.name, rank_rule, varies)
    if call.name.endswith(".matmul"):
        kept = tuple(each for each in kept if not _is_of_rows(each))
    if any(map(_is_of_rows, varies)) and not any(map(_is_of_rows, kept)):
        for value, axis in _followed(call, rank_rule.partition(":")[0]):
            kept = united(kept, tuple(replace(each, axis=axis) for each in of_rows(value)))
    order = call.get("perm", "axes", "pattern", "*1") if call.name.endswith(_TRANSPOSE) else None
    named = None if order is None else numbers_of(order)
    return kept if named is None else transposed(kept, named)


def first_of_bounded(call: Call, rank_rule: str) -> Axes | None:
    """The axes of a bounded dynamic shape, where all that a result has its first dimension of have one along that
    dimension alone; None where others have one, too."""
    followed = [(leaf, place) for value, place in _followed(call, rank_rule) for leaf in leaves(value)]
    places = {place for leaf, place in followed if isinstance(leaf, Tensor) and _is_first(leaf)}
    given = call.arguments.values() if call.owner is None else (call.owner, *call.arguments.values())
    others = [
        leaf for value in given for leaf in leaves(value) if isinstance(leaf, Tensor) and leaf.bounded is not None
    ]
    met = any(not (isinstance(leaf, Tensor) and _is_first(leaf)) for leaf, _ in followed)
    known = all(any(leaf is other for leaf, _ in followed) for other in others)
    return frozenset(places) if places and known and not met else None


def _is_first(tensor: Tensor) -> bool:
    return tensor.bounded is not None and tensor.bounded.axes == FIRST


def of_rows(value: Value | None) -> tuple[Variation, ...]:
    """Why a batch has fewer rows once."""
    found: tuple[Variation, ...] = ()
    for leaf in leaves(value):
        if isinstance(leaf, Tensor | Structure | Array | Unknown):
            found = united(found, tuple(filter(_is_of_rows, leaf.varies)))
    return found


def _is_of_rows(each: Variation) -> bool:
    return each.kind == LAST and not each.axis


def _followed(call: Call, rule: str) -> _Followed:
    namespace, _, word = call.name.removesuffix(".__call__").rpartition(".")
    if namespace in NUMERIC and (follow := _BY_WORD.get(word)) is not None:
        return follow(call)
    if rule in _REDUCING:
        return _beside_axis(call)
    return _measured(call)


@cache
def _table() -> Mapping[str, Mapping[str, int]]:
    """By callable the arguments that the length of its result goes with, and how many dimensions each had."""
    found: dict[str, dict[str, int]] = json.loads((FOLDER / "first_axes.json").read_text(encoding="utf-8"))["follows"]
    return found


def _measured(call: Call) -> _Followed:
    name = call.name.removesuffix(".__call__")
    for parameter, rank in _table().get(name, {}).items():
        value = call.get(parameter, "*0") if call.name != name else call.get(parameter)
        known = rank_of(value)
        if value is not None and (known is None or known >= rank) and _spares_first(call, value, default=True):
            yield value, 0


def _subject(call: Call) -> Value | None:
    return call.owner if call.owner is not None else next(iter(call.arguments.values()), None)


def _spares_first(call: Call, value: Value | None, default: bool) -> bool:
    """Whether a call names an axis, and it is not the first."""
    axis = call.get(*_AXIS)
    if axis is None:
        return default
    named, rank = numbers_of(axis), rank_of(value)
    return bool(named) and not any(one == 0 or (rank is not None and one == -rank) for one in named or ())


def _beside_axis(call: Call) -> _Followed:
    """`tf.reduce_mean(x, axis=1)`, `tf.repeat(x, 2, axis=1)`: another dimension is changed."""
    value = _subject(call)
    if value is not None and _spares_first(call, value, default=False):
        yield value, 0


def _joined(call: Call) -> _Followed:
    """`tf.concat([x, y], -1)`: all have the same rows. Behind each other, one may be filled up by the others."""
    values = _subject(call)
    parts = values.items or () if isinstance(values, Sequence) else ()
    together = all(map(of_rows, parts))
    for value in parts:
        if together or _spares_first(call, value, default=False):
            yield value, 0


def _stacked(call: Call) -> _Followed:
    values, axis = _subject(call), call.get("axis") or Static(0)
    if isinstance(values, Sequence):
        for value in (*(values.items or ()), *(() if values.element is None else (values.element,))):
            yield value, int(axis == Static(0))


def _gathered(call: Call) -> _Followed:
    axis, value, positions = call.get("axis"), _subject(call), call.get("indices", "ids")
    if call.get("batch_dims") not in (None, Static(0)):
        return
    if axis in (None, NONE, Static(0)):
        if positions is not None:
            yield positions, 0
    elif value is not None and _spares_first(call, value, default=False):
        yield value, 0


def _squeezed(call: Call) -> _Followed:
    """Without an axis it takes out dimensions of one element, which a batch has more of."""
    value = _subject(call)
    if value is not None and _spares_first(call, value, default=True):
        yield value, 0


def _sized(*names: str) -> Callable[[Call], _Followed]:
    """What changes the size of each dimension by an argument that has an entry for each, written for the first."""

    def follow(call: Call) -> _Followed:
        match call.get(*names):
            case Sequence(items=(first, *_)):
                written = _is_written(first)
            case Static(list() | tuple()):
                written = True
            case _:
                written = False
        if written and (value := _subject(call)) is not None:
            yield value, 0

    return follow


def _is_written(value: Value) -> bool:
    match value:
        case Static(constant):
            return value.known and constant is not None
        case Sequence(items=tuple(items)):
            return all(map(_is_written, items))
        case _:
            return False


def _left_open(*names: str) -> Callable[[Call], _Followed]:
    """What cuts to a size, which is left open for the first dimension."""

    def follow(call: Call) -> _Followed:
        match call.get(*names):
            case Sequence(items=(Static(None | -1), *_)) | Static([None | -1, *_] | (None | -1, *_)):
                if (value := _subject(call)) is not None:
                    yield value, 0

    return follow


def _multiplied(call: Call) -> _Followed:
    """The rows of the first matrix, unless it is turned; of many matrices, as many."""
    turned = any(call.get(flag) not in (None, Static(False)) for flag in ("transpose_a", "adjoint_a"))
    left, right = call.get("a", "x1", "*0"), call.get("b", "x2", "*1")
    if left is not None and not (turned and rank_of(left) in (None, 2)):
        yield left, 0
    if right is not None and rank_of(right) not in ((None, 2) if turned else (2,)):
        yield right, 0


def _einsum(call: Call) -> _Followed:
    """Where the letter of a first dimension is in the result."""
    equation = call.get("equation", "subscripts", "*0")
    operands = [value for value in call.arguments.values() if value is not equation]
    if not (isinstance(equation, Static) and isinstance(equation.constant, str)):
        return
    inputs, _, output = equation.constant.replace(" ", "").replace("...", ".").partition("->")
    given = [part for value in operands for part in (_parts(value))]
    for letters, value in zip(inputs.split(","), given, strict=False):
        if letters[:1] and letters[0] in output:
            yield value, output.index(letters[0])


def _parts(value: Value) -> tuple[Value, ...]:
    return value.items or () if isinstance(value, Sequence) else (value,)


def _tensordot(call: Call) -> _Followed:
    """Not what is summed over."""
    value = _subject(call)
    match call.get("axes", "*2"):
        case Static(int() as count):
            rank = rank_of(value)
            kept = rank is None or count < rank
        case Sequence(items=(first, _)):
            named = numbers_of(first)
            kept = named is not None and 0 not in named
        case _:
            kept = False
    if kept and value is not None:
        yield value, 0


_BY_WORD: Final[Mapping[str, Callable[[Call], _Followed]]] = {
    **dict.fromkeys(words("concat concatenate"), _joined),
    **dict.fromkeys(words("repeat append norm argmax argmin boolean_mask unstack"), _beside_axis),
    **dict.fromkeys(words("gather take embedding_lookup"), _gathered),
    "matmul": _multiplied,
    "stack": _stacked,
    "squeeze": _squeezed,
    "pad": _sized("paddings", "pad_width", "*1"),
    "tile": _sized("multiples", "repeats", "reps", "*1"),
    "slice": _left_open("size", "*2"),
    "ensure_shape": _left_open("shape", "*1"),
    "einsum": _einsum,
    "tensordot": _tensordot,
}
