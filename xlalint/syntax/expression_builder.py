"""Makes the nodes of expressions and parameters of Python's own ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..sources.outline import TOO_DEEP
from . import nodes as cst
from .source import SHIFT, Text

_LONGEST_CHAIN: Final = 1000
# One string literal from its beginning to its end; anything else of a constant's text is several.
_SINGLE: Final = re.compile(
    r"""[A-Za-z]{0,2}(?:"(?!"")(?:[^"\\]++|\\.)*+"|'(?!'')(?:[^'\\]++|\\.)*+'
    |\"{3}(?:[^"\\]++|\\.|"(?!""))*+\"{3}|'{3}(?:[^'\\]++|\\.|'(?!''))*+'{3})""",
    re.VERBOSE | re.DOTALL,
)
_BINARY: Final[dict[type[ast.operator], cst.BaseBinaryOp]] = {
    ast.Add: cst.Add(),
    ast.Sub: cst.Subtract(),
    ast.Mult: cst.Multiply(),
    ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(),
    ast.Mod: cst.Modulo(),
    ast.Pow: cst.Power(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.LShift: cst.LeftShift(),
    ast.RShift: cst.RightShift(),
    ast.BitOr: cst.BitOr(),
    ast.BitAnd: cst.BitAnd(),
    ast.BitXor: cst.BitXor(),
}
_UNARY: Final[dict[type[ast.unaryop], cst.BaseUnaryOp]] = {
    ast.UAdd: cst.Plus(),
    ast.USub: cst.Minus(),
    ast.Invert: cst.BitInvert(),
    ast.Not: cst.Not(),
}
_BOOLEAN: Final[dict[type[ast.boolop], cst.BaseBooleanOp]] = {ast.And: cst.And(), ast.Or: cst.Or()}
_COMPARING: Final[dict[type[ast.cmpop], cst.BaseCompOp]] = {
    ast.Eq: cst.Equal(),
    ast.NotEq: cst.NotEqual(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.In: cst.In(),
    ast.NotIn: cst.NotIn(),
}


class NestedTooDeepError(Exception):
    """Python of which a tree would be so deep that its readers have not the stack for it."""


class ExpressionBuilder:
    """Makes the nodes of the expressions of one text."""

    def __init__(self, source: Text) -> None:
        self._source = source

    # -- where nodes stand --------------------------------------------------------------------------------------------

    def _derived(self, node: cst.CSTNode) -> None:
        """A node that `ast` does not have: it stands where its parts stand."""
        node.source, node.start, node.end = self._source, 0, 0

    def _name(self, name: str, line: int, column: int) -> cst.Name:
        node = cst.Name(name)
        node.source = self._source
        node.start = line << SHIFT | column
        node.end = node.start + len(name.encode())
        return node

    def _text(self, made: ast.expr) -> str:
        return self._source.between(made.lineno, made.col_offset, made.end_lineno or 0, made.end_col_offset or 0)

    # -- expressions --------------------------------------------------------------------------------------------------

    def expression(self, made: Any) -> cst.BaseExpression:
        """The node of an expression."""
        node = _EXPRESSIONS[type(made)](self, made)
        node.source = self._source
        node.start = made.lineno << SHIFT | made.col_offset
        node.end = made.end_lineno << SHIFT | made.end_col_offset
        return node

    def _optional(self, made: ast.expr | None) -> cst.BaseExpression | None:
        return None if made is None else self.expression(made)

    def _identifier(self, made: ast.Name) -> cst.Name:
        return cst.Name(made.id)

    def _constant(self, made: ast.Constant) -> cst.BaseExpression:
        value = made.value
        if value is None or value is True or value is False:
            return cst.Name(str(value))
        text = self._text(made)
        if isinstance(value, str | bytes):
            return cst.SimpleString(text, value) if _SINGLE.fullmatch(text) else cst.ConcatenatedString()
        if isinstance(value, int):
            return cst.Integer(text, value)
        if isinstance(value, float):
            return cst.Float(text, value)
        return cst.Imaginary(text, value) if isinstance(value, complex) else cst.Ellipsis()

    def _joined(self, made: ast.JoinedStr) -> cst.BaseExpression:
        parts = self._parts(made)
        text = self._text(made)
        if _SINGLE.fullmatch(text) or not _is_several(text):
            return cst.FormattedString(parts)
        return cst.ConcatenatedString([part for part in parts if isinstance(part, cst.FormattedStringExpression)])

    def _parts(self, made: ast.JoinedStr) -> list[cst.FormattedStringText | cst.FormattedStringExpression]:
        found: list[cst.FormattedStringText | cst.FormattedStringExpression] = []
        for part in made.values:
            node: cst.FormattedStringText | cst.FormattedStringExpression
            match part:
                case ast.FormattedValue(value=value, format_spec=ast.JoinedStr() as spec):
                    node = cst.FormattedStringExpression(self.expression(value), self._parts(spec))
                case ast.FormattedValue(value=value):
                    node = cst.FormattedStringExpression(self.expression(value))
                case ast.Constant(value=str() as text):
                    node = cst.FormattedStringText(text)
                case _:
                    continue
            self._derived(node)
            found.append(node)
        return found

    def _attribute(self, made: ast.Attribute) -> cst.Attribute:
        name = cst.Name(made.attr)
        name.source = self._source
        name.end = (made.end_lineno or 0) << SHIFT | (made.end_col_offset or 0)
        name.start = name.end - len(made.attr.encode())
        return cst.Attribute(self.expression(made.value), name)

    def _call(self, made: ast.Call) -> cst.Call:
        return cst.Call(self.expression(made.func), self._arguments(made.args, made.keywords))

    def _arguments(self, positional: list[ast.expr], keywords: list[ast.keyword]) -> list[cst.Arg]:
        args = []
        for each in positional:
            if type(each) is ast.Starred:
                arg = cst.Arg(self.expression(each.value), None, "*")
                arg.source = self._source
                arg.start = each.lineno << SHIFT | each.col_offset
            else:
                arg = cst.Arg(self.expression(each))
                arg.source, arg.start = self._source, 0
            arg.end = 0
            args.append(arg)
        for named in keywords:
            name = None if named.arg is None else self._name(named.arg, named.lineno, named.col_offset)
            arg = cst.Arg(self.expression(named.value), name, "" if name is not None else "**")
            arg.source = self._source
            arg.start = named.lineno << SHIFT | named.col_offset
            arg.end = 0
            args.append(arg)
        if keywords and positional and _place(positional[-1]) > _place(keywords[0]):
            args.sort(key=lambda arg: arg.start or arg.value.start)
        return args

    def _subscript(self, made: ast.Subscript) -> cst.Subscript:
        inside = made.slice
        elements = []
        if isinstance(inside, ast.Tuple) and not self._source.is_in_parentheses(inside):
            elements = [self._element_of_slice(each) for each in inside.elts]
        else:
            elements = [self._element_of_slice(inside)]
        return cst.Subscript(self.expression(made.value), elements)

    def _element_of_slice(self, made: ast.expr) -> cst.SubscriptElement:
        part: cst.BaseSlice
        if isinstance(made, ast.Slice):
            part = cst.Slice(self._optional(made.lower), self._optional(made.upper), self._optional(made.step))
            part.source = self._source
            part.start = made.lineno << SHIFT | made.col_offset
            part.end = (made.end_lineno or 0) << SHIFT | (made.end_col_offset or 0)
        else:
            starred = isinstance(made, ast.Starred)
            part = cst.Index(self.expression(made.value if isinstance(made, ast.Starred) else made), "*" * starred)
            self._derived(part)
        element = cst.SubscriptElement(part)
        self._derived(element)
        return element

    def _elements(self, given: list[ast.expr]) -> list[cst.BaseElement]:
        found: list[cst.BaseElement] = []
        for each in given:
            if type(each) is ast.Starred:
                node = self.expression(each)
                assert isinstance(node, cst.StarredElement)
                found.append(node)
            else:
                element = cst.Element(self.expression(each))
                element.source, element.start, element.end = self._source, 0, 0
                found.append(element)
        return found

    def _starred(self, made: ast.Starred) -> cst.StarredElement:
        return cst.StarredElement(self.expression(made.value))

    def _tuple(self, made: ast.Tuple) -> cst.Tuple:
        return cst.Tuple(self._elements(made.elts))

    def _list(self, made: ast.List) -> cst.List:
        return cst.List(self._elements(made.elts))

    def _set(self, made: ast.Set) -> cst.Set:
        return cst.Set(self._elements(made.elts))

    def _dict(self, made: ast.Dict) -> cst.Dict:
        elements: list[cst.DictElement | cst.StarredDictElement] = []
        for key, value in zip(made.keys, made.values, strict=True):
            element: cst.DictElement | cst.StarredDictElement
            if key is None:
                element = cst.StarredDictElement(self.expression(value))
            else:
                element = cst.DictElement(self.expression(key), self.expression(value))
            self._derived(element)
            elements.append(element)
        return cst.Dict(elements)

    def _unary(self, made: ast.UnaryOp) -> cst.UnaryOperation:
        return cst.UnaryOperation(_UNARY[type(made.op)], self.expression(made.operand))

    def _binary(self, made: ast.BinOp) -> cst.BinaryOperation:
        return cst.BinaryOperation(self.expression(made.left), _BINARY[type(made.op)], self.expression(made.right))

    def _boolean(self, made: ast.BoolOp) -> cst.BaseExpression:
        if len(made.values) > _LONGEST_CHAIN:  # flat in Python's own tree
            raise NestedTooDeepError(TOO_DEEP)
        operator = _BOOLEAN[type(made.op)]
        values = [self.expression(each) for each in made.values]
        first = values[0]
        start = made.lineno << SHIFT | made.col_offset
        for each in values[1:]:
            first = cst.BooleanOperation(first, operator, each)
            first.source, first.start, first.end = self._source, start, 0
        return first

    def _comparison(self, made: ast.Compare) -> cst.Comparison:
        if len(made.ops) > _LONGEST_CHAIN:
            raise NestedTooDeepError(TOO_DEEP)
        targets = []
        for operator, each in zip(made.ops, made.comparators, strict=True):
            target = cst.ComparisonTarget(_COMPARING[type(operator)], self.expression(each))
            self._derived(target)
            targets.append(target)
        return cst.Comparison(self.expression(made.left), targets)

    def _conditional(self, made: ast.IfExp) -> cst.IfExp:
        return cst.IfExp(self.expression(made.test), self.expression(made.body), self.expression(made.orelse))

    def _named(self, made: ast.NamedExpr) -> cst.NamedExpr:
        return cst.NamedExpr(self.expression(made.target), self.expression(made.value))

    def _await(self, made: ast.Await) -> cst.Await:
        return cst.Await(self.expression(made.value))

    def _yield(self, made: ast.Yield) -> cst.Yield:
        return cst.Yield(self._optional(made.value))

    def _yield_from(self, made: ast.YieldFrom) -> cst.Yield:
        return cst.Yield(self._from(made.value))

    def _from(self, made: ast.expr) -> cst.From:
        node = cst.From(self.expression(made))
        self._derived(node)
        return node

    def _lambda(self, made: ast.Lambda) -> cst.Lambda:
        return cst.Lambda(self._parameters(made.args), self.expression(made.body))

    def _list_comprehension(self, made: ast.ListComp) -> cst.ListComp:
        return cst.ListComp(self.expression(made.elt), self._clauses(made.generators))

    def _set_comprehension(self, made: ast.SetComp) -> cst.SetComp:
        return cst.SetComp(self.expression(made.elt), self._clauses(made.generators))

    def _generator(self, made: ast.GeneratorExp) -> cst.GeneratorExp:
        return cst.GeneratorExp(self.expression(made.elt), self._clauses(made.generators))

    def _dict_comprehension(self, made: ast.DictComp) -> cst.DictComp:
        return cst.DictComp(self.expression(made.key), self.expression(made.value), self._clauses(made.generators))

    def _clauses(self, made: Sequence[ast.comprehension]) -> cst.CompFor:
        first, *others = made
        conditions = [cst.CompIf(self.expression(test)) for test in first.ifs]
        for condition in conditions:
            self._derived(condition)
        inner = self._clauses(others) if others else None
        node = cst.CompFor(self.expression(first.target), self.expression(first.iter), conditions, inner)
        self._derived(node)
        return node

    # -- parameters ---------------------------------------------------------------------------------------------------

    def _parameters(self, made: ast.arguments) -> cst.Parameters:
        plain = [*made.posonlyargs, *made.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(made.defaults))
        found = [
            self._parameter(each, default) for each, default in zip(plain, [*defaults, *made.defaults], strict=True)
        ]
        star: cst.Param | cst.ParamStar | None = None
        if made.vararg is not None:
            star = self._parameter(made.vararg, None, "*")
        elif made.kwonlyargs:
            star = cst.ParamStar()
            self._derived(star)
        node = cst.Parameters(
            found[len(made.posonlyargs) :],
            star,
            [self._parameter(*each) for each in zip(made.kwonlyargs, made.kw_defaults, strict=True)],
            None if made.kwarg is None else self._parameter(made.kwarg, None, "**"),
            found[: len(made.posonlyargs)],
        )
        self._derived(node)
        return node

    def _parameter(self, made: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
        name = self._name(made.arg, made.lineno, made.col_offset)
        node = cst.Param(name, self._annotation(made.annotation), self._optional(default), star)
        self._derived(node)
        return node

    def _annotation(self, made: ast.expr | None) -> cst.Annotation | None:
        if made is None:
            return None
        node = cst.Annotation(self.expression(made))
        self._derived(node)
        return node


def _place(made: ast.expr | ast.keyword) -> tuple[int, int]:
    return made.lineno, made.col_offset


def _is_several(text: str) -> bool:
    """Whether the text of an f-string is more than one literal: its first ends before its end."""
    first = _SINGLE.match(text)
    return first is not None and first.end() < len(text)


_EXPRESSIONS: Final[dict[type[ast.expr], Callable[[ExpressionBuilder, Any], cst.BaseExpression]]] = {
    ast.Name: ExpressionBuilder._identifier,
    ast.Constant: ExpressionBuilder._constant,
    ast.JoinedStr: ExpressionBuilder._joined,
    ast.Attribute: ExpressionBuilder._attribute,
    ast.Call: ExpressionBuilder._call,
    ast.Subscript: ExpressionBuilder._subscript,
    ast.Starred: ExpressionBuilder._starred,
    ast.Tuple: ExpressionBuilder._tuple,
    ast.List: ExpressionBuilder._list,
    ast.Set: ExpressionBuilder._set,
    ast.Dict: ExpressionBuilder._dict,
    ast.UnaryOp: ExpressionBuilder._unary,
    ast.BinOp: ExpressionBuilder._binary,
    ast.BoolOp: ExpressionBuilder._boolean,
    ast.Compare: ExpressionBuilder._comparison,
    ast.IfExp: ExpressionBuilder._conditional,
    ast.NamedExpr: ExpressionBuilder._named,
    ast.Await: ExpressionBuilder._await,
    ast.Yield: ExpressionBuilder._yield,
    ast.YieldFrom: ExpressionBuilder._yield_from,
    ast.Lambda: ExpressionBuilder._lambda,
    ast.ListComp: ExpressionBuilder._list_comprehension,
    ast.SetComp: ExpressionBuilder._set_comprehension,
    ast.GeneratorExp: ExpressionBuilder._generator,
    ast.DictComp: ExpressionBuilder._dict_comprehension,
}
