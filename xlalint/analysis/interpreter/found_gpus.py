"""Whether there is a GPU: what code asks before, and where it needs one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...syntax import nodes as cst
from ..domain.gpus import hangs_on_gpus, without_gpus
from ..domain.kinds import options
from ..domain.values import Slice, Static, Tensor, Value
from ..record import replace
from .frames import Frame
from .interface import Interpreter
from .setup_events import NeedGpu

_DIVIDING: Final[frozenset[type[object]]] = frozenset(
    (cst.Divide, cst.DivideAssign, cst.FloorDivide, cst.FloorDivideAssign, cst.Modulo, cst.ModuloAssign)
)
_RATE: Final = (("keras.optimizers.",), "rate")
# Parameters that are no 0, or at which 0 has no effect, of what begins so; and the form of the event.
_NUMBERS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "batch_size": (("keras.utils.", "tf.data."), "batch"),
    "learning_rate": _RATE,
    "initial_learning_rate": _RATE,
}
_OWNERS: Final = tuple(owner for owners, _ in _NUMBERS.values() for owner in owners)
_COPIES: Final = "keras.utils.multi_gpu_model"
_ENDS: Final = frozenset(("builtins.exit", "builtins.quit", "os._exit", "os.abort", "sys.exit"))


def found(frame: Frame, test: Value, outcome: bool) -> None:
    """What follows runs only where there is a GPU, if a test comes out otherwise without one."""
    if hangs_on_gpus(test) and bool(without_gpus(test)) is not outcome and not frame.context.gpus:
        frame.context = replace(frame.context, gpus=True)


def forget(frame: Frame, before: bool) -> None:
    """What follows a loop runs whether or not there is a GPU, unless code has asked `before` the loop."""
    if frame.context.gpus is not before:
        frame.context = replace(frame.context, gpus=before)


def report_index(interpreter: Interpreter, frame: Frame, base: Value, index: Value, node: cst.Subscript) -> None:
    """Say that code takes one of the GPUs."""
    if hangs_on_gpus(base) and not isinstance(index, Slice):
        _report(interpreter, frame, node, "index")


def report_division(
    interpreter: Interpreter, frame: Frame, sign: cst.CSTNode, left: Value, right: Value, node: cst.CSTNode
) -> None:
    """Say that code divides by the number of GPUs."""
    if type(sign) in _DIVIDING and isinstance(right, Static) and hangs_on_gpus(right) and without_gpus(right) == 0:
        of_tensor = any(isinstance(option, Tensor) for option in options(left))
        _report(interpreter, frame, node, "divide tensor" if of_tensor else "divide")


def report_refusal(interpreter: Interpreter, frame: Frame, test: Value, node: cst.If) -> None:
    """Say that a condition ends the program where there is no GPU."""
    if hangs_on_gpus(test):
        side = node.body if without_gpus(test) else node.orelse
        body = side.body if isinstance(side, cst.Else) else side
        if isinstance(body, cst.IndentedBlock) and _ends(interpreter, frame, body.body[-1]):
            _report(interpreter, frame, node.test, "refuse")


def report_assertion(interpreter: Interpreter, frame: Frame, test: Value, node: cst.Assert) -> None:
    """Say that an assertion fails where there is no GPU."""
    if hangs_on_gpus(test) and not without_gpus(test):
        _report(interpreter, frame, node.test, "assert")


def report_number(
    interpreter: Interpreter,
    frame: Frame,
    name: str,
    bound: Mapping[str, Value],
    nodes: Mapping[str, cst.BaseExpression],
    node: cst.BaseExpression,
) -> None:
    """Say that a call is passed the number of GPUs, or a multiple of it, and that this cannot be 0; or that it copies a
    model to GPUs."""
    if name == _COPIES:
        _report(interpreter, frame, node, "copy")
    for parameter in _NUMBERS.keys() & bound.keys() if name.startswith(_OWNERS) else ():
        owners, form = _NUMBERS[parameter]
        value = bound[parameter]
        if name.startswith(owners) and hangs_on_gpus(value) and without_gpus(value) == 0:
            _report(interpreter, frame, nodes.get(parameter, node), form)


def _ends(interpreter: Interpreter, frame: Frame, statement: cst.CSTNode) -> bool:
    """Whether a statement raises, or ends the program."""
    match statement:
        case cst.SimpleStatementLine(body=[*_, cst.Raise()]):
            return True
        case cst.SimpleStatementLine(body=[*_, cst.Expr(value=cst.Call(func=function))]):
            return getattr(interpreter.evaluate(frame, function), "name", None) in _ENDS
        case _:
            return False


def _report(interpreter: Interpreter, frame: Frame, node: cst.CSTNode, form: str) -> None:
    if not frame.context.gpus:
        interpreter.emit(frame, NeedGpu, node, order=interpreter.order_of(node), form=form)
