"""What a call of a library function shows of its program: whether XLA compiles it, and how else it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Instance, Static, Tensor, Value
from ..library.call_kinds import KERAS_INPUTS, MULTIPLIES
from ..library.keras_2 import ended_with_keras_2, may_end_with_keras_2
from ..library.keras_classes import kind_of
from ..library.strategies import SWITCHES, is_strategy, places_softly, runs_eagerly, shows_xla, turns_clustering_on
from ..program.signs import Shows
from .contexts import ContextKind
from .eager_steps import has_run_compiled
from .frames import WEIGHTS, Act, Arguments, Frame
from .interface import Interpreter

_GRADIENTS: Final = ("tf.GradientTape.", "tf.gradients")


def show_signs(
    interpreter: Interpreter, frame: Frame, name: str, bound: Mapping[str, Value], node: cst.BaseExpression
) -> None:
    """Note what a call of `name` shows, by its canonical name and arguments, that it makes a model of others,
    and that it multiplies with weights: a function that does is a model."""
    for shows in _shown(interpreter, frame, name, bound) if _may_show(name) else ():
        interpreter.show(frame, shows, node, f"`{name}`")
    if name == "keras.Model" and bound:
        interpreter.note_done(frame, Act.BUILD, node)
    elif name in MULTIPLIES and any(isinstance(value, Tensor) and value.variable for value in bound.values()):
        interpreter.note_done(frame, Act.MODEL, node, WEIGHTS)


def show_flags(
    interpreter: Interpreter, frame: Frame, owner: ApiObject | Instance, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """Note that a layer or a model is called with a bool by its position, which Keras 3 refuses (measured)."""
    flagged = any(isinstance(one, Static) and isinstance(one.constant, bool) for one in arguments.positional[1:])
    if flagged and interpreter.said_keras(frame.module) is None and _is_layer(owner):
        interpreter.show(frame, Shows.KERAS_2, node, "a layer that is passed a bool by its position")


def _is_layer(owner: ApiObject | Instance) -> bool:
    if isinstance(owner, ApiObject):
        return kind_of(owner.api) in ("layer", "model")
    return owner.cls.is_keras("layer") or owner.cls.is_keras("model")


@cache
def _may_show(name: str) -> bool:
    """Whether a call of this name shows anything, with whatever arguments; most do not."""
    return (
        shows_xla(name)
        or name in SWITCHES
        or name.startswith(_GRADIENTS)
        or name.endswith(".minimize")
        or may_end_with_keras_2(name)
        or is_strategy(ApiObject(name))
        or name in KERAS_INPUTS
    )


def _shown(interpreter: Interpreter, frame: Frame, name: str, bound: Mapping[str, Value]) -> Iterator[Shows]:
    if shows_xla(name):
        yield Shows.XLA if name.startswith("tf.xla.") else Shows.TPU
    if turns_clustering_on(name, bound):
        yield Shows.CLUSTERS
    if runs_eagerly(name, bound) and frame.is_module and not frame.conditional and not has_run_compiled(frame):
        yield Shows.EAGER
    if name.startswith(_GRADIENTS) or name.endswith(".minimize"):
        apart = frame.summary.traced_apart is not None  # whatever Keras does with it
        if frame.context.kind is ContextKind.XLA and (apart or not frame.context.by_keras):
            yield Shows.STEPS
    if places_softly(name, bound):
        yield Shows.SOFT
    if ended_with_keras_2(name, bound) and interpreter.said_keras(frame.module) is None:
        yield Shows.KERAS_2
    if frame.is_module and interpreter.project.files.jax and is_strategy(ApiObject(name)):
        yield Shows.STRATEGY
    if name in KERAS_INPUTS:
        yield Shows.SYMBOLIC
