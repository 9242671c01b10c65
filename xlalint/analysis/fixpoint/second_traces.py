"""Where a program has a `tf.function` traced once more with an optimizer that has no variables yet: it creates them in
the trace, which only the first call may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import leaves, options
from ..domain.values import UNKNOWN, ApiObject, Creation, Function, Instance, Value
from ..files.unit import Location, Span4
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.events import CreateAgain
from ..interpreter.frames import Summary
from ..record import Record
from .call_paths import reached_from
from .named_functions import binding_of, passed_in_turn

_MOST: Final = 64  # steps that a function leads to, which are told apart
_CHOICES: Final = cst.If | cst.IfExp | cst.Match | cst.Try | cst.BooleanOperation


class _Step(Record, eq=False):
    """A call of a `tf.function`, created or named at `made`. `creations`: of the optimizers that it gives their
    variables."""

    function: Function
    made: Location
    creations: frozenset[Creation]
    location: Location
    callee: Summary

    def is_of(self, other: _Step) -> bool:
        """Whether both are calls of one `tf.function`."""
        return self.function is other.function and self.made == other.made


class _Ran(Record, eq=False):
    """A step that a call of `called` at `location` leads to: `runs` are the functions that this call runs outside of
    the step."""

    step: _Step
    location: Location
    called: Summary
    runs: frozenset[cst.CSTNode]

    def is_like(self, other: _Ran) -> bool:
        """Whether both are of one call and one step in the code, with the same optimizers."""
        one, step = self.step, other.step
        return (self.location, one.location, one.creations) == (other.location, step.location, step.creations)

    def makes(self, made: Location) -> bool:
        """Whether the call makes what is made at a place, each time anew."""
        return made.unit.function_around(made.node) in self.runs


def second_traces(roots: Sequence[Summary]) -> Iterator[CreateAgain]:
    """Each such call, once."""
    reached = reached_from(roots)
    by_host = [summary for summary in reached if _is_of_host(summary)]
    steps = _Steps({made for summary in by_host for made in summary.optimized})
    found: set[Location] = set()
    for summary in reached:
        for event in steps.second_in(summary):
            if event.location not in found:
                found.add(event.location)
                yield event


class _Steps:
    """The steps that analyses lead to. `built`: the optimizers that host code gives their variables."""

    def __init__(self, built: set[Creation]) -> None:
        self._built = built
        self._known: dict[Summary, list[_Step]] = {}
        self._made: dict[Summary, frozenset[Creation]] = {}

    def second_in(self, summary: Summary) -> Iterator[CreateAgain]:
        """The steps that one analysis has run with an optimizer that is new to their function."""
        earlier: list[_Ran] = []
        for ran in self._run_by(summary):
            maker = _maker(ran.step.made, ran.step.function)
            if maker is not None and maker is not (summary.function and summary.function.node):
                continue  # other code makes the function, perhaps once for each optimizer
            if any(it.is_like(ran) for it in earlier):
                continue  # a loop comes by again
            if any(it.step.creations & ran.step.creations and not it.step.is_of(ran.step) for it in earlier):
                continue  # another function has given the optimizer its variables
            if _is_repeated(ran) or self._takes_turns(ran):
                yield _event(ran.step, None)
            elif (first := next((it for it in earlier if _is_second(it, ran)), None)) is not None:
                yield _event(ran.step, first.step)
            earlier.append(ran)

    def _run_by(self, summary: Summary) -> Iterator[_Ran]:
        """The steps of an analysis and of all that it calls, in the order of the calls."""
        runs_on = _is_of_host if _is_of_host(summary) else _is_part_of_trace
        for location, callee in summary.calls:
            if runs_on(callee):
                if steps := self._of(callee):
                    inside = reached_from([callee], lambda it: not runs_on(it))
                    runs = frozenset(it.function.node for it in inside if it.function is not None and runs_on(it))
                    yield from (_Ran(step, location, callee, runs) for step in steps)
            elif (step := self._step(location, callee)) is not None:
                yield _Ran(step, location, callee, frozenset())

    def _of(self, summary: Summary) -> list[_Step]:
        if summary not in self._known:
            self._known[summary] = []  # of what calls itself
            found = {(ran.step.location, ran.step.creations): ran.step for ran in self._run_by(summary)}
            self._known[summary] = list(found.values())[:_MOST]
        return self._known[summary]

    def _step(self, location: Location, callee: Summary) -> _Step | None:
        """The step that a call of a `tf.function` is, if it gives an optimizer its variables."""
        made, context, function = callee.traced_apart, callee.context, callee.function
        replica = context.in_replica
        if made is None or function is None or not context.becomes_graph or context.by_keras or replica:
            return None
        if not _is_one(made, function, location):
            # Several may be made of one function, and each object has its own: of one is what one name names.
            method = isinstance(made.node, cst.Decorator) and function.owner is not None
            if (made := binding_of(location, method=method)) is None:
                return None
        if callee not in self._made:
            inside = reached_from([callee])
            self._made[callee] = frozenset(it for each in inside for it in each.optimized) - self._built
        creations = self._made[callee]
        if function.owner is not None:
            creations &= _passed(callee)  # another one that its object holds is no reason to trace it again
        return _Step(function, made, creations, location, callee) if creations else None

    def _takes_turns(self, ran: _Ran) -> bool:
        """Whether a loop around a call passes it several optimizers, one after the other."""
        function = {*_around(ran.step.made)}
        for loop in _loops(ran.location):
            if loop in function or _choices(ran.location, loop):
                return False
            if isinstance(loop, cst.For):
                for name in passed_in_turn(ran.location, loop):
                    held = options(_given(ran.called, name))
                    passed = {it.made for it in held if isinstance(it, ApiObject) and it.made is not None}
                    several = len(passed) > 1 or any(_is_comprehended(it.location) for it in passed)
                    if several and passed <= ran.step.creations and not any(_choices(it.location) for it in passed):
                        return True
        return False


def _is_of_host(summary: Summary) -> bool:
    """Whether host code runs it, a test left out."""
    is_test = summary.function is not None and summary.function.module.is_test
    return summary.context.kind in NOT_TRACED and not summary.context.pipeline and not is_test


def _is_second(first: _Ran, second: _Ran) -> bool:
    """Whether two steps are of one function, which the second gives an optimizer that is new to it."""
    one, other = first.step, second.step
    if not one.is_of(other) or _choices(first.location) != _choices(second.location):
        return False
    again = {made for made in other.creations if first.makes(made.location) and second.makes(made.location)}
    return bool(again or other.creations - one.creations)


def _is_repeated(ran: _Ran) -> bool:
    """Whether each iteration of a loop around a call makes the optimizer, and not the function that it is passed to."""
    function = {*_around(ran.step.made)}
    for loop in _loops(ran.location):
        if loop in function or _choices(ran.location, loop):
            return False
        for made in ran.step.creations:
            inside = loop in _loops(made.location) and not _choices(made.location, loop)
            if inside or ran.makes(made.location):
                return True
    return False


def _is_part_of_trace(summary: Summary) -> bool:
    """Whether what is traced calls it as a part of itself."""
    return summary.context.becomes_graph and summary.traced_apart is None and not summary.context.by_keras


def _is_one(made: Location, function: Function, call: Location) -> bool:
    """Whether there is one `tf.function` of a function where it is called: a decorator makes it, of no method, in the
    module or in the function that calls it."""
    around = _maker(made, function)
    is_decorated = isinstance(made.node, cst.Decorator) and function.owner is None
    return is_decorated and (around is None or around is call.unit.function_around(call.node))


def _maker(made: Location, function: Function) -> cst.CSTNode | None:
    """The function that makes or names a `tf.function` of a function."""
    place = function.node if isinstance(made.node, cst.Decorator) else made.node
    return made.unit.function_around(place)


def _given(called: Summary, name: int | str) -> Value:
    """What a call passes for a parameter, by its position or name."""
    function = called.function
    if function is None:
        return UNKNOWN
    if isinstance(name, int):
        parameters = function.node.params
        names = [it.name.value for it in (*parameters.posonly_params, *parameters.params)]
        bound = function.owner is not None and isinstance(called.given.get(names[0]) if names else None, Instance)
        name = next(iter(names[name + bound :]), "")
    return called.given.get(name, UNKNOWN)


def _passed(called: Summary) -> frozenset[Creation]:
    """The optimizers among what a method is passed, but for those of its object."""
    found = [leaf for value in [*called.given.values()][1:] for leaf in leaves(value)]
    held = [value for it in found if isinstance(it, Instance) for value in it.attributes.values()]
    found += [leaf for value in held for leaf in leaves(value)]
    return frozenset(it.made for it in found if isinstance(it, ApiObject) and it.made is not None)


def _is_comprehended(location: Location) -> bool:
    """Whether a comprehension makes something for each of its elements."""
    return any(isinstance(it, cst.ListComp | cst.DictComp | cst.GeneratorExp) for it in _around(location))


def _around(location: Location) -> Iterator[cst.CSTNode]:
    """What a place stands in, up to its function."""
    for around in location.unit.around(location.node):
        if isinstance(around, cst.FunctionDef | cst.Lambda):
            return
        yield around


def _loops(location: Location) -> list[cst.CSTNode]:
    return [around for around in _around(location) if isinstance(around, cst.For | cst.While)]


def _choices(location: Location, loop: cst.CSTNode | None = None) -> list[cst.CSTNode]:
    """The sides of conditions that a place is on, in a loop around it where there is one."""
    found: list[cst.CSTNode] = []
    side = location.node
    for around in _around(location):
        if around is loop:
            break
        if isinstance(around, _CHOICES):
            found.append(side)
        side = around
    return found


def _event(step: _Step, first: _Step | None) -> CreateAgain:
    new = step.creations - (first.creations if first is not None else frozenset()) or step.creations
    made = max(new, key=_order)  # of those that take turns the first may create its variables
    earlier = first.location if first is not None and first.location != step.location else None
    return CreateAgain(
        step.location, step.callee.context, None, False, name=step.function.qualname, made=made.location, first=earlier
    )


def _order(made: Creation) -> tuple[str, Span4]:
    return made.location.path, made.location.span
