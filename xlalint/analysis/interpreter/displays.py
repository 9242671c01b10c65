"""Displays and comprehensions: lists, tuples, sets, dicts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Final

from ...syntax import nodes as cst
from ..domain.gpus import hangs_on_gpus
from ..domain.joins import element_of, join_all, join_parts, pattern
from ..domain.kinds import as_condition, is_key, steps_of
from ..domain.values import KEYS, UNKNOWN, ApiObject, Dict, Sequence, Static, Structure, Value, Variation
from ..domain.varying_shapes import FILLED, MASKED, as_item, told_apart
from ..files.unit import Location
from ..library.changing_numbers import as_many_as
from .contexts import NOT_TRACED
from .events import BranchOn
from .filling import are_words, is_read_number
from .found_gpus import found
from .frames import Frame
from .interface import Handlers, Interpreter
from .narrowing import narrow, truth

_TOLD_APART: Final = 8  # items of which each is looked at by itself


class Displays(Interpreter):
    """Displays and comprehensions."""

    def _sequence(self, frame: Frame, node: cst.List | cst.Tuple | cst.Set) -> Value:
        kind = type(node).__name__.lower()
        items: list[Value] = []
        rest: Value | None = None
        for element in node.elements:
            value = self.evaluate(frame, element.value)
            if isinstance(element, cst.StarredElement):
                match self.iterate(frame, value, element.value, "star"):
                    case Sequence(items=tuple(inner)):
                        items += inner
                    case inner:
                        found = self._starred(frame, inner, element.value)
                        rest = found if rest is None or found is None else join_parts(rest, found)
                        rest = rest or UNKNOWN
            else:
                items.append(value)
        if rest is None:
            return Sequence(kind, tuple(items))
        return Sequence(kind, None, join_all(rest, *items))

    def _starred(self, frame: Frame, iterable: Value, node: cst.BaseExpression) -> Value | None:
        """What `*iterable` stands for, several times; None where it is known to be empty."""
        match iterable:
            case Sequence():
                return element_of(iterable)
            case ApiObject():
                return self.element(frame, iterable, node)
            case _:
                return iterable

    def _dict(self, frame: Frame, node: cst.Dict) -> Value:
        entries: dict[Any, Value] = {}
        rest: Value | None = None
        for element in node.elements:
            value = self.evaluate(frame, element.value)
            if isinstance(element, cst.DictElement):
                key = self.evaluate(frame, element.key)
                if is_key(key):
                    entries[key.constant] = value
                else:
                    rest = value if rest is None else join_parts(rest, value)
            elif isinstance(value, Dict):
                entries |= value.entries
                if value.element is not None:
                    rest = value.element if rest is None else join_parts(rest, value.element)
            else:
                inner = value if isinstance(value, Structure) else UNKNOWN
                rest = inner if rest is None else join_parts(rest, inner)
        return Dict(entries, rest)

    def _comprehension(self, frame: Frame, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) -> Value:
        inner = self.inner_frame(frame)
        clause = node.for_in
        given = self.evaluate(inner, clause.iter)
        iterable = self.iterate(inner, given, clause.iter, "comprehension")
        match iterable:
            case Sequence(items=tuple(items)) if len(items) <= _TOLD_APART and clause.inner_for_in is None:
                chosen = self._chosen(inner, clause, items)
                if chosen is not None and frame.context.kind in NOT_TRACED and not frame.module.written:
                    location = Location(frame.unit, clause.iter)
                    chosen = tuple(as_item(item, location) for item in told_apart(chosen, location))
                if chosen is not None:
                    return self._of_each(inner, node, chosen)
        self._run_clauses(inner, clause, iterable)
        if isinstance(node, cst.DictComp):
            self.evaluate(inner, node.key)
            return Dict({}, self.evaluate(inner, node.value))
        varies = self._lengths(frame, node, clause, iterable)
        element = self.evaluate(inner, node.elt)
        plain = not clause.ifs and clause.inner_for_in is None
        steps = steps_of(given) if plain else None
        kind = "set" if isinstance(node, cst.SetComp) else "list"
        gpus = hangs_on_gpus(iterable) and clause.inner_for_in is None
        return Sequence(kind, None, element, varies=varies, steps=steps, of_gpus=gpus)

    @staticmethod
    def _lengths(frame: Frame, node: cst.CSTNode, clause: cst.CompFor, iterable: Value) -> tuple[Variation, ...]:
        """Why a list has another length each time: as what it goes through, or by how many a condition holds for."""
        if clause.inner_for_in is not None:
            return ()
        again = frame.context.kind in NOT_TRACED and (frame.looped or frame.python_loop > 0)
        if clause.ifs:
            return (Variation(MASKED, Location(frame.unit, node), axis=0),) if again else ()
        if again and are_words(clause.iter) and isinstance(node, cst.ListComp) and not is_read_number(node.elt):
            return (Variation(FILLED, Location(frame.unit, node), axis=0),)
        return as_many_as(iterable, Location(frame.unit, node), again)

    def _chosen(self, inner: Frame, clause: cst.CompFor, items: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The items that the conditions of a clause let pass; None where that is not known of each."""
        if not clause.ifs:
            return items
        chosen: list[Value] = []
        for item in items:
            self.assign(inner, clause.target, item)
            passes = [truth(self.evaluate_test(inner, condition.test)) for condition in clause.ifs]
            if None in passes and False not in passes:
                return None
            chosen += [item] if all(passes) else []
        return tuple(chosen)

    def _of_each(
        self,
        inner: Frame,
        node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp,
        items: tuple[Value, ...],
    ) -> Value:
        """What a comprehension makes of each of a few items; a project's the same of those that look alike."""
        made: dict[Hashable, Value] = {}
        entries: dict[Any, Value] = {}
        rest: Value | None = None
        results: list[Value] = []
        for item in items:
            key = len(results) if inner.module.written else pattern(item)
            if isinstance(node, cst.DictComp) or key not in made:
                self.assign(inner, node.for_in.target, item)
            if isinstance(node, cst.DictComp):
                match self.evaluate(inner, node.key), self.evaluate(inner, node.value):
                    case Static(name), value if isinstance(name, KEYS):
                        entries[name] = value
                    case _, value:
                        rest = value if rest is None else join_parts(rest, value)
                continue
            if key not in made:
                made[key] = self.evaluate(inner, node.elt)
            results.append(made[key])
        if isinstance(node, cst.DictComp):
            return Dict(entries, rest)
        return Sequence("set" if isinstance(node, cst.SetComp) else "list", tuple(results))

    def _run_clauses(self, inner: Frame, clause: cst.CompFor, iterable: Value) -> None:
        item = self.element(inner, iterable, clause.iter)
        self.assign(inner, clause.target, as_item(item, Location(inner.unit, clause.iter)))
        found(inner, iterable, True)
        for condition in clause.ifs:
            test = self.evaluate_test(inner, condition.test)
            if as_condition(test):
                self.emit(
                    inner,
                    BranchOn,
                    condition.test,
                    test=test,
                    form="comprehension if",
                    statement=condition,
                    names={},
                )
            narrow(self, inner, condition.test, True)
            found(inner, test, True)
        if clause.inner_for_in is not None:
            following = clause.inner_for_in
            value = self.iterate(inner, self.evaluate(inner, following.iter), following.iter, "comprehension")
            self._run_clauses(inner, following, value)

    def inner_frame(self, frame: Frame) -> Frame:
        """The scope of a comprehension: its own names, the function's everything else."""
        return Frame(
            frame.unit,
            frame.module,
            frame.context,
            frame.summary,
            {},
            parent=frame,
            function=frame.function,
            owner=frame.owner,
            bound=frame.bound,
            loop=frame.loop,
            looped=True,
            bounded=frame.bounded,
            branch=frame.branch,
            conditional=frame.conditional,
            assumed=frame.assumed,
            evidence=frame.evidence,
            doubts=frame.doubts,
            iterated=frame.iterated,
            shapes=frame.shapes,
            undefined=frame.undefined,
            caller=frame.caller,
            call=frame.call,
        )

    EXPRESSIONS: ClassVar[Handlers[Value]] = {
        cst.List: _sequence,
        cst.Tuple: _sequence,
        cst.Set: _sequence,
        cst.Dict: _dict,
        cst.ListComp: _comprehension,
        cst.SetComp: _comprehension,
        cst.GeneratorExp: _comprehension,
        cst.DictComp: _comprehension,
    }
