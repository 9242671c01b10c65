"""What host code sets of Keras's objects that compiled code keeps: numbers of theirs, which weights are trained, and
the objects themselves."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import ApiObject, Instance, ModuleValue, Unknown, Value
from ..library.api import kind_of
from ..library.kept_numbers import KEPT, is_kept
from .changed_outside import is_set_anew
from .contexts import NOT_TRACED
from .frames import Act, Frame
from .interface import Interpreter

_TRAINABLE: Final = "trainable"


def note_setting(
    interpreter: Interpreter,
    frame: Frame,
    statement: cst.CSTNode,
    target: cst.Attribute,
    held: Value,
    value: Value,
) -> None:
    """Remember that an attribute of an object, `held`, is assigned a value."""
    name = target.attr.value
    if name == _TRAINABLE:
        _note_trainable(interpreter, frame, target, held)
    elif name in KEPT:
        keras = interpreter.keras_version(frame.module)
        kept = any(is_kept(one, name, keras) for one in options(held))
        if kept and is_set_anew(frame, statement, target, value):
            interpreter.note_done(frame, Act.SET, target)


def _note_trainable(interpreter: Interpreter, frame: Frame, target: cst.Attribute, held: Value) -> None:
    """On JAX, Keras raises an error itself where a step has other weights to train than its optimizer."""
    if frame.context.kind not in NOT_TRACED or interpreter.project.files.jax:
        return
    if any(map(_may_be_trained, options(held))):
        interpreter.note_done(frame, Act.FREEZE, target)


def _may_be_trained(value: Value) -> bool:
    """Whether a value is a model or a layer of Keras's, or may be: of those that a model holds, few are known."""
    match value:
        case ApiObject(api=api):
            return kind_of(api) in ("layer", "model")
        case Instance(cls):
            return any(map(cls.is_keras, ("layer", "model")))
        case _:
            return isinstance(value, Unknown) and not isinstance(value, ModuleValue)


def note_renewed(
    interpreter: Interpreter,
    frame: Frame,
    statement: cst.CSTNode | None,
    target: cst.Name | cst.Attribute,
    value: Value,
) -> None:
    """Remember that a name or an attribute is assigned a model or an optimizer that a call makes, and not of what it
    was. How JAX holds them has not been measured."""
    if not (isinstance(statement, cst.Assign) and isinstance(statement.value, cst.Call)):
        return
    if frame.context.kind not in NOT_TRACED or interpreter.project.files.jax:
        return
    # To compare the code takes long, so the value is asked first.
    if any(map(_is_of_training, options(value))) and not _has(statement.value, target):
        interpreter.note_done(frame, Act.RENEW, target)


def _has(code: cst.CSTNode, part: cst.CSTNode) -> bool:
    return any(each.deep_equals(part) for each in cst.within(code))


def _is_of_training(value: Value) -> bool:
    match value:
        case ApiObject(api=api, method=None):
            return kind_of(api) in ("model", "optimizer")
        case Instance(cls):
            return cls.is_keras("model")
        case _:
            return False
