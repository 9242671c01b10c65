"""Layers with which Keras compiles no model, and what is computed with them: `supports_jit = False`.

On a GPU Keras 3 has cuDNN run an LSTM or GRU with the arguments below, for which XLA has no kernel (measured with Keras
3.15 on an NVIDIA H100).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from ...facts import tables
from ..domain.kinds import leaves, united
from ..domain.values import ApiObject, Creation, Sequence, Static, Structure, Tensor, Value, Variation
from ..domain.varying_shapes import BEHIND, LAYER, OF_LAYERS, variations_of, varied
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
GPU_ALONE: Final = "gpu_alone"
"""The option of a layer that nothing but a GPU runs, or that has such a layer inside: the class of that one."""
GPU_LAYERS: Final = frozenset(("keras.layers.CuDNNGRU", "keras.layers.CuDNNLSTM"))
UNTRAINED: Final = "untrained"
"""The option of a layer that Keras 2 computes by an operation whose gradient has no kernel for CPU and GPU."""
_UNTRAINED: Final = ((UNTRAINED, Static(True)),)
ENLARGING: Final = "keras.layers.UpSampling2D"
_IS_BEHIND: Final = (BEHIND, Static(True))
WITHOUT_WEIGHTS: Final = frozenset(
    (
        "Activation",
        "Add",
        "AveragePooling2D",
        "Concatenate",
        "Cropping2D",
        "Dropout",
        "GaussianNoise",
        "Input",
        "InputLayer",
        "Lambda",
        "LeakyReLU",
        "MaxPooling2D",
        "Permute",
        "ReLU",
        "Rescaling",
        "Reshape",
        "Resizing",
        "UpSampling2D",
        "ZeroPadding2D",
    )
)
"""Layers without weights: no gradient is taken through what only these stand before."""
_SYMBOLIC: Final = "`keras.Input` returns data"
_NEAREST: Final = (None, Static("nearest"))


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


def further_options(api: str, arguments: Mapping[str, Value]) -> tuple[tuple[str, Static], ...]:
    """What decides whether XLA compiles a layer that is made with these arguments, and is no argument."""
    if api == ENLARGING and arguments.get("interpolation") in _NEAREST:
        return _UNTRAINED  # `tf.image.resize`; Keras 3 repeats the pixels (measured)
    if api in GPU_LAYERS:
        return ((GPU_ALONE, Static(api)),)
    inner = arguments.get("layer", arguments.get("*0")) if api in _WRAPPERS else None
    if isinstance(inner, ApiObject) and (layer := for_gpu_alone(inner)) is not None:
        return ((GPU_ALONE, Static(layer)),)
    return BY_CUDNN if run_by_cudnn(api, arguments) else ()


def for_gpu_alone(layer: ApiObject) -> str | None:
    """The class of a layer that nothing but a GPU runs, if it is one, or has one inside."""
    return next((value.constant for option, value in layer.options if option == GPU_ALONE), None)


def is_untrained(layer: ApiObject) -> bool:
    """Whether Keras 2 computes a layer by an operation whose gradient has no kernel."""
    return (UNTRAINED, Static(True)) in layer.options


def is_behind(layer: ApiObject) -> bool:
    """Whether a layer that Keras 2 computes so is known to stand behind weights in its model."""
    return _IS_BEHIND in layer.options


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
    if is_untrained(owner) and any(each.kind == BEHIND for each in found):
        found = united(found, (Variation(BEHIND, location, detail=owner.api),))
    if _is_remembered(owner):
        found = united(found, (_as_remembered(owner, location),))
    elif owner.api in ("keras.Model", "keras.Sequential"):
        refused = filter(_is_remembered, held(owner.payload))
        found = united(found, tuple(_as_remembered(it, it.made.location) for it in refused if it.made))
        found = united(found, of_rows(next(iter(arguments.values()), None)))  # a model leaves out no example
    return varied(result, found)


def behind_weights(layer: str, passed: Iterable[Value], result: Value) -> Value:
    """What a layer with weights makes of a symbolic input of a model, of whatever class it is."""
    if layer.rpartition(".")[2] in WITHOUT_WEIGHTS:
        return result
    inputs = tuple(
        Variation(BEHIND, leaf.origin.location)
        for value in passed
        for leaf in leaves(value)
        if isinstance(leaf, Tensor | Structure) and leaf.origin is not None and leaf.origin.what == _SYMBOLIC
    )
    return varied(result, united(variations_of(result), inputs[:1]))


def _is_remembered(layer: ApiObject) -> bool:
    named = layer.api in _names() or for_gpu_alone(layer) is not None
    return named or is_run_by_cudnn(layer) or is_untrained(layer)


def _as_remembered(layer: ApiObject, location: Location) -> Variation:
    return Variation(LAYER, location, detail=for_gpu_alone(layer) or layer.api)


def after_own_layer(arguments: Iterable[Value], result: Value) -> Value:
    """What the call of a layer of the project's returns, or of a function that nobody knows: computed with what its
    arguments were."""
    return varied(result, _layers_before(arguments))


def _layers_before(arguments: Iterable[Value]) -> tuple[Variation, ...]:
    found: tuple[Variation, ...] = ()
    for value in arguments:
        found = united(found, tuple(each for each in variations_of(value) if each.kind in OF_LAYERS))
    return found


def layers_of(outputs: Value | None, inputs: Value | None) -> tuple[ApiObject, ...]:
    """The layers that outputs were computed with, from inputs on."""
    before = variations_of(inputs)
    made = [each for each in variations_of(outputs) if each not in before]
    behind = {each.location for each in made if each.kind == BEHIND and each.detail}
    return tuple(
        ApiObject(
            each.detail,
            made=Creation(each.location),
            options=_options_of(each.detail) + ((_IS_BEHIND,) if each.location in behind else ()),
        )
        for each in made
        if each.kind == LAYER
    )


def _options_of(remembered: str) -> tuple[tuple[str, Static], ...]:
    """What made a layer of this class worth remembering."""
    if remembered == ENLARGING:
        return _UNTRAINED
    if remembered in GPU_LAYERS:
        return ((GPU_ALONE, Static(remembered)),)
    return () if remembered in _names() else BY_CUDNN
