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


class CalledSettings(Settings):
    """What is called as well, and gives what it is called with first."""

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        return next(iter((*positional, *keywords.values())), None)


def settings(entries: Mapping[str, Entry], *, called: bool = False) -> ComposedInput:
    """Settings of these entries; `called`: which can be called."""
    return composed(CalledSettings if called else Settings, entries)


def is_settings(given: object) -> TypeGuard[ComposedInput]:
    """Whether an input is settings."""
    return isinstance(given, ComposedInput) and given.made in (Settings, CalledSettings)


def is_of_tensors(attribute: str) -> bool:
    """Whether some kind of tensor, a variable, a structure or a string has an attribute, which no setting has then."""
    kinds = (*backend.KINDS, dict, list, str)
    return any(hasattr(kind, attribute) for kind in kinds)
