"""Keras's optimizers, and which of them keep variables for each variable that they change."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Static, Value
from .api import kind_of

# The methods with which an optimizer takes a step.
OPTIMIZES: Final = frozenset(("apply", "apply_gradients", "minimize"))
_ANY: Final = frozenset(("keras.optimizers.Optimizer", "keras.optimizers.legacy.Optimizer"))  # nobody knows which


def is_optimizer(value: Value) -> bool:
    """Whether a value is an optimizer of Keras's, not a method of one."""
    return isinstance(value, ApiObject) and value.method is None and kind_of(value.api) == "optimizer"


def has_state(optimizer: Value) -> bool:
    """Whether an optimizer is known to keep variables for each variable of the model: all but SGD without momentum."""
    match optimizer:
        case Static(str() as name):
            return name.lower() != "sgd"
        case ApiObject(api=api, made=made):
            stateless = api.endswith((".SGD", ".LossScaleOptimizer"))  # the latter as what it wraps
            if made is None or kind_of(api) != "optimizer":
                return False
            if api in _ANY:
                return _is_named(made.location.node)
            return not stateless or (api.endswith(".SGD") and _has_momentum(made.location.node))
        case _:
            return False


def _is_named(call: cst.CSTNode) -> bool:
    """Whether `get("adam")` names an optimizer that has state; nobody knows of one by another name."""
    match call:
        case cst.Call(args=[cst.Arg(value=cst.SimpleString() as name), *_]):
            return has_state(Static(name.evaluated_value))
        case _:
            return False


def _has_momentum(call: cst.CSTNode) -> bool:
    """Whether `SGD(..)` is made with momentum, for which it keeps variables."""
    match call:
        case cst.Call(args=args):
            named = [given.value for given in args if given.keyword is not None and given.keyword.value == "momentum"]
            second = [given.value for given in args[1:2] if given.keyword is None and not given.star]
            return any(
                not (isinstance(it, cst.Float | cst.Integer) and float(it.value) == 0) for it in (*named, *second)
            )
        case _:
            return False
