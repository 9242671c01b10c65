"""What a condition on a tensor leaves of what its sides leave: a tensor that depends on the condition."""

from __future__ import annotations

from typing import Final

from ..record import replace
from .bounds import chosen_bound
from .joins import join
from .kinds import is_mixed, options
from .origins import strongest
from .values import Array, Dependence, OneOf, Origin, Sequence, Static, Tensor, Value

_NUMBERS: Final = (bool, int, float)
_DTYPES: Final = {bool: "bool", int: "int", float: "float"}


def chosen_by(condition: Tensor | None, value: Value) -> Value:
    """A side's result, as the condition leaves it; None: data decide. XLA folds what shapes decide, and computes no
    size that is chosen by what it does not fold."""
    decisive = condition or Tensor(Dependence.VALUE)
    least = max(decisive.dependence, Dependence.SHAPE)
    carried = decisive.carried and least is Dependence.VALUE

    def chosen(part: Value) -> Value:
        match part:
            case Tensor():
                mixed = is_mixed((part, decisive)) or part.mixed
                origin = strongest((part, decisive)).origin or part.origin or decisive.origin
                return part.with_(
                    dependence=max(part.dependence, least),
                    origin=_of_no_shape(origin) if least is Dependence.VALUE else origin,
                    carried=part.carried or carried,
                    mixed=(part.carried or carried) and mixed,
                )
            case Static(constant) if constant is not None:
                return Tensor(
                    least, _DTYPES.get(type(constant)), 0, decisive.origin, carried=carried, mixed=decisive.mixed
                )
            case Array(dtype):
                return Tensor(least, dtype, None, decisive.origin, carried=carried, mixed=decisive.mixed)
            case Sequence(kind, tuple(items)):
                return Sequence(kind, tuple(map(chosen, items)))
            case _:
                return part

    return chosen(value)


def chosen_where_they_differ(condition: Tensor, first: Value, second: Value) -> Value:
    """What AutoGraph makes of two values of a name that differ: numbers become tensors, and tensors depend on the
    condition. Everything else is what either side leaves."""
    joined = join(first, second)
    if isinstance(first, Tensor) and isinstance(second, Tensor) and isinstance(joined, Tensor):
        joined = joined.with_(bounded=chosen_bound(first.bounded, second.bounded, joined.bounded))
    if not (_is_number(first) and _is_number(second)):
        return joined
    if isinstance(joined, OneOf):  # a number beside a tensor
        joined = next(option for option in options(joined) if isinstance(option, Tensor))
    return chosen_by(condition, joined)


def _of_no_shape(origin: Origin | None) -> Origin | None:
    """The origin of a number that may have counted a selection: XLA does not follow a bound through a conditional."""
    return origin if origin is None or origin.axes is None else replace(origin, axes=None)


def _is_number(value: Value) -> bool:
    """Whether a value is a tensor, or a number that is written down."""
    return isinstance(value, Tensor) or (isinstance(value, Static) and type(value.constant) in _NUMBERS)
