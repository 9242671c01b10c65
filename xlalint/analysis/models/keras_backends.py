"""What Keras runs on: who sets it, and who asks."""

from __future__ import annotations

import re
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import NONE, UNKNOWN, Static, Value
from ..interpreter.asked_backends import ASKED, of_variable
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..program.signs import Shows
from .command_line import of_environment

_KERAS_3: Final = "3.15.1"  # the measured one
_NAMES_JAX: Final = re.compile(r"""(["'])jax\1""")


def _set_backend(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.config.set_backend(..)`."""
    interpreter.show_backend(frame, arguments.get(0, "backend") or UNKNOWN, node)
    return NONE


def _backend(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`keras.config.backend()`: who asks, and names JAX, is for several. Where nothing
    names JAX, it is TensorFlow, which alone XLA is met in."""
    if not interpreter.project.files.jax:
        return Static("tensorflow")
    if _NAMES_JAX.search(frame.module.file.text) is not None:
        interpreter.show(frame, Shows.ON_SEVERAL, node, f"`{frame.unit.code(node)}`")
    return ASKED


def _version(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`keras.version()`: what runs on JAX is Keras 3."""
    return Static(_KERAS_3) if interpreter.project.files.jax else None


def _variable(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`os.environ.get("KERAS_BACKEND")`, or another variable with a default."""
    asked = of_variable(interpreter, arguments.get(0, "key") or UNKNOWN)
    return of_environment(arguments) if asked is None else asked


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "keras.backend.backend": _backend,
    "keras.backend.set_backend": _set_backend,
    "keras.config.set_backend": _set_backend,
    "keras.version": _version,
    "os.environ.get": _variable,
    "os.getenv": _variable,
}
