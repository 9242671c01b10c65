"""Layers that get their weights while code is traced that holds, calls or makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Class, FunctionValue, Instance, Sequence, Value
from ..files.unit import Location
from ..library.call_kinds import WEIGHT_MAKERS
from ..library.keras_classes import WEIGHTED
from .contexts import ContextKind
from .events import BuildTraced, KeepBuilt, MakeWeights
from .frames import Compilation, Frame, Summary
from .interface import Interpreter

_DEEPEST: Final = 4  # of objects that hold layers


def report_traced_build(interpreter: Interpreter, frame: Frame | None, value: FunctionValue, summary: Summary) -> None:
    """Say that Keras 3 builds layers as it traces `call`, or a method that `call` uses, which is a `tf.function`: what
    has no `build` of its own is built by a first trace, and the function keeps that (measured)."""
    owner, compiled = value.bound, value.compiled
    if not isinstance(owner, Instance) or not isinstance(compiled, Compilation) or summary.function is None:
        return  # most functions
    if compiled.kind not in (ContextKind.GRAPH, ContextKind.XLA) or not value.function.decorator_texts:
        return
    if _is_forward(value, owner) and value.function.node.params.star_kwarg is not None:
        return  # Keras passes the first trace more than later calls: each of these is traced for itself (measured)
    if not (_is_forward(value, owner) or (frame is not None and _is_inside_forward(frame, owner))):
        return
    module = owner.cls.module
    if interpreter.keras_version(module) != 3 or any(isinstance(event, BuildTraced) for event in summary.events):
        return
    layer = next((name for name, held in owner.attributes.items() if _is_built_late(held)), None)
    if layer is None or _builds_layers(owner):
        return
    label, name, known = summary.function.label, summary.function.qualname, interpreter.said_keras(module) == 3
    summary.events.append(BuildTraced(label, summary.context, None, False, name, layer, known))


def report_kept_by_build(interpreter: Interpreter, frame: Frame, layer: Instance, node: cst.CSTNode) -> None:
    """Say that `call` of one layer calls another, whose `build` keeps a tensor: Keras 3 builds that layer while it
    traces the first, unless the first builds it (measured)."""
    kept, holder = interpreter.kept_by_build.get(layer.cls), frame.bound
    if not kept or not isinstance(holder, Instance) or not frame.context.becomes_graph:
        return  # most calls
    module = layer.cls.module
    if interpreter.keras_version(module) != 3 or not _is_inside_forward(frame, holder):
        return
    if _builds_layers(holder):
        return
    first, *_ = kept
    targets, traced = tuple(kept.values()), f"{holder.cls.qualname}.call"
    call, known = Location(frame.unit, node), interpreter.said_keras(module) == 3
    frame.summary.events.append(KeepBuilt(first, frame.context, None, False, targets, traced, call, known))


def report_made_weights(interpreter: Interpreter, frame: Frame, made: Instance, node: cst.CSTNode) -> None:
    """Say that traced code makes an object that adds weights of its own, or holds layers that do: the first is refused,
    of the second Keras 3 draws other weights in each trace, which are none of the model's (measured)."""
    cls = made.cls
    if not frame.context.becomes_graph or not any(map(cls.is_keras, ("layer", "model", "metric"))):
        return  # most objects
    maker = next((method for method in ("__init__", "build") if _adds_weights(cls, method)), "")
    if maker or _is_built_late(made):
        keras = interpreter.keras_version(frame.module)
        interpreter.emit(frame, MakeWeights, node, name=cls.qualname, maker=maker, keras=keras)


def _is_forward(value: FunctionValue, owner: Instance) -> bool:
    return value.function.name == "call" and any(map(owner.cls.is_keras, ("layer", "model")))


def _is_inside_forward(frame: Frame, owner: Instance) -> bool:
    """Whether `call` of the same object is executed."""
    return frame.function is not None and frame.bound is owner and _is_forward(FunctionValue(frame.function), owner)


def _is_built_late(held: Value, depth: int = 0) -> bool:
    """Whether this is a layer, or holds one, that makes its weights when it is first called."""
    match held:
        case ApiObject(api, method=None):
            return api.startswith("keras.layers.") and api.rpartition(".")[2] in WEIGHTED
        case Sequence(items=items, element=element) if depth < _DEEPEST:
            parts = (element,) if items is None else items
            return any(part is not None and _is_built_late(part, depth + 1) for part in parts)
        case Instance(cls, attributes) as owner if depth < _DEEPEST and any(map(cls.is_keras, ("layer", "model"))):
            if cls.find("build") is not None:
                return _adds_weights(cls, "build")
            parts = tuple(attributes.values())
            return not _builds_layers(owner, depth + 1) and any(_is_built_late(part, depth + 1) for part in parts)
        case _:
            return False


def _builds_layers(owner: Instance, depth: int = 0) -> bool:
    """Whether `__init__` or `build` of an object builds layers that it holds, itself or by calling them."""
    return any(_builds(node, owner, depth) for node in _nodes_of(owner.cls, "__init__", "build"))


def _builds(node: cst.CSTNode, owner: Instance, depth: int) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Call(func=cst.Name(value="super")))):
            return False
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="build"))):
            return True
        case cst.Call(func=cst.Attribute(value=cst.Name(), attr=cst.Name(value=name))):
            held = owner.attributes.get(name)
            return held is not None and _is_built_late(held, depth + 1)
        case _:
            return False


def _adds_weights(cls: Class, method: str) -> bool:
    """Whether a method of a class makes weights of its own."""
    return any(isinstance(node, cst.Attribute) and node.attr.value in WEIGHT_MAKERS for node in _nodes_of(cls, method))


def _nodes_of(cls: Class, *methods: str) -> Iterator[cst.CSTNode]:
    """The code of some methods of a class and of its ancestors in the project."""
    for ancestor in cls.mro:
        if not isinstance(ancestor, str):
            for name in ancestor.functions.keys() & methods:
                yield from cst.within(ancestor.functions[name].node)
