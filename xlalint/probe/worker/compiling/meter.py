"""Runs a driven function eagerly and compiled, and tells what XLA did."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import (
    COMPILE,
    DIVERGES,
    FAILS,
    GRADIENT,
    LINE,
    LOCATE,
    RUN,
    TRACE,
    Call,
    Observation,
    Outcome,
    Plan,
    Spot,
    Trouble,
)

from ..code.eager import TensorFunction, eager_execution
from ..code.graphs import all_graphs, find_op
from ..code.line_tracing import LineTracer, TooLongError
from ..code.messages import brief
from ..code.user_lines import UserLines
from ..driving.driven import Driven, autograph_of, compiled
from ..driving.state import State
from ..inputs.numbers import EXTREMES
from ..inputs.tensors import Arguments
from .compare import Leaf, difference
from .divergence import departing, made_at, results_at, selections_before
from .eager_watch import watching
from .evidence import Line, LineValues, made_on
from .further_failures import Witness, lacking, lacking_in
from .gradients import gradients_of
from .hlo import Dump, bounded_ops, compiled_for
from .interpretation import Made, bounded_shapes, failure, made_by, one_place, recompilations
from .leaves import SIGNLESS, is_random, leaves, repeats
from .rounding import disturbed, rounding

# Seconds that an eager call may take with further values: a loop may not end for them.
_OTHER_VALUES: Final = 3.0


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
    random: bool = False
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
    dump: Dump
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
        self._values = LineValues(self._user_lines, self._wanted)
        self._traced_lines = LineTracer(self._user_lines.owns)
        self._started = time.monotonic()
        self._concrete: Any = None  # the traced function, for the first shapes
        self._programs: dict[int, list[str]] = {}  # by variant, what was compiled
        self._unlike: frozenset[int] = frozenset()  # the parts of the result that eager execution does not repeat
        self._by_chance = False  # whether random numbers are drawn that nobody asks to repeat
        self._signs = True  # whether a change of sign is a difference

    def measure(self) -> Outcome:
        """All of it. Raises EagerError."""
        driven, seen = self.driven, self._seen
        self._note("eager")
        self._eager(0, 0)  # objects make their variables at their first call
        if self._reference is not driven:
            self._eager(0, 0, driven=driven)
            _take_over(self._reference.state(), driven.state())
        self._state = State([*self._reference.state(), *driven.state()])
        expected = self._expected()
        self._unlike = self._not_repeated(expected[0])
        function = compiled(driven)
        self._keep(self.outcome())
        self._note(TRACE)
        self._state.restore()
        if (error := self._trace(function)) is not None:
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
            if one.variant and self._late():
                break
            seen.calls.append(call := self._call(function, one))
            if call.error is not None:
                self._fails(call.error)
                self._besides(self._not_compiled())
                return self.outcome()
        seen.observations += recompilations(seen.calls, self._programs, self._ops, self._behind)
        seen.observations += bounded_shapes(seen.calls, self._programs, self._ops, self._behind)
        self._diverges(expected)
        if self._plan.gradients and not self._late():
            self._keep(self.outcome())
            self._gradient()
        if self._extreme and driven.extreme is not None and not self._late():
            self._keep(self.outcome())
            self._extremes(function, driven.extreme)
        return self.outcome()

    def traced(self, **further: Any) -> tuple[list[Any], list[Any]] | None:
        """The variables that it uses, and those of them that can be trained, as its trace tells; None without a trace.
        `further`: arguments to trace it with, where the inputs do not say something else. Raises EagerError."""
        self._note("eager")
        self._eager(0, 0)
        self._state = State(self.driven.state())
        function = compiled(self.driven)
        self._note(TRACE)
        if (error := self._trace(function, **further)) is not None:
            self._seen.calls.append(Call(0, 0, error=error))
            if self.driven.is_step:
                self._fails(error)
            return None
        return list(self._concrete.graph.variables), self._state.trained

    def outcome(self) -> Outcome:
        """What is known by now."""
        seen = self._seen
        return Outcome(
            how=self.driven.how,
            inputs=tuple(self.driven.inputs),
            calls=tuple(seen.calls),
            observations=tuple(seen.observations),
            random=seen.random,
            gradient=seen.gradient,
            notes=tuple(dict.fromkeys((*self.driven.notes, *seen.notes))),
            reached=self._user_lines.lines(self._tracer.lines()),
            varied=self._values.varied(),
            made=() if self._graph is None else made_on(self._graph, self._wanted, self._user_lines),
            unconverted=self._user_lines.lines(self._traced_lines.lines()),
            seconds=round(time.monotonic() - self._started, 3),
        )

    @property
    def _behind(self) -> str:
        """What is compiled, behind other words, where it is not the function itself."""
        return f" of {self.driven.of}" if self.driven.is_step else ""

    def _late(self) -> bool:
        late = time.monotonic() - self._started > self._plan.seconds
        if late and "stopped early" not in "".join(self._seen.notes):
            self._seen.notes.append(f"stopped early, after {self._plan.seconds:g} s")
        return late

    # -- eager --------------------------------------------------------------------------------------------------------

    def _eager(
        self, variant: int, number: int, change: Callable[[Any], Any] = _same, driven: Driven | None = None
    ) -> list[Leaf]:
        """The result without any graph. Raises EagerError."""
        driven = driven or self._reference
        with eager_execution():
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
        with watching(self._values):
            return self._eager(variant, number)

    def _not_repeated(self, expected: Expected) -> frozenset[int]:
        """The parts of the result that another eager run gives otherwise: random numbers, or state of Python's."""
        self._state.restore()
        again = self._eager(expected.variant, expected.number)
        pairs = enumerate(zip(expected.result, again, strict=False))
        return frozenset(place for place, (one, other) in pairs if difference([one], [other]))

    # -- compiled -----------------------------------------------------------------------------------------------------

    def _trace(self, function: Callable[..., Any], **further: Any) -> Trouble | None:
        """Trace for the first shapes."""
        arguments, keywords = self.driven.make(0, 0)
        try:
            with self._traced_lines.tracing(math.inf):
                self._concrete = function.get_concrete_function(*arguments, **further | keywords)  # type: ignore[attr-defined]
        except Exception as error:
            return self._user_lines.trouble(error, TRACE)
        ops = [op for graph in all_graphs(self._concrete.graph) for op in graph.get_operations()]
        self._seen.random = any(is_random(op) for op in ops)
        self._by_chance = self._seen.random and not any(repeats(op) for op in ops)
        self._signs = not SIGNLESS.intersection(op.type for op in ops)
        return None

    def _call(self, function: Callable[..., Any], expected: Expected) -> Call:
        if self.driven.is_step:
            self._state.restore(expected.before)
        elif expected.variant == expected.number == 0:
            self._state.restore()
        arguments, keywords = self.driven.make(expected.number, expected.variant)
        self._dump.taken()
        started = time.monotonic()
        error, told = None, ""
        try:
            result = leaves(function(*arguments, **keywords))
        except Exception as raised:
            graph = None if self._concrete is None else self._concrete.graph
            error = self._user_lines.trouble(raised, COMPILE, graph)
        else:
            told = self._difference(expected, result)
        seconds = round(time.monotonic() - started, 3)
        programs = self._dump.taken()
        self._programs.setdefault(expected.variant, []).extend(programs)
        count, inside, bounded = compiled_for(programs)
        return Call(expected.variant, expected.number, count, inside, bounded, told, error, seconds)

    def _difference(self, expected: Expected, result: list[Leaf]) -> str:
        """How a compiled result differs from the eager one by more than rounding and chance."""
        if self.driven.is_step and self._seen.random:
            return ""
        told = difference(
            expected.result, result, random=self._unlike if self._by_chance else frozenset(), signs=self._signs
        )
        if not told or self._unlike:  # what no two eager runs agree on says nothing of rounding
            return told
        after = self._state.values()
        self._state.restore(expected.before)
        try:
            moved = self._eager(expected.variant, expected.number, disturbed)
        except EagerError:  # it does not take other numbers: the difference stands
            return told
        finally:
            self._state.restore(after)
        return "" if rounding(expected.result, result, moved) else told

    def _by_lines(self) -> None:
        """Compile and run what each line of the user's makes by itself, in the order of the lines in the graph, until
        one gives something else than the graph does that is not compiled, or ends the process."""
        call, autograph = self._plainly()
        for spot in made_at(self._graph, self._user_lines):
            here = [op for op in self._graph.get_operations() if spot in self._user_lines.of_op(op)[:1]]
            said = "the line at which compiled and eager execution part"
            found = Observation(DIVERGES, said, (spot,), ops=(here[-1].type,), sources=self._selections(here))
            self._keep(replace(self.outcome(), observations=(found,)))  # it may be the last
            self._note(f"{LINE} {spot.line} {spot.path}")
            plain, function = (
                results_at(call, spot, self._user_lines, autograph=autograph, compiled=one) for one in (False, True)
            )
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
        return bool(difference(*results)) and not self._seen.random

    def _plainly(self) -> tuple[Callable[..., Any], bool]:
        """The call without a `tf.function` around it, and whether it is to be converted."""
        call = self.driven.call
        if isinstance(call, TensorFunction):
            return call.python_function, getattr(call, "_autograph", True)
        return call, self.driven.autograph

    def _extremes(self, function: Callable[..., Any], extreme: Callable[[int], Arguments]) -> None:
        """Values for which eager execution raises, or gives other results than what is compiled; at the lines in
        question only."""
        for number in EXTREMES:
            self._note("extreme values")
            self._state.restore()
            try:
                with eager_execution():
                    positional, keywords = extreme(number)
                    expected = leaves(self._reference.call(*positional, **keywords))
            except tf.errors.InvalidArgumentError as error:
                trouble = self._user_lines.trouble(error, RUN)
                said = f"eager execution raises {trouble.kind}: {trouble.message}; compiled code does not"
                self._goes_on(function, extreme(number), Observation(DIVERGES, said, trouble.spots[:1]))
            except Exception:  # of any other kind: Python refuses the values, compiled or not
                continue
            else:
                self._differs(function, extreme(number), expected)

    def _goes_on(self, function: Callable[..., Any], given: Arguments, seen: Observation) -> None:
        """Whether what is compiled gives a result where eager execution raises."""
        if not any((spot.path, spot.line) in self._wanted for spot in seen.spots):
            return
        self._state.restore()
        try:
            function(*given[0], **given[1])
        except Exception:  # of any kind: it does not go on
            return
        self._seen.observations.append(seen)

    def _differs(self, function: Callable[..., Any], given: Arguments, expected: list[Leaf]) -> None:
        self._state.restore()
        try:
            told = difference(expected, leaves(function(*given[0], **given[1])), signs=self._signs)
            call, autograph = self._plainly()
            op = departing(call, given, self._state.restore, autograph=autograph, skip_random=True) if told else None
        except Exception:  # of any kind: it is no other result
            return
        if op is None:
            return
        spots = self._user_lines.of_op(op)[:1]
        if any((spot.path, spot.line) in self._wanted for spot in spots):
            said = f"{told} (compiled instead of eager, for extreme values)"
            self._seen.observations.append(Observation(DIVERGES, said, spots, ops=(op.type,)))

    # -- what it means ------------------------------------------------------------------------------------------------

    def _fails(self, error: Trouble, gradient: bool = False) -> None:
        of = "its gradient" if gradient else self.driven.of
        self._seen.observations.append(failure(error, of, self._graph, gradient))

    @property
    def _graph(self) -> Any:
        return None if self._concrete is None else self._concrete.graph

    def _besides(self, others: Iterable[Observation]) -> None:
        """What fails besides the first thing, at other places or for another operation."""
        [first] = self._seen.observations
        for one in others:
            if not (first.spots and one_place(first.spots[0], one.spots[0]) and set(one.ops) <= set(first.ops)):
                self._seen.observations.append(one)

    def _not_compiled(self) -> Iterator[Observation]:
        """The operations of the traced function that have no kernel."""
        for op in lacking_in(self._concrete.graph) if self._concrete is not None else ():
            if spots := self._user_lines.of_op(op):
                yield lacking(op.type, spots)

    def _watched(self) -> Iterable[Observation]:
        """What the eager call does that tracing or the compiler refuses, as far as it gets."""
        self._state.restore()
        arguments, keywords = self.driven.make(0, 0)
        given = [one for one in tf.nest.flatten((arguments, keywords)) if tf.is_tensor(one)]
        witness = Witness(self._user_lines, given, self.driven.autograph)
        try:
            with eager_execution(), watching(witness):
                self.driven.call(*arguments, **keywords)
        except Exception as error:  # it did not raise before: what it did until now is seen
            self._seen.notes.append(f"another eager call raises {type(error).__name__}: {brief(str(error))}")
        return witness.seen

    def _ops(self, names: Iterable[Iterable[str]]) -> Made:
        return made_by(names, self._graph, self._user_lines)

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
        op = self._parting(wanted)
        if op is not None and (spots := self._user_lines.of_op(op)):
            found = find_op(self._graph, op.name)  # the one that was found is of another trace
            sources = self._selections([] if found is None else [found])
            self._seen.observations[place] = Observation(DIVERGES, said, spots, ops=(op.type,), sources=sources)

    def _selections(self, ops: Iterable[Any]) -> tuple[Spot, ...]:
        """The user's lines with the selections by data from which operations are computed."""
        names = (name for several in self._programs.values() for one in several for name in bounded_ops(one))
        return self._user_lines.made_first(selections_before(ops, frozenset(names)))

    def _parting(self, wanted: Expected) -> Any:
        """The operation at which the compiled program begins to go another way; None where it is not found."""
        if self._concrete is None or wanted.variant or not self._plan.locate:
            return None
        call, autograph = self._plainly()
        given = self.driven.make(wanted.number, wanted.variant)
        chance = self._by_chance

        def restore() -> None:
            self._state.restore(wanted.before)

        try:
            return departing(call, given, restore, autograph=autograph, skip_random=chance)
        except Exception as error:  # the program with all its results visible need not compile
            self._seen.notes.append(
                f"the line where it differs was not found: {type(error).__name__}: {brief(str(error))}"
            )
            return None

    # -- gradients ----------------------------------------------------------------------------------------------------

    def _gradient(self) -> None:
        """Of the sum of all floating results, by all floating inputs and trained variables."""
        gradients = gradients_of(self.driven.call, self._state.trained)
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
        arguments, keywords = self.driven.make(0, 0)
        graph, stage = None, TRACE
        try:
            traced = tf.function(gradients, jit_compile=True, autograph=autograph_of(self.driven))
            graph, stage = traced.get_concrete_function(*arguments, **keywords).graph, COMPILE
            self._state.restore()
            result = leaves(traced(*arguments, **keywords))
        except Exception as error:
            self._seen.gradient = FAILS
            self._fails(self._user_lines.trouble(error, stage, graph), gradient=True)
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
        with eager_execution():
            return leaves(gradients(*arguments, **keywords))


def _take_over(originals: Sequence[Any], variables: Sequence[Any]) -> None:
    """A rewrite's variables begin with what its original's hold, which was called more often to find its inputs."""
    if [(tuple(one.shape), str(one.dtype)) for one in originals] == [
        (tuple(one.shape), str(one.dtype)) for one in variables
    ]:
        for original, variable in zip(originals, variables, strict=True):
            variable.assign(original)
