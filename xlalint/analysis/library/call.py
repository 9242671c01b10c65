"""A call of a library function, as the rules for results and ranks see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..domain.values import (
    Dependence,
    Origin,
    Value,
    Variation,
)
from ..record import Record

if TYPE_CHECKING:
    from ..files.unit import Location


class Call(Record):
    """A call of a function, or of a method of `owner`."""

    name: str
    arguments: Mapping[str, Value]
    location: Location | None
    owner: Value | None = None

    def get(self, *names: str) -> Value | None:
        """The argument under the first of these names that is given."""
        return next((self.arguments[name] for name in names if name in self.arguments), None)

    def here(self, what: str, shared: str = "") -> Origin | None:
        """The call as the origin of its result."""
        if self.location is None:
            return None
        return Origin(self.location, f"`{self.name.removesuffix('.__call__')}` {what}", shared=shared)


class Content(Record):
    """What the arguments of a call bring into its result."""

    dependence: Dependence = Dependence.STATIC
    origin: Origin | None = None
    bounded: Origin | None = None
    carried: bool = False
    outside: bool = False  # data that no loop carries is among it
    varies: tuple[Variation, ...] = ()
