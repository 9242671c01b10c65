"""Questions that are asked of values: which alternatives there are, whether a tensor or structure may be meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeGuard

from .counts import Rows, named
from .values import (
    KEYS,
    NONE,
    ApiObject,
    Array,
    Deferred,
    Dependence,
    Dict,
    OneOf,
    Sequence,
    Setting,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)

_STRUCTURES: Final = (Sequence, Dict, Structure)


# A kind of variation: not even the rank is known while tracing. So it is of what a generator yields.
UNRANKED: Final = "unranked"
LOST_RANKS: Final = frozenset((UNRANKED, "generator"))


def united(a: tuple[Variation, ...], b: tuple[Variation, ...]) -> tuple[Variation, ...]:
    """The variations of both, those of `a` first; `a` itself where `b` adds nothing."""
    if not b or a == b:
        return a
    new = tuple(variation for variation in b if variation not in a)
    return (*a, *new) if new else a


def of_either(a: tuple[Variation, ...], b: tuple[Variation, ...]) -> tuple[Variation, ...]:
    """The variations of what is one or the other. A rank is known as soon as it is in one of them: an attribute that is
    assigned again is all that it has ever been."""
    if a == b:
        return a
    both = united(a, b)
    if not _is_unranked(both) or (_is_unranked(a) and _is_unranked(b)):
        return both
    return tuple(each for each in both if each.kind not in LOST_RANKS)


def _is_unranked(varies: tuple[Variation, ...]) -> bool:
    return any(each.kind in LOST_RANKS for each in varies)


def is_mixed(parts: Iterable[Tensor]) -> bool:
    """Whether what is made of these is carried, and made of data that no loop carries as well."""
    data = [part for part in parts if part.dependence is Dependence.VALUE]
    return any(part.carried for part in data) and any(part.mixed or not part.carried for part in data)


def settled(value: Value) -> Value:
    """The value itself, that of an import looked up."""
    return value.module.imported(value.binding) if isinstance(value, Deferred) else value


def options(value: Value) -> Iterator[Value]:
    """The alternatives of a value: itself, or the options of a `OneOf`."""
    if isinstance(value, OneOf):
        yield from value.options
    else:
        yield value


def rows_of(value: Value) -> Rows | None:
    """How many rows a number stands for, where that is known of the number itself."""
    match value:
        case Static(bool()):
            return None
        case Static(int() as number):
            return number
        case Static(float() as number) if number.is_integer():
            return int(number)
        case Static(setting=Setting(default, name)) if type(default) is int:
            return named(name)
        case Static(count=count) | Unknown(count=count):
            return count
        case _:
            return None


def is_key(value: Value | None) -> TypeGuard[Static]:
    """Whether a value is a constant that tells entries of a dict apart."""
    return isinstance(value, Static) and isinstance(value.constant, KEYS)


def steps_of(iterable: Value) -> int | None:
    """How many numbers a range has, or steps a tensor; 0 where that is not known, None for anything else."""
    match iterable:
        case ApiObject("builtins.range", payload=Static(int() as count)):
            return count
        case ApiObject("builtins.range", payload=None | Static()):
            return 0
        case Sequence(steps=steps):
            return steps
        case _:
            return None


def surely_tensor(value: Value) -> bool:
    """Whether the value is a tensor whatever happened before, or None where it was left out."""
    if not isinstance(value, OneOf):
        return isinstance(value, Tensor)
    kinds = [option for option in value.options if option != NONE]
    return bool(kinds) and all(isinstance(option, Tensor) for option in kinds)


def tensor_beside_arrays(value: Value) -> bool:
    """Whether the value is a tensor on one way and NumPy data, or nothing, on the others."""
    if not isinstance(value, OneOf):
        return False
    others = [option for option in value.options if not isinstance(option, Tensor)]
    return len(others) < len(value.options) and all(isinstance(option, Array) or option == NONE for option in others)


def is_told(value: Value, compiled: bool) -> bool:
    """Whether a tensor is meant where the value is read on the host: what may be NumPy data is only told of where XLA
    compiles the code (`compiled`), which refuses the way on which it is a tensor."""
    return not perhaps_array(value) or (compiled and tensor_beside_arrays(value))


def perhaps_array(value: Value) -> bool:
    """Whether NumPy data may be meant: what reads it on the host need not be for tensors."""
    if not isinstance(value, OneOf):
        return isinstance(value, Array)
    return any(isinstance(option, Array) for option in value.options)


def perhaps_structure(value: Value) -> bool:
    """Whether a list, a dict or a nest of tensors may be meant."""
    if not isinstance(value, OneOf):
        return isinstance(value, _STRUCTURES)
    return any(isinstance(option, _STRUCTURES) for option in value.options)


def as_condition(value: Value) -> Tensor | None:
    """The tensor that is asked for its truth. What is perhaps something else, and nobody has seen as a tensor, is a
    flag or is asked whether it is there; what is perhaps a structure, whether it is empty."""
    if not isinstance(value, OneOf):
        return value if isinstance(value, Tensor) else None
    if perhaps_structure(value):
        return None
    tensor = as_tensor(value, Dependence.STATIC)
    unsure = tensor is not None and tensor.dtype is None and tensor.origin is None
    return None if unsure else tensor


def as_tensor(value: Value, at_least: Dependence = Dependence.VALUE) -> Tensor | None:
    """The tensor that `value` is or may be, if its dependence reaches `at_least`.

    A join with `None` (a default) counts as the tensor; a join of a SHAPE tensor with anything else does not: a helper
    that returns the static number or list where there is one (`shape_list`) returns that.
    """
    if type(value) is not OneOf:
        return value if type(value) is Tensor and value.dependence >= at_least else None
    best: Tensor | None = None
    another = False
    for option in value.options:
        if isinstance(option, Tensor):
            if best is None or option.dependence > best.dependence:
                best = option
        elif option != NONE:
            another = True
    if best is None or best.dependence < at_least:
        return None
    if best.dependence < Dependence.VALUE and another:
        return None
    return best


def of_the_trace(value: Value) -> Tensor | None:
    """The tensor that `value` is or may be, where the trace makes it, of shapes or of data."""
    tensor = as_tensor(value, Dependence.SHAPE)
    return None if tensor is None or tensor.eager else tensor


def leaves(value: Value | None) -> Iterator[Value]:
    """Everything inside a structure of lists, tuples, dicts and alternatives."""
    match value:
        case None:
            return
        case OneOf(alternatives):
            inner: Iterable[Value | None] = alternatives
        case Sequence(_, items, element):
            inner = (*(items or ()), element)
        case Dict(entries, element):
            inner = (*entries.values(), element)
        case _:
            yield value
            return
    for item in inner:
        yield from leaves(item)


def is_of_trace(value: Value | None) -> bool:
    """Whether a value is, or holds, a tensor that a trace makes; a variable outlives it."""
    made = (leaf for leaf in leaves(value) if isinstance(leaf, Structure | Tensor))
    return any(isinstance(leaf, Structure) or not leaf.variable for leaf in made)


def holds_text(value: Value | None) -> bool:
    """Whether there are strings in what is passed, whatever it is of what it may be."""
    match value:
        case OneOf(alternatives):
            return all(map(holds_text, alternatives))
        case Sequence(items=items, element=element):
            return any(map(holds_text, (*(items or ()), element)))
        case Dict(entries, element):
            return any(map(holds_text, (*entries.values(), element)))
        case _:
            return isinstance(value, Tensor) and value.dtype == "string"
