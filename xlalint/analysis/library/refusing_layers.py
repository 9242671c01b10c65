"""Layers with which Keras compiles no model, and what is computed with them: `supports_jit = False`.

On a GPU Keras 3 has cuDNN run an LSTM or GRU with the arguments below, for which XLA has no kernel (measured with Keras
3.15 on an NVIDIA H100).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from ...facts import tables
from ..domain.kinds import united
from ..domain.values import ApiObject, Creation, Sequence, Static, Value, Variation
from ..domain.varying_shapes import LAYER, variations_of, varied
from ..files.unit import Location
from .first_axes import of_rows

_CUDNN_RUNS: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "keras.layers.LSTM": {
        "activation": ("tanh",),
        "recurrent_activation": ("sigmoid",),
        "unroll": (False,),
        "use_bias": (True,),
        "use_cudnn": ("auto", True),
        "recurrent_dropout": (0, 0.0),
    }
}
_CUDNN_RUNS["keras.layers.GRU"] = {**_CUDNN_RUNS["keras.layers.LSTM"], "reset_after": (True,)}
_WRAPPERS: Final = frozenset(("keras.layers.Bidirectional", "keras.layers.TimeDistributed"))
CUDNN: Final = "cudnn"
"""The option of a layer that cuDNN runs on a GPU."""
BY_CUDNN: Final = ((CUDNN, Static(True)),)


def run_by_cudnn(api: str, arguments: Mapping[str, Value]) -> bool:
    """Whether cuDNN runs a layer that is made with these arguments, or the layer inside of it."""
    if api in _WRAPPERS:
        inner = arguments.get("layer", arguments.get("*0"))
        return isinstance(inner, ApiObject) and is_run_by_cudnn(inner)
    wanted = _CUDNN_RUNS.get(api)
    if wanted is None:
        return False
    given = ((arguments[name], allowed) for name, allowed in wanted.items() if name in arguments)
    return all(isinstance(value, Static) and value.known and value.constant in allowed for value, allowed in given)


def is_run_by_cudnn(layer: ApiObject) -> bool:
    """Whether cuDNN runs a layer on a GPU."""
    return (CUDNN, Static(True)) in layer.options


@cache
def _names() -> frozenset[str]:
    return frozenset(tables.refused_names())


def is_refused(value: Value) -> bool:
    """Whether this is a layer of Keras's own that declares that XLA compiles no model with it."""
    return isinstance(value, ApiObject) and value.method is None and value.api in _names()


def held(payload: Value | None) -> Iterator[ApiObject]:
    """The layers of Keras's own that a model was put together of, each with where it is made."""
    for layer in payload.items or () if isinstance(payload, Sequence) else ():
        if isinstance(layer, ApiObject) and layer.made is not None:
            yield layer


def after_layer(owner: ApiObject, arguments: Mapping[str, Value], result: Value, location: Location) -> Value:
    """What the call of a layer, or of layers one after the other, returns: computed with these, and with what its
    arguments were."""
    found = _layers_before(arguments.values())
    if owner.api in _names() or is_run_by_cudnn(owner):
        found = united(found, (Variation(LAYER, location, detail=owner.api),))
    elif owner.api in ("keras.Model", "keras.Sequential"):
        refused = (layer for layer in held(owner.payload) if layer.api in _names() or is_run_by_cudnn(layer))
        found = united(found, tuple(Variation(LAYER, it.made.location, detail=it.api) for it in refused if it.made))
        found = united(found, of_rows(next(iter(arguments.values()), None)))  # a model leaves out no example
    return varied(result, found)


def after_own_layer(arguments: Iterable[Value], result: Value) -> Value:
    """What the call of a layer of the project's returns, or of a function that nobody knows: computed with what its
    arguments were."""
    return varied(result, _layers_before(arguments))


def _layers_before(arguments: Iterable[Value]) -> tuple[Variation, ...]:
    found: tuple[Variation, ...] = ()
    for value in arguments:
        found = united(found, tuple(each for each in variations_of(value) if each.kind == LAYER))
    return found


def layers_of(outputs: Value | None, inputs: Value | None) -> tuple[ApiObject, ...]:
    """The layers that outputs were computed with, from inputs on."""
    before = variations_of(inputs)
    found = (each for each in variations_of(outputs) if each.kind == LAYER and each not in before)
    return tuple(
        ApiObject(each.detail, made=Creation(each.location), options=() if each.detail in _names() else BY_CUDNN)
        for each in found
    )
