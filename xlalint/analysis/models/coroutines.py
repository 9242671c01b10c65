"""Coroutines: what an `async def` returns is run by `await`, by an event loop, or by whoever sends it something."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import NONE, UNKNOWN, ApiObject, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel
from ..library.call_kinds import COROUTINE


def _result(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`coroutine.__await__()`, `task.result()`."""
    return owner.payload if isinstance(owner, ApiObject) else None


def _sent(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`coroutine.send(None)`: what it returns leaves it with an exception."""
    end = interpreter.project.written("types.CoroutineEnd")
    if end is not None and isinstance(owner, ApiObject):
        interpreter.call(frame, end, Arguments([owner.payload or UNKNOWN]), node)
    return NONE


def _run(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`loop.run_until_complete(coroutine)`."""
    match arguments.positional:
        case [ApiObject(api) as coroutine] if api == COROUTINE:
            return coroutine.payload
        case _:
            return None


METHODS: Final[dict[str, MethodModel]] = {
    **{f"{COROUTINE}.{name}": _result for name in ("__await__", "result")},
    f"{COROUTINE}.send": _sent,
    ".run_until_complete": _run,
}
