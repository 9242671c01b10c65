"""Models that say how large their inputs are, or that were built for such a size."""

from __future__ import annotations

from ..domain.kinds import holds_text
from ..domain.values import ApiObject, Array, Instance, Sequence, Structure, Tensor, Value
from ..domain.varying_shapes import READ, mapped, variations_of
from ..record import replace


def is_of_one_size(model: ApiObject | Instance) -> bool:
    """Whether a model knows its inputs, and leaves none of their dimensions open that is seen."""
    if not isinstance(model, ApiObject) or model.made is None or not model.made.complete:
        return False
    return all(each.kind != "undeclared" for each in variations_of(model.payload))


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
