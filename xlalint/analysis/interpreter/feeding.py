"""Where host code hands data to what XLA compiles: calls of compiled functions, and the loops that Keras runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from ...syntax import nodes as cst
from ..domain.values import (
    UNKNOWN,
    ApiObject,
    Compiled,
    FunctionValue,
    Instance,
    Static,
    Unknown,
    Value,
    Wrapped,
    options,
)
from ..domain.varying_shapes import variations_of
from ..files.files import Place
from .events import HOST, CallOwnCompiled, Context, ContextKind, FeedCompiled, FeedForeign, MakeCompiled
from .frames import Arguments, Compilation, Frame
from ..library import api
from ..library.datasets import is_dataset
from ..library.tokenizers import torch_in
from ..record import replace
from ..library.strategies import is_tpu

if TYPE_CHECKING:
    from .base import Core
    from .calls import Calls

# What runs line by line. From here, and from the graph of a plain `tf.function`, a call starts a compiled program; in a
# loop of a graph nothing is compiled by itself (measured), and a call from compiled code becomes part of its program.
NOT_TRACED: Final = (ContextKind.HOST, ContextKind.OPEN)
WRAPPED: Final = "tf.function"

# The methods of a model that run its compiled steps, with the step that each argument goes through. Of a dataset the
# elements go there one by one, of arrays pieces of one size.
_LOOPS: Final = {
    "fit": {"x": "train", "validation_data": "test"},
    "evaluate": {"x": "test"},
    "predict": {"x": "predict"},
}
_STEPS: Final = {
    "train_on_batch": "train",
    "test_on_batch": "test",
    "predict_on_batch": "predict",
}
_OUTSIDE: Final = "transformers."


def say_made(machine: Core, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> None:
    """A function is wrapped to be compiled."""
    settings = arguments.keywords
    if Static(True) not in (settings.get("jit_compile"), settings.get("experimental_compile")):
        return
    if frame.context.kind in NOT_TRACED and not frame.context.pipeline:
        context = Context(ContextKind.XLA, True, "a function that XLA compiles")
        in_loop = frame.python_loop > 0 and not frame.guards
        machine.said_on_host(frame, MakeCompiled, node, context, arguments=dict(settings), in_loop=in_loop)


def feed(
    machine: Core, frame: Frame, how: Compilation | Wrapped, arguments: Arguments, node: cst.CSTNode, target: object
) -> None:
    """A compiled function is called from host code."""
    context = Context(ContextKind.XLA, True, how.entry)
    _say(machine, frame, context, given_values(arguments, node), node, target, traced=not how.signature)


def say_own(machine: Core, frame: Frame, value: FunctionValue, node: cst.CSTNode) -> None:
    """A compiled function is called where it was made: by each call of the code around it."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or frame.function is None or frame.python_loop:
        return
    function = value.function
    place: Place | None = None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Call):
        place = Place(frame.unit, node.func)  # `tf.function(f, jit_compile=True)(x)`
    elif value.scope is frame and function.stretch is None:
        place = function.label
    if place is not None and not frame.guards:
        context = Context(ContextKind.XLA, True, "a function that XLA compiles")
        machine.said_on_host(frame, CallOwnCompiled, place.node, context, again=False)


def say_foreign(machine: Core, frame: Frame, given: Iterable[Value | None], node: cst.CSTNode, *, model: bool) -> None:
    """Host code hands tensors of PyTorch to a model or a data set of TensorFlow, if they are among these values."""
    if frame.context.kind is ContextKind.XLA:
        return
    for value in given:
        found = torch_in(value)
        if found is not None and found.made is not None:
            machine.said_on_host(frame, FeedForeign, node, HOST, made=found.made.place, model=model)


def given_values(arguments: Arguments, node: cst.CSTNode) -> list[tuple[Value, cst.CSTNode]]:
    """All that a call hands over, each with its syntax; what is unpacked, with the call's."""
    found: list[tuple[Value, cst.CSTNode]] = []
    for position, value in enumerate(arguments.positional):
        found.append((value, arguments.nodes[position] if position < len(arguments.nodes) else node))
    found += [(value, arguments.keyword_nodes.get(name, node)) for name, value in arguments.keywords.items()]
    found += [(value, node) for value in (arguments.rest, arguments.rest_keywords) if value is not None]
    return found


def _say(
    machine: Core,
    frame: Frame,
    context: Context,
    given: Iterable[tuple[Value, cst.CSTNode]],
    node: cst.CSTNode,
    target: object,
    traced: bool = False,
    certain: bool = True,
    often: bool = False,
) -> None:
    varying = [(value, where) for value, where in given if variations_of(value)]
    if not varying or frame.context.kind is ContextKind.XLA or frame.context.pipeline or frame.loop:
        return
    machine.said_on_host(
        frame,
        FeedCompiled,
        node,
        context,
        values=tuple(value for value, _ in varying),
        nodes=tuple(where for _, where in varying),
        target=target,
        certain=certain,
        often=often or frame.python_loop > 0 or frame.function is not None,
        traced=traced,
    )


# -- models -----------------------------------------------------------------------------------------------------------


def remember_compiled(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """`model.compile(..)`: from here on the model knows whether XLA compiles its steps."""
    if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
        return
    model = _owner(machine, frame, node.func.value, owner)
    how = Compiled(*_jit(machine, frame, model, arguments.keywords), Place(frame.unit, node))
    if how.jit and isinstance(model, ApiObject) and model.payload is not None:
        context = Context(ContextKind.XLA, False, f"`{frame.unit.code(node.func)}`, which has XLA compile the steps")
        _say(machine, frame, context, [(model.payload, node)], node, (how.place, "build"), often=True)
    match model:
        case Instance():
            model.facts = how
        case ApiObject() if api.kind_of(model.api) == "model":
            machine.assign_quietly(frame, node.func.value, replace(model, facts=how))
        case Unknown() if how.jit:  # only a Keras model has this argument
            machine.assign_quietly(frame, node.func.value, ApiObject("keras.Model", facts=how))


def _jit(machine: Core, frame: Frame, model: Value, settings: dict[str, Value]) -> tuple[bool | None, str]:
    """Whether XLA compiles the steps, and why; None where Keras 3 decides, which takes an accelerator to say yes."""
    scope = frame.context.scope
    if settings.get("run_eagerly", Static(False)) != Static(False):
        return False, ""
    if scope is not None and is_tpu(scope.strategy):
        return True, "a TPU strategy"
    match settings.get("jit_compile"):
        case Static(bool() as said):
            return said, "jit_compile=True"
        case None | Static("auto") if scope is None:
            outside = isinstance(model, ApiObject) and model.api.startswith(_OUTSIDE)
            decides = not outside and machine.keras_version(frame.module) == 3
            return None if decides else False, "the default of Keras 3 where it finds an accelerator"
        case _:  # any other strategy turns the default off
            return False, ""


def _owner(machine: Calls, frame: Frame, node: cst.BaseExpression, known: Value) -> Value:
    """The object before the dot. A method of Keras's own classes does not remember the object of the project."""
    names = node
    while isinstance(names, cst.Attribute):
        names = names.value
    return machine.evaluate(frame, node) if isinstance(names, cst.Name) else known


def run_model(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`model.fit(dataset)` and the like; what the call returns is for others to say."""
    if (
        not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute))
        or frame.context.kind not in NOT_TRACED
    ):
        return None
    method = node.func.attr.value
    model = _owner(machine, frame, node.func.value, owner)
    for option in options(model):
        if isinstance(option, ApiObject | Instance) and isinstance(option.facts, Compiled):
            _run(machine, frame, option.facts, method, arguments, node)
    return None


def _run(machine: Calls, frame: Frame, how: Compiled, method: str, arguments: Arguments, node: cst.Call) -> None:
    if how.jit is False:
        return
    context = Context(
        ContextKind.XLA, False, f"the steps of `{frame.unit.code(node.func)}`, which XLA compiles ({how.why})"
    )
    certain = how.jit is True
    if method in _STEPS:
        _say(machine, frame, context, given_values(arguments, node), node, (how.place, _STEPS[method]), certain=certain)
        return
    positions = {"x": 0}
    for name, step in _LOOPS[method].items():
        value = arguments.get(positions.get(name, len(arguments.positional)), name)
        datasets = [option for option in options(value) if is_dataset(option)] if value is not None else []
        given = [(dataset, node) for dataset in datasets]
        _say(machine, frame, context, given, node, (how.place, step), certain=certain, often=True)


def call_wrapped(
    machine: Calls, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """The call of what `tf.function(jit_compile=True)` made of a model or of something that nobody knows."""
    if not isinstance(owner, ApiObject):
        return None
    if isinstance(owner.facts, Wrapped):
        feed(machine, frame, owner.facts, arguments, node, owner.facts.place)
    return machine.call(frame, owner.payload or UNKNOWN, arguments, node)


RUNNERS: Final[dict[str, Any]] = {f".{name}": run_model for name in (*_LOOPS, *_STEPS)}
