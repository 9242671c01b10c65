"""Steps of a model's own, as trainers call them: TensorFlow's passes the data alone, JAX's the state, too."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Function, FunctionValue, Instance
from ..program.trainer_steps import STEPS
from ..record import replace
from .events import OwnStep
from .frames import Frame, Summary
from .interface import Interpreter

_PASSED: Final = 3  # the model itself, the state and the data


def takes_data_alone(function: Function) -> bool:
    """Whether a method of a model is such a step and has no place for the state that JAX's trainer passes."""
    node = function.node
    if function.name not in STEPS or function.owner is None or function.decorator_texts:
        return False
    if not isinstance(node, cst.FunctionDef) or isinstance(node.params.star_arg, cst.Param):
        return False
    return len(node.params.posonly_params) + len(node.params.params) < _PASSED


def takes_more(function: Function) -> bool:
    """Whether a method of a model is such a step and needs more than the data, so that no trainer of TensorFlow's calls
    it: the loop that passes the rest does."""
    node = function.node
    if function.name not in STEPS or function.owner is None or not isinstance(node, cst.FunctionDef):
        return False
    needed = [it for it in (*node.params.posonly_params, *node.params.params) if it.default is None]
    named = [it for it in node.params.kwonly_params if it.default is None]
    return len(needed) >= _PASSED or bool(named)


def report_own_step(interpreter: Interpreter, frame: Frame | None, value: FunctionValue, summary: Summary) -> None:
    """Say that Keras, whose calls no code shows, is to run a step which takes the data alone."""
    function, owner = summary.function, value.bound
    if frame is not None or function is None or not interpreter.project.files.jax or not isinstance(owner, Instance):
        return  # most functions
    if summary.context.keras is None or not owner.cls.is_keras("model") or not takes_data_alone(function):
        return
    model, creators = function.owner, interpreter.creators
    if model is not None and creators is not None and creators.is_replaced_for_jax(model, function.name):
        return  # the step is that of the other backends
    context = replace(summary.context, behind=False)
    summary.events.append(OwnStep(function.label, context, None, False, function.qualname))
