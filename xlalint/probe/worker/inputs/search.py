"""What to call something with: a bounded search over small inputs, guided by the errors of the eager calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import count
from typing import Any, Final, TypeGuard

import numpy as np

from xlalint.probe.avoided import ENDED, is_avoided, stage_of
from xlalint.sources.specs import BELOW, Form, Keyed, Literal, Many, Spec, leaves

from ..backends import backend
from ..code.blame import by_keras
from ..code.limits import Limit
from ..code.line_tracing import LineTracer
from ..code.missing import MissingError
from ..code.random_state import random_state
from .complaints import complaint_of
from .culprits import FailedCall
from .numbers import VALUE_SETS, extremes
from .parts import Assignment
from .queue import Queue
from .recorded_calls import form_of
from .replacements import changes
from .slots import Choice, Slot
from .spec_changes import LONGER
from .tensors import Arguments, ObjectInput, RecordedInput, build, map_specs, tensors_in

_MOST_CALLS: Final = 400
_MOST_SECONDS: Final = 15.0  # of the processor
_LONGEST_CALL: Final = 10.0  # seconds
_WIDEST: Final = 3  # shapes of one input
_STYLES: Final = ("sparse", "ragged")
_FOLLOWED: Final = 30  # calls behind one that reaches more and fails
_BY_CHANCE: Final = 6  # further calls of what draws numbers
_FOR_CHANCE: Final = 2.0  # seconds that they get
_AT_ONCE: Final = -1_000_000  # before what follows from any call
_BLINDLY: Final = 4  # such calls that do not reach more yet, where no line in question is reached

_DTYPES: Final[Mapping[type, str]] = {bool: "bool", int: "int32", float: "float32"}

# Runs what is probed with what is passed: by group ("init", "call").
Run = Callable[[Mapping[str, Arguments]], Any]


class NotFoundError(Exception):
    """No inputs were found. `nearest`: the error that came latest in the code; `calls`: how many were tried;
    `by_keras`: whether Keras raised that error; `furthest`: the inputs that reached the most of the wanted lines, None
    where none of these was reached."""

    def __init__(
        self, nearest: BaseException, calls: int, by_keras: bool = False, furthest: Assignment | None = None
    ) -> None:
        super().__init__(str(nearest))
        self.nearest, self.calls, self.by_keras, self.furthest = nearest, calls, by_keras, furthest


@dataclass
class Attempt:
    """One call: what it returned or raised, the lines of the user's files that it ran, and whether it drew numbers by
    chance."""

    result: Any = None
    error: BaseException | None = None
    reached: frozenset[tuple[str, int]] = frozenset()
    drew: bool = False


@dataclass
class Solution:
    """Inputs that eager execution accepts. `shapes`: the inputs of each variant; `sets`: the sets of values."""

    slots: Sequence[Slot]
    shapes: list[Assignment]
    sets: list[int]
    attempt: Attempt
    reached: frozenset[tuple[str, int]] = frozenset()

    def make(self, group: str, value_set: int, variant: int) -> Arguments:
        """The arguments of one group."""
        return arguments(self.slots, self.shapes[variant], group, self.sets[value_set], variant)[0]

    def make_call(self, value_set: int, variant: int) -> Arguments:
        """The arguments of the call."""
        return self.make("call", value_set, variant)

    def extremes(self) -> list[Callable[[int], Arguments]]:
        """What makes, of a variant, the arguments of calls with values that the code may not be made for. A limit of
        whole numbers that was found does not hold for them; one that the user sets does."""
        tensors = sum(tensors_in(one) for slot, one in self._chosen if slot.group == "call")
        return [partial(self._extreme, number) for number in extremes(tensors)]

    def _extreme(self, number: int, variant: int) -> Arguments:
        pairs = zip(self.slots, self.shapes[variant], strict=True)
        free = tuple(one if slot.fixed else map_specs(one, _unlimited) for slot, one in pairs)
        return arguments(self.slots, free, "call", number, variant)[0]

    @property
    def _chosen(self) -> list[tuple[Slot, Choice]]:
        return list(zip(self.slots, self.shapes[0], strict=True))

    def inputs(self, group: str) -> tuple[str, ...]:
        """What was found, in the grammar of `specs`."""
        return tuple(
            f"{slot.name}: {one}"
            for slot, one in self._chosen
            if slot.group == group and one is not None and not (slot.star and one == Many("tuple", ()))
        )

    @property
    def words(self) -> str:
        """All that was found, in one line."""
        return ", ".join(f"{slot.name}: {one}" for slot, one in self._chosen)


def _unlimited(spec: Spec) -> Spec:
    return replace(spec, style="") if BELOW.fullmatch(spec.style) else spec


def pinned(slots: Sequence[Slot], given: Solution) -> list[Slot]:
    """The same slots, with what was found for others like them; objects, which are made of each module's own classes,
    are looked for again."""
    chosen = zip(slots, given.shapes[0], strict=True)
    return [slot if isinstance(one, ObjectInput) else replace(slot, choices=(one,), fixed=True) for slot, one in chosen]


def follow(solution: Solution, given: Solution) -> Solution:
    """Inputs with the sets of values and the further shapes of others."""
    own = [_settled(one) if isinstance(one, ObjectInput) else None for one in solution.shapes[0]]
    shapes = [tuple(one or other for one, other in zip(own, shape, strict=True)) for shape in given.shapes]
    return replace(solution, shapes=shapes, sets=given.sets)


def arguments(
    slots: Sequence[Slot], assignment: Assignment, group: str, value_set: int, variant: int = 0
) -> tuple[Arguments, dict[int, Any]]:
    """What is passed to one group of parameters; and the objects by slot."""
    positions, by_name = count(), False
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    objects: dict[int, Any] = {}
    for position, (slot, choice) in enumerate(zip(slots, assignment, strict=True)):
        if slot.group != group:
            continue
        if choice is None:
            by_name = by_name or slot.positional  # so are those behind one that is left out
            continue
        value = objects[position] = build(choice, variant, value_set, positions)
        if slot.star:
            positional.extend(value if isinstance(choice, Many) else (value,))
        elif slot.positional and not by_name:
            positional.append(value)
        else:
            keywords[slot.name] = value
    return (tuple(positional), keywords), objects


@dataclass
class Search:
    """The search for one thing. `own`: whether a file is the user's; `entry`: the code object that is called; `others`:
    what to begin with as well, where the first guess fails; `settings`: the same, of objects that are to be made of
    what the project says of them, whatever they are called with."""

    slots: Sequence[Slot]
    run: Run
    own: Callable[[str], bool]
    entry: Any = None
    wanted: frozenset[tuple[str, int]] = frozenset()
    note: Callable[[str], None] = lambda stage: None
    avoid: frozenset[str] = frozenset()
    seconds: float = _MOST_SECONDS
    roots: tuple[str, ...] = ()
    others: Callable[[], Iterable[Assignment]] = tuple
    settings: Callable[[], Iterable[Assignment]] = tuple
    calls: int = 0
    _said: tuple[Assignment, ...] = ()  # what the settings are that were asked for
    _reached: set[tuple[str, int]] = field(default_factory=set)
    _limit: Limit = field(init=False)

    def __post_init__(self) -> None:
        self._limit = Limit(min(self.seconds, _MOST_SECONDS))

    def solve(self) -> Solution:
        """Inputs that the eager call accepts, of one shape and one set of values. Raises NotFoundError."""
        start: Assignment = tuple(slot.choices[0] for slot in self.slots)
        with backend.eager_execution():
            found = self._as_said(*self._reaching(start, *self._accepted(start)))
            assignment, attempt = self._as_tensors(*self._widened(*self._beside(*found)))
        return Solution(self.slots, [assignment], [0], attempt, attempt.reached)

    def vary(self, solution: Solution, called: Callable[..., Any]) -> None:
        """Add the sets of values and the further shapes that what was made for the inputs accepts as well."""

        def run(groups: Mapping[str, Arguments]) -> Any:
            positional, keywords = groups.get("call", ((), {}))
            return called(*positional, **keywords)

        self.run = run
        self._reached = set(solution.reached)
        [found] = solution.shapes
        # The same objects at each call: another would be traced again.
        assignment = tuple(_settled(one) if _is_made(one) else one for one in found)
        solution.shapes = [assignment]
        with backend.eager_execution():
            solution.sets = [number for number in range(VALUE_SETS) if number == 0 or self._accepts(assignment, number)]
            solution.shapes += self._other_shapes(assignment)
        solution.reached = frozenset(self._reached)

    def _accepted(
        self, start: Assignment, most: int = _MOST_CALLS, serves: Callable[[Attempt], bool] | None = None
    ) -> tuple[Assignment, Attempt]:
        """Best first: what follows a call that got further is tried before what follows one that did not. `serves`:
        whether an accepted call is one that is looked for.

        Raises NotFoundError, after `most` calls at the latest.
        """
        last = self.calls + most
        queue = Queue()
        queue.put(start, 0, 0)
        first = serves is None
        made_so: frozenset[Assignment] = frozenset()
        complaints: set[object] = set()
        nearest: tuple[int, BaseException, bool] | None = None
        furthest: tuple[tuple[int, int], Assignment | None] = (0, 0), None
        while queue and not self._is_over() and self.calls < last:
            assignment, depth = queue.get()
            attempt, objects = self._try(assignment)
            if attempt.drew and attempt.error is None:
                attempt, objects = self._again(assignment, attempt, objects)
            if attempt.error is None:
                if serves is None or serves(attempt):
                    return assignment, attempt
                continue
            if first:
                first = False
                self._said = tuple(self.settings())
                made_so = frozenset(self._said)
                for other in (*self._passed, *self._said):
                    queue.put(other, _AT_ONCE, 0)
            progress = len(attempt.reached)
            wanted = len(attempt.reached & self.wanted)
            if wanted and (wanted, progress) > furthest[0]:
                furthest = (wanted, progress), assignment
            if assignment != start and assignment in self._passed and assignment not in made_so:
                continue  # the values of another call: what they lead to is not what this one needs
            complaint = complaint_of(attempt.error, self.own)
            queue.answered(assignment, complaint)
            if complaint.kind not in complaints:  # another error is a step forward as well
                complaints.add(complaint.kind)
                depth = 0
            got = progress, by_keras(attempt.error)
            if nearest is None or got > (nearest[0], nearest[2]):
                nearest = progress, attempt.error, got[1]
                if isinstance(attempt.error, MissingError):
                    break
            failed = FailedCall(self.slots, assignment, objects, attempt.error, self.own, self.entry, self.roots)
            for rank, (following, certain) in enumerate(changes(failed)):
                queue.put(following, -progress, depth + rank, assignment, forward=certain)
            attempt.error.__traceback__ = None  # it keeps all that was alive
        _, error, of_keras = nearest or (0, RuntimeError("all that is accepted is something else"), False)
        raise NotFoundError(error, self.calls, of_keras, furthest[1])

    @cached_property
    def _passed(self) -> dict[Assignment, None]:
        """What to begin with as well."""
        return dict.fromkeys(self.others())

    def _is_over(self) -> bool:
        return self.calls > 0 and (self._limit.over or self.calls >= _MOST_CALLS)

    def _try(self, assignment: Assignment, value_set: int = 0) -> tuple[Attempt, dict[int, Any]]:
        self.calls += 1
        attempt = stage_of(assignment, value_set)
        if is_avoided(attempt, self.avoid):
            return Attempt(error=RuntimeError(ENDED)), {}
        self.note(attempt)
        objects: dict[int, Any] = {}
        given: dict[str, Arguments] = {}
        try:
            for group in dict.fromkeys(slot.group for slot in self.slots):
                given[group], some = arguments(self.slots, assignment, group, value_set)
                objects |= some
        except Exception as error:
            return Attempt(error=error), objects
        return attempted(lambda: self.run(given), self.own), objects

    def _again(
        self, assignment: Assignment, attempt: Attempt, objects: dict[int, Any]
    ) -> tuple[Attempt, dict[int, Any]]:
        """The same call some more times, which the numbers that it draws may lead elsewhere: the first that fails."""
        limit = Limit(_FOR_CHANCE)
        for _ in range(_BY_CHANCE):
            if limit.over or self._is_over():
                break
            other, others = self._try(assignment)
            if other.error is not None:
                return other, others
            attempt = replace(attempt, reached=attempt.reached | other.reached)
        return attempt, objects

    def _accepts(self, assignment: Assignment, value_set: int = 0) -> bool:
        attempt = self._try(assignment, value_set)[0]
        if attempt.error is None:
            self._reached |= attempt.reached
        return attempt.error is None

    # -- more than one call -------------------------------------------------------------------------------------------

    def _reaching(self, start: Assignment, assignment: Assignment, attempt: Attempt) -> tuple[Assignment, Attempt]:
        """What else is passed somewhere, and what the first guess leads to, where that reaches more of the wanted
        lines."""
        best, seen = (assignment, attempt), assignment in self._passed
        for other in self._passed if not self.wanted <= attempt.reached else ():
            if other != assignment and not self._is_over() and not self.wanted <= best[1].reached:
                found = self._try(other)[0]
                best = (other, found) if found.error is None and self._further(found, best[1]) else best
        if seen and not self.wanted & best[1].reached:
            with contextlib.suppress(NotFoundError):
                best = self._accepted(start, _FOLLOWED, lambda found: self._further(found, attempt))
        return best

    def _as_said(self, assignment: Assignment, attempt: Attempt) -> tuple[Assignment, Attempt]:
        """What is left out of an object gets the number that the project says, if that reaches no fewer of the wanted
        lines: by default a feature may be off."""
        for said in self._said:
            pairs = zip(self.slots, assignment, said, strict=True)
            other = tuple(
                new if one is None and slot.group == "init" and isinstance(new, Literal) else one
                for slot, one, new in pairs
            )
            if other != assignment and not self._is_over():
                found = self._try(other)[0]
                if found.error is None and attempt.reached & self.wanted <= found.reached:
                    return other, found
        return assignment, attempt

    def _beside(self, assignment: Assignment, attempt: Attempt) -> tuple[Assignment, Attempt]:
        """The numbers next to a whole number that the call gets, where one reaches more of the wanted lines: it may be
        the last of the steps that there are. An object's own may be sizes, of which one is to be larger than another.
        """
        for position, slot in enumerate(self.slots):
            value = one.value if isinstance(one := assignment[position], Literal) else None
            if type(value) is not int or slot.fixed:
                continue
            for number in (value - 1, value + 1) if slot.group == "call" else (2 * value, value // 2):
                if self.wanted <= attempt.reached or self._is_over():
                    return assignment, attempt
                other = (*assignment[:position], Literal(number), *assignment[position + 1 :])
                found = self._try(other)[0]
                if found.error is None and self._further(found, attempt):
                    assignment, attempt = other, found
        return assignment, attempt

    def _widened(self, assignment: Assignment, attempt: Attempt) -> tuple[Assignment, Attempt]:
        """Parameters that are left out get a value where that reaches more of the wanted lines."""
        blindly = _BLINDLY if not attempt.reached & self.wanted else 0
        for position, slot in enumerate(self.slots):
            if self.wanted <= attempt.reached:
                break
            for choice in (*slot.choices, *_otherwise(assignment[position])) if not slot.fixed else ():
                if self.wanted <= attempt.reached:
                    break
                if choice != assignment[position] and not self._is_over():
                    other = (*assignment[:position], choice, *assignment[position + 1 :])
                    found = self._try(other)[0]
                    further = self._further(found, attempt)
                    if found.error is not None and (further or (blindly > 0 and isinstance(choice, Literal))):
                        blindly -= not further
                        with contextlib.suppress(NotFoundError):
                            other, found = self._followed(other, attempt, None if further else position)
                    if found.error is None and self._further(found, attempt):
                        assignment, attempt = other, found
        return assignment, attempt

    def _as_tensors(self, assignment: Assignment, attempt: Attempt) -> tuple[Assignment, Attempt]:
        """Python numbers are tensors where some caller passes data and lines in question ask what becomes of it."""
        for position, (slot, choice) in enumerate(zip(self.slots, assignment, strict=True)):
            value = choice.value if isinstance(choice, Literal) else None
            if self.wanted and slot.of_data and not slot.fixed and type(value) in _DTYPES:
                made = form_of(backend.tensor_of(np.asarray(value), _DTYPES[type(value)]), generated=False)
                other = (*assignment[:position], made, *assignment[position + 1 :])
                found = self._try(other)[0]
                if found.error is None and attempt.reached & self.wanted <= found.reached:
                    assignment, attempt = other, found
        return assignment, attempt

    def _followed(self, assignment: Assignment, best: Attempt, kept: int | None) -> tuple[Assignment, Attempt]:
        """What gets further than the `best` until now, behind a call that fails; `kept`: the parameter whose input
        stays. Raises NotFoundError."""
        slots = self.slots
        if kept is not None:
            one = replace(slots[kept], choices=(assignment[kept],), fixed=True)
            self.slots = [*slots[:kept], one, *slots[kept + 1 :]]
        try:
            return self._accepted(assignment, _FOLLOWED, lambda found: self._further(found, best))
        finally:
            self.slots = slots

    def _further(self, one: Attempt, other: Attempt) -> bool:
        """Whether a call reached more of the wanted lines than another."""
        return len(one.reached & self.wanted) > len(other.reached & self.wanted)

    def _other_shapes(self, assignment: Assignment) -> list[Assignment]:
        """Further shapes that are accepted: the user's own ranges, else longer ones, at the usual axes."""
        ranged = [spec for slot, one in self._filled(assignment) if slot.fixed for spec in leaves(one)]
        variants = max((spec.variants for spec in ranged), default=1)
        if variants > 1:
            return [assignment] * (variants - 1)
        found: list[Assignment] = []
        for longer in LONGER:
            other = _changed(assignment, longer, [slot.group == "call" and not slot.fixed for slot in self.slots])
            if other != assignment and other not in found and self._accepts(other):
                found.append(other)
            if len(found) == _WIDEST - 1:
                break
        return found

    def _filled(self, assignment: Assignment) -> Iterator[tuple[Slot, Form]]:
        for slot, one in zip(self.slots, assignment, strict=True):
            if one is not None and not isinstance(one, ObjectInput):
                yield slot, one


def _otherwise(choice: Choice) -> Iterator[Choice]:
    """The same tensors in another form, or more of them: what code tells apart by their type and rank."""
    if isinstance(choice, Many | Keyed):
        yield from (map_specs(choice, partial(replace, style=style)) for style in _STYLES)
    if isinstance(choice, Spec):
        yield from (replace(choice, style=style) for style in _STYLES)
        yield Many("list", (choice, choice))
        yield from (replace(choice, dims=(*choice.dims, (size, size))) for _, size in choice.dims[-1:])
    elif isinstance(choice, Many):
        for position, item in enumerate(choice.items):
            for other in _otherwise(item):
                if isinstance(other, Form):
                    yield Many(choice.kind, (*choice.items[:position], other, *choice.items[position + 1 :]))
    elif isinstance(choice, Keyed):
        for key, item in choice.entries:
            for other in _otherwise(item):
                if isinstance(other, Form):
                    yield Keyed(tuple((name, other if name == key else one) for name, one in choice.entries))


def _is_made(choice: Choice) -> TypeGuard[ObjectInput]:
    """Whether an input is an object that each call would make anew."""
    return isinstance(choice, ObjectInput) and not isinstance(choice, RecordedInput)


def _settled(choice: ObjectInput) -> ObjectInput:
    thing = choice.make()
    return ObjectInput(choice.text, lambda: thing)


def _changed(assignment: Assignment, change: Callable[[Spec], Spec], free: Sequence[bool] | None = None) -> Assignment:
    """The assignment with every tensor changed, those of the call that are free."""
    free = free or [True] * len(assignment)
    return tuple(map_specs(one, change) if may else one for one, may in zip(assignment, free, strict=True))


# -- one call ---------------------------------------------------------------------------------------------------------


def attempted(run: Callable[[], Any], own: Callable[[str], bool]) -> Attempt:
    """Run something; which lines of the user's files it got to."""
    tracer = LineTracer(own)
    attempt, before = Attempt(), random_state()
    try:
        with tracer.tracing(_LONGEST_CALL):
            attempt.result = run()
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # the user's code may also leave by `sys.exit`
        attempt.error = error
    attempt.drew = random_state() != before
    attempt.reached = frozenset((path, line) for path, lines in tracer.lines().items() for line in lines)
    return attempt
