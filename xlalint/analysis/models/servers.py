"""Web servers, which a program tells of the functions that answer requests."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..interpreter.requests import SERVERS


def _server(name: str) -> FunctionModel:
    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        return ApiObject(name)

    return handle


FUNCTIONS: Final[dict[str, FunctionModel]] = {name: _server(name) for name in SERVERS}
