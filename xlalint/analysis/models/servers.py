"""Web servers: which functions answer their requests, one call after the other."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter

_SERVERS: Final = (
    *("fastapi.APIRouter", "fastapi.FastAPI", "flask.Blueprint", "flask.Flask", "quart.Blueprint", "quart.Quart"),
    *("bottle.Bottle", "litestar.Router", "sanic.Blueprint", "sanic.Sanic", "starlette.applications.Starlette"),
)
# The methods by which they are told of a function, as decorators.
_ROUTES: Final = frozenset(
    ("api_route", "delete", "get", "patch", "post", "put", "route", "websocket", "websocket_route")
)


def _server(name: str) -> FunctionModel:
    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        return ApiObject(name)

    return handle


def answers_requests(interpreter: Interpreter, frame: Frame) -> bool:
    """Whether a decorator tells a server of the function that is at work."""
    function = frame.function.node if frame.function is not None else None
    if not isinstance(function, cst.FunctionDef):
        return False
    for decorator in function.decorators:
        match decorator.decorator:
            case cst.Call(func=cst.Attribute(value=cst.Name() as server, attr=cst.Name(value=method))) if (
                method in _ROUTES
            ):
                told = interpreter.evaluate(frame, server)
                if isinstance(told, ApiObject) and told.api in _SERVERS:
                    return True
    return False


FUNCTIONS: Final[dict[str, FunctionModel]] = {name: _server(name) for name in _SERVERS}
