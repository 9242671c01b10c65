"""Where what is made of several values comes from: which of their origins says most of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .values import Dependence, Origin, Structure, Tensor, Unknown

# Stand in `Origin.shared` for what nobody knows, and which all replicas may have, and for a parameter that is so.
PERHAPS: Final = "(unseen)"
PARAMETER: Final = "(parameter)"


def strength(dependence: Dependence, origin: Origin | None) -> tuple[Dependence, int]:
    """How much a value decides of what is made of it and others: data that a replica of a strategy has alone go before
    what all of them have, and that before what comes from nobody knows where."""
    return dependence, 0 if origin is None else 1 if origin.shared else 2


def strongest(tensors: Iterable[Tensor]) -> Tensor:
    """The first of those that decide most of what is made of all of them."""
    return max(tensors, key=lambda tensor: strength(tensor.dependence, tensor.origin))


def taken(value: Structure | Unknown) -> str:
    """What is known of whether all replicas have the same of a value that somebody takes for a tensor."""
    match value:
        case Structure(origin=origin):
            return "" if origin is None else origin.shared
        case Unknown(names=names):
            return PARAMETER if names else PERHAPS
