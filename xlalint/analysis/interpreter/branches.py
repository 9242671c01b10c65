"""Branches: `if`, `match`, `assert`, and what is left of names and returns where their sides meet."""

from __future__ import annotations

from typing import ClassVar, Final

from ...findings.findings import Backend
from ...syntax import nodes as cst
from ..domain.choosing import chosen_where_they_differ
from ..domain.joins import join_environments
from ..domain.kinds import as_condition, as_tensor
from ..domain.values import Dependence, Dict, Tensor, Value
from ..files.unit import Location
from ..library.mismatches import BOUNDS, is_crossing, larger, mismatch, unjoinable
from ..record import replace
from .asked_backends import by_pattern
from .chances import note_chance
from .contexts import NOT_TRACED, ContextKind
from .debugging import is_off
from .events import AssertOn, BranchOn, JoinBranches
from .found_gpus import found, report_assertion, report_refusal
from .frames import Frame, Jumps
from .interface import Handlers, Interpreter
from .narrowing import narrow, truth
from .off_by_default import is_off_by_default
from .patterns import compares
from .same_conditions import note_sides, recall_sides
from .set_from_outside import is_done_once, is_left_to_others
from .single_iterations import loops_passed_once
from .switched_off import is_switch
from .usual_values import note_steady

_LARGER: Final = {1: "larger where it holds", -1: "larger where it does not"}


class Branches(Interpreter):
    """Branches: `if`, `match` and `assert`."""

    def _if(self, frame: Frame, node: cst.If, form: str = "if") -> None:
        asked: set[Location] = set()
        frame.compared = asked
        test = self.evaluate_test(frame, node.test)
        tensor = as_condition(test)
        known = False if tensor is None and is_off(frame, node.test, self.switches) else truth(test)
        if tensor is not None:
            self.emit(frame, BranchOn, node.test, test=test, form=form, statement=node, names=frame.env or {})
        elif not isinstance(node.test, cst.Name):  # a name alone is asked whether there is anything, of a list say
            self.doubt_tensor(frame, test)
        report_refusal(self, frame, test, node)
        if _only_raises(node):
            self.refute_tensor(frame, test)  # the value of a tensor is not there to be checked
        before, context, bounded = frame.env, frame.context, frame.bounded
        if before is None:
            return
        if context.kind in NOT_TRACED:
            note_chance(self, frame, node)
            if tensor is None:
                note_steady(self, frame, node, known)
        if tensor is not None:
            frame.branch += 1
            frame.outer_names.append(set(before))
        returned = len(frame.returns)
        afters: list[dict[str, Value] | None] = []
        contexts, settled = [], []  # of the sides that get to their end
        for taken in (True, False):
            if known is (not taken):
                if (skipped := node.body if taken else node.orelse) is not None:
                    if context.kind is ContextKind.HOST and is_switch(self, frame, node.test):
                        self._run_aside(frame, skipped)
                    else:
                        frame.summary.skipped.append(skipped)
                afters.append(None)
                continue
            told = bounded | asked if _holds_whole(node.test, taken) else bounded
            frame.env, frame.context, frame.bounded = dict(before), context, told
            if known is None and tensor is None:
                recall_sides(frame, node.test, test, taken=taken)
            narrow(self, frame, node.test, taken)
            found(frame, test, taken)
            if not taken and known is None and is_off_by_default(self, frame, node):
                frame.context = replace(frame.context, off=True)
            more = known is None and _asks_for_more(frame, node.test, taken)
            narrowed = replace(frame.context, aside=True) if more else frame.context
            left = known is None and is_left_to_others(self, frame, node.test, taken)
            if more or left or (taken and is_done_once(node)):
                frame.context = replace(frame.context, aside=True)
            frame.conditional += known is None and tensor is None
            frame.guards += 1
            if taken:
                once = loops_passed_once(frame, node)
                frame.python_loop -= once
                self.execute_body(frame, node.body)
                frame.python_loop += once
                if tensor is not None and frame.context.converted and len(frame.returns) > returned:
                    frame.alternatives.append((Location(frame.unit, node.test), len(frame.returns)))
            elif isinstance(node.orelse, cst.If):
                self._if(frame, node.orelse, "elif")
            elif node.orelse is not None:
                self.execute_body(frame, node.orelse.body)
            frame.conditional -= known is None and tensor is None
            frame.guards -= 1
            afters.append(frame.env)
            if frame.env is not None:
                contexts.append(narrowed)
                settled.append(told)
        frame.context = contexts[0] if len(contexts) == 1 else context
        frame.bounded = settled[0] if len(settled) == 1 else bounded
        if tensor is not None:
            frame.branch -= 1
            frame.outer_names.pop()
            if frame.context.converted:
                self._compare_branches(frame, node, before, *afters)
                if len(frame.returns) > returned and (afters[0] is None) != (afters[1] is None):
                    if not frame.loop and _leaves_its_block(frame, node):
                        self.emit(frame, JoinBranches, node.test, name="", reason="no return")
                    else:
                        frame.branch_returns = Location(frame.unit, node.test)
        frame.env = join_environments(afters[0], afters[1])
        if known is None and tensor is None:
            note_sides(frame, node.test, test, *afters)
        if tensor is not None and frame.context.converted and frame.env is not None:
            _choose(frame.env, tensor, afters[0], afters[1])

    def _run_aside(self, frame: Frame, side: cst.BaseSuite | cst.If | cst.Else) -> None:
        """Execute what another run of the program does, and forget what it leaves."""
        before, context, bounded = frame.env, frame.context, frame.bounded
        returned, yielded, jumps = len(frame.returns), len(frame.yields), frame.jumps
        frame.env, frame.jumps = dict(before or ()), Jumps()
        frame.guards += 1
        frame.conditional += 1
        match side:
            case cst.If():
                self._if(frame, side, "elif")
            case cst.Else(body=body) | body:
                self.execute_body(frame, body)
        frame.conditional -= 1
        frame.guards -= 1
        frame.env, frame.context, frame.bounded, frame.jumps = before, context, bounded, jumps
        del frame.returns[returned:], frame.yields[yielded:]

    def _compare_branches(
        self,
        frame: Frame,
        node: cst.If,
        before: dict[str, Value],
        taken: dict[str, Value] | None,
        other: dict[str, Value] | None,
    ) -> None:
        """Note where the branches of a conditional on a tensor leave a name in forms that XLA cannot join: AutoGraph
        joins those alone that are read later (measured)."""
        if taken is None or other is None:
            return
        location = Location(frame.unit, node.test)
        bounds: dict[str, frozenset[int]] = {}
        for name in {**taken, **other}:  # in the order of the source, which a set has not
            first, second = taken.get(name), other.get(name)
            if first is None or second is None:
                if name not in before:
                    frame.unjoined[name] = (location, "one branch only")
            elif first is second or isinstance(first, Dict):  # which a method changes that is no assignment
                continue
            elif (reason := mismatch(first, second)) is not None:
                frame.unjoined.setdefault(name, (location, reason))
            elif sides := larger(first, second):
                bounds[name] = sides
        if is_crossing(*bounds.values()):
            for name, sides in bounds.items():
                reason = BOUNDS if is_crossing(sides) else _LARGER[min(sides)]
                frame.unjoined.setdefault(name, (location, reason))

    def compare_returns(self, frame: Frame) -> None:
        """Say where a conditional on a tensor returns what XLA cannot join with what is returned otherwise."""
        for location, count in frame.alternatives:
            if count < len(frame.returns):
                reason = unjoinable(frame.returns[count - 1], frame.returns[count])
                if reason is not None:
                    self.emit(frame, JoinBranches, location.node, name="return", reason=reason)

    def report_unjoined(self, frame: Frame, name: str) -> None:
        """A name is read, here or in a function inside, that the branches of a tensor conditional do not join."""
        scope: Frame | None = frame
        while scope is not None and name not in scope.unjoined:
            scope = scope.parent if name not in (scope.env or ()) else None
        if scope is not None:
            location, reason = scope.unjoined.pop(name)
            if reason in _LARGER.values():
                read = scope.crossing.setdefault(location, set())
                read.add(reason)
                if len(read) < len(_LARGER):
                    return  # a name that nobody reads is none of the conditional's
                reason = BOUNDS
            self.emit(scope, JoinBranches, location.node, name=name, reason=reason)

    def _match(self, frame: Frame, node: cst.Match) -> None:
        subject = self.evaluate(frame, node.subject)
        if as_tensor(subject, Dependence.STATIC) and any(compares(case.pattern) for case in node.cases):
            self.emit(frame, BranchOn, node.subject, test=subject, form="match", statement=node, names=frame.env or {})
        before, after, context, backends = frame.env, None, frame.context, frozenset(Backend)
        for position, case in enumerate(node.cases):
            frame.env, frame.context = dict(before) if before is not None else None, context
            backends = by_pattern(frame, subject, case.pattern, backends)
            matched = self.matches(frame, case.pattern, subject, node.subject)
            if matched is False:
                frame.summary.skipped.append(case.body)
                continue
            if case.guard is not None:
                guard, names = self.evaluate_test(frame, case.guard), frame.env or {}
                if as_condition(guard):
                    self.emit(frame, BranchOn, case.guard, test=guard, form="match", statement=node, names=names)
                matched = None if truth(guard) is not True else matched
            frame.conditional += matched is None
            self.execute_body(frame, case.body)
            frame.conditional -= matched is None
            after = join_environments(after, frame.env)
            if matched:
                frame.summary.skipped += [later.body for later in node.cases[position + 1 :]]
                break
        else:
            after = join_environments(after, before)
        frame.env, frame.context = after, context

    def _assert(self, frame: Frame, node: cst.Assert) -> None:
        test = self.evaluate_test(frame, node.test)
        if as_condition(test):
            self.emit(frame, AssertOn, node.test, test=test)
        else:
            self.doubt_tensor(frame, test)
        report_assertion(self, frame, test, node)
        narrow(self, frame, node.test, True)
        found(frame, test, True)

    STATEMENTS: ClassVar[Handlers[None]] = {
        cst.If: _if,
        cst.Match: _match,
        cst.Assert: _assert,
    }


def _asks_for_more(frame: Frame, test: cst.BaseExpression, outcome: bool) -> bool:
    """Whether a layer's `call` finds that to be on which is off by default, and nobody is seen to turn on: Keras itself
    passes the inputs, masks and `training` alone."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _asks_for_more(frame, test.expression, not outcome)
    function = frame.function
    if not outcome:
        return False
    if not (frame.context.by_keras and isinstance(test, cst.Name) and function is not None and function.name == "call"):
        return False
    params = function.node.params
    return any(
        parameter.name.value == test.value != "training"
        and isinstance(parameter.default, cst.Name)
        and parameter.default.value == "False"
        for parameter in (*params.params, *params.kwonly_params)
    )


def _holds_whole(test: cst.BaseExpression, taken: bool) -> bool:
    """Whether all parts of a condition are known to have come out the same way on one of its sides: not where one of
    several is enough for it."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _holds_whole(inner, not taken)
        case cst.BooleanOperation(operator=joined):
            return isinstance(joined, cst.And) is taken
        case _:
            return True


def _leaves_its_block(frame: Frame, node: cst.If) -> bool:
    """Whether execution leaves the block of a conditional behind it without a `return`. AutoGraph makes the rest of the
    block the other side of one that returns, and nothing that stands outside of the block (measured)."""
    around = frame.unit.around(node)
    match next(around), next(around, None):
        case cst.If(), _:
            return True
        case cst.IndentedBlock(body=lines), owner if not isinstance(owner, cst.FunctionDef | cst.For | cst.While):
            behind = lines[lines.index(node) + 1 :]
            return not any(isinstance(inner, cst.Return) for line in behind for inner in cst.within(line))
        case _:
            return False


def _only_raises(node: cst.If) -> bool:
    """Whether a condition holds for what is refused with an exception."""
    match node.body:
        case cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[cst.Raise()])]):
            return True
        case _:
            return False


def _choose(
    env: dict[str, Value], condition: Tensor, taken: dict[str, Value] | None, other: dict[str, Value] | None
) -> None:
    """Have the names that two branches leave as different numbers depend on the condition, as AutoGraph does."""
    if taken is None or other is None:
        return
    for name in taken.keys() & other.keys():
        if taken[name] is not other[name]:
            env[name] = chosen_where_they_differ(condition, taken[name], other[name])
