"""Objects that nobody changes once they are made."""

from __future__ import annotations

from typing import dataclass_transform

from msgspec import Struct, field
from msgspec.structs import replace


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record(Struct, frozen=True):
    """What is made by the hundred thousand: made, compared and hashed in a fraction of the time that a dataclass takes.
    Two are equal that hold the same; with `eq=False` each is itself."""


__all__ = ["Record", "replace"]
