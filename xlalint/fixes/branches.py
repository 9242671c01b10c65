"""A branch on a tensor as operations: weighed by an indicator, selected by `tf.where`, or run by `tf.cond`.

`tf.where` computes both sides, so it serves where the gradient of neither can be infinite or NaN; then zero times that
gradient is zero, and what is selected alone counts. Everything else becomes `tf.cond`, which runs one side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from ..analysis.domain.values import Dependence, Dict, Sequence, Static, Tensor, Value
from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from ..syntax.build import parse_expression
from .guards import EAGERLY, SILENT
from .known import Gradient, Knowledge, Known, Scope, number
from .logic import SKIPPED, condition
from .names import Names
from .rewrite import NodeEdit, Rewrite, Rewriter, remove, replace
from .sizes import decided_in_python
from .syntax import (
    any_node,
    assigned,
    call,
    indented,
    is_movable,
    operand,
    plain,
    read,
    read_first,
    small_statements,
    surely_assigned,
)

_MISMATCH: Final = "where the branches differ in shape or dtype, or one has side effects in Python"
_TEST: Final = "where the test is not a boolean scalar"
_WIDEST: Final = 110  # what gets longer becomes functions, which keep the code as it is written
_MOST_MOVED: Final = 12  # statements behind an early return that become a function of their own

_LOGIC: Final = (cst.BooleanOperation, cst.Not)
_TEXTS: Final = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_NO_TENSORS: Final = (cst.BaseString, cst.Lambda, cst.Set, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp)

# `t <operator> K` where the test holds, by an indicator that is one there and zero elsewhere; exact for all t.
_SCALED: Final[dict[type[cst.CSTNode], str]] = {
    cst.Divide: "/",
    cst.Multiply: "*",
    cst.DivideAssign: "/",
    cst.MultiplyAssign: "*",
}
# Adding zero would turn -0.0 into 0.0; subtracting it does not.
_SHIFTED: Final = (cst.Subtract, cst.SubtractAssign)


@dataclass(frozen=True, slots=True)
class _Chain:
    """`if`, `elif`, ..., `else`: the tests with their blocks, and the last block if there is one."""

    tests: tuple[cst.BaseExpression, ...]
    bodies: tuple[cst.BaseSuite, ...]
    orelse: cst.BaseSuite | None

    @classmethod
    def of(cls, statement: cst.If) -> _Chain:
        tests, bodies = [], []
        node: cst.If | cst.Else | None = statement
        while isinstance(node, cst.If):
            tests.append(node.test)
            bodies.append(node.body)
            node = node.orelse
        return cls(tuple(tests), tuple(bodies), node.body if node is not None else None)

    @property
    def blocks(self) -> tuple[cst.BaseSuite, ...]:
        return (*self.bodies, *((self.orelse,) if self.orelse is not None else ()))


def branch(location: Location, test: Value, scope: Scope) -> Rewriter:
    """The rewrite of the `cst.If` or `cst.IfExp` at `place` that decides on `test`."""

    def build(names: Names) -> Rewrite | None:
        builder = _Builder(location, test, scope, names)
        match location.node:
            case cst.If() | cst.IfExp() as node if (sized := builder.static(node)) is not None:
                return sized
            case cst.IfExp() as node:
                return builder.ternary(node)
            case cst.If() as node if not isinstance(next(location.unit.around(node), None), cst.If):
                return builder.statement(node)
            case _:
                return None  # an `elif` goes with its `if`

    return build


class _Builder:
    """One rewrite of one branch."""

    def __init__(self, location: Location, test: Value, scope: Scope, names: Names) -> None:
        self._place = location
        self._test = test
        self._scope = scope
        self._names = names
        self._tf = names.tf
        self._knowledge = Knowledge(scope, self._tf, location)
        if isinstance(location.node, cst.If | cst.IfExp):
            self._knowledge.establish(location.node.test)
        around = location.unit.around(location.node)
        self._enclosing = next((node for node in around if isinstance(node, cst.FunctionDef)), None)
        own = takewhile(lambda node: not isinstance(node, cst.FunctionDef), location.unit.around(location.node))
        self._in_loop = any(isinstance(node, cst.For | cst.While) for node in own)

    # -- the test -----------------------------------------------------------------------------------------------------

    def static(self, node: cst.If | cst.IfExp) -> Rewrite | None:
        """A test of sizes: Python knows them where the code is compiled."""
        if not isinstance(self._test, Tensor) or self._test.dependence is Dependence.VALUE:
            return None
        return decided_in_python(self._place, node.test, self._names, self._scope)

    # -- forms --------------------------------------------------------------------------------------------------------

    def ternary(self, node: cst.IfExp) -> Rewrite | None:
        """`a if test else b`."""
        if self._asks_python_late(node.test):
            return None
        chosen = self._chosen([node.test], [node.body, node.orelse], "")
        return None if chosen is None else self._rewrite(chosen, (replace(self._place, chosen.text),))

    def statement(self, node: cst.If) -> Rewrite | None:
        """An `if` with all that belongs to it."""
        chain = _Chain.of(node)
        if not all(map(is_movable, chain.blocks)) or any(map(self._asks_python_late, chain.tests)):
            return None
        forms = (self._indicator(chain), self._assignment(chain), self._return(chain))
        found = [form for form in forms if form is not None]
        short = next((form for form in found if form.safety is Safety.SAFE), next(iter(found), None))
        if short is not None and max(map(len, short.edits[0].text.split("\n"))) <= _WIDEST:
            return short
        return self._functions(node, chain) or short

    def _indicator(self, chain: _Chain) -> Rewrite | None:
        """`if c: t = t / 2.0` as `t = t / (1.0 + indicator)`: no branch, and no second copy of `t`."""
        if chain.orelse is not None or len(chain.tests) > 1:
            return None
        match small_statements(chain.bodies[0]):
            case [cst.AugAssign(target=target, operator=operator, value=literal)]:
                pass
            case [
                cst.Assign(
                    targets=[cst.AssignTarget(target)],
                    value=cst.BinaryOperation(left=left, operator=operator, right=literal),
                )
            ] if left.deep_equals(target):
                pass
            case _:
                return None
        factor, known = number(literal), self._knowledge.combined(target, operator, literal)
        kind = known.kind if known is not None else None
        # Where an integer would be divided, the branches differ in dtype.
        floating = isinstance(literal, cst.Float) or kind == "float" or (kind is None and type(operator) in _DIVIDING)
        if factor is None or not floating or kind not in ("float", None) or factor <= 0.0:
            return None
        (test,) = chain.tests
        dtype = f"{plain(target)}.dtype" if self._enclosing is not None else f"{self._tf}.float32"
        indicator = f"{self._tf}.cast({self._condition(test)}, {dtype})"
        name = plain(target)
        if (sign := _SCALED.get(type(operator))) is not None and _is_short(factor - 1.0) and factor != 1.0:
            weight = indicator if factor == 2.0 else f"{abs(factor - 1.0)} * {indicator}"
            text = f"{name} = {name} {sign} (1.0 {'+' if factor > 1.0 else '-'} {weight})"
        elif isinstance(operator, _SHIFTED):
            text = f"{name} = {name} - {plain(literal)} * {indicator}"
        else:
            return None
        certain = known is not None and known.total and kind == "float"
        differs = "" if certain else f"where `{name}` is not a tensor, or is an integer tensor"
        differs = differs or self._test_differs(chain.tests)
        return self._rewrite(_Chosen(text, "Multiply by an indicator", differs), (replace(self._place, text),))

    def _assignment(self, chain: _Chain) -> Rewrite | None:
        """The same names get a value in each branch, each of one expression."""
        sides = [_assignments(block) for block in chain.blocks]
        if any(side is None or not side for side in sides):
            return None
        targets = list(dict.fromkeys(name for side in sides for name in side or ()))
        if chain.orelse is None:
            sides.append({})
        values = []
        for side in sides:
            assert side is not None
            missing = [name for name in targets if name not in side]
            if not all(self._is_bound(name, chain) for name in missing):
                return None
            values.append([side.get(name) or parse_expression(name) for name in targets])
        head = ", ".join(targets) + " = "
        columns = [side[0] if len(side) == 1 else _tuple(side) for side in values]
        chosen = self._chosen(chain.tests, columns, head)
        return None if chosen is None else self._rewrite(chosen, (replace(self._place, chosen.text),))

    def _return(self, chain: _Chain) -> Rewrite | None:
        """Each branch is one `return`, the last of them perhaps behind the `if`."""
        values = [_returned(small_statements(block)) for block in chain.blocks]
        behind = self._behind()
        last: Location | None = None
        if chain.orelse is None:
            if not behind:
                return None
            values.append(_returned(small_statements(behind[:1])))
            last = self._place.at(behind[0])
        found = [value for value in values if value is not None]
        if len(found) < len(values):
            return None
        chosen = self._chosen(chain.tests, found, "return ")
        if chosen is None:
            return None
        edits = (replace(self._place, chosen.text), *((remove(last),) if last is not None else ()))
        return self._rewrite(chosen, edits)

    def _functions(self, node: cst.If, chain: _Chain) -> Rewrite | None:
        """Any other branch: its two sides as functions for `tf.cond`."""
        blocks: list[Ordered[cst.CSTNode]] = [chain.bodies[0].body]
        if isinstance(node.orelse, cst.If):
            blocks.append([node.orelse])  # a branch of its own, inside of the second function
        elif chain.orelse is not None:
            blocks.append(chain.orelse.body)
        removed: Ordered[cst.BaseStatement] = ()
        ends = [isinstance(small_statements(block)[-1], cst.Return) for block in blocks]
        if ends == [True]:
            removed = self._behind()
            if not removed or len(removed) > _MOST_MOVED or not all(map(is_movable, removed)):
                return None
            blocks.append(removed)
            ends.append(True)
        if len(set(ends)) > 1 or any(map(_returns_early, blocks)):
            return None
        results = [] if ends[0] else self._results(chain, blocks)
        if results == [] and not ends[0] and all(map(self._only_says, blocks)):
            return self._eagerly(node) if len(blocks) == 1 else None
        if results is None or not all(name.isidentifier() for block in blocks for name in assigned(block)):
            return None  # what both sides do to an object while they are traced, the one undoes for the other
        labels = ("when_true", "when_false")
        functions, sides = "", []
        for label, block in zip(labels, blocks, strict=False):
            name = self._names.fresh(label)
            functions += self._function(name, block, results, ends[0], moved=block is removed)
            sides.append(name)
        result = ", ".join(results)
        if len(sides) == 1:
            sides.append(f"lambda: {f'({result})' if len(results) > 1 else result or None}")
        head = "return " if ends[0] else f"{result} = " if results else ""
        text = functions + call(f"{self._tf}.cond", [self._condition(node.test), *sides], self._names.indent, head)
        edits = (replace(self._place, text), *(remove(self._place.at(line)) for line in removed))
        return self._rewrite(_Chosen(text, "Run one of two functions with `tf.cond`", _MISMATCH), edits)

    def _only_says(self, block: Ordered[cst.CSTNode]) -> bool:
        """Whether a block hands text to functions of Python's, and does nothing else: under `tf.cond` it would do so
        once, whatever the test says."""
        for line in small_statements(block):
            match line:
                case cst.Expr(value=cst.Call(func=function, args=[_, *_] as arguments)):
                    if not all(isinstance(one.value, _TEXTS) for one in arguments) or self._knowledge.api(function):
                        return False
                case _:
                    return False
        return True

    def _eagerly(self, node: cst.If) -> Rewrite:
        """The branch where Python can ask for the test."""
        test = node.test
        loose = isinstance(test, cst.IfExp | cst.Lambda) or (
            isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or)
        )
        text = f"({plain(test)})" if loose else plain(test)
        edits = (replace(self._place.at(test), f"{self._tf}.executing_eagerly() and {text}"),)
        return Rewrite(EAGERLY, edits, Safety.UNSAFE, SILENT)

    # -- choosing between values --------------------------------------------------------------------------------------

    def _chosen(
        self, tests: Ordered[cst.BaseExpression], values: Ordered[cst.BaseExpression], head: str
    ) -> _Chosen | None:
        """One expression that takes the value of the first test that holds, or the last value."""
        if any(_is_no_tensor(value) or not is_movable(value) for value in values):
            return None
        linear = all(map(self._is_linear, values))
        tests_differ = self._test_differs(tests)
        runs = not tests_differ and self._are(Known.agrees, values)
        selects = linear and runs and self._are(Known.is_like, values) and all(map(self._knowledge.is_total, tests[1:]))
        where = linear and (selects or not runs)
        texts = [plain(value) for value in values]
        if not where:
            open_tuples = [
                isinstance(each, cst.Tuple) and not cst.text_of(each).is_parenthesised(each) for each in values
            ]
            texts = [f"lambda: {f'({text})' if is_open else text}"
                     for text, is_open in zip(texts, open_tuples, strict=True)]  # fmt: skip
        function = f"{self._tf}.{'where' if where else 'cond'}"
        text = texts.pop()
        for at, test in reversed([*enumerate(tests)]):
            inner = text if where or at == len(tests) - 1 else f"lambda: {text}"
            arguments = [self._condition(test), texts.pop(), inner]
            text = call(function, arguments, self._names.indent, head if at == 0 else "")
        title = "Select with `tf.where`" if where else "Run one branch with `tf.cond`"
        return _Chosen(text, title, tests_differ or ("" if runs else _MISMATCH))

    def _are(self, same: Callable[[Known, Known], bool], values: Ordered[cst.BaseExpression]) -> bool:
        """Whether values are the same to each other in that way, part by part."""
        columns = [*zip(*map(_parts, values), strict=False)]
        known = [self._knowledge.all_of(column) for column in columns]
        return len({len(_parts(value)) for value in values}) == 1 and all(
            first is not None and second is not None and same(first, second)
            for column in known
            for first, second in pairwise(column)
        )

    def _is_linear(self, node: cst.CSTNode) -> bool:
        """Whether both sides may be computed: by form, the gradient is a constant."""
        match node:
            case cst.Name() | cst.Float() | cst.Integer():
                return True
            case cst.Attribute(value=owner):
                return self._is_linear(owner)
            case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
                return self._is_linear(inner)
            case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract(), right=right):
                return self._is_linear(left) and self._is_linear(right)
            case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
                sides = (left, right)
                return any(number(side) is not None for side in sides) and all(map(self._is_linear, sides))
            case cst.BinaryOperation(left=left, operator=cst.Divide(), right=right):
                return bool(number(right)) and self._is_linear(left)
            case cst.Call(func=function, args=arguments):
                return self._knowledge.gradient(function) is Gradient.LINEAR and all(
                    argument.keyword is None and self._is_linear(argument.value) for argument in arguments
                )
            case _:
                return False

    def _condition(self, test: cst.BaseExpression) -> str:
        """A test as one boolean tensor. What Python asks first, it goes on asking: `x is not None and ...`."""
        number = isinstance(self._test, Tensor) and self._test.dtype in ("int", "float")
        if number and test is getattr(self._place.node, "test", None) and not any_node(test, _LOGIC):
            return f"{self._tf}.not_equal({plain(test)}, 0)"
        first, rest, word = self._split(test)
        if rest is None:
            return condition(test, self._tf)
        name = f"{self._tf}.logical_{word}"
        text = self._condition(rest[0])
        for one in rest[1:]:
            text = f"{name}({text}, {self._condition(one)})"
        asked = [f"({plain(one)})" if isinstance(one, cst.BooleanOperation) else plain(one) for one in first]
        return f" {word} ".join([*asked, text])

    def _split(
        self, test: cst.BaseExpression
    ) -> tuple[Ordered[cst.BaseExpression], Ordered[cst.BaseExpression] | None, str]:
        """What `and` or `or` joins: the tests of Python's at the beginning, the others, and the word. None for the
        others of any other test."""
        if not isinstance(test, cst.BooleanOperation):
            return (), None, ""
        parts = [*_joined(test, type(test.operator))]
        number = next((at for at, part in enumerate(parts) if not self._is_python(part)), len(parts) - 1)
        return parts[:number], parts[number:], "and" if isinstance(test.operator, cst.And) else "or"

    def _is_python(self, node: cst.BaseExpression) -> bool:
        """Whether a test is one of Python's, by its form or by what is known of a name."""
        match node:
            case cst.Name(value=name):
                return isinstance(self._scope.get(name), Static | Sequence | Dict)
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                return self._is_python(inner)
            case cst.BooleanOperation(left=left, right=right):
                return self._is_python(left) and self._is_python(right)
            case cst.Comparison(comparisons=[cst.ComparisonTarget(cst.Is() | cst.IsNot())]):
                return True
            case cst.Call(func=cst.Name("isinstance" | "hasattr" | "callable")):
                return True
            case _:
                return False

    def _asks_python_late(self, test: cst.BaseExpression) -> bool:
        """Whether a test of Python's stands behind one on a tensor, so that no logical operation can take both."""
        _, rest, _ = self._split(test)
        return rest is not None and any(self._is_python(one) or self._asks_python_late(one) for one in rest)

    def _test_differs(self, tests: Ordered[cst.BaseExpression]) -> str:
        first, *others = tests
        scalar = isinstance(self._test, Tensor) and self._test.rank == 0 and self._test.dtype == "bool"
        if not (scalar and _is_kept(first)) and not self._is_test(first):
            return _TEST
        if not all(map(self._is_test, others)):
            return _TEST
        return "" if all(map(self._knowledge.may_compute_all, tests)) else SKIPPED

    def _is_test(self, node: cst.BaseExpression) -> bool:
        """Whether a test is known to be one boolean."""
        match node:
            case cst.BooleanOperation(left=left, right=right):
                return self._is_test(left) and self._is_test(right)
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                return self._is_test(inner)
            case cst.Comparison(left=left, comparisons=[_, _, *_] as targets):
                parts = [left, *(target.comparator for target in targets)]
                return all(map(self._knowledge.is_scalar, parts))
            case _:
                known = self._knowledge.of(node)
                return known is not None and not known.shape and known.kind == "bool"

    # -- functions ----------------------------------------------------------------------------------------------------

    def _results(self, chain: _Chain, blocks: Ordered[Ordered[cst.CSTNode]]) -> list[str] | None:
        """The names that the branches pass on, in order; None where one of them may be left without a value."""
        sets = [set(assigned(block)) for block in blocks]
        in_all = set.intersection(*sets) if chain.orelse is not None else set()
        results = []
        for name in dict.fromkeys(name for block in blocks for name in assigned(block)):
            if not self._is_read_elsewhere(name) and not (self._in_loop and self._is_read_first(name, chain)):
                continue
            if name not in in_all and not self._is_bound(name, chain):
                return None
            results.append(name)
        return results

    def _is_bound(self, name: str, chain: _Chain) -> bool:
        """Whether a name has a value before the branch."""
        return not name.isidentifier() or name in self._scope or self._is_read_first(name, chain)

    def _is_read_first(self, name: str, chain: _Chain) -> bool:
        """Whether the branch may read a name before it assigns it."""
        return any(name in read_first(small_statements(block)) for block in chain.blocks)

    def _is_read_elsewhere(self, name: str) -> bool:
        """Whether code of the function behind the branch may read a name; outside of functions anything may."""
        if self._enclosing is None or not name.isidentifier():
            return True
        body, unit, end = self._enclosing.body, self._place.unit, self._place.unit.span(self._place.node)[2:]
        if self._in_loop or any(_count(one, name) for one in cst.within(body) if isinstance(one, _CLOSURES)):
            return _count(body, name) > _count(self._place.node, name)
        return any(
            one.value == name and unit.span(one)[:2] >= end for one in cst.within(body) if isinstance(one, cst.Name)
        )

    def _function(self, name: str, block: Ordered[cst.CSTNode], results: Ordered[str], ends: bool, moved: bool) -> str:
        """A function around a block. A name that the block reads before it assigns it, or may leave as it is, comes in
        as a default. Of statements that are `moved`, what is written above and behind them stays there."""
        needed = read_first(block) | (set(results) - surely_assigned(block))
        inputs = [local for local in dict.fromkeys(assigned(block)) if local in needed and local.isidentifier()]
        parameters = ", ".join(f"{local}={local}" for local in inputs)
        code = "".join(self._code(line, moved, last=line is block[-1]) for line in block)
        if not ends:
            code += f"return {', '.join(results)}\n" if results else ""
        return f"def {name}({parameters}):\n{indented(code, self._names.indent)}\n"

    def _code(self, line: cst.CSTNode, moved: bool, last: bool) -> str:
        """The lines of a statement; without the comment behind the last where that is behind the whole branch, too."""
        unit = self._place.unit
        if not isinstance(line, cst.BaseStatement):
            return f"{unit.code(line)}\n"
        ends_branch = last and unit.span(line)[2:] == unit.span(self._place.node)[2:]
        simple = isinstance(line, cst.SimpleStatementLine)
        return unit.statement(line, above=not moved, behind=not moved and not (ends_branch and simple))

    # -- the place ----------------------------------------------------------------------------------------------------

    def _behind(self) -> Ordered[cst.BaseStatement]:
        """The statements behind this one in its block, where they end with a `return`."""
        match next(self._place.unit.around(self._place.node), None):
            case cst.IndentedBlock(body=body):
                at = next(at for at, line in enumerate(body) if line is self._place.node)
                rest = body[at + 1 :]
                return rest if rest and isinstance(small_statements(rest[-1:])[-1], cst.Return) else ()
            case _:
                return ()

    def _rewrite(self, chosen: _Chosen, edits: tuple[NodeEdit, ...]) -> Rewrite:
        safety = Safety.UNSAFE if chosen.differs else Safety.SAFE
        return Rewrite(chosen.title, edits, safety, chosen.differs)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The text of a rewrite, its title, and where it differs."""

    text: str
    title: str
    differs: str


_DIVIDING: Final[frozenset[type[cst.CSTNode]]] = frozenset((cst.Divide, cst.DivideAssign))


def _joined(node: cst.BaseExpression, operator: type[cst.BaseBooleanOp]) -> Iterator[cst.BaseExpression]:
    """What a chain of one word joins, in order."""
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, operator):
        yield from _joined(node.left, operator)
        yield from _joined(node.right, operator)
    else:
        yield node


def _is_short(value: float) -> bool:
    """Whether the number and its sum with one have few enough digits for every floating dtype (bfloat16: 8 bits)."""
    return abs(value) < 128.0 and (value * 64.0).is_integer() and abs(value * 64.0) < 128.0


def _assignments(block: cst.BaseSuite) -> dict[str, cst.BaseExpression] | None:
    """What a block assigns to each name, where no assignment reads another's name."""
    found: dict[str, cst.BaseExpression] = {}
    for statement in small_statements(block):
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(cst.Name() | cst.Attribute() as target)], value=value):
                pass
            case cst.Assign(targets=[cst.AssignTarget(cst.Tuple(elements=left))], value=cst.Tuple(elements=right)) if (
                len(left) == len(right) and not found
            ):
                if not all(isinstance(element.value, cst.Name | cst.Attribute) for element in left):
                    return None
                found |= {plain(name.value): element.value for name, element in zip(left, right, strict=True)}
                continue
            case cst.AugAssign(target=cst.Name() | cst.Attribute() as target, operator=operator, value=right):
                sign = cst.sign_of(operator).removesuffix("=")
                value = parse_expression(f"{plain(target)} {sign} {operand(right)}")
            case _:
                return None
        name = plain(target)
        if name in found or found.keys() & _mentioned(value):
            return None
        found[name] = value
    return found


def _mentioned(node: cst.CSTNode) -> set[str]:
    """The names that an expression reads, with their attributes."""
    names = set(read(node))
    pending: list[cst.CSTNode] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, cst.Attribute):
            names.add(plain(part))
        pending.extend(part.children)
    return names


def _is_kept(test: cst.BaseExpression) -> bool:
    """Whether a test stays as it is written."""
    match test:
        case cst.BooleanOperation() | cst.UnaryOperation(operator=cst.Not()):
            return False
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator)]):
            return not isinstance(operator, cst.In | cst.NotIn)
        case _:
            return not isinstance(test, cst.Comparison)


def _tuple(values: Ordered[cst.BaseExpression]) -> cst.BaseExpression:
    return parse_expression(f"({', '.join(cst.text_of(value).code(value) for value in values)})")


def _returned(statements: Ordered[cst.CSTNode]) -> cst.BaseExpression | None:
    match statements:
        case [cst.Return(value=value)]:
            return value
        case _:
            return None


def _parts(value: cst.BaseExpression) -> Ordered[cst.BaseExpression]:
    return [element.value for element in value.elements] if isinstance(value, cst.Tuple) else [value]


def _is_no_tensor(value: cst.BaseExpression) -> bool:
    match value:
        case cst.Name("None" | "True" | "False"):
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_is_no_tensor(element.value) for element in elements)
        case _:
            return isinstance(value, _NO_TENSORS)


_CLOSURES: Final = (cst.FunctionDef, cst.Lambda)


def _returns_early(block: Ordered[cst.CSTNode]) -> bool:
    """Whether a block returns anywhere but at its end."""
    *before, last = small_statements(block)
    lines = before if isinstance(last, cst.Return) else [*before, last]
    return any(any_node(line, (cst.Return,), below=False) for line in lines)


def _count(node: cst.CSTNode, name: str) -> int:
    """How often a piece of code reads a name."""
    return sum(1 for found in read(node) if found == name)
