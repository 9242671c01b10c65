"""Tensors of which not even the rank is known while tracing, and what says that they have one."""

from __future__ import annotations

from .kinds import LOST_RANKS
from .values import Value
from .varying_shapes import filtered, variations_of


def lacks_rank(value: Value | None) -> bool:
    """Whether nothing says what rank a tensor has."""
    return value is not None and any(each.kind in LOST_RANKS for each in variations_of(value))


def with_rank(value: Value) -> Value:
    """A tensor of which somebody says what rank it has."""
    return filtered(value, lambda each: each.kind not in LOST_RANKS)
