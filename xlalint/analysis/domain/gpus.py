"""What hangs on the GPUs of a machine: what it is where there are none, as beside a TPU."""

from __future__ import annotations

from typing import Any, Final

from ...syntax import nodes as cst
from ..record import replace
from .operators import fold
from .values import UNSET, ApiObject, Sequence, Static, Value

_PRODUCTS: Final[frozenset[type[object]]] = frozenset((cst.Multiply, cst.MultiplyAssign))
_EQUALITIES: Final = {cst.Equal: True, cst.NotEqual: False}
_UNTOLD: Final = 1  # what a number is compared with that whoever runs the program says


def hangs_on_gpus(value: Value) -> bool:
    """Whether a value is a list of a machine's GPUs, or is computed from one."""
    match value:
        case Sequence(of_gpus=found):
            return found
        case Static(without_gpus=told):
            return told is not UNSET
        case ApiObject("builtins.range", payload=Static(without_gpus=told)):
            return told is not UNSET
        case _:
            return False


def without_gpus(value: Value) -> Any:
    """What a value is on a machine without a GPU; UNSET: not known."""
    match value:
        case Sequence(of_gpus=True) | Sequence(items=()):
            return ()
        case ApiObject("builtins.range", payload=Static() as end) if hangs_on_gpus(value):
            return range(end.without_gpus)
        case Static(constant) if value.known:
            return constant
        case Static(without_gpus=told):
            return told
        case _:
            return UNSET


def computed(sign: cst.CSTNode, left: Value, right: Value, made: Value) -> Value:
    """What an operator makes of two values, `made`, with what it is without a GPU."""
    if not (hangs_on_gpus(left) or hangs_on_gpus(right)):
        return made
    told = _computed(sign, without_gpus(left), without_gpus(right))
    return made if told is UNSET else with_told(made, told)


def _computed(sign: cst.CSTNode, a: Any, b: Any) -> Any:
    kind = type(sign)
    if kind in _PRODUCTS and 0 in (a, b):
        return 0
    if kind in _EQUALITIES and () in (a, b):
        return UNSET if UNSET in (a, b) else (a == b) is _EQUALITIES[kind]
    if isinstance(sign, cst.BaseCompOp):
        a, b = (_UNTOLD if side is UNSET else side for side in (a, b))
    return fold(kind, a, b).constant


def joined(left: Value, right: Value, made: Value, *, enough: bool, tested: bool) -> Value:
    """What `left or right` is, `made`, where one that holds is `enough`; `left and right`, where one that does not
    is. Of what is `tested` nobody but its truth counts."""
    if not (hangs_on_gpus(left) or hangs_on_gpus(right)):
        return made
    first, last = without_gpus(left), without_gpus(right)
    told = UNSET
    if first is not UNSET:
        told = first if bool(first) is enough else last
    elif last is not UNSET and bool(last) is enough:
        told = last
    if told is UNSET:
        return made
    return Static(without_gpus=bool(told)) if tested else with_told(made, told)


def chosen(test: Value, holds: Value, fails: Value, made: Value) -> Value:
    """What `holds if test else fails` is, `made`."""
    if not hangs_on_gpus(test):
        return made
    told = without_gpus(holds if without_gpus(test) else fails)
    return made if told is UNSET else with_told(made, told)


def negated(value: Value, made: Value) -> Value:
    """What `not value` is, `made`."""
    return with_told(made, not without_gpus(value)) if hangs_on_gpus(value) else made


def where_it_holds(value: Value) -> Value:
    """A value that Python takes for true: of GPUs there is one, then."""
    match value:
        case Sequence(of_gpus=True):
            return replace(value, of_gpus=False)
        case Static(without_gpus=told) if told is not UNSET and not told:
            return replace(value, without_gpus=UNSET)
        case _:
            return value


def with_told(made: Value, told: Any) -> Value:
    """A Python value that is not known, with what it is without a GPU."""
    return replace(made, without_gpus=told) if isinstance(made, Static) and not made.known else made
