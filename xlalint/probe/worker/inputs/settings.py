"""Objects that stand for settings: a configuration, flags, hyperparameters, of which only their attributes are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xlalint.probe.specs import Form, Spec

from .tensors import ObjectInput, build, map_specs

Entry: TypeAlias = Form | ObjectInput


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


@dataclass(frozen=True)
class SettingsInput(ObjectInput):
    """Settings as an input, with what each entry gets."""

    entries: tuple[tuple[str, Entry], ...] = field(default=(), compare=False)

    def with_entry(self, name: str, value: Entry) -> SettingsInput:
        """The same with another value for an entry, or with one more."""
        return settings(dict(self.entries) | {name: value})


def settings(entries: Mapping[str, Entry]) -> SettingsInput:
    """Settings of these entries."""

    def make() -> Settings:
        return Settings(**{name: build(value, 0, 0) for name, value in entries.items()})

    def changed(change: Callable[[Spec], Spec]) -> ObjectInput:
        return settings({name: map_specs(value, change) for name, value in entries.items()})

    text = ", ".join(f"{name}={value}" for name, value in entries.items())
    return SettingsInput(f"Settings({text})", make, changed, tuple(entries.items()))


def entries_of(given: Any) -> Iterator[tuple[str, Entry]]:
    """The entries of an input, where it is settings."""
    if isinstance(given, SettingsInput):
        yield from given.entries
