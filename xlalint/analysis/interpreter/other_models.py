"""Models and optimizers that host code makes, of which each needs a compiled function of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import ApiObject, FunctionValue, Instance, Value
from ..files.unit import Unit
from ..library import api
from .frames import Arguments, Frame, Summary


def is_trained(value: Value) -> bool:
    """Whether it is a model or an optimizer, whose variables one compiled function has."""
    match value:
        case ApiObject(name_of):
            return api.kind_of(name_of) in ("model", "optimizer")
        case Instance(cls):
            return cls.is_keras("model")
        case _:
            return False


def makes_model(frame: Frame) -> bool:
    """Whether a function makes a model or an optimizer, beside those that it is passed."""
    own = ((name, value) for name, value in (frame.env or {}).items() if value is not frame.summary.given.get(name))
    return any(is_trained(value) for _, value in own)


def note_call(
    frame: Frame,
    summary: Summary,
    value: FunctionValue,
    arguments: Arguments,
    node: cst.CSTNode,
    *,
    looped: bool,
) -> None:
    """Host code calls a function, perhaps in a Python loop, and perhaps for a model or optimizer that it makes."""
    passed = list(_trained_passed(value, arguments, node)) if isinstance(node, cst.Call) else []
    if looped:
        frame.summary.looped.add(summary)
        loop = _loop_around(frame.unit, node)
        if loop is None or not _are_made(passed, loop):
            frame.summary.repeats.add(summary)
    function = None if frame.function is None else frame.function.node
    if isinstance(function, cst.FunctionDef) and _are_made(passed, function):
        frame.summary.equips.add(summary)


def _are_made(passed: Sequence[cst.CSTNode], around: cst.For | cst.While | cst.FunctionDef) -> bool:
    """Whether some of what a call passes is another object in each iteration of a loop, or run of a function."""
    parts = [part for place in passed for part in cst.within(place)]
    if not parts:
        return False
    names = names_bound(around)
    return any(isinstance(part, cst.Call) or (isinstance(part, cst.Name) and part.value in names) for part in parts)


def _trained_passed(value: FunctionValue, arguments: Arguments, node: cst.Call) -> Iterator[cst.CSTNode]:
    """The expressions of the models and optimizers that a call passes, or of objects that have one; of the object whose
    method it calls, too."""
    given = [*zip(arguments.positional, arguments.nodes, strict=False)]
    given += [(arguments.keywords[name], place) for name, place in arguments.keyword_nodes.items()]
    if value.bound is not None and isinstance(node.func, cst.Attribute):
        given.append((value.bound, node.func.value))
    return (place for held, place in given if any(map(_holds_trained, options(held))))


def _loop_around(unit: Unit, node: cst.CSTNode) -> cst.For | cst.While | None:
    for around in unit.around(node):
        match around:
            case cst.For() | cst.While():
                return around
            case cst.FunctionDef() | cst.Lambda():
                return None
    return None


def _holds_trained(value: Value) -> bool:
    return is_trained(value) or (isinstance(value, Instance) and any(map(is_trained, value.attributes.values())))


@lru_cache(maxsize=128)  # which is asked at each call that stands in it
def names_bound(around: cst.For | cst.While | cst.FunctionDef) -> frozenset[str]:
    """The names that a loop binds in each iteration, or a function in each run."""
    targets = [*([around.target] if isinstance(around, cst.For) else ()), *cst.targets_in(around.body)]
    return frozenset(chain.from_iterable(map(cst.names_in, targets)))
