"""Follows selected rows through the statements of a function and of the functions that it calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from ...analysis.domain.values import Value
from ...syntax import nodes as cst
from ..known import dotted
from ..rewrite import GivenUp
from ..syntax import plain, read
from .calls import Call
from .frames import Frame
from .indexing import indexed
from .masks import Masks
from .operations import ASKED, OPERATIONS, called_method
from .program import Program, aliases_of, expressions, is_static, parameters, short
from .states import (
    OTHER,
    Callable,
    Count,
    Function,
    Items,
    Mixed,
    Object,
    Other,
    Places,
    Rows,
    Sizes,
    State,
    holds_rows,
    joined,
    together,
)
from .writing import Writing

_DEPTH: Final = 8
_SINGULAR: Final = (cst.Divide, cst.Power, cst.FloorDivide, cst.Modulo)


class Interpreter(Masks):
    """One pass over a function."""

    def __init__(
        self,
        program: Program,
        writing: Writing,
        wanted: cst.CSTNode,
        mask_value: Value | None,
        filled: dict[int | str, str],
    ) -> None:
        super().__init__(writing, wanted, mask_value, filled)
        self.program = program
        self.expected: int | None = None  # how many values the statement unpacks
        self.left: State = OTHER  # what the first argument of the method that ran last is then
        self._frames = self._depth = 0
        self._done: dict[cst.CSTNode, dict[cst.CSTNode, str]] = {}
        self._called: dict[cst.CSTNode, set[cst.CSTNode]] = {}

    # -- functions ----------------------------------------------------------------------------------------------------

    def start(self, function: cst.FunctionDef) -> State:
        """Analyse a function by itself, whose arguments have nothing to do with a selection."""
        frame = self._frame(function)
        owner = self.program.class_around(function)
        for number, parameter in enumerate(parameters(function)):
            is_self = number == 0 and owner is not None and not is_static(function)
            frame.set(parameter.name.value, Object(owner or "") if is_self else OTHER)
        return self._run(function, frame)

    def _frame(self, function: Function | None, **more: Frame | cst.Call | None) -> Frame:
        self._frames += 1
        return Frame(self._frames, function, **more)  # type: ignore[arg-type]

    def _run(self, function: Function, frame: Frame) -> State:
        for parameter in parameters(function):
            if parameter.default is not None:
                self.evaluate(parameter.default, frame.around or frame)
        if isinstance(function, cst.Lambda):
            result = self.evaluate(function.body, frame)
        else:
            ends = self._block(function.body.body, frame)
            returned = frame.returned if ends or not frame.returned else [*frame.returned, OTHER]
            result = reduce(joined, returned) if returned else OTHER
            if frame.function is not None:
                owner = next((p.name.value for p in parameters(function)), "")
                self.left = frame.names.get(owner, OTHER)
        written = self.writing.touched(function.body)
        if self._done.setdefault(function, written) != written:
            raise GivenUp  # two calls want it to be two things
        return result

    def run(
        self, function: Callable, arguments: Sequence[tuple[str | None, State]], node: cst.Call, frame: Frame
    ) -> State:
        """The result of a function of the file. Raises `GivenUp` for what cannot be told."""
        assert function.function is not None
        target = function.function
        around = function.frame if isinstance(function.frame, Frame) else None
        self._called.setdefault(target, set()).add(node)
        if self._depth >= _DEPTH:
            raise GivenUp
        inner = self._frame(target, around=around, caller=frame, call=node)
        names = [one.name.value for one in parameters(target)]
        free = list(names)
        rest: list[State] = []
        for keyword, state in arguments:
            if keyword is None and not free:
                rest.append(state)
                continue
            name = free[0] if keyword is None else keyword
            if name in free:
                free.remove(name)
            inner.set(name, state)
        star = target.params.star_arg
        if any(map(holds_rows, rest)):
            raise GivenUp
        if isinstance(star, cst.Param):
            inner.set(star.name.value, OTHER)
        if target.params.star_kwarg is not None:
            inner.set(target.params.star_kwarg.name.value, OTHER)
        for name in free:
            inner.set(name, OTHER)
        self._depth += 1
        try:
            return self._run(target, inner)
        finally:
            self._depth -= 1

    def check_calls(self) -> None:
        """Everybody who calls a function that is changed was seen. Raises `GivenUp`."""
        for function, calls in self._called.items():
            if not (self._done.get(function) or function in self.writing.widened):
                continue
            if isinstance(function, cst.FunctionDef):
                name = function.name.value
                known = self.program.calls(name)
                if name != "__init__" and ({*known} - calls or self.program.mentions(name) != len(known) + 1):
                    raise GivenUp

    # -- statements ---------------------------------------------------------------------------------------------------

    def _block(self, lines: Sequence[cst.CSTNode], frame: Frame) -> bool:
        """Whether no way leads out at the end."""
        for line in lines:
            for statement in line.body if isinstance(line, cst.SimpleStatementLine) else [line]:
                if self._statement(statement, frame):
                    return True
        return False

    def _statement(self, node: cst.CSTNode, frame: Frame) -> bool:
        match node:
            case cst.Assign(targets=targets, value=value):
                self._assign([one.target for one in targets], value, frame)
                frame.aliases |= {name: path for name, path in aliases_of(node).items() if "." not in name}
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                self._assign([target], value, frame)
            case cst.AugAssign(target=target, operator=operator, value=value):
                states = [self.evaluate(target, frame), self.evaluate(value, frame)]
                self.note_singular(states[1:], isinstance(operator, cst.DivideAssign | cst.PowerAssign))
                self._bind(target, together(states), None, frame)
            case cst.Return(value=value):
                frame.returned.append(OTHER if value is None else self.evaluate(value, frame))
                return True
            case cst.Expr(value=value):
                self.evaluate(value, frame)
            case cst.If(test=test, body=body, orelse=orelse):
                return self._if(test, body, orelse, frame)
            case cst.For(target=target, iter=iterable, body=body):
                self._no_rows(self.evaluate(iterable, frame))
                self._bind(target, OTHER, None, frame)
                self._loop(body, frame)
            case cst.While(test=test, body=body):
                self._no_rows(self.evaluate(test, frame))
                self._loop(body, frame)
            case cst.With(items=items, body=body):
                for item in items:
                    self._no_rows(self.evaluate(item.item, frame))
                    if item.asname is not None:
                        self._bind(item.asname.name, OTHER, None, frame)
                return self._block(body.body, frame)
            case cst.FunctionDef(name=cst.Name(name)):
                frame.set(name, Callable(node, frame))
            case cst.Import() | cst.ImportFrom():
                frame.aliases |= aliases_of(node)
            case cst.Raise():
                return True
            case cst.Pass() | cst.Break() | cst.Continue() | cst.AnnAssign() | cst.Global() | cst.Nonlocal():
                pass
            case _:
                if any(holds_rows(frame.get(name) or OTHER) for name in read(node)):
                    raise GivenUp
        return False

    def _if(
        self, test: cst.BaseExpression, body: cst.BaseSuite, orelse: cst.If | cst.Else | None, frame: Frame
    ) -> bool:
        self._no_rows(self.evaluate(test, frame))
        before = frame.copy_names()
        ends = self._block(body.body, frame)
        after = frame.copy_names()
        frame.names, frame.versions, frame.defined = before
        other = False
        if isinstance(orelse, cst.If):
            other = self._if(orelse.test, orelse.body, orelse.orelse, frame)
        elif orelse is not None:
            other = self._block(orelse.body.body, frame)
        if other and not ends:
            frame.names, frame.versions, frame.defined = after
        elif not ends:
            frame.join(after)
        return ends and other

    def _loop(self, body: cst.BaseSuite, frame: Frame) -> None:
        before = frame.copy_names()
        self._block(body.body, frame)
        frame.join(before)
        states = dict(frame.names)
        self._block(body.body, frame)
        if any(frame.names.get(name) != state and holds_rows(state) for name, state in states.items()):
            raise GivenUp

    def _assign(self, targets: Sequence[cst.BaseExpression], value: cst.BaseExpression, frame: Frame) -> None:
        match targets:
            case [cst.Tuple(elements=elements) | cst.List(elements=elements)]:
                self.expected = len(elements)
            case _:
                self.expected = None
        state = self.evaluate(value, frame)
        self.expected = None
        for target in targets:
            self._bind(target, state, value, frame)

    def _bind(self, target: cst.BaseExpression, state: State, value: cst.BaseExpression | None, frame: Frame) -> None:
        match target:
            case cst.Name(name):
                frame.set(name, state, value)
                if isinstance(state, Places):
                    frame.names[name] = Places(self.mask_here(state.mask, name, frame), state.flat)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                values: Sequence[cst.BaseExpression | None] = [None] * len(elements)
                if isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(elements):
                    values = [one.value for one in value.elements]
                match state:
                    case Items(states) if len(states) == len(elements):
                        for element, one, inner in zip(elements, states, values, strict=True):
                            self._bind(element.value, one, inner, frame)
                    case _:
                        self._no_rows(state)
                        for element in elements:
                            self._bind(element.value, OTHER, None, frame)
            case cst.Attribute(value=cst.Name(owner), attr=cst.Name(attribute)):
                match frame.get(owner):
                    case Object() as found:
                        if isinstance(state, Places):
                            state = Places(self.mask_here(state.mask, f"{owner}.{attribute}", frame), state.flat)
                        frame.names[owner] = found.with_attribute(attribute, state)
                    case _:
                        self._no_rows(state)
            case cst.StarredElement(value=inner):
                self._no_rows(state)
                self._bind(inner, OTHER, None, frame)
            case _:
                self._no_rows(state)
                self._no_rows(self.evaluate(target, frame))

    def _no_rows(self, state: State) -> None:
        if holds_rows(state):
            raise GivenUp

    # -- expressions --------------------------------------------------------------------------------------------------

    def evaluate(self, node: cst.BaseExpression, frame: Frame) -> State:
        """What an expression holds; what it has to be is written meanwhile."""
        match node:
            case cst.Name(name):
                found = frame.get(name)
                if found is not None:
                    return self._read(found, name, frame)
                return self._global(name)
            case cst.Attribute():
                return self._attribute(node, frame)
            case cst.Call():
                return self._call(node, frame)
            case cst.Subscript(value=value):
                return indexed(self, node, self.evaluate(value, frame), frame)
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                return self._binary(left, operator, right, frame)
            case cst.Comparison(left=left, comparisons=comparisons):
                return self._comparison(left, comparisons, frame)
            case cst.UnaryOperation(operator=operator, expression=inner):
                state = self.evaluate(inner, frame)
                if isinstance(operator, cst.Not):
                    self._no_rows(state)
                    return OTHER
                return together([self.as_rows(inner, state, frame)])
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                self.expected = None
                return Items(tuple(self.evaluate(one.value, frame) for one in elements))
            case cst.Lambda():
                return Callable(node, frame)
            case cst.IfExp(test=test, body=body, orelse=orelse):
                self._no_rows(self.evaluate(test, frame))
                return joined(self.evaluate(body, frame), self.evaluate(orelse, frame))
            case cst.ListComp() | cst.GeneratorExp() | cst.SetComp() | cst.DictComp():
                if any(holds_rows(frame.get(name) or OTHER) for name in read(node)):
                    raise GivenUp
                return OTHER
            case cst.Integer() | cst.Float():
                return Other(is_zero=node.evaluated_value == 0, kind="float" if isinstance(node, cst.Float) else None)
            case _:
                for child in node.children:
                    for part in expressions(child):
                        self._no_rows(self.evaluate(part, frame))
                return OTHER

    def _read(self, state: State, text: str, frame: Frame) -> State:
        if isinstance(state, Places):
            return Places(self.mask_here(state.mask, text, frame), state.flat)
        return state

    def _global(self, name: str) -> State:
        function = self.program.function(name)
        return OTHER if function is None else Callable(function, None)

    def _attribute(self, node: cst.Attribute, frame: Frame) -> State:
        path = dotted(node)
        match node.value:
            case cst.Name(owner) if frame.get(owner) is None and self.program.is_class(owner):
                return self._member(owner, node.attr.value, frame)
        if path is not None and frame.get(path.partition(".")[0]) is None and self._api(path, frame) is not None:
            return OTHER
        state = self.evaluate(node.value, frame)
        match state, node.attr.value:
            case Object() as found, name:
                held = found.get(name)
                if held is not OTHER:
                    return self._read(held, path or plain(node), frame)
                return self._member(found.cls, name, frame)
            case Items((values, indices)), "values" | "indices" as which:
                return values if which == "values" else indices
            case Rows(), "dtype" | "device" | "name":
                return OTHER
            case Rows() as rows, "shape":
                return Sizes(rows)
            case Places() | Rows() | Sizes() | Mixed(), _:
                raise GivenUp
            case _:
                return OTHER

    def _member(self, cls: str, name: str, frame: Frame) -> State:
        match self.program.member(cls, name):
            case cst.FunctionDef() | cst.Lambda() as function:
                return Callable(function, None)
            case cst.Call(func=function) as made if (self.api_of(function, Frame(0, None)) or "").startswith("keras."):
                return self.evaluate(made, Frame(0, None))
            case _:
                return OTHER

    def _api(self, path: str, frame: Frame) -> str | None:
        return self.program.api(path, frame.all_aliases())

    def api_of(self, node: cst.BaseExpression, frame: Frame) -> str | None:
        """The canonical name of a function of a library's."""
        path = dotted(node)
        return None if path is None else self._api(path, frame)

    def _binary(
        self, left: cst.BaseExpression, operator: cst.CSTNode, right: cst.BaseExpression, frame: Frame
    ) -> State:
        states = [self.as_rows(one, self.evaluate(one, frame), frame) for one in (left, right)]
        if isinstance(operator, cst.MatrixMultiply):
            match states:
                case [Rows(behind=behind) as rows, Other()] if behind != 0:
                    return rows
            if any(map(holds_rows, states)):
                raise GivenUp
            return OTHER
        if isinstance(operator, cst.Add) and any(isinstance(one, Items) for one in states):
            match states:
                case [Items(one), Items(other)]:
                    return Items((*one, *other))
        self.note_singular(states if isinstance(operator, cst.Power) else states[1:], isinstance(operator, _SINGULAR))
        if isinstance(operator, cst.Power) and isinstance(right, cst.Integer):
            return together(states)
        return together([self.plain_items(one) for one in states])

    def plain_items(self, state: State) -> State:
        """A list of numbers, as an operand."""
        return OTHER if isinstance(state, Items) and not holds_rows(state) else state

    def _comparison(self, left: cst.BaseExpression, targets: Sequence[cst.ComparisonTarget], frame: Frame) -> State:
        first = self.evaluate(left, frame)
        states = [first, *(self.evaluate(one.comparator, frame) for one in targets)]
        match first, targets, states[1:]:
            case Count(), [cst.ComparisonTarget(operator, cst.Integer(number))], _ if (
                asks := ASKED.get((_SIGNS.get(type(operator).__name__, ""), number))
            ) is not None:
                return Other(asks=asks)
        nodes = [left, *(one.comparator for one in targets)]
        states = [self.as_rows(one, state, frame) for one, state in zip(nodes, states, strict=True)]
        if any(isinstance(one.operator, cst.In | cst.NotIn | cst.Is | cst.IsNot) for one in targets):
            return OTHER  # about the objects
        found = together([self.plain_items(one) for one in states])
        return replace(found, kind="bool") if isinstance(found, Rows) else found

    def _call(self, node: cst.Call, frame: Frame) -> State:
        path = dotted(node.func)
        head = None if path is None else path.partition(".")[0]
        is_local = head is not None and frame.get(head) is not None
        api = None if path is None or (is_local and head not in frame.all_aliases()) else self._api(path, frame)
        if api is not None and (
            head is None or (not self.program.is_class(head) and self.program.function(head) is None)
        ):
            return self._library(node, api, node.args, frame)
        if isinstance(node.func, cst.Attribute):
            owner = self.evaluate(node.func.value, frame)
            if isinstance(owner, Rows | Places | Sizes):
                return called_method(self, node, owner, node.func, frame)
        target = self.evaluate(node.func, frame)
        match target:
            case Callable(api=str(api), given=given) if api:
                return self._library(node, api, [*node.args, *given], frame)
            case Callable():
                return self._own(node, target, frame)
        if isinstance(node.func, cst.Name) and self.program.is_class(node.func.value) and not is_local:
            return self._created(node, node.func.value, frame)
        states = [self.evaluate(one.value, frame) for one in node.args]
        self.run_passed(node, states, frame)
        if any(map(holds_rows, states)):
            raise GivenUp
        return OTHER

    def _library(self, node: cst.Call, api: str, args: Sequence[cst.Arg], frame: Frame) -> State:
        expected, self.expected = self.expected, None
        states = [(one, self.evaluate(one.value, frame)) for one in args]
        call = Call.of(node, api, states, frame, expected)
        operation = OPERATIONS.get(short(api)) or OPERATIONS.get(api)
        passed = [state for _, state in states]
        if operation is not None and (found := operation(self, call)) is not None:
            return found
        self.run_passed(node, passed, frame)
        if any(map(holds_rows, passed)) or any(isinstance(one, Count) for one in passed):
            raise GivenUp
        return OTHER

    def run_passed(self, node: cst.Call, states: Sequence[State], frame: Frame) -> None:
        """Analyse the functions that a call is passed, which it runs for something else."""
        for state in states:
            if isinstance(state, Callable) and state.function is not None and state.frame is not None:
                self._no_rows(self.run(state, [], node, frame))

    def _own(self, node: cst.Call, target: Callable, frame: Frame) -> State:
        arguments: list[tuple[str | None, State]] = []
        if isinstance(node.func, cst.Attribute) and isinstance(target.function, cst.FunctionDef):
            owner = self.evaluate(node.func.value, frame)
            is_class = isinstance(node.func.value, cst.Name) and self.program.is_class(node.func.value.value)
            if not is_static(target.function) and not is_class:
                arguments.append((None, owner))
        for one in node.args:
            state = self.evaluate(one.value, frame)
            if one.star and holds_rows(state):
                raise GivenUp
            if one.star:
                continue
            arguments.append((one.keyword.value if one.keyword is not None else None, state))
        result = self.run(target, arguments, node, frame)
        match node.func, self.left if isinstance(target.function, cst.FunctionDef) else OTHER:
            case cst.Attribute(value=cst.Name(name)), Object() as left if isinstance(frame.get(name), Object):
                frame.names[name] = left
        return result

    def _created(self, node: cst.Call, cls: str, frame: Frame) -> State:
        made: State = Object(cls)
        match self.program.member(cls, "__init__"):
            case cst.FunctionDef() as function:
                arguments: list[tuple[str | None, State]] = [(None, made)]
                for one in node.args:
                    if one.star:
                        return OTHER
                    arguments.append((one.keyword.value if one.keyword else None, self.evaluate(one.value, frame)))
                self.run(Callable(function, None), arguments, node, frame)
                made = self.left
            case _:
                if any(holds_rows(self.evaluate(one.value, frame)) for one in node.args):
                    raise GivenUp
        return made


_SIGNS: Final = {
    "Equal": "equal",
    "NotEqual": "not_equal",
    "LessThan": "less",
    "LessThanEqual": "less_equal",
    "GreaterThan": "greater",
    "GreaterThanEqual": "greater_equal",
}
