"""Which arguments the compiler follows, a compilation for every new value: read from the table of measured calls.

By hand stays what the table does not tell: subscripts and slices, which are no calls (the rules listen to them), and
what a parameter is for where the shape of the result does not decide it: an axis, an end of a window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from xlalint.analysis.domain.values import NONE, Value
from xlalint.analysis.library.api import kind_of
from xlalint.facts import tables
from xlalint.facts.tables import ApiFact, Case, Outcome
from xlalint.linter.rule import Effect, TpuOutcome

from ._kernels import event_name

# What a loop makes of an argument that it carries; nothing worse where the call compiles once.
CARRIED: Final = {Outcome.OK: None, Outcome.BOUNDED: Effect.NAMED, Outcome.FAILS: Effect.FAILS}
# A strategy has a step compiled for a TPU before there are values: all are to it what a loop's are to other compilers.
_ON_TPU: Final = {None: TpuOutcome.OK, Effect.NAMED: TpuOutcome.BOUNDED, Effect.FAILS: TpuOutcome.FAILS}
# What the parameters are called that choose an axis, or all of them: the shape changes with it, and no size is made.
AXES: Final = frozenset(("axes", "axis", "dim", "dimension", "pattern", "perm"))
# The ends of a window, which keeps its length where both move.
ENDS: Final = frozenset(("begin", "end"))
# What XLA207 is about, by API: the parameter that cuts.
COMPILED_AGAIN: Final = {
    "tf.RaggedTensor.from_value_rowids": "value_rowids",
    "tf.ragged.stack_dynamic_partitions": "partitions",
    "tf.ragged.row_splits_to_segment_ids": "splits",
    "tf.ragged.segment_ids_to_row_splits": "segment_ids",
}
# What XLA202 and XLA208 are about: their data, not the sizes that they are given.
SELECTIONS: Final = ("tf.setdiff1d", "tf.image.non_max_suppression_padded")


@dataclass(frozen=True)
class Followed:
    """One argument of a call that is compiled again for each of its values."""

    parameter: str  # of a layer that is called also its place: "*0 inputs"
    resizes: bool  # the value makes a size of the result
    carried: Effect | None  # what comes of a value that a loop makes, or chance
    content: bool  # the call reads it as data, and not in place of a Python value
    unless: frozenset[str]  # the parameters that keep the call from that where they are given

    def spared(self, arguments: Mapping[str, Value]) -> bool:
        """Another argument has the call not follow this one."""
        return any(arguments.get(name, NONE) != NONE for name in self.unless)


def on_tpu(carried: Effect | None) -> TpuOutcome:
    """What a TPU's strategy makes of a value of which, where a loop makes it, `carried` comes."""
    return _ON_TPU[carried]


@cache
def followed() -> Mapping[str, tuple[Followed, ...]]:
    """By the name that an event has: the followed arguments."""
    facts = (tables.api(name) for name in tables.following_names())
    named = ((_event_name(fact), tuple(_of(fact))) for fact in facts if fact is not None)
    return {name: found for name, found in named if found}


def _event_name(fact: ApiFact) -> str:
    """Of a layer the call; what else is built, is built with what is followed."""
    return event_name(fact) if kind_of(fact.name) is not None else fact.name


def names(resizes: bool) -> frozenset[str]:
    """The calls with a followed argument that makes a size of the result, or with one that does not."""
    return frozenset(name for name, found in followed().items() if any(one.resizes is resizes for one in found))


def _of(fact: ApiFact) -> Iterator[Followed]:
    found: dict[str, Followed] = {}
    for case in fact.cases:
        for parameter, follows in case.follows.items():
            content = parameter not in case.varied
            if content and (fact.name in SELECTIONS or (case is not fact.plain and not _left_out(case))):
                continue
            if COMPILED_AGAIN.get(fact.name) == parameter:
                continue
            unless = frozenset(_sparing(fact, case, parameter)) if content else frozenset()
            resizes = follows.resizes and parameter not in AXES | ENDS
            name = f"*0 {parameter}" if content and kind_of(fact.name) is not None else parameter
            one = Followed(name, resizes, CARRIED[follows.carried], content, unless)
            found.setdefault(parameter, one)
    return iter(found.values())


def _left_out(case: Case) -> bool:
    """It varies the plain call by what it does not give."""
    return all(written == "None" for written in case.varied.values())


def _sparing(fact: ApiFact, case: Case, parameter: str) -> Iterator[str]:
    """The parameters with which the content does not matter."""
    if case is not fact.plain:
        yield from case.varied
    for other in fact.cases[1:]:
        if len(other.varied) == 1 and other.outcome is not Outcome.FAILS and parameter not in other.follows:
            yield from other.varied.keys() - case.follows.keys()
