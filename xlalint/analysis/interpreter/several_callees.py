"""Calls of one of several functions: which of them can be meant, and what each is passed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import join_all
from ..domain.kinds import options
from ..domain.values import (
    UNKNOWN,
    Api,
    Class,
    ClassValue,
    Dependence,
    Function,
    FunctionValue,
    Instance,
    Module,
    OneOf,
    Structure,
    Tensor,
    Value,
)
from ..program.parameter_uses import structures_among
from ..program.project import Project
from ..record import replace
from .frames import Arguments

_OF_TENSORS: Final = ("tf.", "keras.ops.", "tnp.")
_OF_ARRAYS: Final = ("np.",)
_NONE: Final = frozenset[str]()
_DROPPED: Final = frozenset(("training", "mask"))  # by Keras, where `call` does not take them
_MOST_NAMES: Final = 24  # of a module that is asked for one that is not known


def one_of_module(project: Project, module: Module) -> Value:
    """One of the functions of a module, or of its classes where it has no functions: a setting says which."""
    functions = [function.name for function in module.functions]
    names = [name for name in functions or (cls.name for cls in module.classes) if not name.startswith("_")]
    if not 1 < len(names) <= _MOST_NAMES:
        return UNKNOWN
    values = (project.member(module, name) for name in names)
    found = [value for value in values if isinstance(value, FunctionValue | ClassValue)]
    return join_all(*found) if found else UNKNOWN


def fitting(alternatives: Iterable[Value], arguments: Arguments) -> list[bool]:
    """Of each of several callees, whether it can be meant."""
    alternatives = tuple(alternatives)
    compiled = {option.function for option in alternatives if isinstance(option, FunctionValue) and option.compiled}
    found = [fits(option, arguments) and not _is_uncompiled(option, compiled) for option in alternatives]
    if any(_is_of(option, _OF_TENSORS) for option in alternatives) and _takes_tensors(arguments):
        # `mod = tf if isinstance(x, tf.Tensor) else np`: a tensor is for TensorFlow.
        return [fit and not _is_of(option, _OF_ARRAYS) for option, fit in zip(alternatives, found, strict=True)]
    return found


def _is_uncompiled(callee: Value, compiled: Collection[Function]) -> bool:
    """Whether a switch alone runs this as it is, for debugging: `step = step if eager else tf.function(step)`."""
    return isinstance(callee, FunctionValue) and callee.compiled is None and callee.function in compiled


def _is_of(callee: Value, libraries: tuple[str, ...]) -> bool:
    return isinstance(callee, Api) and callee.name.startswith(libraries)


def _takes_tensors(arguments: Arguments) -> bool:
    given = (*arguments.positional, *arguments.keywords.values())
    return any(isinstance(option, Tensor | Structure) for value in given for option in options(value))


def fits(callee: Value, arguments: Arguments) -> bool:
    """Whether a function or object can be called with these arguments: of several that may be meant, no other is."""
    match callee:
        case FunctionValue(function=function, partial_args=partial, bound=bound):
            before, dropped = len(partial) + (bound is not None), _NONE
        case Instance(cls=cls) if (method := cls.find("__call__")) is not None:
            function, before, dropped = method, 1, _NONE
        case Instance(cls=cls) if (method := _called_by_keras(cls)) is not None:
            function, before, dropped = method, 1, _DROPPED
        case _:
            return True
    params = function.node.params
    taken = [param.name.value for param in (*params.posonly_params, *params.params)]
    given = len(arguments.positional) + before
    if given > len(taken) and not isinstance(params.star_arg, cst.Param):
        return False
    by_position = taken[len(params.posonly_params) : given]
    if not arguments.keywords.keys().isdisjoint(by_position):
        return False
    named = {*taken, *(param.name.value for param in params.kwonly_params)}
    return params.star_kwarg is not None or arguments.keywords.keys() - dropped <= named


def _called_by_keras(cls: Class) -> Function | None:
    """The method that Keras calls for an object of a class, with the arguments as they are."""
    return cls.find("call") if any(map(cls.is_keras, ("layer", "model"))) else None


def perhaps(callee: Value, arguments: Arguments, compiled: bool) -> Arguments:
    """The arguments for one of several callees: a tensor for one may be a tuple for others, unless XLA takes it and
    this one takes nothing apart."""
    sure = compiled and not _takes_apart(callee)

    def weaken(value: Value) -> Value:
        if not isinstance(value, Tensor) or (sure and value.dependence is Dependence.VALUE):
            return value
        return OneOf((value, UNKNOWN))

    keywords = {name: weaken(value) for name, value in arguments.keywords.items()}
    return replace(arguments, positional=list(map(weaken, arguments.positional)), keywords=keywords)


def _takes_apart(callee: Value) -> bool:
    """Whether a function or object unpacks anything of what it is called with, or reads it by keys."""
    match callee:
        case FunctionValue(function=function):
            found: Function | None = function
        case Instance(cls=cls):
            found = cls.find("__call__") or _called_by_keras(cls)
        case _:
            found = None
    return found is not None and bool(structures_among(found.node))
