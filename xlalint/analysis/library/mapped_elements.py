"""What the elements of a dataset are behind `map`."""

from __future__ import annotations

from functools import partial

from ..domain.kinds import LOST_RANKS, holds_text, leaves, united
from ..domain.values import ApiObject, Dependence, Dict, Pipeline, Sequence, Structure, Tensor, Value, Variation
from ..domain.varying_shapes import filtered, mapped, of_element, variations_of
from ..record import replace
from .datasets import DATASET


def after_map(owner: ApiObject, result: Value | None) -> ApiObject:
    """The dataset whose elements are what a function made of those of `owner`; None where the function is not seen. A
    batch stays as long as it was, whatever is made of it."""
    facts = owner.facts if isinstance(owner.facts, Pipeline) else Pipeline()
    before = variations_of(owner.payload)
    whole = tuple(variation for variation in before if variation.axis == 0 and facts.batch is not None)
    fixed, seen = (False, ()) if result is None else of_element(result)
    unseen = tuple(each for each in before if each.kind not in LOST_RANKS) if result is None else whole
    varies = united(seen, unseen)
    element = (
        Structure(varies=varies) if not isinstance(owner.payload, Structure) else replace(owner.payload, varies=varies)
    )
    payload = element if result is None else _told_apart(result, element)
    return ApiObject(DATASET, payload=payload, facts=replace(facts, uniform=fixed))


def _told_apart(result: Value, element: Structure) -> Value:
    """The elements, with what of them is text, which XLA takes none of, and what has lost its rank, where a function
    returns that in a tuple or dict."""

    def part(leaf: Value) -> Value:
        return Tensor(Dependence.VALUE, "string") if holds_text(leaf) else filtered(element, partial(_is_of, leaf))

    apart = any(part(leaf) != element for leaf in leaves(result))
    return mapped(result, part) if isinstance(result, Sequence | Dict) and apart else element


def _is_of(leaf: Value, variation: Variation) -> bool:
    """Whether a variation is of a leaf: what does not tell the rank of one of them says nothing of the others."""
    return variation.kind not in LOST_RANKS or variation in variations_of(leaf)
