"""Lists that code outside the project makes, and a loop of the program makes longer: the tokens of a text, say."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import UNKNOWN, Sequence, Unknown, Value
from ..interpreter.filling import longer
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel
from .containers import METHODS as CONTAINERS


def _puts(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`ids.append(best)`, a statement: what a name stands for that nobody knows is a list then, which the loop around
    makes longer."""
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(), attr=cst.Name(value=method)), args=[_]):
            stands_alone = isinstance(next(iter(frame.unit.around(node)), None), cst.Expr)
            if isinstance(owner, Unknown) and stands_alone and longer(frame, node):
                return CONTAINERS[method](interpreter, frame, Sequence("list", None, UNKNOWN), arguments, node)
    return None


METHODS: Final[dict[str, MethodModel]] = {".append": _puts, ".extend": _puts}
