"""Calls of one of several functions: which of them can be meant, and what each is passed."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import (
    UNKNOWN,
    Class,
    Dependence,
    Function,
    FunctionValue,
    Instance,
    OneOf,
    Tensor,
    Value,
)
from ..record import replace
from .frames import Arguments


def fits(callee: Value, arguments: Arguments) -> bool:
    """Whether a function or object can be called with these arguments: of several that may be meant, no other is."""
    match callee:
        case FunctionValue(function=function, partial_args=partial, bound=bound):
            before = len(partial) + (bound is not None)
        case Instance(cls=cls) if (method := cls.find("__call__") or _called_by_keras(cls)) is not None:
            function, before = method, 1
        case _:
            return True
    params = function.node.params
    taken = [param.name.value for param in (*params.posonly_params, *params.params)]
    given = len(arguments.positional) + before
    if given > len(taken) and not isinstance(params.star_arg, cst.Param):
        return False
    named = {*taken, *(param.name.value for param in params.kwonly_params)}
    return params.star_kwarg is not None or arguments.keywords.keys() <= named


def _called_by_keras(cls: Class) -> Function | None:
    """The method that Keras calls for an object of a class, with the arguments as they are."""
    return cls.find("call") if any(map(cls.is_keras, ("layer", "model"))) else None


def perhaps(arguments: Arguments, compiled: bool) -> Arguments:
    """The arguments for one of several callees: a tensor for one may be a tuple for others, unless XLA takes it."""

    def weaken(value: Value) -> Value:
        sure = not isinstance(value, Tensor) or (compiled and value.dependence is Dependence.VALUE)
        return value if sure else OneOf((value, UNKNOWN))

    keywords = {name: weaken(value) for name, value in arguments.keywords.items()}
    return replace(arguments, positional=list(map(weaken, arguments.positional)), keywords=keywords)
