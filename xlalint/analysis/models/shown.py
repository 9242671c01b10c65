"""What is shown or taken away of tensors: text of them, and the weights of a model."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import STATIC, Value
from ..interpreter.frames import Act, Arguments, Frame
from ..interpreter.host_reads import report_text
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel


def _text(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`print(x)`, which shows the symbolic tensor during tracing."""
    report_text(interpreter, frame, arguments.positional, node)
    return STATIC


def _formatted(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`format(x, ".2f")`."""
    shown, specified = arguments.positional[:1], arguments.positional[1:]
    report_text(interpreter, frame, shown, node, shown if specified else ())
    return STATIC


def _printed(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> None:
    """`tf.print(x)`."""
    report_text(interpreter, frame, arguments.positional, node)


def _taken(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """`model.get_weights()`: all of them as NumPy arrays."""
    interpreter.note_done(frame, Act.READ, node, ".get_weights")


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "builtins.print": _text,
    "builtins.repr": _text,
    "builtins.format": _formatted,
    "tf.print": _printed,
}
METHODS: Final[dict[str, MethodModel]] = {".get_weights": _taken}
