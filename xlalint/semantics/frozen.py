"""Objects that nobody changes once they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(*, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """A frozen dataclass with slots, for what is made by the hundred thousand: the type checker sees that nobody
    changes it. Python does not, which would make each of its fields three times as dear. `eq`: two are equal that hold
    the same; else each is itself."""
    return dataclass(slots=True, eq=eq, unsafe_hash=eq)
