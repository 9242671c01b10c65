"""Code that only one backend runs: what stands under `if keras.config.backend() == "jax":`, say."""

from __future__ import annotations

from typing import Final

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.values import Sequence, Setting, Static, Value
from ..record import replace
from .frames import Frame
from .interface import Interpreter

ASKED: Final = Static(setting=Setting(False, "the backend of Keras"))
"""What `keras.config.backend()` gives."""

_CONSTANTS: Final = (cst.SimpleString, cst.Tuple, cst.List, cst.Set)


def by_comparison(interpreter: Interpreter, frame: Frame, test: cst.Comparison, outcome: bool) -> None:
    """Narrow the backends that run what follows, where a test compares the backend with names."""
    match test:
        case cst.Comparison(
            left=cst.Name() | cst.Attribute() | cst.Call(args=[]) as asked,
            comparisons=[cst.ComparisonTarget(operator=sign, comparator=names)],
        ) if isinstance(names, _CONSTANTS) and interpreter.evaluate(frame, asked) == ASKED:
            named = _named(interpreter.evaluate(frame, names))
            match sign:
                case cst.Equal() | cst.In():
                    keep(frame, named if outcome else frozenset(Backend) - named)
                case cst.NotEqual() | cst.NotIn():
                    keep(frame, frozenset(Backend) - named if outcome else named)


def keep(frame: Frame, backends: frozenset[Backend]) -> None:
    """Nothing but these runs what follows."""
    known = frame.context.backends
    frame.context = replace(frame.context, backends=backends if known is None else known & backends)


def _named(value: Value) -> frozenset[Backend]:
    match value:
        case Static(constant=str() as name):
            names: list[object] = [name]
        case Static(constant=(tuple() | list() | set() | frozenset()) as several):
            names = [*several]
        case Sequence(items=tuple(items)):
            names = [item.constant for item in items if isinstance(item, Static)]
        case _:
            names = []
    return frozenset(backend for backend in Backend if backend.value in names)
