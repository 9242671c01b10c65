"""Loops: `for` and `while`, executed until the names are stable; `break` and `continue`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from ...syntax import nodes as cst
from ..domain.joins import join_environments
from ..domain.kinds import as_condition, as_tensor, leaves, steps_of
from ..domain.values import (
    STATIC,
    Api,
    ApiObject,
    Array,
    Dependence,
    FunctionValue,
    Instance,
    Sequence,
    Static,
    Tensor,
    Unknown,
    Value,
    Variation,
)
from ..domain.varying_shapes import JOINED, filtered, is_data, last_batches
from ..files.unit import Location
from ..library.changing_numbers import as_many_as
from ..library.taken_batches import among_first
from ..program.parameter_uses import Parts
from ..record import replace
from .contexts import NOT_TRACED, ContextKind
from .events import LeaveLoop, LoopWhile, UnrollLoop
from .filling import appended_once, counted_in, is_left_by_count, left_by_loop, lengths_ending
from .found_gpus import forget, found
from .frames import Frame, Jumps
from .interface import Handlers, Interpreter
from .narrowing import truth
from .usual_values import usual_rounds

# Values climb a short ladder: a loop's names are stable after this many iterations, or are given up as they are.
_MOST_ITERATIONS: Final = 3
_MOST_STEPS: Final = 16  # functions that a loop calls one by one
_MOST_KEYS: Final = 4  # names that a loop goes down a structure by
_NESTED: Final = 4  # loops inside each other; those inside of these run once each time, else all would be 3 ** n


class Loops(Interpreter):
    """Loops."""

    def _for(self, frame: Frame, node: cst.For) -> None:
        value = self.evaluate(frame, node.iter)
        iterable = self.iterate(frame, value, node.iter, "for")
        payload = iterable.payload if isinstance(iterable, ApiObject) and iterable.api == "builtins.range" else iterable
        over_tensor = payload is not None and as_tensor(payload, Dependence.STATIC) is not None
        items = iterable.items if isinstance(iterable, Sequence) else None
        if items is not None and (frame.module.written or _are_steps(items, frame.context.kind not in NOT_TRACED)):
            self._for_each(frame, node, items)
            return
        empty = isinstance(iterable, Sequence) and iterable.kind == "tuple" and iterable.items == ()
        if not empty:
            item = self.element(frame, iterable, node.iter, in_graph=over_tensor and frame.context.converted)
            start = dict(frame.env or {})
            numbers = {name for name in counted_in(node) if _is_number(self._before_loop(frame, start, name))}
            counter = None if isinstance(node.target, cst.Name) else _counter_of(node.target, iterable)
            if is_left_by_count(node, {*numbers, counter}):
                item = among_first(item)
            before = frame.context.gpus
            found(frame, iterable, True)
            self._loop(frame, node, over_tensor, lambda: self.assign(frame, node.target, item))
            forget(frame, before)
            self._unrolled(frame, node, iterable, start)
            self._count_items(frame, node, value, iterable, start)
        elif node.orelse is not None:
            self.execute_body(frame, node.orelse.body)

    def _count_items(self, frame: Frame, node: cst.For, value: Value, iterable: Value, start: dict[str, Value]) -> None:
        """Lists that were empty, and get one item in each of a known number of iterations, or for each element of a
        batch, of which the last one may be smaller."""
        count, lengths = steps_of(iterable), last_batches(value) or last_batches(iterable)
        if not (count or lengths) and frame.context.kind in NOT_TRACED and not frame.context.pipeline:
            looped = frame.looped or frame.python_loop > 0
            lengths = as_many_as(iterable, Location(frame.unit, node.iter), looped)
        if not (count or lengths) or frame.env is None:
            return
        for name in appended_once(node):
            held = frame.env.get(name)
            if isinstance(held, Sequence) and held.items is None and start.get(name) == Sequence("list", ()):
                frame.env[name] = replace(held, steps=count, varies=lengths or held.varies)

    def _for_each(self, frame: Frame, node: cst.For, items: tuple[Value, ...]) -> None:
        """Run a loop once for each of what is known: one of Python's library, or one over the steps of a pipeline."""
        jumps, frame.jumps = frame.jumps, Jumps()
        for item in items:
            if frame.env is None:
                break
            self.assign(frame, node.target, item)
            self.execute_body(frame, node.body)
            frame.env = _joined(frame.env, frame.jumps.on)
            frame.jumps.on.clear()
        self._leave(frame, node, jumps)

    def _leave(self, frame: Frame, node: cst.For | cst.While, around: Jumps) -> None:
        """Run what stands after a loop for where nothing breaks it, and go on from there and from each `break`."""
        left, frame.jumps = frame.jumps.out, around
        if node.orelse is not None and frame.env is not None:
            self.execute_body(frame, node.orelse.body)
        frame.env = _joined(frame.env, left)

    def _while(self, frame: Frame, node: cst.While) -> None:
        test: Value = STATIC
        gpus = frame.context.gpus
        before, events = frame.env, len(frame.summary.events)

        def ask() -> None:
            nonlocal test
            test = self.evaluate_test(frame, node.test)
            if as_condition(test):
                self.emit(frame, LoopWhile, node.test, test=test, statement=node, names=before or {})
            else:
                self.doubt_tensor(frame, test)
            found(frame, test, True)

        ask()
        frame.env = before
        if truth(test) is False:
            forget(frame, gpus)
            return
        over_tensor = as_condition(test) is not None
        del frame.summary.events[events:]
        self._loop(frame, node, over_tensor, ask)
        forget(frame, gpus)
        for name in lengths_ending(node):
            if frame.env is not None and name in frame.env:
                frame.env[name] = filtered(frame.env[name], _is_of_another_cause)

    def _loop(
        self,
        frame: Frame,
        node: cst.For | cst.While,
        over_tensor: bool,
        begin: Callable[[], None],
    ) -> None:
        """Run a loop's body to a fixed point. `begin` does what each round does first."""
        start = frame.env
        if start is None:
            return
        in_graph = over_tensor and frame.context.converted
        if in_graph:
            frame.loop += 1
            frame.outer_names.append(set(start))
        else:
            frame.python_loop += 1
        jumps, frame.jumps = frame.jumps, Jumps()
        current: dict[str, Value] | None = dict(start)
        said = frame.summary
        events, calls = len(said.events), len(said.calls)
        for _ in range(_MOST_ITERATIONS if frame.loop + frame.python_loop <= _NESTED else 1):
            if in_graph:  # it is traced once, for what the loop carries: a round before that was known says nothing
                del said.events[events:], said.calls[calls:]
            frame.env, grown = dict(current) if current is not None else None, self.writes.grown
            begin()
            self.execute_body(frame, node.body)
            if in_graph and frame.env is not None:
                frame.env = _carried(start, frame.env)
            after = _joined(frame.env, (*frame.jumps.on, *frame.jumps.out))
            frame.jumps.on.clear()
            merged = join_environments(current, after)
            if merged is not None and current is not None and not in_graph:
                self._count_iterations(frame, node, current, merged)
            same = merged is None or current is None or all(merged[name] is current.get(name) for name in merged)
            if same and (grown == self.writes.grown or merged is None):
                current = merged
                break
            current = merged
        if in_graph:
            frame.loop -= 1
            frame.outer_names.pop()
        else:
            frame.python_loop -= 1
        frame.env = current
        self._leave(frame, node, jumps)
        left_by_loop(frame, node)

    def _count_iterations(
        self, frame: Frame, node: cst.CSTNode, before: dict[str, Value], after: dict[str, Value]
    ) -> None:
        """A number that each iteration of a loop on the host changes is a counter."""
        for name, value in after.items():
            if isinstance(value, Static) and not value.known and value is not before.get(name):
                match self._before_loop(frame, before, name):
                    case Static(int() | float() as number) if not isinstance(number, bool):
                        after[name] = self.counter(frame, node)

    @staticmethod
    def _before_loop(frame: Frame, names: dict[str, Value], name: str) -> Value | None:
        """What a name is before a loop begins: a literal at the top of a module is not executed."""
        return names.get(name) or (frame.module.lookup(name) if frame.is_module else None)

    def _unrolled(self, frame: Frame, node: cst.For, iterable: Value, start: dict[str, Value]) -> None:
        """Say that a loop is unrolled while it is traced: one that takes a step of training in each iteration, or
        computes the same, and does not go through the layers of a network. If their number is not known, one through
        the steps of a tensor, each of which is passed what the one before left (`start`: what names were before)."""
        rounds = _rounds_of(iterable)
        if rounds is None or frame.context.kind not in (ContextKind.XLA, ContextKind.GRAPH) or frame.env is None:
            return
        if isinstance(iterable, Sequence) and _is_code(iterable.element):
            return
        finder = Parts(_counter_of(node.target, iterable))
        node.body.visit(finder)
        changed = {name: frame.env[name] for name in finder.changed if name in frame.env}
        usual = usual_rounds(self, frame, node.iter) if not rounds else None
        if (rounds or usual is not None) and _takes_steps(frame, node):
            rounds, setting = usual or (rounds, "")
            self.emit(frame, UnrollLoop, node.iter, rounds=rounds, statement=node, setting=setting)
            return
        if not any(is_data(leaf) for value in changed.values() for leaf in leaves(value)):
            return
        bases = [self.evaluate(frame, base) for base in finder.bases]
        if finder.named or any(as_tensor(base, Dependence.STATIC) is None for base in bases):
            return
        if not rounds and usual is None:
            bases += [self.evaluate(frame, step) for step in finder.steps]
            parts = (leaf for base in bases for leaf in leaves(base))
            through = isinstance(iterable, Sequence) or any(
                _may_be_data(part) and not _is_weight(part) for part in parts
            )
            if not through or not self._is_recurrent(frame, finder, changed, start):
                return
        rounds, setting = usual or (rounds, "")
        inner = _rounds_inside(frame, node)
        self.emit(frame, UnrollLoop, node.iter, rounds=rounds, statement=node, setting=setting, inner=inner)

    def _is_recurrent(self, frame: Frame, finder: Parts, changed: dict[str, Value], start: dict[str, Value]) -> bool:
        """Whether a loop's body passes to a function or layer what the iteration before computed."""
        state = {name for name, value in changed.items() if name in start and any(map(_may_be_data, leaves(value)))}
        called = [function for function, names in finder.calls if names & state]
        return any(not isinstance(self.evaluate(frame, function), Api) for function in called)

    def _jump(self, frame: Frame, node: cst.Break | cst.Continue) -> None:
        self.report_leaving(frame, node, "break" if isinstance(node, cst.Break) else "continue")
        if frame.env is not None:
            (frame.jumps.out if isinstance(node, cst.Break) else frame.jumps.on).append(frame.env)
        frame.env = None

    def report_leaving(self, frame: Frame, node: cst.CSTNode, form: str) -> None:
        in_graph = frame.loop > frame.loop_around
        if frame.branch and (in_graph or frame.python_loop):
            self.emit(frame, LeaveLoop, node, form=form, loop="tensor" if in_graph else "python")

    STATEMENTS: ClassVar[Handlers[None]] = {
        cst.For: _for,
        cst.While: _while,
        cst.Break: _jump,
        cst.Continue: _jump,
    }


def _rounds_of(iterable: Value) -> int | None:
    """How many iterations a loop has, as `steps_of` tells it, or through an array of so many numbers."""
    match iterable:
        case Array(length=int() as length):
            return length
        case _:
            return steps_of(iterable)


def _rounds_inside(frame: Frame, loop: cst.For) -> int:
    """How many iterations the loops inside of a loop have in each of its own, where their numbers are known."""
    inside = set(cst.within(loop.body))
    unrolled = (event for event in frame.summary.events if isinstance(event, UnrollLoop) and event.statement in inside)
    return max((event.rounds * event.inner for event in unrolled if not event.setting), default=1) or 1


def _takes_steps(frame: Frame, loop: cst.For) -> bool:
    """Whether each iteration of a loop calls a step of training, by itself or by a strategy."""
    inside = set(cst.within(loop.body))
    return any(callee.trains and location.node in inside for location, callee in frame.summary.calls)


def _joined(env: dict[str, Value] | None, others: Iterable[dict[str, Value]]) -> dict[str, Value] | None:
    """The names on several ways that meet, of which the first may not get there."""
    for other in others:
        env = join_environments(env, other)
    return env


def _is_of_another_cause(variation: Variation) -> bool:
    """Whether what varies does not vary by being joined in a loop."""
    return variation.kind not in JOINED


def _is_weight(value: Value) -> bool:
    return isinstance(value, Tensor) and value.variable


def _is_code(element: Value | None) -> bool:
    """Whether a loop goes through layers or functions, or through these with what stands beside them, as `enumerate`
    and `zip` have it."""
    match element:
        case Sequence("tuple", tuple(items)):
            return any(map(_is_code, items))
        case _:
            return isinstance(element, ApiObject | FunctionValue | Instance)


def _may_be_data(value: Value) -> bool:
    return isinstance(value, Unknown) or is_data(value)


def _is_number(value: Value | None) -> bool:
    return isinstance(value, Static) and type(value.constant) is int


def _counter_of(target: cst.BaseExpression, iterable: Value) -> str | None:
    """The name of a loop's counter, which goes through the numbers of a range or counts what it goes through."""
    match target, iterable:
        case cst.Name(value=name), _:
            return name
        case cst.Tuple(elements=[cst.Element(value=cst.Name(value=name)), *_]), Sequence(
            element=Sequence("tuple", (Static(), *_))
        ):
            return name
        case _:
            return None


def _are_steps(items: tuple[Value, ...], traced: bool) -> bool:
    """Whether what a loop goes through are functions, each of which takes what the one before returned, or may be names
    on the way down a structure, or, while a function is traced, of what stands beside them."""
    if all(isinstance(item, FunctionValue) for item in items):
        return 1 < len(items) <= _MOST_STEPS
    return 1 < len(items) <= _MOST_KEYS and all(_is_name(item, traced) for item in items)


def _is_name(item: Value, traced: bool) -> bool:
    match item:
        case Static(str()):
            return True
        case Sequence("tuple", (Static(str()), *_)):
            return traced
        case _:
            return False


def _carried(before: dict[str, Value], after: dict[str, Value]) -> dict[str, Value]:
    """What a tensor loop assigns is carried by it: never a compile-time constant."""
    return {
        name: Tensor(Dependence.VALUE, value.dtype, value.rank, value.origin, value.bounded, True, value.variable)
        if isinstance(value, Tensor) and before.get(name) is not value
        else Tensor(Dependence.VALUE, rank=0, carried=True)
        if isinstance(value, Static) and name in before and before[name] is not value and before[name] != value
        else value
        for name, value in after.items()
    }
