"""What functions do to the device, or have others do that they call, with the loops and conditions around it."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import Function
from ..files.unit import Location
from ..interpreter.frames import Done
from ..record import Record
from .surroundings import Around


class Reached(Record, eq=False):
    """What is done, and what stands around it from the outside in; `own` of that in the function that is looked at,
    where it, or the call that leads to it, is at `at`; `by`: the function that does it itself."""

    done: Done
    around: tuple[Around, ...]
    own: int
    at: Location
    by: Function | None

    @property
    def loop(self) -> int:
        """How many of these there are up to the innermost loop of many iterations, 0: none is around it."""
        loops = (at for at in range(len(self.around), 0, -1) if self.around[at - 1].is_loop)
        return next((at for at in loops if not self.around[at - 1].few), 0)

    @property
    def is_own(self) -> bool:
        return 0 < self.loop <= self.own


def header(loop: cst.CSTNode) -> cst.CSTNode:
    """What a loop goes through, or its test."""
    match loop:
        case cst.For(iter=header) | cst.While(test=header):
            return header
        case _:
            return loop
