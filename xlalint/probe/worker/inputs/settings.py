"""Objects that stand for settings: a configuration, flags, hyperparameters, of which only their attributes are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from ..backends import backend
from .tensors import ComposedInput, Entry, composed


class Settings:
    """What is read by attribute or by key."""

    def __init__(self, **entries: Any) -> None:
        vars(self).update(entries)

    def __getitem__(self, key: str) -> Any:
        return vars(self)[key]

    def __contains__(self, key: str) -> bool:
        return key in vars(self)

    def keys(self) -> list[str]:
        """The names of the entries."""
        return list(vars(self))

    def get(self, key: str, default: Any = None) -> Any:
        """An entry, or what stands for it."""
        return vars(self).get(key, default)


def settings(entries: Mapping[str, Entry]) -> ComposedInput:
    """Settings of these entries."""
    return composed(Settings, entries)


def is_settings(given: object) -> TypeGuard[ComposedInput]:
    """Whether an input is settings."""
    return isinstance(given, ComposedInput) and given.made is Settings


def is_of_tensors(attribute: str) -> bool:
    """Whether some kind of tensor, a variable, a structure or a string has an attribute, which no setting has then."""
    kinds = (*backend.KINDS, dict, list, str)
    return any(hasattr(kind, attribute) for kind in kinds)
