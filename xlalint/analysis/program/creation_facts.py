"""What partitions tell each other of who creates objects of which classes, and the arguments of creations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from ..domain.values import Class, Function

Key: TypeAlias = tuple[str, int, str]
Callee: TypeAlias = Class | Function

SCRIPT: Final[Key] = ("", 0, "a script creates an object")
ANY_MODULE: Final[Key] = ("", 0, "modules are imported by names that are computed")
OTHERS: Final = "**"  # the name of what an unpacked dict brings


def is_made(callee: Callee) -> Key:
    """Somebody creates objects of a class, or calls a function."""
    return _about(callee, "called")


def is_taken(callee: Callee) -> Key:
    """Somebody has the class or function, or passes it what is not known: it may be called with anything."""
    return _about(callee, "taken")


def makes_its_kind(cls: Class) -> Key:
    """A method of the class creates objects of the class that it is called on."""
    return _about(cls, "creates its own kind")


def is_given(callee: Callee, which: int | str) -> Key:
    """Somebody passes the parameter at a position, or by a name."""
    return _about(callee, f"given {which}")


def is_set(attribute: str) -> Key:
    """Somebody assigns to an attribute of that name of an object that is not its own."""
    return ("", 0, f"sets {attribute}")


def is_told(method: str) -> Key:
    """Somebody has an object that is not its own run a method of that name, for what the method changes."""
    return ("", 0, f"tells to {method}")


def is_replaced_for_jax(cls: Class, step: str) -> Key:
    """A class that derives from a model has a step of its own which takes the state, as JAX's trainer passes it."""
    return _about(cls, f"{step} with state")


def _about(callee: Callee, what: str) -> Key:
    return (callee.module.source.display, 0, f"{callee.qualname}: {what}")


class Passed(Struct, frozen=True):
    """A parameter of a function or constructor, passed on."""

    callee: Callee
    name: str


class Constant(Struct, frozen=True):
    """A Python constant."""

    value: bool | int | float | str | None

    def is_like(self, other: object) -> bool:
        """Whether it is the same constant: 1 is not 1.0, nor True."""
        return isinstance(other, Constant) and (type(self.value), self.value) == (type(other.value), other.value)


# An argument; None where it may be anything.
Argument: TypeAlias = Constant | Passed | None
Creation: TypeAlias = Mapping[int | str, Argument]
