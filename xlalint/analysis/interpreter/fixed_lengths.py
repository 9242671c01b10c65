"""Lists that a loop fills, where they are read: what the conditions there say of how long they are, and whether each
iteration makes them anew. And loops that put as many into a list each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import chain, takewhile
from operator import is_not
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Class, Variation
from ..domain.varying_shapes import GROWN
from ..files.unit import Location, Span4, Unit
from .frames import Frame

_AT_LEAST = (cst.GreaterThan, cst.GreaterThanEqual)
_AT_MOST = (cst.LessThan, cst.LessThanEqual)
# The methods that set an object up, each once.
MAKERS: Final = frozenset(("__init__", "build", "setup", "__post_init__"))
# What ends a loop, or an iteration, before it is over.
_ENDS = (cst.Break, cst.Continue, cst.Return, cst.Try)
# What a number of iterations is written with, which is the same where its names are.
_OF_COUNTS = (cst.Name, cst.Attribute, cst.Integer, cst.BinaryOperation, cst.BaseBinaryOp)


def is_settled(frame: Frame, variation: Variation) -> bool:
    """Whether a list that got longer has its length for good: another function filled it, as the object was made."""
    filler = variation.location.unit.function_around(variation.location.node)
    if variation.kind != GROWN or not isinstance(filler, cst.FunctionDef) or filler.name.value not in MAKERS:
        return False
    return frame.function is None or filler is not frame.function.node


def is_as_long(unit: Unit, filled: cst.CSTNode, read: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    """Whether a list that a loop puts something into is as long in each iteration that gets to where it is read:
    `filled` and `read` stand in the loop."""
    name = _filled(unit, filled)
    if name is None:
        return False
    asked = _Asked(unit, name, loop)
    if any(asked.is_begun(statement) for statement in loop.body.body):
        return True
    others = [_Asked(unit, other, loop) for other in _filled_beside(unit, filled) if other != name]
    for test, outcome, then in _conditions(unit, read, loop):
        if asked.is_settled(test, outcome, then):
            return True
        if any(other.is_settled(test, outcome, then) for other in others) and asked.is_emptied_in(then):
            return True
    return False


@lru_cache(maxsize=128)  # loops are run again and again
def is_begun_at_times(unit: Unit, filled: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    """Whether a loop empties the list that it puts something into when something happens, an episode ends say, so that
    it is of another length each time."""
    name = _filled(unit, filled)
    if name is None:
        return False
    asked = _Asked(unit, name, loop)
    emptying = [node for node in cst.within(loop.body) if asked.empties(node)]
    return any(_is_conditional(unit, node, loop) for node in emptying) and not any(
        is_as_long(unit, filled, node, loop) for node in emptying
    )


def _is_conditional(unit: Unit, node: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    return any(isinstance(around, cst.If) for around in takewhile(partial(is_not, loop), unit.around(node)))


def is_counted_off(unit: Unit, filled: cst.CSTNode, loop: cst.For | cst.While, cls: Class | None) -> bool:
    """Whether a loop puts as many into a list each time that its function comes to it: `for _ in range(size): ..` or
    `range(i * size, (i + 1) * size)`, where the loops around it leave the number as it is; and nothing leaves the loop
    before, or an iteration of it. `cls`: that of the method that the loop stands in."""
    match loop:
        case cst.For(iter=cst.Call(func=cst.Name(value="range"), args=args), orelse=None):
            width = cst.difference(args[0].value, args[1].value) if len(args) == 2 else None
            counts = [arg.value for arg in args] if width is None else [width]
            parts = [part for count in counts for part in cst.within(count)]
        case _:
            return False
    if any(isinstance(part, _ENDS) for part in cst.within(loop.body)) or _is_conditional(unit, filled, loop):
        return False
    if not all(isinstance(part, _OF_COUNTS) for part in parts):
        return False
    attributes = [part for part in parts if isinstance(part, cst.Attribute)]
    own = [part for part in attributes if isinstance(part.value, cst.Name) and part.value.value == "self"]
    names = {part.value for part in parts if isinstance(part, cst.Name)} - {part.attr.value for part in attributes}
    if own:
        names.discard("self")
        if cls is None or not all(_is_set_up_once(unit, part, cls) for part in own):
            return False
    outer: cst.CSTNode | None = None
    for around in unit.around(loop):
        match around:
            case cst.For() | cst.While():
                outer = around
            case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
                break
    return not names or (outer is not None and names.isdisjoint(_bound_in(outer)))


def _is_set_up_once(unit: Unit, held: cst.Attribute, cls: Class) -> bool:
    """Whether no method of a class assigns to an attribute, but those that set an object up."""
    methods = [method.node for method in cls.functions.values() if method.name not in MAKERS]
    targets = chain.from_iterable(map(cst.targets_in, methods))
    return not any(_is_named(unit, inner, held) for target in targets for inner in cst.within(target))


def _is_named(unit: Unit, node: cst.CSTNode, held: cst.Attribute) -> bool:
    return isinstance(node, cst.Attribute) and unit.compact(node) == unit.compact(held)


def _bound_in(block: cst.CSTNode) -> set[str]:
    """The names that something is bound to in a block."""
    parts = chain.from_iterable(map(cst.within, cst.targets_in(block)))
    return {part.value for part in parts if isinstance(part, cst.Name)}


def is_emptied_when_due(unit: Unit, filled: Location, read: cst.CSTNode, asked: frozenset[Location]) -> bool:
    """Whether the function that reads a list leaves nothing in it, and is called when the list is as long as it gets:
    after so many iterations, or at a length. `asked`: what the conditions on the way to it ask."""
    name, function = _filled(filled.unit, filled.node), unit.function_around(read)
    deciding = [each.node for each in asked if _is_all_asked(each)]
    if name is None or function is None or not deciding:
        return False
    counted = any(isinstance(node, cst.BinaryOperation) for node in deciding)  # `if step % 128 == 0:`
    return (counted or filled in asked) and _Asked(unit, name).is_emptied_in(function.body, behind=unit.span(read))


def _is_all_asked(part: Location) -> bool:
    """Whether a comparison, or a remainder, is all that a condition asks for."""
    inner = part.node
    if not isinstance(inner, cst.Comparison | cst.BinaryOperation):
        return False
    for around in part.unit.around(inner):
        match around:
            case cst.Comparison() | cst.ComparisonTarget() | cst.UnaryOperation(operator=cst.Not()):
                inner = around
            case cst.If(test=test):
                return test is inner
            case _:
                return False
    return False


def _filled(unit: Unit, node: cst.CSTNode) -> str | None:
    """The list that something is put into, by a call or behind it, as it is written."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner)):
            return unit.compact(owner)
        case cst.AugAssign(target=owner) | cst.Assign(targets=[cst.AssignTarget(target=owner)]):
            return unit.compact(owner)
        case _:
            return None


def _filled_beside(unit: Unit, filled: cst.CSTNode) -> Iterator[str]:
    """The lists that get something each time that one does: `xs.append(x)` beside `ys.append(y)`."""
    block = next((around for around in unit.around(filled) if isinstance(around, cst.IndentedBlock)), None)
    for statement in () if block is None else block.body:
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name(value="append"))) as call)]
            ):
                if (name := _filled(unit, call)) is not None:
                    yield name


def _conditions(
    unit: Unit, read: cst.CSTNode, loop: cst.For | cst.While
) -> Iterator[tuple[cst.BaseExpression, bool, cst.CSTNode]]:
    """The tests that an iteration has passed where it gets to a place, how each came out, and what runs then."""
    inner = read
    for around in unit.around(read):
        match around:
            case cst.If(test=test, body=body) if inner is body:
                yield test, True, body
            case cst.If(test=test, orelse=cst.Else(body=body)) if inner is around.orelse:
                yield test, False, body
            case cst.IndentedBlock(body=statements):
                for before in takewhile(partial(is_not, inner), statements):
                    match before:
                        case cst.If(test=test, body=body, orelse=None) if _leaves(body):
                            yield test, False, around
        if around is loop:
            return
        inner = around


class _Asked:
    """What code says of the length of a list."""

    def __init__(self, unit: Unit, name: str, loop: cst.For | cst.While | None = None) -> None:
        self._unit = unit
        self._name = name
        self._loop = loop
        self._measures = (f"len({name})", f"{name}.shape[0]", f"{name}.size")

    def is_settled(self, test: cst.BaseExpression, outcome: bool, then: cst.CSTNode) -> bool:
        """Whether the list has one length where a test comes out so; `then`: what runs there, which may empty it."""
        tests = [*_parts(test, outcome)]
        if any(self._fixes(part, sign) for part, sign in tests):
            return True
        reached = any(self._reaches(part, sign) or self._is_counted(part, sign, then) for part, sign in tests)
        return reached and self.is_emptied_in(then)

    def is_emptied_in(self, block: cst.CSTNode, behind: Span4 = (0, 0, 0, 0)) -> bool:
        """Whether a block takes out of the list what is in it, behind a place."""
        return any(self.empties(node) and self._unit.span(node) > behind for node in cst.within(block))

    def is_begun(self, statement: cst.CSTNode) -> bool:
        """Whether a statement leaves the list with nothing in it, or makes another one."""
        match statement:
            case cst.SimpleStatementLine(body=statements):
                return any(empties(part, self._is) or self._makes_another(part) for part in statements)
            case _:
                return False

    def _makes_another(self, node: cst.CSTNode) -> bool:
        """`x = read(path)`."""
        match node:
            case cst.Assign(targets=targets, value=value) if any(self._is(each.target) for each in targets):
                return not any(isinstance(part, cst.BaseExpression) and self._is(part) for part in cst.within(value))
            case _:
                return False

    def _fixes(self, test: cst.BaseExpression, outcome: bool) -> bool:
        """Whether a test says how long the list is."""
        match test:
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]):
                equal = isinstance(sign, cst.Equal if outcome else cst.NotEqual)
                return equal and any(self._unit.compact(side) in self._measures for side in (left, right))
            case _:
                return False

    def _reaches(self, test: cst.BaseExpression, outcome: bool) -> bool:
        """Whether a test says that the list has got to some length, or that a number of iterations is over."""
        match test:
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]):
                if isinstance(sign, cst.Equal if outcome else cst.NotEqual):
                    return isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.Modulo)
                forward, backward = (_AT_LEAST, _AT_MOST) if outcome else (_AT_MOST, _AT_LEAST)
                return (isinstance(sign, forward) and self._unit.compact(left) in self._measures) or (
                    isinstance(sign, backward) and self._unit.compact(right) in self._measures
                )
            case cst.BinaryOperation(operator=cst.Modulo()):
                return not outcome
            case _:
                return False

    def _is_counted(self, test: cst.BaseExpression, outcome: bool, then: cst.CSTNode) -> bool:
        """Whether a test says that a counter has got to a number, from which it starts again then."""
        match test:
            case cst.Comparison(left=cst.Name(value=counter), comparisons=[cst.ComparisonTarget(operator=sign)]):
                wanted = (cst.Equal, *_AT_LEAST) if outcome else (cst.NotEqual, *_AT_MOST)
                starts = isinstance(sign, wanted) and any(_starts(node, counter) for node in cst.within(then))
                return starts and self._loop is not None and _counts_by_ones(self._loop, counter)
            case _:
                return False

    def empties(self, node: cst.CSTNode) -> bool:
        """`x = []`, `x.clear()`, `x = x[n:]`, `del x[:]`."""
        match node:
            case cst.Del(target=cst.Subscript(value=owner)):
                return self._is(owner)
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Subscript(value=owner)):
                return self._is(target) and self._is(owner)
            case _:
                return empties(node, self._is)

    def _is(self, node: cst.CSTNode) -> bool:
        return self._unit.compact(node) == self._name


def empties(node: cst.CSTNode, is_list: Callable[[cst.CSTNode], bool]) -> bool:
    """Whether a statement leaves nothing in a list: `x = []`, `x, y = [], []`, `x.clear()`."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="clear"))):
            return is_list(owner)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=names))], value=cst.Tuple(elements=values)):
            pairs = zip(names, values, strict=False)
            return any(is_list(name.value) and _is_empty(value.value) for name, value in pairs)
        case cst.Assign(targets=targets, value=value):
            return _is_empty(value) and any(is_list(target.target) for target in targets)
        case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
            return _is_empty(value) and is_list(target)
        case _:
            return False


def _parts(test: cst.BaseExpression, outcome: bool) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The tests of which all come out so where a test does."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _parts(inner, not outcome)
        case cst.BooleanOperation(left=left, operator=joined, right=right):
            if isinstance(joined, cst.And) is outcome:
                yield from _parts(left, outcome)
                yield from _parts(right, outcome)
        case _:
            yield test, outcome


def _counts_by_ones(loop: cst.For | cst.While, counter: str) -> bool:
    """Whether all that a loop adds to a number is as much each time: not the number of words in a row."""
    added = [value for node in cst.within(loop.body) if (value := cst.added_to(counter, node)) is not None]
    return bool(added) and all(isinstance(value, cst.Integer) for value in added)


def _starts(node: cst.CSTNode, counter: str) -> bool:
    """`i = 0`, also beside others."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=names))], value=cst.Tuple(elements=values)):
            pairs = [(name.value, value.value) for name, value in zip(names, values, strict=False)]
        case cst.Assign(targets=targets, value=value):
            pairs = [(target.target, value) for target in targets]
        case _:
            return False
    return any(
        isinstance(target, cst.Name) and target.value == counter and isinstance(value, cst.Integer)
        for target, value in pairs
    )


def _is_empty(value: cst.BaseExpression) -> bool:
    match value:
        case cst.List(elements=[]) | cst.Call(func=cst.Name(value="list" | "deque"), args=[]):
            return True
        case _:
            return False


def _leaves(body: cst.BaseSuite) -> bool:
    """Whether a block ends by leaving what is around it."""
    match body.body:
        case [*_, cst.SimpleStatementLine(body=[*_, cst.Continue() | cst.Break() | cst.Return() | cst.Raise()])]:
            return True
        case _:
            return False
