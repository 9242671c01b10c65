"""Code that only one backend runs: what stands under `if keras.config.backend() == "jax":`, say, and TensorFlow's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.kinds import as_tensor
from ..domain.operators import arithmetic_tensor
from ..domain.values import Sequence, Setting, Static, Structure, Value
from ..record import replace
from .events import TensorflowCall
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


def report_tensorflow(
    interpreter: Interpreter,
    frame: Frame,
    name: str,
    bound: Mapping[str, Value],
    nodes: Mapping[str, cst.BaseExpression],
    node: cst.BaseExpression,
) -> None:
    """Say that a function of TensorFlow gets data in code that Keras calls."""
    if frame.context.keras is not None and isinstance(node, cst.Call) and any(map(_holds_data, bound.values())):
        nodes = {parameter: nodes.get(parameter, node) for parameter in bound}
        interpreter.emit(frame, TensorflowCall, node, api=name, arguments=bound, argument_nodes=nodes, node=node)


def _holds_data(value: Value) -> bool:
    """Whether a value is a tensor of data, or a list or tuple with one."""
    items = value.items if isinstance(value, Sequence) else None
    return any(map(_is_data, (value, *(items or ()))))


def _is_data(value: Value) -> bool:
    """Whether a value is a tensor of data, or what Keras passes, which may be one."""
    return as_tensor(arithmetic_tensor(value) or value if isinstance(value, Structure) else value) is not None


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
