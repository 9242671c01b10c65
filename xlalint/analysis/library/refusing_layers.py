"""Layers with which Keras compiles no model, and what is computed with them: `supports_jit = False`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from ...facts import tables
from ..domain.kinds import united
from ..domain.values import ApiObject, Creation, Sequence, Value, Variation
from ..domain.varying_shapes import LAYER, variations_of, varied
from ..files.unit import Location


@cache
def _names() -> frozenset[str]:
    return frozenset(tables.refused_names())


def held(payload: Value | None) -> Iterator[ApiObject]:
    """The layers of Keras's own that a model was put together of, each with where it is made."""
    for layer in payload.items or () if isinstance(payload, Sequence) else ():
        if isinstance(layer, ApiObject) and layer.made is not None:
            yield layer


def after_layer(owner: ApiObject, arguments: Mapping[str, Value], result: Value, location: Location) -> Value:
    """What the call of a layer, or of layers one after the other, returns: computed with these, and with what its
    arguments were."""
    found: tuple[Variation, ...] = ()
    for value in arguments.values():
        found = united(found, tuple(each for each in variations_of(value) if each.kind == LAYER))
    if owner.api in _names():
        found = united(found, (Variation(LAYER, location, detail=owner.api),))
    elif owner.api in ("keras.Model", "keras.Sequential"):
        refused = (layer for layer in held(owner.payload) if layer.api in _names() and layer.made is not None)
        found = united(found, tuple(Variation(LAYER, it.made.location, detail=it.api) for it in refused if it.made))
    return varied(result, found)


def layers_of(outputs: Value | None) -> tuple[ApiObject, ...]:
    """The layers that outputs were computed with."""
    found = (each for each in variations_of(outputs) if each.kind == LAYER)
    return tuple(ApiObject(each.detail, made=Creation(each.location)) for each in found)
