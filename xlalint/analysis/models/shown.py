"""What is shown or taken away of tensors: text of them, and the weights of a model."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import STATIC, Api, Dependence, Tensor, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.host_reads import note_read, report_host_read, report_text
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel


def _text(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`print(x)`, which shows the symbolic tensor during tracing."""
    report_text(interpreter, frame, arguments.all_values(), node)
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
    report_host_read(interpreter, frame, ".get_weights", {"weights": Tensor(Dependence.VALUE, variable=True)}, node)


def _logged(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> None:
    """`logging.info("%s", x)`."""
    note_read(interpreter, frame, arguments.all_values(), node, "text")


def _logged_by(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """`logger.info("%s", x)`."""
    _logged(interpreter, frame, arguments, node)


def _beside_bar(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """`bar.set_postfix(loss=x)` of tqdm, which makes text of all that is no Python number."""
    note_read(interpreter, frame, arguments.all_values(), node, "text")


def _tracked(place: int, name: str) -> FunctionModel:
    """`wandb.log({"loss": x})` writes numbers down at once; `place` and `name`: of the argument that has them."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> None:
        given = arguments.get(place, name)
        note_read(interpreter, frame, () if given is None else (given,), node, "text")

    return handle


def _got(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> None:
    """`keras.backend.get_value(x)`."""
    note_read(interpreter, frame, arguments.positional, node)


def _summarised(reader: str) -> FunctionModel:
    """`tf.summary.scalar("loss", x, step=n)`, whose writer is on the host: x is copied there. Around it, a program may
    say how often it records."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> None:
        around = (outer for outer in frame.unit.around(node) if isinstance(outer, cst.With))
        asked = (item.item.func for outer in around for item in outer.items if isinstance(item.item, cst.Call))
        if not any(interpreter.evaluate(frame, function) == _RECORD_IF for function in asked):
            given = arguments.get(1, "data")
            note_read(interpreter, frame, () if given is None else (given,), node, reader)

    return handle


# What is shown by default, or where a program asks for it; messages for debugging are mostly off.
_LOGS: Final = ("critical", "error", "fatal", "info", "warn", "warning")

# What `tf.summary` writes of tensors.
_SUMMARIES: Final = ("audio", "image", "scalar", "text", "write")
_RECORD_IF: Final = Api("tf.summary.record_if")

FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **{f"tf.summary.{name}": _summarised("summary") for name in _SUMMARIES},
    "tf.summary.histogram": _summarised("histogram"),
    "builtins.print": _text,
    "builtins.repr": _text,
    "builtins.format": _formatted,
    "tf.print": _printed,
    **dict.fromkeys(("keras.backend.get_value", "keras.backend.eval"), _got),
    "wandb.log": _tracked(0, "data"),
    "mlflow.log_metric": _tracked(1, "value"),
    "mlflow.log_metrics": _tracked(0, "metrics"),
    **{f"{library}.{name}": _logged for library in ("logging", "absl.logging") for name in _LOGS},
}
METHODS: Final[dict[str, MethodModel]] = {
    ".get_weights": _taken,
    ".set_postfix": _beside_bar,
    **{f"logging.Logger.{name}": _logged_by for name in _LOGS},
}
