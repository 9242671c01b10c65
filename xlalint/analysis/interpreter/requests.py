"""Web servers: which functions answer their requests, one call after the other."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject
from .frames import Frame
from .interface import Interpreter

# What is told of functions, by decorators that its methods return.
SERVERS: Final = (
    *("fastapi.APIRouter", "fastapi.FastAPI", "flask.Blueprint", "flask.Flask", "quart.Blueprint", "quart.Quart"),
    *("bottle.Bottle", "litestar.Router", "sanic.Blueprint", "sanic.Sanic", "starlette.applications.Starlette"),
)
_ROUTES: Final = frozenset(
    ("api_route", "delete", "get", "patch", "post", "put", "route", "websocket", "websocket_route")
)
# Classes whose methods answer requests, by the names of these methods.
_VERBS: Final = frozenset(("delete", "get", "patch", "post", "put"))
_HANDLERS: Final = {
    **dict.fromkeys(
        ("http.server.BaseHTTPRequestHandler", "http.server.SimpleHTTPRequestHandler"), frozenset(("do_GET", "do_POST"))
    ),
    **dict.fromkeys(("django.views.View", "django.views.generic.View", "flask.views.MethodView"), _VERBS),
    **dict.fromkeys(("flask_restful.Resource", "flask_restplus.Resource", "flask_restx.Resource"), _VERBS),
    **dict.fromkeys(("rest_framework.views.APIView", "tornado.web.RequestHandler"), _VERBS),
}


def answers_requests(interpreter: Interpreter, frame: Frame) -> bool:
    """Whether a decorator tells a server of the function that is at work, or it is a method that a server calls."""
    function = frame.function
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return False
    if function.owner is not None:
        bases = function.owner.external_bases
        return any(function.name in _HANDLERS.get(base, ()) for base in bases)
    for decorator in function.node.decorators:
        match decorator.decorator:
            case cst.Call(func=cst.Attribute(value=cst.Name() as server, attr=cst.Name(value=method))) if (
                method in _ROUTES
            ):
                told = interpreter.evaluate(frame, server)
                if isinstance(told, ApiObject) and told.api in SERVERS:
                    return True
    return False
