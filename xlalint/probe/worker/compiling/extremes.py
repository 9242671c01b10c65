"""Values for which eager execution raises, or gives other results than compiled code; at the lines in question only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from xlalint.probe.protocol import DIVERGES, RUN, Observation, Plan, Spot

from ..backends import backend
from ..code.user_lines import UserLines
from ..driving.driven import Driven
from ..driving.state import State
from ..inputs.tensors import Arguments
from .compare import Leaf, difference
from .evidence import Line
from .leaves import leaves
from .program import Program


@dataclass
class Extremes:
    """Runs a compiled `program` and its eager `reference` with such values; tells of each place once."""

    program: Program
    reference: Driven
    state: State
    user_lines: UserLines
    plan: Plan
    wanted: frozenset[Line]
    _told: set[Spot] = field(default_factory=set)

    def seen(self, make: Callable[[int], Arguments]) -> Iterator[Observation]:
        """What one call shows."""
        found = self._seen(make)
        if found is not None:
            self._told.update(found.spots)
            yield found

    def _seen(self, make: Callable[[int], Arguments]) -> Observation | None:
        self.state.restore()
        try:
            with backend.eager_execution():
                positional, keywords = make(0)
                expected = leaves(self.reference.call(*positional, **keywords))
        except backend.REFUSALS as error:
            trouble = self.user_lines.trouble(error, RUN)
            spots = trouble.spots[:1]
            if not self._is_open(spots) or self._result(make(0)) is None:
                return None
            said = f"eager execution raises {trouble.kind}: {trouble.message}; compiled code does not"
            return Observation(DIVERGES, said, spots, extreme=True)
        except Exception:  # of any other kind: Python refuses the values, compiled or not
            return None
        return self._differing(make(0), expected)

    def _is_open(self, spots: tuple[Spot, ...]) -> bool:
        """Whether a place is one in question of which nothing is told."""
        return any((spot.path, spot.line) in self.wanted and spot not in self._told for spot in spots)

    def _result(self, given: Arguments) -> list[Leaf] | None:
        """What is compiled gives; None where it raises anything."""
        self.state.restore()
        try:
            return leaves(self.program.run(given))
        except Exception:  # of any kind: it is no result
            return None

    def _differing(self, given: Arguments, expected: list[Leaf]) -> Observation | None:
        """What is said where the results are not equal."""
        result = self._result(given)
        if result is None:
            return None
        told = difference(expected, result, signs=self.program.signs, padded=self.plan.padded)
        try:
            place = self.program.parting(given, self.state.restore, frozenset(), skip_random=True) if told else None
        except Exception:  # of any kind: it is not found
            return None
        if place is None or not self._is_open(place.spots[:1]):
            return None
        said = f"{told} (compiled instead of eager, for extreme values)"
        return Observation(DIVERGES, said, place.spots[:1], ops=(place.op,), extreme=True)
