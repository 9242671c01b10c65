"""Variables that the replicas of a strategy share: they were created outside of its scope, which alone makes copies."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import Instance, Tensor, Value
from ..library.strategies import is_module, making_of
from .events import ShareVariable
from .frames import Frame
from .interface import Interpreter

_ASSIGNS: Final = frozenset(("assign", "assign_add", "assign_sub"))


def report_shared(interpreter: Interpreter, frame: Frame, owner: Value, value: Value, node: cst.Attribute) -> None:
    """Say that a step which a strategy runs assigns to such a variable, or reads one of a `tf.Module`, whose weights
    they are."""
    scope = frame.context.scope
    if scope is None or not scope.replica:
        return
    for option in options(owner):  # one of which may be None: `tf.Variable(0) if counts else None`
        made, assigned = None, isinstance(option, Tensor)
        match option:
            case Tensor(variable=True) if node.attr.value in _ASSIGNS:
                made = option.made
            case Instance() if is_module(option.cls) and isinstance(value, Tensor) and value.variable:
                made = making_of(option)
        if made is not None and made.scope is None:
            interpreter.emit(frame, ShareVariable, node, made=made, assigned=assigned)
