"""Loggers: what they say for debugging is off where nobody says otherwise, so that no program is judged by it."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, ApiObject, Static, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel

_LOGGER: Final = "logging.Logger"
# What a logger without a level of its own leaves out, and its root as well.
_OFF: Final = (Api("logging.DEBUG"), Api("logging.INFO"), Static(10), Static(20))


def _logger(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return ApiObject(_LOGGER)


def _is_enabled(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`logger.isEnabledFor(logging.DEBUG)`."""
    return Static(False) if arguments.get(0, "level") in _OFF else None


FUNCTIONS: Final[dict[str, FunctionModel]] = {"logging.getLogger": _logger}
METHODS: Final[dict[str, MethodModel]] = {f"{_LOGGER}.isEnabledFor": _is_enabled}
