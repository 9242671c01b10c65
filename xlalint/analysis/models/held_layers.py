"""The layers of Keras's own that a model is put together of, or holds in its attributes, and with which Keras compiles
no model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import leaves
from ..domain.values import ApiObject, Compiled, Creation, Dict, Instance, Sequence, Value
from ..files.unit import Location
from ..interpreter.contexts import Context, ContextKind
from ..interpreter.events import HoldLayer
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..library import api
from ..library.refusing_layers import (
    ENLARGING,
    for_gpu_alone,
    held,
    is_behind,
    is_refused,
    is_run_by_cudnn,
    is_untrained,
)
from ..library.strategies import is_tpu, making_of
from ..program.definitions import all_methods
from ..program.signs import Shows
from ..record import replace

_DEEP: Final = 4  # how many objects inside each other are looked into


def report_held(interpreter: Interpreter, frame: Frame, model: Value, how: Compiled, node: cst.Call) -> None:
    """What a model holds that is compiled here, however it got it: Keras looks at all its layers, called or not."""
    if frame.module.is_test:
        return
    context = Context(ContextKind.XLA, False, f"`{frame.unit.code(node.func)}`", by_keras=True)
    keras_3 = interpreter.keras_version(frame.module) == 3
    found: Iterator[ApiObject] = iter(())
    match model:
        case ApiObject():
            found = held(model.payload)
        case Instance() if keras_3 and model.cls.is_keras("model"):
            # A TPU compiles all that the steps call, and nothing else.
            found = (it for it in _of_object(model, _DEEP, called=_on_tpu(frame, model)) if _keeps_off(it))
        case Instance() if model.cls.is_keras("model"):
            found = filter(is_untrained, _of_object(model, _DEEP, called=True))
    untrained: dict[Location, bool] = {}
    for layer in found:
        alone = for_gpu_alone(layer)
        if layer.made is None or (alone is not None and not how.jit):  # Keras 2 has it, and compiles what it is told to
            continue
        if is_untrained(layer) and not keras_3:
            untrained[layer.made.location] = is_behind(layer) or untrained.get(layer.made.location, False)
        else:
            how_run = is_run_by_cudnn(layer) and keras_3
            name = alone or layer.api
            frame.summary.events.append(HoldLayer(layer.made.location, context, None, False, name, how_run, ()))
    if untrained:
        places = tuple(untrained.items())
        frame.summary.events.append(HoldLayer(places[0][0], context, None, False, ENLARGING, False, places))


def keeps_off(model: Value) -> bool:
    """Whether a model holds a layer with which Keras 3 does not have XLA compile it where a GPU decides."""
    match model:
        case ApiObject():
            return any(_keeps_off(layer) for layer in held(model.payload))
        case Instance() if model.cls.is_keras("model"):
            return any(_keeps_off(layer) for layer in _of_object(model, _DEEP, own=True))
        case _:
            return False


def _on_tpu(frame: Frame, model: Instance) -> bool:
    made = making_of(model)
    scope = frame.context.scope or (None if made is None else made.scope)
    return scope is not None and is_tpu(scope.strategy)


def _keeps_off(layer: ApiObject) -> bool:
    return is_refused(layer) or is_run_by_cudnn(layer)


def _of_object(owner: Instance, deep: int, called: bool = False, own: bool = False) -> Iterator[ApiObject]:
    """The layers in the attributes of a model or layer. `called`: only those in attributes that its methods call;
    `own`: also those that it makes itself."""
    for name, value in owner.attributes.items():
        if (not called or _calls(owner, name)) and (own or not _makes(owner, value)):
            yield from _inside(value, deep, own)


def _makes(owner: Instance, value: Value) -> bool:
    """Whether a layer is one that the object makes itself, and whose calls are seen in its methods."""
    if not (isinstance(value, ApiObject) and is_refused(value) and value.made is not None):
        return False
    made = value.made.location.node
    return any(node is made for function in all_methods(owner.cls) for node in cst.within(function.node.body))


def _calls(owner: Instance, attribute: str) -> bool:
    for function in all_methods(owner.cls):
        for node in cst.within(function.node.body):
            match node:
                case cst.Call(func=cst.Attribute(value=cst.Name("self"), attr=cst.Name(name))) if name == attribute:
                    return True
    return False


def _inside(value: Value, deep: int, own: bool) -> Iterator[ApiObject]:
    """The layers in what an attribute holds, which Keras tracks in lists, tuples and dicts as well."""
    if deep == 0:
        return
    match value:
        case ApiObject("keras.Model" | "keras.Sequential", payload=payload):
            yield from held(payload)
        case ApiObject(made=made) if own or made is not None:
            yield value
        case Instance(cls) if cls.is_keras("layer") or cls.is_keras("model"):
            yield from _of_object(value, deep - 1, own=own)
        case Sequence(items=tuple(items)):
            for item in items:
                yield from _inside(item, deep - 1, own)
        case Dict(entries):
            for item in entries.values():
                yield from _inside(item, deep - 1, own)


def _sequential(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`Sequential([layer, ..])`, which remembers its layers, each with where it is made."""
    if not arguments.positional or not arguments.nodes:
        return None
    _hand_over(interpreter, frame, arguments.positional[0], node)
    made = api.call("keras.Sequential", {"layers": arguments.positional[0]}, Location(frame.unit, node))
    match arguments.positional[0], arguments.nodes[0]:
        case Sequence(items=tuple(items)), cst.List(elements=elements) if isinstance(made, ApiObject) and len(
            items
        ) == len(elements):
            places = (element.value for element in elements)
            layers = [layer for item, place in zip(items, places, strict=True) for layer in _layers(frame, item, place)]
            inputs = () if made.payload is None else (made.payload,)
            return replace(made, payload=Sequence("tuple", (*layers, *inputs)))
        case _:
            return made


def _added(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`model.add(layer)`."""
    _hand_over(interpreter, frame, arguments.get(0, "layer"), node)
    match owner, node, arguments.positional:
        case ApiObject(payload=payload), cst.Call(func=cst.Attribute(value=place)), [layer]:
            before = payload.items or () if isinstance(payload, Sequence) else () if payload is None else (payload,)
            found = tuple(_layers(frame, layer, arguments.nodes[0] if arguments.nodes else node))
            if found:
                interpreter.assign_quietly(frame, place, replace(owner, payload=Sequence("tuple", (*before, *found))))
    return None


def _hand_over(interpreter: Interpreter, frame: Frame, given: Value | None, node: cst.BaseExpression) -> None:
    """A sequence of layers is built by a trace, also where it is called line by line (measured)."""
    for layer in leaves(given):
        if isinstance(layer, Instance):
            interpreter.handed.add(layer.cls)
            interpreter.show(frame, Shows.GRAPHS, node, f"`{layer.cls.name}` in a `keras.Sequential`")


def _layers(frame: Frame, value: Value, place: cst.CSTNode) -> Iterator[ApiObject]:
    """The layers of Keras's own that a part of a model is or holds."""
    match value:
        case ApiObject("keras.Model" | "keras.Sequential", payload=payload):
            yield from held(payload)
        case ApiObject(name) if name.startswith("keras.layers."):
            yield ApiObject(name, made=Creation(Location(frame.unit, place)), options=value.options)


FUNCTIONS: Final[dict[str, FunctionModel]] = {"keras.Sequential": _sequential}
METHODS: Final[dict[str, MethodModel]] = {"keras.Sequential.add": _added}
