"""Models that say how large their inputs are, or that were built for such a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..domain.kinds import holds_text
from ..domain.values import NONE, ApiObject, Array, Dict, Instance, Sequence, Static, Structure, Tensor, Value
from ..domain.varying_shapes import READ, UNDECLARED, mapped
from ..record import replace

INPUT_SHAPES: Final = frozenset(("batch_input_shape", "batch_shape", "input_dim", "input_shape"))
"""What the first layer of a model is told of its inputs."""
_DECLARED: Final = ("declared", Static(True))


def declares(name: str, arguments: Mapping[str, Value]) -> tuple[tuple[str, Static], ...]:
    """What is remembered of a model that is made of inputs of one size, or of a layer that is told the size of its."""
    if name == "keras.Model":
        declared = _is_closed(arguments.get("inputs", arguments.get("*0")))
    elif name == "keras.Sequential":
        layers = arguments.get("layers", arguments.get("*0"))
        first = layers.items[0] if isinstance(layers, Sequence) and layers.items else None
        declared = _is_closed(first)
    else:
        own = ("shape", "*0") if name == "keras.layers.InputLayer" else ()
        declared = any(
            _is_size(parameter, arguments[parameter]) for parameter in INPUT_SHAPES.union(own) & arguments.keys()
        )
    return (_DECLARED,) if declared else ()


def _is_size(parameter: str, sizes: Value) -> bool:
    """Whether sizes leave no dimension open that is seen, but that of the batch."""
    items = sizes.items if isinstance(sizes, Sequence) else None
    return sizes != NONE and NONE not in (items or ())[parameter.startswith("batch") :]


def _is_closed(inputs: Value | None) -> bool:
    """Whether symbolic inputs, or the layer that makes them, leave none of their dimensions open that is seen."""
    match inputs:
        case Tensor(varies=varies):
            return all(each.kind != UNDECLARED for each in varies)
        case ApiObject(options=options):
            return _DECLARED in options
        case Sequence(items=(_, *_) as parts):
            return all(map(_is_closed, parts))
        case Dict(entries=entries, element=None) if entries:
            return all(map(_is_closed, entries.values()))
        case _:
            return False


def is_of_one_size(model: ApiObject | Instance) -> bool:
    """Whether a model knows its inputs, and leaves none of their dimensions open that is seen."""
    return isinstance(model, ApiObject) and _DECLARED in model.options


def declared_text(model: ApiObject | Instance) -> Value | None:
    """The inputs that a model was made with, if there is text among them."""
    if not isinstance(model, ApiObject) or model.payload is None:
        return None
    parts = model.payload.items if isinstance(model.payload, Sequence) else None
    return next((part for part in (model.payload, *(parts or ())) if holds_text(part)), None)


def as_declared(value: Value) -> Value:
    """What such a model is passed: pictures that are read one by one have the size that it was made for."""

    def of_one_size(leaf: Value) -> Value:
        match leaf:
            case Tensor(varies=varies) | Structure(varies=varies) | Array(varies=varies) if varies:
                return replace(
                    leaf, varies=tuple(replace(each, shapes=1) if each.kind == READ else each for each in varies)
                )
            case _:
                return leaf

    return mapped(value, of_one_size)
