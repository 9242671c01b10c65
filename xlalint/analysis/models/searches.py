"""What other libraries search with: they call a function of the program for each trial."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import UNKNOWN, FunctionValue, Unknown, Value
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel

_SEARCHES: Final = (
    "hyperopt.fmin",
    *(f"skopt.{name}_minimize" for name in ("dummy", "forest", "gbrt", "gp")),
)
_NAMES: Final = ("fn", "func", "objective")  # the parameter for what is called
_OF_STUDIES: Final = frozenset(("n_trials", "timeout"))  # settings that Optuna's `optimize` alone has


def _search(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`fmin(objective, space)`."""
    if frame.context.kind in NOT_TRACED:
        for function in (*arguments.positional[:1], *(arguments.keywords.get(name) for name in _NAMES)):
            _tried(interpreter, frame, function, node)
    return None


def _study(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`study.optimize(objective, n_trials=100)`."""
    if isinstance(owner, Unknown) and not _OF_STUDIES.isdisjoint(arguments.keywords):
        _search(interpreter, frame, arguments, node)
    return None


def _tried(interpreter: Interpreter, frame: Frame, function: Value | None, node: cst.BaseExpression) -> None:
    if isinstance(function, FunctionValue):
        frame.python_loop += 1
        interpreter.call(frame, function, Arguments([UNKNOWN]), node)
        frame.python_loop -= 1


FUNCTIONS: Final[dict[str, FunctionModel]] = dict.fromkeys(_SEARCHES, _search)
METHODS: Final[dict[str, MethodModel]] = {".optimize": _study}
