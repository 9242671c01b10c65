"""What each statement does to the names: assignments, branches, loops, and what a tensor in their conditions means."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Ordered
from typing import ClassVar, Final

from ...syntax import nodes as cst
from ..domain.joins import as_tuple, element_of, join_all, join_environments, join_parts, mismatch
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    ApiObject,
    ClassValue,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    ModuleValue,
    Nest,
    OneOf,
    Sequence,
    Static,
    Tensor,
    Unknown,
    Value,
    as_condition,
    as_tensor,
    options,
    surely_tensor,
)
from ..domain.varying_shapes import is_data
from ..files.files import InternalTrouble, Place
from ..library.results import leaves
from ..models.python_builtins import owner_of_method
from ..library.strategies import scope_entered
from ..program.parameter_uses import Parts
from ..program.project import Class, Function
from ..record import replace
from .calls import Calls
from .events import (
    AssertOn,
    BranchOn,
    ContextKind,
    IterateOver,
    JoinBranches,
    LeaveLoop,
    LoopWhile,
    MutateInLoop,
    UnrollLoop,
)
from .frames import Frame
from .narrowing import narrow, truth

# Values climb a short ladder: a loop's names are stable after this many rounds, or are given up as they are.
_MOST_ROUNDS: Final = 3
_NESTED: Final = 4  # loops inside each other; those inside of these run one round each time, else all would be 3 ** n
_FIXED: Final = (Api, ModuleValue, ClassValue, Unknown)


class Statements(Calls):
    """The fourth floor: statements."""

    def execute_body(self, frame: Frame, body: cst.BaseSuite | Ordered[cst.BaseStatement]) -> None:
        """Execute a block until its end, or until execution cannot go on."""
        self._execute(frame, body.body if isinstance(body, cst.BaseSuite) else body)

    def _execute(self, frame: Frame, statements: Ordered[cst.CSTNode]) -> None:
        for position, statement in enumerate(statements):
            if frame.env is None:
                frame.summary.skipped += statements[position:]
                return
            handler = self._STATEMENTS.get(type(statement))
            if handler is None:
                continue
            self.clock.check()
            try:
                handler(self, frame, statement)
            except Exception as error:
                self._note_failure(frame, statement, error)

    def _note_failure(self, frame: Frame, statement: cst.CSTNode, error: Exception) -> None:
        """An exception of the analyser costs one statement, and is told; it never costs the run."""
        place = Place(frame.unit, statement)
        found = InternalTrouble.of(error, place.path, place.span[0], "reading this statement")
        if found not in self.project.failures:
            self.project.failures.append(found)

    def _line(self, frame: Frame, node: cst.SimpleStatementLine) -> None:
        match node.body:
            case [statement]:  # most lines
                handler = self._STATEMENTS.get(type(statement))
                if handler is not None:
                    handler(self, frame, statement)
            case several:
                self._execute(frame, several)

    # -- assignments --------------------------------------------------------------------------------------------------

    def _expression(self, frame: Frame, node: cst.Expr) -> None:
        self.evaluate(frame, node.value)

    def _assign(self, frame: Frame, node: cst.Assign) -> None:
        value = self.evaluate(frame, node.value)
        for target in node.targets:
            if not _is_same_each_time(frame, value):
                self._note_outside(frame, target.target, node)
            self.assign(frame, target.target, value, node)

    def _annotated(self, frame: Frame, node: cst.AnnAssign) -> None:
        if node.value is not None:
            value = self.evaluate(frame, node.value)
            if isinstance(value, Unknown):
                value = self.annotated_value(frame, node.annotation.annotation) or value
            self.assign(frame, node.target, value, node)
        elif isinstance(node.target, cst.Name) and frame.owner is not None and frame.function is None:
            value = self.annotated_value(frame, node.annotation.annotation) or UNKNOWN
            self.bind(frame, node.target.value, value)

    def _augmented(self, frame: Frame, node: cst.AugAssign) -> None:
        left = self.evaluate(frame, node.target)
        right = self.evaluate(frame, node.value)
        self._note_outside(frame, node.target, node)
        self.assign(frame, node.target, self.operate(frame, node, node.operator, left, right), node)

    def assign(
        self, frame: Frame, target: cst.BaseExpression, value: Value, statement: cst.CSTNode | None = None
    ) -> None:
        """Bind a target of any form to a value; `statement` is the assignment, if it is one."""
        match target:
            case cst.Name(value=name):
                self.bind(frame, name, value)
            case cst.Tuple() | cst.List():
                self._unpack(frame, target, value, statement)
            case cst.StarredElement(value=inner):
                self.assign(frame, inner, value)
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                if not _is_same_each_time(frame, value):
                    self._mutated(frame, statement or target, owner, "attribute")
                self.set_attribute(frame, self.evaluate(frame, owner), name, value)
            case cst.Subscript():
                self._store(frame, target, value, statement or target)

    def _unpack(self, frame: Frame, target: cst.Tuple | cst.List, value: Value, statement: cst.CSTNode | None) -> None:
        options = value.options if isinstance(value, OneOf) else (value,)
        if surely_tensor(value):
            source = statement.value if isinstance(statement, cst.Assign) else target
            self.emit(frame, IterateOver, source, iterable=value, form="unpacking")
        for option in options:
            self.no_tensor(frame, option)  # code that works unpacks a tuple
        parts = [self._parts(frame, target, option) for option in options if option != NONE]
        for element, *found in zip(target.elements, *parts, strict=True):
            self.assign(frame, element.value, join_all(*found) if found else UNKNOWN)

    def _parts(self, frame: Frame, target: cst.Tuple | cst.List, value: Value) -> list[Value]:
        """What each element of an unpacking gets."""
        count = len(target.elements)
        starred = next(
            (i for i, element in enumerate(target.elements) if isinstance(element, cst.StarredElement)), None
        )
        value = as_tuple(value)
        match value:
            case Sequence(items=tuple(items)) if starred is None and len(items) == count:
                return list(items)
            case Sequence(items=tuple(items)) if starred is not None and len(items) >= count - 1:
                behind = len(items) - (count - starred - 1)
                return [*items[:starred], Sequence("list", items[starred:behind]), *items[behind:]]
        parts = [self.element(frame, value, target)] * count
        if starred is not None:
            parts[starred] = Sequence("list", None, parts[starred])
        return parts

    def _store(self, frame: Frame, target: cst.Subscript, value: Value, statement: cst.CSTNode) -> None:
        """`base[index] = value`."""
        base = self.evaluate(frame, target.value)
        index = tuple(self._index_element(frame, element.slice) for element in target.slice)
        match base:
            case Tensor():
                self.subscript(frame, target, base, index, store=True)
            case Dict(entries, element):
                key = index[0]
                known = isinstance(key, Static) and isinstance(key.constant, str | int)
                new = known and isinstance(key, Static) and key.constant not in entries
                if as_tensor(key, Dependence.STATIC) is not None or not _is_same_each_time(frame, value):
                    self._mutated(frame, statement, target.value, "new key" if new or not known else "item")
                if known and isinstance(key, Static):
                    self.assign(frame, target.value, Dict({**entries, key.constant: value}, element))
                else:
                    self.assign(
                        frame, target.value, Dict(entries, value if element is None else join_parts(element, value))
                    )
            case Sequence(kind):
                self._mutated(frame, statement, target.value, "item")
                found = element_of(base)
                self.assign(
                    frame, target.value, Sequence(kind, None, value if found is None else join_parts(found, value))
                )

    def _mutated(self, frame: Frame, node: cst.CSTNode, owner: cst.BaseExpression, form: str) -> None:
        """Python state is changed: worth saying where a tensor decides how often."""
        if not (frame.loop or (frame.branch and frame.context.converted)):
            return
        root = owner
        while isinstance(root, cst.Attribute | cst.Subscript):
            root = root.value
        if isinstance(root, cst.Name) and self._is_outside(frame, root.value):
            inside = "loop" if frame.loop else "branch"
            self.emit(frame, MutateInLoop, node, form=form, inside=inside, target=frame.unit.code(owner))

    def mutated_call(self, frame: Frame, node: cst.BaseExpression, form: str) -> None:
        """A method that changes its owner."""
        if (owner := owner_of_method(node)) is not None:
            self._mutated(frame, node, owner, form)

    def assign_quietly(self, frame: Frame, target: cst.BaseExpression, value: Value) -> None:
        """Bind an attribute or item that a method changed in place: the change itself has been said."""
        match target:
            case cst.Name(value=name):
                self.bind(frame, name, value)
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                self.set_attribute(frame, self.evaluate(frame, owner), name, value)
            case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                base, key = self.evaluate(frame, owner), self.evaluate(frame, index)
                if isinstance(base, Dict) and isinstance(key, Static) and isinstance(key.constant, str | int):
                    self.assign_quietly(frame, owner, Dict({**base.entries, key.constant: value}, base.element))

    def _note_outside(self, frame: Frame, target: cst.BaseExpression, node: cst.CSTNode) -> None:
        """A name of another scope is assigned to, which AutoGraph does not carry."""
        if not isinstance(target, cst.Name) or not (frame.loop or (frame.branch and frame.context.converted)):
            return
        inside = "loop" if frame.loop else "branch"
        for form, names in (("nonlocal", frame.nonlocals), ("global", frame.globals)):
            if target.value in names and not (form == "nonlocal" and self._is_of_the_round(frame, target.value)):
                self.emit(frame, MutateInLoop, node, form=form, inside=inside, target=target.value)

    def _is_of_the_round(self, frame: Frame, name: str) -> bool:
        """Whether a closure's name is of a function that each round of the tensor loop calls anew."""
        scope = frame.parent
        while scope is not None and (scope.env is None or name not in scope.env):
            scope = scope.parent
        called_in_loop = scope is not None and scope.loop == scope.loop_around > 0
        return called_in_loop and frame.loop == frame.loop_around and not frame.branch

    def _is_outside(self, frame: Frame, name: str) -> bool:
        """Whether the name's object was there before the tensor loop or branch around it began."""
        if frame.outer_names:
            return name in frame.outer_names[-1]
        # A body that is a function of its own: what it closes over, and what it was handed from before the loop.
        scope: Frame | None = frame
        while scope is not None and (scope.env is None or name not in scope.env):
            scope = scope.parent
        return scope is None or not scope.loop_around or name in scope.handed

    def _is_from_before(self, frame: Frame, value: Value) -> bool:
        """Whether an object that a call hands over was there before the tensor loop around the call began."""
        if not isinstance(value, Instance | Sequence | Dict):
            return False
        scope = frame.env or {}
        names = frame.outer_names[-1] if frame.outer_names else frame.handed
        return any(scope.get(name) is value for name in names)

    def _delete(self, frame: Frame, node: cst.Del) -> None:
        targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            match target:
                case cst.Name(value=name) if frame.env is not None:
                    frame.env.pop(name, None)
                case cst.Subscript(value=owner):
                    self._mutated(frame, target, owner, "del")

    # -- branches -----------------------------------------------------------------------------------------------------

    def _if(self, frame: Frame, node: cst.If, form: str = "if") -> None:
        test = self.evaluate_test(frame, node.test)
        tensor = as_condition(test)
        known = truth(test)
        if tensor is not None:
            self.emit(frame, BranchOn, node.test, test=test, form=form, statement=node, names=frame.env or {})
        elif not isinstance(node.test, cst.Name):  # a name alone is asked whether there is anything, of a list say
            self.doubt(frame, test)
        before = frame.env
        if before is None:
            return
        if tensor is not None:
            frame.branch += 1
            frame.outer_names.append(set(before))
        returned = len(frame.returns)
        afters: list[dict[str, Value] | None] = []
        for taken in (True, False):
            if known is (not taken):
                if (skipped := node.body if taken else node.orelse) is not None:
                    frame.summary.skipped.append(skipped)
                afters.append(None)
                continue
            frame.env = dict(before)
            narrow(self, frame, node.test, taken)
            frame.conditional += known is None and tensor is None
            frame.guards += 1
            if taken:
                self.execute_body(frame, node.body)
                if tensor is not None and frame.context.converted and len(frame.returns) > returned:
                    frame.alternatives.append((Place(frame.unit, node.test), len(frame.returns)))
            elif isinstance(node.orelse, cst.If):
                self._if(frame, node.orelse, "elif")
            elif node.orelse is not None:
                self.execute_body(frame, node.orelse.body)
            frame.conditional -= known is None and tensor is None
            frame.guards -= 1
            afters.append(frame.env)
        if tensor is not None:
            frame.branch -= 1
            frame.outer_names.pop()
            if frame.context.converted:
                self._compare_branches(frame, node, before, *afters)
                if len(frame.returns) > returned and (afters[0] is None) != (afters[1] is None):
                    frame.branch_returns = Place(frame.unit, node.test)
        frame.env = join_environments(afters[0], afters[1])

    def _compare_branches(
        self,
        frame: Frame,
        node: cst.If,
        before: dict[str, Value],
        taken: dict[str, Value] | None,
        other: dict[str, Value] | None,
    ) -> None:
        """Say where the branches of a conditional on a tensor leave a name in forms that XLA cannot join."""
        if taken is None or other is None:
            return
        place = Place(frame.unit, node.test)
        for name in {**taken, **other}:  # in the order of the source, which a set has not
            first, second = taken.get(name), other.get(name)
            if first is None or second is None:
                if name not in before:
                    frame.half_bound[name] = (place, first or second or UNKNOWN)
                continue
            if first is second:
                continue
            reason = mismatch(first, second)
            if reason is not None:
                self.emit(frame, JoinBranches, node.test, name=name, reason=reason)

    def compare_returns(self, frame: Frame) -> None:
        """Say where a conditional on a tensor returns what XLA cannot join with what is returned otherwise."""
        for place, count in frame.alternatives:
            if count < len(frame.returns):
                reason = mismatch(frame.returns[count - 1], frame.returns[count])
                if reason is not None:
                    self.emit(frame, JoinBranches, place.node, name="return", reason=reason)

    def report_half_bound(self, frame: Frame, name: str) -> None:
        """A name is read that one branch of a tensor conditional leaves unbound."""
        place, _ = frame.half_bound.pop(name)
        self.emit(frame, JoinBranches, place.node, name=name, reason="one branch only")

    def _match(self, frame: Frame, node: cst.Match) -> None:
        subject = self.evaluate(frame, node.subject)
        if as_tensor(subject, Dependence.STATIC):
            self.emit(frame, BranchOn, node.subject, test=subject, form="match", statement=node, names=frame.env or {})
        before = frame.env
        after: dict[str, Value] | None = before
        for case in node.cases:
            frame.env = dict(before) if before is not None else None
            for name in _captured(case.pattern):
                self.bind(frame, name, subject if isinstance(subject, Nest) else UNKNOWN)
            if case.guard is not None:
                self.evaluate_test(frame, case.guard)
            self.execute_body(frame, case.body)
            after = join_environments(after, frame.env)
        frame.env = after

    def _assert(self, frame: Frame, node: cst.Assert) -> None:
        test = self.evaluate_test(frame, node.test)
        if as_condition(test):
            self.emit(frame, AssertOn, node.test, test=test)
        else:
            self.doubt(frame, test)
        narrow(self, frame, node.test, True)

    # -- loops --------------------------------------------------------------------------------------------------------

    def _for(self, frame: Frame, node: cst.For) -> None:
        value = self.evaluate(frame, node.iter)
        iterable = self.iterate(frame, value, node.iter, "for")
        payload = iterable.payload if isinstance(iterable, ApiObject) and iterable.api == "builtins.range" else iterable
        over_tensor = payload is not None and as_tensor(payload, Dependence.STATIC) is not None
        empty = isinstance(iterable, Sequence) and iterable.kind == "tuple" and iterable.items == ()
        if not empty:
            item = self.element(frame, iterable, node.iter, in_graph=over_tensor and frame.context.converted)
            self._loop(frame, node, over_tensor, lambda: self.assign(frame, node.target, item))
            if isinstance(iterable, ApiObject) and iterable.api == "builtins.range":
                self._unrolled(frame, node, iterable.payload)
        if node.orelse is not None:
            self.execute_body(frame, node.orelse.body)

    def _while(self, frame: Frame, node: cst.While) -> None:
        test: Value = STATIC
        before, events = frame.env, len(frame.summary.events)

        def ask() -> None:
            nonlocal test
            test = self.evaluate_test(frame, node.test)
            if as_condition(test):
                self.emit(frame, LoopWhile, node.test, test=test, statement=node, names=before or {})
            else:
                self.doubt(frame, test)

        ask()
        frame.env = before
        if truth(test) is False:
            return
        over_tensor = as_condition(test) is not None
        del frame.summary.events[events:]
        self._loop(frame, node, over_tensor, ask)
        if node.orelse is not None:
            self.execute_body(frame, node.orelse.body)

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
        jumps, frame.after_jump = frame.after_jump, []
        current: dict[str, Value] | None = dict(start)
        said = frame.summary
        events, calls = len(said.events), len(said.calls)
        for _ in range(_MOST_ROUNDS if frame.loop + frame.python_loop <= _NESTED else 1):
            if in_graph:  # it is traced once, for what the loop carries: a round before that was known says nothing
                del said.events[events:], said.calls[calls:]
            frame.env = dict(current) if current is not None else None
            begin()
            self.execute_body(frame, node.body)
            if in_graph and frame.env is not None:
                frame.env = _carried(start, frame.env)
            after = frame.env
            for jump in frame.after_jump:
                after = join_environments(after, jump)
            frame.after_jump = []
            merged = join_environments(current, after)
            if merged is not None and current is not None and not in_graph:
                self._count_rounds(frame, node, current, merged)
            if merged is None or current is None or all(merged[name] is current.get(name) for name in merged):
                current = merged
                break
            current = merged
        frame.after_jump = jumps
        if in_graph:
            frame.loop -= 1
            frame.outer_names.pop()
        else:
            frame.python_loop -= 1
        frame.env = current

    def _count_rounds(self, frame: Frame, node: cst.CSTNode, before: dict[str, Value], after: dict[str, Value]) -> None:
        """A number that each round of a loop on the host changes is a counter."""
        for name, value in after.items():
            if isinstance(value, Static) and not value.known and value is not before.get(name):
                # A literal at the top of a module is not executed.
                match before.get(name) or (frame.module.lookup(name) if frame.is_module else None):
                    case Static(int() | float() as number) if not isinstance(number, bool):
                        after[name] = self.counter(frame, node)

    def _unrolled(self, frame: Frame, node: cst.For, rounds: Value | None) -> None:
        """Say that a loop over a known number of rounds is unrolled while it is traced: one that computes the same in
        each round, not one that goes through the layers of a network."""
        if not isinstance(rounds, Static) or frame.context.kind not in (ContextKind.XLA, ContextKind.GRAPH):
            return
        if frame.env is None or not isinstance(node.target, cst.Name):
            return
        finder = Parts(node.target.value)
        node.body.visit(finder)
        changed = [frame.env[name] for name in finder.changed if name in frame.env]
        if not any(is_data(leaf) for value in changed for leaf in leaves(value)):
            return
        bases = [self.evaluate(frame, base) for base in finder.bases]
        if finder.named or any(as_tensor(base, Dependence.STATIC) is None for base in bases):
            return
        self.emit(frame, UnrollLoop, node.iter, rounds=rounds.constant, statement=node)

    def _jump(self, frame: Frame, node: cst.Break | cst.Continue) -> None:
        self._said_leaving(frame, node, "break" if isinstance(node, cst.Break) else "continue")
        if frame.env is not None:
            frame.after_jump.append(frame.env)
        frame.env = None

    def _said_leaving(self, frame: Frame, node: cst.CSTNode, form: str) -> None:
        in_graph = frame.loop > frame.loop_around
        if frame.branch and (in_graph or frame.python_loop):
            self.emit(frame, LeaveLoop, node, form=form, loop="tensor" if in_graph else "python")

    # -- leaving ------------------------------------------------------------------------------------------------------

    def _return(self, frame: Frame, node: cst.Return) -> None:
        value = NONE if node.value is None else self.evaluate(frame, node.value)
        self._said_leaving(frame, node, "return")
        frame.returns.append(value)
        frame.left = join_environments(frame.left, frame.env)
        frame.env = None

    def _raise(self, frame: Frame, node: cst.Raise) -> None:
        if node.exc is not None:
            self.evaluate(frame, node.exc)
        frame.env = None

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _with(self, frame: Frame, node: cst.With) -> None:
        context = frame.context
        for item in node.items:
            value = self.evaluate(frame, item.item)
            if isinstance(value, ApiObject) and value.api == "tf.xla.experimental.jit_scope":
                frame.context = self.jitted(context)
            elif self.strategies:
                scope = scope_entered(frame, value, item.item)
                if scope is not frame.context.scope:
                    frame.context = replace(frame.context, scope=scope)
            if item.asname is not None:
                self.assign(frame, item.asname.name, self.entered(value))
        self.execute_body(frame, node.body)
        frame.context = context

    def _try(self, frame: Frame, node: cst.Try | cst.TryStar) -> None:
        before = frame.env
        if before is None:
            return
        frame.env = dict(before)
        self.execute_body(frame, node.body)
        tried = frame.env
        if node.orelse is not None:
            self.execute_body(frame, node.orelse.body)
        after: dict[str, Value] | None = frame.env
        for handler in node.handlers:
            frame.env = join_environments(dict(before), tried)
            if handler.name is not None:
                self.assign(frame, handler.name.name, STATIC)
            self.execute_body(frame, handler.body)
            after = join_environments(after, frame.env)
        frame.env = after
        if node.finalbody is not None:
            left = frame.env is None
            frame.env = dict(before) if left else frame.env
            self.execute_body(frame, node.finalbody.body)
            if left:
                frame.env = None

    # -- definitions --------------------------------------------------------------------------------------------------

    def _define(self, frame: Frame, node: cst.FunctionDef) -> None:
        name = node.name.value
        prefix = f"{frame.summary.name}." if frame.function is not None else ""
        texts = tuple(frame.unit.code(decorator.decorator) for decorator in node.decorators)
        function = Function(frame.module, name, prefix + name, None, texts, _unit=frame.unit, _node=node)
        value = self.remember_local(frame, FunctionValue(function, None if frame.is_module else frame))
        self.bind(frame, name, self.decorated(value, frame))

    def _class(self, frame: Frame, node: cst.ClassDef) -> None:
        prefix = f"{frame.summary.name}." if frame.function is not None else ""
        made = Class(frame.module, node.name.value, prefix + node.name.value)
        made.base_values = tuple(self.evaluate(frame, base.value) for base in node.bases if not base.star)
        body: list[cst.BaseStatement] = []
        for statement in node.body.body if isinstance(node.body, cst.IndentedBlock) else ():
            if isinstance(statement, cst.FunctionDef):
                texts = tuple(frame.unit.code(decorator.decorator) for decorator in statement.decorators)
                inner = Function(
                    frame.module, statement.name.value, f"{made.qualname}.{statement.name.value}", made, texts
                )
                inner._unit, inner._node = frame.unit, statement
                made.functions.setdefault(statement.name.value, inner)
            else:
                body.append(statement)
        made.scope = None if frame.is_module else frame
        made.attributes = self.run_class_body(made, frame, body)
        self.local_class(frame, made)
        self.bind(frame, node.name.value, ClassValue(made))

    def _import(self, frame: Frame, node: cst.Import | cst.ImportFrom) -> None:
        for name, binding in self.imports_of(node):
            self.bind(frame, name, frame.module.deferred(binding))

    def _global(self, frame: Frame, node: cst.Global) -> None:
        frame.globals |= {item.name.value for item in node.names}

    def _nonlocal(self, frame: Frame, node: cst.Nonlocal) -> None:
        frame.nonlocals |= {item.name.value for item in node.names}

    _STATEMENTS: ClassVar[dict[type[cst.CSTNode], Callable[..., None]]] = {
        cst.SimpleStatementLine: _line,
        cst.Expr: _expression,
        cst.Assign: _assign,
        cst.AnnAssign: _annotated,
        cst.AugAssign: _augmented,
        cst.Del: _delete,
        cst.If: _if,
        cst.Match: _match,
        cst.Assert: _assert,
        cst.For: _for,
        cst.While: _while,
        cst.Break: _jump,
        cst.Continue: _jump,
        cst.Return: _return,
        cst.Raise: _raise,
        cst.With: _with,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.FunctionDef: _define,
        cst.ClassDef: _class,
        cst.Import: _import,
        cst.ImportFrom: _import,
        cst.Global: _global,
        cst.Nonlocal: _nonlocal,
    }


def _is_same_each_time(frame: Frame, value: Value) -> bool:
    """Whether an assignment in the body of a loop, a function of its own, does once what it does in every round, or may
    do so, as nothing is known of the value."""
    if not (frame.loop or frame.branch):
        return True  # most assignments
    if frame.outer_names or frame.branch:
        return False
    return all(
        isinstance(option, _FIXED) or (isinstance(option, Static) and option.known) or _holds_no_tensors(option)
        for option in options(value)
    )


def _holds_no_tensors(value: Value) -> bool:
    """Whether a value is an object of the project without a tensor, as far as is seen."""
    return isinstance(value, Instance) and not any(
        isinstance(leaf, Tensor | Nest) for held in value.attributes.values() for leaf in leaves(held)
    )


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


def _captured(pattern: cst.MatchPattern) -> list[str]:
    """The names that a pattern binds at its top or as parts."""
    names: list[str] = []

    class Names(cst.CSTVisitor):
        def visit_MatchAs(self, node: cst.MatchAs) -> None:  # noqa: N802
            if node.name is not None:
                names.append(node.name.value)

    pattern.visit(Names())
    return names
