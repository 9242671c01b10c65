"""Batches of NumPy's that a loop of host code makes, one by one, for a compiled step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import Api, Array, Value
from .contexts import NOT_TRACED
from .feeding import passed_values
from .frames import Arguments, Frame
from .interface import Interpreter
from .setup_events import PassBatch

# What makes an array of several examples.
_STACKS: Final = frozenset(
    ("np.array", "np.asarray", "np.concatenate", "np.expand_dims", "np.hstack", "np.stack", "np.vstack")
)
# What makes a tensor of one.
_CONVERTS: Final = frozenset(("tf.cast", "tf.constant", "tf.convert_to_tensor", "tf.identity"))


def report_batches(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.CSTNode) -> None:
    """Say that a loop passes a compiled function a batch that Python has made."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or frame.module.is_test:
        return
    if not (frame.python_loop or frame.looped) or not isinstance(node, cst.Call):
        return
    for value, where in passed_values(arguments, node):
        if is_batch(interpreter, frame, value, where):
            interpreter.emit(frame, PassBatch, where, order=interpreter.order_of(node), node=node)
            return


def is_batch(interpreter: Interpreter, frame: Frame, value: Value, where: cst.CSTNode) -> bool:
    """Whether a value is an array of examples, not a number of NumPy's."""
    match where:
        case cst.Call(func=called, args=[cst.Arg(value=first), *_]):
            match interpreter.evaluate(frame, called):
                case Api(name) if name in _STACKS:
                    return any(isinstance(option, Array) for option in options(value))
                case Api(name) if name in _CONVERTS and isinstance(first, cst.Name):
                    return is_batch(interpreter, frame, interpreter.evaluate(frame, first), first)
        case cst.Name(value=name) if name in _bound_by_loops(frame, where):
            return any(isinstance(option, Array) for option in options(value))
    return any(isinstance(option, Array) and _has_rows(option) for option in options(value))


def _has_rows(array: Array) -> bool:
    return bool(array.varies) or array.length not in (None, 1)


def _bound_by_loops(frame: Frame, node: cst.CSTNode) -> Iterator[str]:
    """The names that the loops around a place bind."""
    for around in frame.unit.around(node):
        match around:
            case cst.For(target=target):
                yield from cst.names_in(target)
            case cst.FunctionDef():
                return
