"""Runs a driven function eagerly and compiled, and tells what XLA did: the core of the probe and of the tests."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import (
    BOUNDED,
    COMPILE,
    DIVERGES,
    FAILS,
    GRADIENT,
    LINE,
    RECOMPILES,
    RUN,
    TRACE,
    Call,
    Observation,
    Outcome,
    Plan,
    Spot,
    Trouble,
)
from xlalint.probe.statements import statements
from xlalint.probe.target import Target
from xlalint.probe.worker.blame import Blame, all_graphs, brief, filtering, scope_of
from xlalint.probe.worker.compare import SIGNLESS, Leaf, difference, is_random, leaves, repeats, rounding
from xlalint.probe.worker.gradients import gradients_of
from xlalint.probe.worker.hlo import Dump, bounded_ops, changed_ops, compiled_for
from xlalint.probe.worker.load import LoadError, load
from xlalint.probe.worker.locate import departing, made_at, results_at
from xlalint.probe.worker.reach import Reach, TooLongError
from xlalint.probe.worker.remaining import Witness, lacking, lacking_in

if TYPE_CHECKING:
    from xlalint.probe.worker.drive import Driven

TensorFunction: Final = type(tf.function(lambda: None))
_LAST_DIGITS: Final = 4.0  # units in the last place, by which inputs are disturbed


# Seconds that an eager call may take with further values: a loop may not end for them.
_OTHER_VALUES: Final = 3.0


class EagerError(Exception):
    """Eager execution raises: there is nothing to compare with. The text is one line."""


@contextmanager
def eager_execution() -> Iterator[None]:
    """No `tf.function` is traced in the body; all run as the Python that they are."""
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)


def _same(given: Any) -> Any:
    return given


class State:
    """The variables that a call may change: eager and compiled calls start from the same ones."""

    def __init__(self, variables: Sequence[Any]) -> None:
        self._variables = list({id(one): one for one in variables}.values())
        self._last: list[Any] = [None] * len(self._variables)
        self._saved = self.values()

    def values(self) -> list[Any]:
        """What the variables hold now; what did not change since the last time is the same object."""
        now = (getattr(one, "value", one) for one in self._variables)
        held = [np.asarray(one() if callable(one) else one) for one in now]
        self._last = [
            before if before is not None and np.array_equal(before, after) else np.array(after)
            for before, after in zip(self._last, held, strict=True)
        ]
        return self._last

    def restore(self, values: Sequence[Any] | None = None) -> None:
        """Put back what they held at first, or what is given."""
        for variable, value in zip(self._variables, self._saved if values is None else values, strict=True):
            variable.assign(value)

    @property
    def trained(self) -> list[Any]:
        """What a gradient is asked for."""
        owned = (getattr(one, "value", one) for one in self._variables if getattr(one, "trainable", False))
        return [one for one in owned if isinstance(one, tf.Variable) and one.dtype.is_floating]


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
class Ears:
    """Who listens: `note` to each step that may kill the process, `keep` to what is known before one."""

    note: Callable[[str], None]
    keep: Callable[[Outcome], None]


class Meter:
    """Measures one driven function; `reach` collects what of the user's code runs.

    `reference` is what eager execution runs: the same, or what it was before it was rewritten.
    """

    def __init__(
        self, driven: Driven, reference: Driven, plan: Plan, blame: Blame, dump: Dump, reach: Reach, ears: Ears
    ) -> None:
        self.driven, self._reference, self._plan, self._blame, self._dump, self._reach = (
            driven,
            reference,
            plan,
            blame,
            dump,
            reach,
        )
        self._note, self._keep = ears.note, ears.keep
        self._seen = Seen()
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
        self._recompiles()
        self._bounded()
        self._diverges(expected)
        if self._plan.gradients and not self._late():
            self._keep(self.outcome())
            self._gradient()
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
            reached=self._blame.lines(self._reach.lines()),
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
                    with self._reach.watching(self._plan.seconds if not found else _OTHER_VALUES):
                        found.append(Expected(variant, number, before, self._eager(variant, number)))
                except EagerError as error:
                    if not found:
                        raise
                    self._seen.notes.append(f"some values are left out: {error}")
                    self._state.restore(before)
        return found

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
            self._concrete = function.get_concrete_function(*arguments, **further | keywords)  # type: ignore[attr-defined]
        except Exception as error:
            return self._blame.trouble(error, TRACE)
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
            error = self._blame.trouble(raised, COMPILE, graph)
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
            disturbed = self._eager(expected.variant, expected.number, _disturbed)
        except EagerError:  # it does not take other numbers: the difference stands
            return told
        finally:
            self._state.restore(after)
        return "" if rounding(expected.result, result, disturbed) else told

    def _by_lines(self) -> None:
        """Compile and run what each line of the user's makes by itself, in the order of the lines in the graph."""
        call, autograph = self._plainly()
        for spot in made_at(self._concrete.graph, self._blame) if self._concrete is not None else ():
            self._note(f"{LINE} {spot.line} {spot.path}")
            function = results_at(call, spot, self._blame, autograph=autograph)
            for number in range(min(self.driven.value_sets, self._plan.value_sets)):
                self._state.restore()
                arguments, keywords = self.driven.make(number, 0)
                with contextlib.suppress(Exception):  # an error is no death
                    function(*arguments, **keywords)

    def _plainly(self) -> tuple[Callable[..., Any], bool]:
        """The call without a `tf.function` around it, and whether it is to be converted."""
        call = self.driven.call
        if isinstance(call, TensorFunction):
            return call.python_function, getattr(call, "_autograph", True)
        return call, self.driven.autograph

    # -- what it means ------------------------------------------------------------------------------------------------

    def _fails(self, error: Trouble, gradient: bool = False) -> None:
        of = "its gradient" if gradient else self.driven.of
        if error.ops:
            within = "" if error.spots or self._concrete is None else scope_of(self._concrete.graph, error.ops)
            said = f"XLA cannot compile {of}: no kernel for {', '.join(f'`{op}`' for op in error.ops)}{within}"
        elif error.stage == TRACE:
            said = f"tracing {of} fails with {error.kind}: {error.message}"
        else:
            said = f"XLA cannot compile {of}: {error.message}"
        ops, lacking = error.ops or error.made, bool(error.ops)
        self._seen.observations.append(
            Observation(FAILS, said, error.spots, gradient=gradient, ops=ops, lacking=lacking)
        )

    def _besides(self, others: Iterable[Observation]) -> None:
        """What fails besides the first thing, at other places or for another operation."""
        [first] = self._seen.observations
        for one in others:
            if not (first.spots and _one_place(first.spots[0], one.spots[0]) and set(one.ops) <= set(first.ops)):
                self._seen.observations.append(one)

    def _not_compiled(self) -> Iterator[Observation]:
        """The operations of the traced function that have no kernel."""
        for op in lacking_in(self._concrete.graph) if self._concrete is not None else ():
            if spots := self._blame.made(op):
                yield lacking(op.type, spots)

    def _watched(self) -> Iterable[Observation]:
        """What the eager call does that tracing or the compiler refuses, as far as it gets."""
        self._state.restore()
        arguments, keywords = self.driven.make(0, 0)
        given = [one for one in tf.nest.flatten((arguments, keywords)) if tf.is_tensor(one)]
        witness = Witness(self._blame, given, self.driven.autograph)
        try:
            with eager_execution(), witness.watching():
                self.driven.call(*arguments, **keywords)
        except Exception as error:  # it did not raise before: what it did until now is seen
            self._seen.notes.append(f"another eager call raises {type(error).__name__}: {brief(str(error))}")
        return witness.seen

    def _recompiles(self) -> None:
        shapes: dict[int, list[Call]] = {}
        for call in self._seen.calls:
            shapes.setdefault(call.variant, []).append(call)
        for variant, calls in shapes.items():
            count = sum(call.compilations for call in calls)
            if any(call.compilations for call in calls[1:]):
                said = f"{count} compilations{self._behind} for {len(calls)} sets of values of one shape"
                made = self._made(_each(changed_ops, self._programs[variant]))
                self._seen.observations += [
                    Observation(RECOMPILES, said, spots, "value", ops=ops) for spots, ops in made.items()
                ]
                return
        if len(shapes) > 1 and all(calls[0].compilations for calls in shapes.values()):
            said = f"{len(shapes)} compilations for {len(shapes)} shapes"
            self._seen.observations.append(Observation(RECOMPILES, said, (), "shape"))

    def _bounded(self) -> None:
        calls = [call for call in self._seen.calls if call.inside]
        if not calls:
            return
        outputs = sorted({place for call in calls for place in call.bounded})
        where = f"in {_listed(outputs, 'result')}" if outputs else "inside"
        made = self._made(bounded_ops(program) for programs in self._programs.values() for program in programs)
        said = f"compiles{self._behind} with a bounded dynamic shape {where}"
        self._seen.observations += [Observation(BOUNDED, said, spots, ops=ops) for spots, ops in made.items()]

    def _made(self, ops: Iterable[Iterable[str]]) -> dict[tuple[Spot, ...], tuple[str, ...]]:
        """The user's lines that made operations, with what these are; no lines where none is known."""
        found: dict[tuple[Spot, ...], dict[str, None]] = {}
        for name in dict.fromkeys(name for several in ops for name in several) if self._concrete is not None else ():
            spots, kind = self._blame.op(self._concrete.graph, name)
            if spots:
                found.setdefault(spots, {})[kind] = None
        return {spots: tuple(kinds) for spots, kinds in found.items()} or {(): ()}

    def _diverges(self, expected: Sequence[Expected]) -> None:
        pairs = zip(self._seen.calls, expected, strict=False)
        call, wanted = next(((call, wanted) for call, wanted in pairs if call.difference), (None, None))
        if call is None or wanted is None:
            return
        said = f"{call.difference} (compiled instead of eager{self._behind})"
        place = len(self._seen.observations)
        self._seen.observations.append(Observation(DIVERGES, said))
        self._keep(self.outcome())
        self._note("locate")
        op = self._parting(wanted)
        if op is not None and (spots := self._blame.made(op)):
            self._seen.observations[place] = Observation(DIVERGES, said, spots, ops=(op.type,))

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
            self._seen.notes.append(f"where it departs was not found: {type(error).__name__}: {brief(str(error))}")
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
            self._fails(self._blame.trouble(error, stage, graph), gradient=True)
            return
        told = "" if self._unlike else difference(expected, result)
        if told and rounding(expected, result, self._eagerly(gradients, _disturbed)):
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


def program(target: Target, blame: Blame, dump: Dump) -> Outcome:
    """Run a whole file, as one call: what it compiled by itself, and the error that ended it."""
    dump.taken()
    started = time.monotonic()
    error = None
    filtering(True)  # an error is told as whoever runs the program sees it
    try:
        load(Path(target.file), target.search).close()
    except LoadError as raised:
        error = blame.trouble(raised.__cause__ or raised, RUN)
    finally:
        filtering(False)
    count, inside, bounded = compiled_for(dump.taken())
    call = Call(0, 0, count, inside, bounded, error=error, seconds=round(time.monotonic() - started, 3))
    observations = () if error is None else (Observation(FAILS, f"{error.kind}: {error.message}", error.spots),)
    return Outcome(how="run as a program", calls=(call,), observations=observations)


def compiled(driven: Driven) -> Callable[..., Any]:
    """The function as XLA compiles it. What already is compiled stays as it is."""
    call = driven.call
    if isinstance(call, TensorFunction) and getattr(call, "_jit_compile", None):
        return call  # type: ignore[no-any-return]
    if isinstance(call, TensorFunction) or not inspect.isroutine(call):
        return tf.function(lambda *one, **two: call(*one, **two), jit_compile=True, autograph=False)  # type: ignore[no-any-return]
    return tf.function(call, jit_compile=True, autograph=driven.autograph)  # type: ignore[no-any-return]


def autograph_of(driven: Driven) -> bool:
    """Whether a function around the driven one is to be converted; a `tf.function` decides for itself."""
    return driven.autograph and not isinstance(driven.call, TensorFunction)


def _disturbed(given: Any) -> Any:
    """Arguments whose floating tensors are changed in their last digits."""
    random = np.random.default_rng(0)

    def change(part: Any) -> Any:
        if not tf.is_tensor(part) or not part.dtype.is_floating:
            return part
        unit = _LAST_DIGITS * float(np.finfo(part.dtype.as_numpy_dtype).eps) if part.dtype.size > 2 else 2.0**-7
        signs = random.choice([-unit, unit], size=part.shape)
        return part * tf.cast(1.0 + signs, part.dtype)

    return tf.nest.map_structure(change, given)


def _one_place(one: Spot, other: Spot) -> bool:
    """Whether two spots are of one expression, or, where that is not known, of one statement."""
    if one.path != other.path:
        return False
    if one.span and other.span:
        return one.span[:2] < other.span[2:] and other.span[:2] < one.span[2:]
    lines = statements(one.path)
    return lines.get(one.line, one.line) == lines.get(other.line, other.line)


def _each(of: Callable[[str, str], tuple[str, ...]], programs: Sequence[str]) -> list[tuple[str, ...]]:
    """What each program and the one before it have to say."""
    return [of(one, other) for one, other in pairwise(programs)]


def _listed(places: Sequence[int], noun: str) -> str:
    return f"{noun}{'s' if len(places) > 1 else ''} {', '.join(map(str, places))}"
