"""Runs a driven function eagerly and compiled, and tells what XLA did."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from xlalint.probe.protocol import (
    COMPILE,
    DIVERGES,
    FAILS,
    GRADIENT,
    LINE,
    LOCATE,
    LOOPED,
    TRACE,
    Call,
    Observation,
    Outcome,
    Plan,
    Trouble,
)

from ..backends import backend
from ..code.line_tracing import LineTracer, TooLongError
from ..code.messages import brief
from ..code.random_state import random_state
from ..code.user_lines import UserLines
from ..driving.driven import Driven
from ..driving.state import State, take_over
from .chance import Draws, repeated
from .chosen import program_of
from .compare import Leaf, difference
from .evidence import Line
from .extremes import Extremes
from .hlo import bounded_ops, compiled_for
from .interpretation import bounded_shapes, one_place, recompilations, with_constants
from .leaves import leaves
from .program import Compilations, Parting, Program
from .rounding import disturbed, inexact, rounding

# Seconds that an eager call may take with further values: a loop may not end for them.
_OTHER_VALUES: Final = 3.0
# The share of its time after which nothing is compiled for further shapes, nor a gradient where extremes follow.
_SHARE: Final = 0.5
_BY_CHANCE: Final = 6  # further calls of what draws numbers


class EagerError(Exception):
    """Eager execution raises: there is nothing to compare with. The text is one line."""


def _same(given: Any) -> Any:
    return given


@dataclass(frozen=True)
class Expected:
    """What eager execution gives for one set of values of one shape, and what the variables held before."""

    variant: int
    number: int
    before: list[Any]
    result: list[Leaf]


@dataclass
class Seen:
    """What was seen so far, in the order in which it was."""

    calls: list[Call] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    gradient: str = ""


@dataclass(frozen=True)
class Progress:
    """Who listens: `note` to each step that may kill the process, `keep` to what is known before one."""

    note: Callable[[str], None]
    keep: Callable[[Outcome], None]


@dataclass(frozen=True)
class Instruments:
    """What is measured with: how thoroughly, whose lines count, what the compiler leaves behind, which lines run,
    who listens, which lines findings stand on, and whether extreme values are tried as well."""

    plan: Plan
    user_lines: UserLines
    dump: Compilations
    tracer: LineTracer
    progress: Progress
    wanted: frozenset[Line] = frozenset()
    extreme: bool = False


class Meter:
    """Measures one driven function.

    `reference` is what eager execution runs: the same, or what it was before it was rewritten.
    """

    def __init__(self, driven: Driven, reference: Driven, instruments: Instruments) -> None:
        self.driven, self._reference = driven, reference
        self._plan, self._user_lines = instruments.plan, instruments.user_lines
        self._dump, self._tracer = instruments.dump, instruments.tracer
        self._note, self._keep = instruments.progress.note, instruments.progress.keep
        self._seen = Seen()
        self._wanted, self._extreme = instruments.wanted, instruments.extreme
        self._program = program_of(driven, self._user_lines)
        self._values = self._program.values(self._wanted)
        self._traced_lines = LineTracer(self._user_lines.owns)
        self._started = time.monotonic()
        self._programs: dict[int, list[str]] = {}  # by variant, what was compiled
        self._unlike: frozenset[int] = frozenset()  # the parts of the result that eager execution does not repeat

    def measure(self) -> Outcome:
        """All of it. Raises EagerError."""
        driven, seen = self.driven, self._seen
        self._note("eager")
        try:
            self._eager(0, 0)  # objects make their variables at their first call
        except EagerError:
            if self._extreme:  # it may be what a finding says that compiled code does not do
                self._state = State([*self._reference.state(), *driven.state()])
                self._note("extreme values")
                seen.observations += self._extremes.seen(partial(driven.make, 0))
            raise
        if self._reference is not driven:
            self._eager(0, 0, driven=driven)
            take_over(self._reference.state(), driven.state())
        self._state = State([*self._reference.state(), *driven.state()])
        expected = self._expected()
        self._unlike = self._not_repeated(expected[0])
        self._keep(self.outcome())
        self._note(TRACE)
        self._state.restore()
        if (error := self._trace()) is not None:
            seen.calls.append(Call(0, 0, error=error))
            self._fails(error)
            self._keep(self.outcome())
            self._note("watch")
            self._besides(self._watched())
            return self.outcome()
        if self._plan.by_lines:
            self._by_lines()
            return self.outcome()
        self._note(COMPILE)
        for one in expected:
            if one.variant and self._late(_SHARE):
                break
            seen.calls.append(call := self._call(one))
            if call.error is not None:
                self._fails(call.error)
                self._besides(self._program.lacking())
                return self.outcome()
        again = [*recompilations(seen.calls, self._programs, self._program.locate, self._behind)]
        again = with_constants(again, seen.calls, self._program.constants, self._wanted)
        seen.observations += (
            replace(one, per=LOOPED) if driven.looped and one.per != "shape" else one for one in again
        )
        seen.observations += bounded_shapes(seen.calls, self._programs, self._program.locate, self._behind)
        self._diverges(expected)
        if drawn := self._drawn() if self._unlike and not self._program.random else ():
            others = (one for one in seen.observations if one.kind != DIVERGES)  # which that would be the cause of
            seen.observations = [*others, *repeated(drawn)]
        if self._plan.gradients and not self._late(_SHARE if self._extreme else 1.0):
            self._keep(self.outcome())
            self._gradient()
        if self._extreme and driven.extremes and not self._late():
            self._keep(self.outcome())
            extremes = self._extremes
            for given in driven.extremes:
                if not self._late():
                    self._note("extreme values")
                    seen.observations += extremes.seen(given)
        return self.outcome()

    def traced(self, **further: Any) -> tuple[list[Any], list[Any]] | None:
        """The variables that it uses, and those of them that can be trained, as its trace tells; None without a trace.
        `further`: arguments to trace it with, where the inputs do not say something else. Raises EagerError."""
        self._note("eager")
        self._eager(0, 0)
        self._state = State(self.driven.state())
        self._note(TRACE)
        if (error := self._trace(**further)) is not None:
            self._seen.calls.append(Call(0, 0, error=error))
            if self.driven.is_step:
                self._fails(error)
            return None
        return self._program.variables(), self._state.trained

    def outcome(self) -> Outcome:
        """What is known by now."""
        seen = self._seen
        return Outcome(
            how=self.driven.how,
            inputs=tuple(self.driven.inputs),
            calls=tuple(seen.calls),
            observations=tuple(seen.observations),
            random=self._program.random,
            gradient=seen.gradient,
            notes=tuple(dict.fromkeys((*self.driven.notes, *seen.notes))),
            reached=self._user_lines.lines(self._tracer.lines()),
            varied=self._values.varied(),
            made=self._program.made_on(self._wanted),
            unconverted=self._user_lines.lines(self._traced_lines.lines()),
            seconds=round(time.monotonic() - self._started, 3),
        )

    @property
    def _extremes(self) -> Extremes:
        return Extremes(self._program, self._reference, self._state, self._user_lines, self._plan, self._wanted)

    @property
    def _behind(self) -> str:
        """What is compiled, behind other words, where it is not the function itself."""
        return f" of {self.driven.of}" if self.driven.is_step else ""

    def _late(self, share: float = 1.0) -> bool:
        late = time.monotonic() - self._started > share * self._plan.seconds
        if late and "stopped early" not in "".join(self._seen.notes):
            self._seen.notes.append(f"stopped early, after {share * self._plan.seconds:g} s")
        return late

    # -- eager --------------------------------------------------------------------------------------------------------

    def _eager(
        self, variant: int, number: int, change: Callable[[Any], Any] = _same, driven: Driven | None = None
    ) -> list[Leaf]:
        """The result without any graph. Raises EagerError."""
        driven = driven or self._reference
        with backend.eager_execution():
            try:
                arguments, keywords = change(driven.make(number, variant))
                return leaves(driven.call(*arguments, **keywords))
            except TooLongError:
                raise EagerError("the eager call does not end") from None
            except Exception as error:
                raise EagerError(f"the eager call raises {type(error).__name__}: {brief(str(error))}") from error

    def _expected(self) -> list[Expected]:
        """What eager execution gives for all shapes and values, in the order in which the compiled calls follow.

        Raises EagerError where the first does not run; what does not run later is left out.
        """
        found: list[Expected] = []
        self._state.restore()
        for variant in range(self.driven.variants):
            for number in range(min(self.driven.value_sets, self._plan.value_sets)):
                before = self._state.values()
                try:
                    with self._tracer.tracing(self._plan.seconds if not found else _OTHER_VALUES):
                        found.append(Expected(variant, number, before, self._watched_eagerly(variant, number)))
                except EagerError as error:
                    if not found:
                        raise
                    self._seen.notes.append(f"some values are left out: {error}")
                    self._state.restore(before)
        return found

    def _watched_eagerly(self, variant: int, number: int) -> list[Leaf]:
        """The result without any graph; of the first shapes, with an eye on the lines that findings stand on."""
        if variant or not self._wanted:
            return self._eager(variant, number)
        self._values.next_call()
        with self._program.watching(self._values):
            return self._eager(variant, number)

    def _not_repeated(self, expected: Expected) -> frozenset[int]:
        """The parts of the result that another eager run gives otherwise: random numbers, or state of Python's."""
        for _ in range(_BY_CHANCE):  # which may lead it to the same twice
            before = random_state()
            self._state.restore()
            again = self._eager(expected.variant, expected.number)
            pairs = enumerate(zip(expected.result, again, strict=False))
            found = frozenset(place for place, (one, other) in pairs if difference([one], [other]))
            if found or random_state() == before or self._late(_SHARE):
                break
        return found

    def _drawn(self) -> frozenset[Line]:
        """The lines in question that draw numbers by chance, of what eager calls do not repeat and compiled ones do."""
        draws = Draws(self._user_lines.owns)
        try:
            for _ in range(_BY_CHANCE):
                if not self._wanted <= draws.lines and not self._late(_SHARE):
                    with draws.tracing():
                        self._eager(0, 0)
            if not self._wanted.intersection(draws.lines):
                return frozenset()
            first, again = (leaves(self._program.run(self.driven.make(0, 0))) for _ in range(2))
        except Exception:  # of any kind: nothing is known of it
            return frozenset()
        return frozenset() if difference(first, again) else self._wanted.intersection(draws.lines)

    # -- compiled -----------------------------------------------------------------------------------------------------

    def _trace(self, **further: Any) -> Trouble | None:
        """Trace for the first shapes."""
        given = self.driven.make(0, 0)
        try:
            with self._traced_lines.tracing(math.inf):
                self._program.trace(given, **further)
        except Exception as error:
            return self._program.trouble(error, TRACE)
        return None

    def _call(self, expected: Expected) -> Call:
        if self.driven.is_step:
            self._state.restore(expected.before)
        elif expected.variant == expected.number == 0:
            self._state.restore()
        given = self.driven.make(expected.number, expected.variant)
        self._dump.taken()
        started = time.monotonic()
        error, told = None, ""
        try:
            result = leaves(self._program.run(given))
        except Exception as raised:
            error = self._program.trouble(raised, COMPILE)
        else:
            told = self._difference(expected, result)
        seconds = round(time.monotonic() - started, 3)
        programs = self._dump.taken()
        self._programs.setdefault(expected.variant, []).extend(programs)
        count, inside, bounded = compiled_for(programs)
        return Call(expected.variant, expected.number, count, inside, bounded, told, error, seconds)

    def _difference(self, expected: Expected, result: list[Leaf]) -> str:
        """How a compiled result differs from the eager one by more than rounding and chance."""
        if self.driven.is_step and self._program.random:
            return ""
        told = difference(
            expected.result,
            result,
            random=self._unlike if self._program.by_chance else frozenset(),
            signs=self._program.signs,
            padded=self._plan.padded,
        )
        if not told or self._unlike:  # what no two eager runs agree on says nothing of rounding
            return told
        after = self._state.values()
        try:
            self._state.restore(expected.before)
            moved = self._eager(expected.variant, expected.number, disturbed)
            if rounding(expected.result, result, moved) or self._is_inexact(expected, result):
                return ""
        except EagerError:  # it does not take other numbers: the difference stands
            return told
        finally:
            self._state.restore(after)
        return told

    def _is_inexact(self, expected: Expected, result: list[Leaf]) -> bool:
        """Whether a compiled result differs as those of inexact arithmetic do, while its code, not compiled, gives what
        is expected: `1 - x` of what is cut off just below 1 is as inexact as that whatever the inputs are."""

        def moved(seed: int) -> list[Leaf]:
            self._state.restore(expected.before)
            return leaves(self._program.inexactly(self.driven.make(expected.number, expected.variant), seed))

        try:
            self._state.restore(expected.before)
            exact = self._eager(expected.variant, expected.number, driven=self.driven)
            alike = not difference(expected.result, exact, padded=self._plan.padded)
            return alike and inexact(expected.result, result, moved)
        except Exception:  # of any kind: nothing is known of it
            return False

    def _by_lines(self) -> None:
        """Compile and run what each line of the user's makes by itself, in the order of the lines in the graph, until
        one gives something else than the graph does that is not compiled, or ends the process."""
        for line, plain, function in self._program.lines():
            said = "the line at which compiled and eager execution part"
            found = Observation(DIVERGES, said, line.spots, ops=(line.op,), sources=line.sources)
            self._keep(replace(self.outcome(), observations=(found,)))  # it may be the last
            self._note(f"{LINE} {line.spots[0].line} {line.spots[0].path}")
            for number in range(min(self.driven.value_sets, self._plan.value_sets)):
                if self._parts(plain, function, number) and self._plan.by_lines == LOCATE:
                    self._seen.observations.append(found)
                    return

    def _parts(self, plain: Callable[..., Any], function: Callable[..., Any], number: int) -> bool:
        """Whether two functions give different results for one set of values; what does not compile is no result."""
        results = []
        for one in (plain, function):
            self._state.restore()
            arguments, keywords = self.driven.make(number, 0)
            try:
                results.append(leaves(one(*arguments, **keywords)))
                self._programs.setdefault(0, []).extend(self._dump.taken())
            except Exception:  # of any kind: an error is no death, and no other result
                return False
        return bool(difference(*results)) and not self._program.random

    # -- what it means ------------------------------------------------------------------------------------------------

    def _fails(self, error: Trouble, program: Program | None = None) -> None:
        """An error of the function, or of a `program` that is its gradient."""
        gradient = program is not None
        of = "its gradient" if gradient else self.driven.of
        self._seen.observations.append((program or self._program).failure(error, of, gradient))

    def _besides(self, others: Iterable[Observation]) -> None:
        """What fails besides the first thing, at other places or for another operation."""
        [first] = self._seen.observations
        for one in others:
            if not (first.spots and one_place(first.spots[0], one.spots[0]) and set(one.ops) <= set(first.ops)):
                self._seen.observations.append(one)

    def _watched(self) -> Iterable[Observation]:
        """What the eager call does that tracing or the compiler refuses, as far as it gets."""
        self._state.restore()
        arguments, keywords = self.driven.make(0, 0)
        witness = self._program.witness((arguments, keywords))
        try:
            with backend.eager_execution(), self._program.watching(witness):
                self.driven.call(*arguments, **keywords)
        except Exception as error:  # it did not raise before: what it did until now is seen
            self._seen.notes.append(f"another eager call raises {type(error).__name__}: {brief(str(error))}")
        return witness.seen

    def _diverges(self, expected: Sequence[Expected]) -> None:
        pairs = zip(self._seen.calls, expected, strict=False)
        call, wanted = next(((call, wanted) for call, wanted in pairs if call.difference), (None, None))
        if call is None or wanted is None:
            return
        said = f"{call.difference} (compiled instead of eager{self._behind})"
        place = len(self._seen.observations)
        self._seen.observations.append(Observation(DIVERGES, said))
        self._keep(self.outcome())
        self._note(LOCATE)
        if (found := self._parting(wanted)) is not None:
            self._seen.observations[place] = Observation(
                DIVERGES, said, found.spots, ops=(found.op,), sources=found.sources
            )

    def _parting(self, wanted: Expected) -> Parting | None:
        """The operation at which the compiled program begins to go another way; None where it is not found."""
        if wanted.variant or not self._plan.locate:
            return None
        given = self.driven.make(wanted.number, wanted.variant)
        names = (name for several in self._programs.values() for one in several for name in bounded_ops(one))

        def restore() -> None:
            self._state.restore(wanted.before)

        try:
            return self._program.parting(given, restore, frozenset(names), skip_random=self._program.by_chance)
        except Exception as error:  # the program with all its results visible need not compile
            self._seen.notes.append(
                f"the line where it differs was not found: {type(error).__name__}: {brief(str(error))}"
            )
            return None

    # -- gradients ----------------------------------------------------------------------------------------------------

    def _gradient(self) -> None:
        """Of the sum of all floating results, by all floating inputs and trained variables."""
        gradients, program = self._program.of_gradient(self._state)
        self._note("eager gradient")
        try:
            expected = self._eagerly(gradients)
        except Exception as error:
            self._seen.gradient = f"none in eager execution: {type(error).__name__}: {brief(str(error))}"
            return
        if not expected:
            return
        self._note(GRADIENT)
        self._state.restore()
        given, stage = self.driven.make(0, 0), TRACE
        try:
            program.trace(given)
            stage = COMPILE
            self._state.restore()
            result = leaves(program.run(given))
        except Exception as error:
            self._seen.gradient = FAILS
            self._fails(program.trouble(error, stage), program)
            return
        told = "" if self._unlike else difference(expected, result)
        if told and rounding(expected, result, self._eagerly(gradients, disturbed)):
            told = ""
        self._seen.gradient = DIVERGES if told else "equal"
        if told:
            said = f"the gradient: {told} (compiled instead of eager)"
            self._seen.observations.append(Observation(DIVERGES, said, gradient=True))

    def _eagerly(self, gradients: Callable[..., Any], change: Callable[[Any], Any] = _same) -> list[Leaf]:
        self._state.restore()
        arguments, keywords = change(self.driven.make(0, 0))
        with backend.eager_execution():
            return leaves(gradients(*arguments, **keywords))
