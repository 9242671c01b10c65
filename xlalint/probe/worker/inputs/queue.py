"""In what order guesses are tried."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final, TypeAlias

from .complaints import Complaint
from .parts import Assignment, PartPath, changed_part

_BETWEEN: Final = 3  # calls of which one is for the likeliest guess, whatever it follows
_IN_VAIN: Final = 2  # how much less likely each other input for a part is that changed nothing of an error

_Place: TypeAlias = tuple[Complaint, int, PartPath]  # an error, and the part that is changed because of it


@dataclass
class Queue:
    """What is to be tried, each once: what follows a call that got further before what follows one that did not, and
    every few calls what is the nearest to the first guesses, however far that got. Where other inputs for a part lead
    to the very same error, the rest of these come later: the error is about something else."""

    seen: set[Assignment] = field(default_factory=set)
    _further: list[tuple[int, int, int, Assignment]] = field(default_factory=list)
    _nearer: list[tuple[int, int, int, Assignment]] = field(default_factory=list)
    _done: set[Assignment] = field(default_factory=set)
    _order: Iterator[int] = field(default_factory=count)
    _complaints: dict[Assignment, Complaint] = field(default_factory=dict)
    _places: dict[Assignment, _Place] = field(default_factory=dict)
    _in_vain: Counter[_Place] = field(default_factory=Counter)
    _delayed: dict[Assignment, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return len(self._done) < len(self.seen)

    def put(
        self,
        assignment: Assignment,
        progress: int,
        depth: int,
        origin: Assignment | None = None,
        *,
        forward: bool = False,
    ) -> None:
        """`progress`: less of it is further; `depth`: how many guesses less likely are behind it; `origin`: what failed
        before it; `forward`: also what waits already behind a call that got less far."""
        if assignment not in self.seen or (forward and assignment not in self._done):
            self.seen.add(assignment)
            if origin is not None and (part := changed_part(origin, assignment)) is not None:
                self._places[assignment] = (self._complaints[origin], *part)
            self._push(assignment, progress, depth)

    def _push(self, assignment: Assignment, progress: int, depth: int) -> None:
        order = next(self._order)
        heapq.heappush(self._further, (progress, depth, order, assignment))
        heapq.heappush(self._nearer, (depth, progress, order, assignment))

    def get(self) -> tuple[Assignment, int]:
        """The next, and its depth."""
        nearer = len(self._done) % _BETWEEN == _BETWEEN - 1
        while True:
            if nearer:
                depth, progress, _, assignment = self._popped(self._nearer)
            else:
                progress, depth, _, assignment = self._popped(self._further)
            late = _IN_VAIN * self._in_vain[self._places[assignment]] if assignment in self._places else 0
            if late <= self._delayed.get(assignment, 0):
                self._done.add(assignment)
                return assignment, depth
            self._push(assignment, progress, depth + late - self._delayed.get(assignment, 0))
            self._delayed[assignment] = late

    def answered(self, assignment: Assignment, complaint: Complaint) -> None:
        """Note the error of a call."""
        self._complaints[assignment] = complaint
        place = self._places.get(assignment)
        if place is not None and place[0] == complaint:
            self._in_vain[place] += 1

    def _popped(self, heap: list[tuple[int, int, int, Assignment]]) -> tuple[int, int, int, Assignment]:
        while True:
            one = heapq.heappop(heap)
            if one[3] not in self._done:
                return one
