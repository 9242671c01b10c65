"""Makes the nodes of expressions and parameters of Python's own ones."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..sources.outline import TOO_DEEP
from . import nodes as cst
from .fstrings import SINGLE, is_formatted, literals, pieces_of
from .source import SHIFT, Text
from .written import between, concatenated, literal

if TYPE_CHECKING:
    import libcst as make  # whose constructors take what those take
else:
    from .kinds import make

_LONGEST_CHAIN: Final = 1000
_BINARY: Final[dict[type[ast.operator], cst.BaseBinaryOp]] = {
    ast.Add: make.Add(),
    ast.Sub: make.Subtract(),
    ast.Mult: make.Multiply(),
    ast.Div: make.Divide(),
    ast.FloorDiv: make.FloorDivide(),
    ast.Mod: make.Modulo(),
    ast.Pow: make.Power(),
    ast.MatMult: make.MatrixMultiply(),
    ast.LShift: make.LeftShift(),
    ast.RShift: make.RightShift(),
    ast.BitOr: make.BitOr(),
    ast.BitAnd: make.BitAnd(),
    ast.BitXor: make.BitXor(),
}
_UNARY: Final[dict[type[ast.unaryop], cst.BaseUnaryOp]] = {
    ast.UAdd: make.Plus(),
    ast.USub: make.Minus(),
    ast.Invert: make.BitInvert(),
    ast.Not: make.Not(),
}
_BOOLEAN: Final[dict[type[ast.boolop], cst.BaseBooleanOp]] = {ast.And: make.And(), ast.Or: make.Or()}
_COMPARING: Final[dict[type[ast.cmpop], cst.BaseCompOp]] = {
    ast.Eq: make.Equal(),
    ast.NotEq: make.NotEqual(),
    ast.Lt: make.LessThan(),
    ast.LtE: make.LessThanEqual(),
    ast.Gt: make.GreaterThan(),
    ast.GtE: make.GreaterThanEqual(),
    ast.Is: make.Is(),
    ast.IsNot: make.IsNot(),
    ast.In: make.In(),
    ast.NotIn: make.NotIn(),
}


Parts: TypeAlias = list[cst.BaseFormattedStringContent]


class NestedTooDeepError(Exception):
    """Python of which a tree would be so deep that its readers have not the stack for it."""


class ExpressionBuilder:
    """Makes the nodes of the expressions of one text."""

    def __init__(self, source: Text) -> None:
        self._source = source

    # -- where nodes stand --------------------------------------------------------------------------------------------

    def _derived(self, node: Any) -> None:
        """A node that `ast` does not have: it stands where its parts stand."""
        node.source, node.begins, node.ends = self._source, 0, 0

    def _located(self, node: Any, made: Any) -> None:
        """A node that stands where one of `ast` does."""
        node.source = self._source
        node.begins, node.ends = ends_of(made)

    def _name(self, name: str, line: int, column: int) -> cst.Name:
        node: Any = make.Name(name)
        node.source = self._source
        node.begins = line << SHIFT | column
        node.ends = node.begins + len(name.encode())
        return node  # type: ignore[no-any-return]

    def _text(self, made: ast.expr) -> str:
        return self._source.between(made.lineno, made.col_offset, made.end_lineno or 0, made.end_col_offset or 0)

    # -- expressions --------------------------------------------------------------------------------------------------

    def expression(self, made: Any) -> cst.BaseExpression:
        """The node of an expression."""
        node: Any = _EXPRESSIONS[type(made)](self, made)
        node.source = self._source
        node.begins = made.lineno << SHIFT | made.col_offset
        node.ends = made.end_lineno << SHIFT | made.end_col_offset
        return node  # type: ignore[no-any-return]

    def _optional(self, made: ast.expr | None) -> cst.BaseExpression | None:
        return None if made is None else self.expression(made)

    def _identifier(self, made: ast.Name) -> cst.Name:
        return make.Name(made.id)

    def _constant(self, made: ast.Constant) -> cst.BaseExpression:
        value = made.value
        if value is None or value is True or value is False:
            return make.Name(str(value))
        text = self._text(made)
        if isinstance(value, str | bytes):
            return literal(make.SimpleString(text), value) if SINGLE.fullmatch(text) else concatenated([])
        if isinstance(value, int):
            return literal(make.Integer(text), value)
        if isinstance(value, float):
            return literal(make.Float(text), value)
        return literal(make.Imaginary(text), value) if isinstance(value, complex) else make.Ellipsis()

    def _joined(self, made: ast.JoinedStr) -> cst.BaseExpression:
        text = self._text(made)
        is_several = _is_several(text)
        parts = self._parts(made)
        if any(sign in text for sign in ("\\", "{{", "}}", "=")):
            parts = self._as_written(parts, text)
        if is_several:
            return concatenated([part for part in parts if isinstance(part, cst.FormattedStringExpression)])
        return make.FormattedString(parts)

    def _as_written(self, parts: Parts, text: str) -> Parts:
        """The parts of an f-string with what `ast` does not tell: escapes, doubled braces, and `=`."""
        pieces = [pieces_of(each) for _, each in literals(text) if is_formatted(each)]
        expressions = [part for part in parts if isinstance(part, cst.FormattedStringExpression)]
        behind = [mark for each in pieces for mark in each.behind]
        if len(behind) != len(expressions):
            return parts
        for mark, expression in zip(behind, expressions, strict=True):
            before, is_shown, behind_it = mark.partition("=")
            if is_shown:  # `ast` has the text before it, and a conversion
                shown: Any = expression
                spaces = (cst.SimpleWhitespace(each) for each in (before, behind_it.removesuffix("!")))
                shown.equal = cst.AssignEqual(*spaces)
                shown.conversion = shown.conversion if mark.endswith("!") else None
        written: Parts = between(pieces[0].texts, expressions) if len(pieces) == 1 else parts
        for part in written:
            self._derived(part)
        return written

    def _parts(self, made: ast.JoinedStr) -> Parts:
        found: Parts = []
        for part in made.values:
            node: cst.BaseFormattedStringContent
            match part:
                case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                    parts = self._parts(spec) if isinstance(spec, ast.JoinedStr) else None
                    node = make.FormattedStringExpression(
                        self.expression(value), chr(conversion) if conversion > 0 else None, parts
                    )
                case ast.Constant(value=str() as text) if text:  # Python 3.12 has empty ones at the end of a format
                    node = make.FormattedStringText(text)
                case _:
                    continue
            self._derived(node)
            found.append(node)
        return found

    def _attribute(self, made: ast.Attribute) -> cst.Attribute:
        name: Any = make.Name(made.attr)
        name.source = self._source
        name.ends = (made.end_lineno or 0) << SHIFT | (made.end_col_offset or 0)
        name.begins = name.ends - len(made.attr.encode())
        return make.Attribute(self.expression(made.value), name)

    def _call(self, made: ast.Call) -> cst.Call:
        return make.Call(self.expression(made.func), self._arguments(made.args, made.keywords))

    def _arguments(self, positional: list[ast.expr], keywords: list[ast.keyword]) -> list[cst.Arg]:
        args: list[Any] = []
        arg: Any
        for each in positional:
            if type(each) is ast.Starred:
                arg = make.Arg(self.expression(each.value), star="*")
                arg.begins = each.lineno << SHIFT | each.col_offset
            else:
                arg = make.Arg(self.expression(each))
                arg.begins = 0
            arg.source, arg.ends = self._source, 0
            args.append(arg)
        for named in keywords:
            name = None if named.arg is None else self._name(named.arg, named.lineno, named.col_offset)
            arg = make.Arg(self.expression(named.value), name, star="" if name is not None else "**")
            arg.source = self._source
            arg.begins = named.lineno << SHIFT | named.col_offset
            arg.ends = 0
            args.append(arg)
        if keywords and positional and _place(positional[-1]) > _place(keywords[0]):
            args.sort(key=lambda arg: arg.begins or arg.value.begins)
        return args

    def _subscript(self, made: ast.Subscript) -> cst.Subscript:
        inside = made.slice
        elements = []
        if isinstance(inside, ast.Tuple) and not self._source.is_in_parentheses(inside):
            elements = [self._element_of_slice(each) for each in inside.elts]
            if len(elements) == 1:  # with a comma behind it, which makes it a tuple
                only: Any = elements[0]
                only.comma = cst.Comma()
        else:
            elements = [self._element_of_slice(inside)]
        return make.Subscript(self.expression(made.value), elements)

    def _element_of_slice(self, made: ast.expr) -> cst.SubscriptElement:
        part: Any
        if isinstance(made, ast.Slice):
            part = make.Slice(self._optional(made.lower), self._optional(made.upper), self._optional(made.step))
            part.source = self._source
            part.begins = made.lineno << SHIFT | made.col_offset
            part.ends = (made.end_lineno or 0) << SHIFT | (made.end_col_offset or 0)
        else:
            if isinstance(made, ast.Starred):
                part = make.Index(self.expression(made.value), "*")
            else:
                part = make.Index(self.expression(made))
            self._derived(part)
        element = make.SubscriptElement(part)
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
                element: Any = make.Element(self.expression(each))
                element.source, element.begins, element.ends = self._source, 0, 0
                found.append(element)
        return found

    def _starred(self, made: ast.Starred) -> cst.StarredElement:
        return make.StarredElement(self.expression(made.value))

    def _tuple(self, made: ast.Tuple) -> cst.Tuple:
        return make.Tuple(self._elements(made.elts))

    def _list(self, made: ast.List) -> cst.List:
        return make.List(self._elements(made.elts))

    def _set(self, made: ast.Set) -> cst.Set:
        return make.Set(self._elements(made.elts))

    def _dict(self, made: ast.Dict) -> cst.Dict:
        elements: list[cst.DictElement | cst.StarredDictElement] = []
        for key, value in zip(made.keys, made.values, strict=True):
            element: cst.DictElement | cst.StarredDictElement
            if key is None:
                element = make.StarredDictElement(self.expression(value))
            else:
                element = make.DictElement(self.expression(key), self.expression(value))
            self._derived(element)
            elements.append(element)
        return make.Dict(elements)

    def _unary(self, made: ast.UnaryOp) -> cst.UnaryOperation:
        return make.UnaryOperation(_UNARY[type(made.op)], self.expression(made.operand))

    def _binary(self, made: ast.BinOp) -> cst.BinaryOperation:
        return make.BinaryOperation(self.expression(made.left), _BINARY[type(made.op)], self.expression(made.right))

    def _boolean(self, made: ast.BoolOp) -> cst.BaseExpression:
        if len(made.values) > _LONGEST_CHAIN:  # flat in Python's own tree
            raise NestedTooDeepError(TOO_DEEP)
        operator = _BOOLEAN[type(made.op)]
        values = [self.expression(each) for each in made.values]
        first: Any = values[0]
        start = made.lineno << SHIFT | made.col_offset
        for each in values[1:]:
            first = make.BooleanOperation(first, operator, each)
            first.source, first.begins, first.ends = self._source, start, 0
        return first  # type: ignore[no-any-return]

    def _comparison(self, made: ast.Compare) -> cst.Comparison:
        if len(made.ops) > _LONGEST_CHAIN:
            raise NestedTooDeepError(TOO_DEEP)
        targets = []
        for operator, each in zip(made.ops, made.comparators, strict=True):
            target = make.ComparisonTarget(_COMPARING[type(operator)], self.expression(each))
            self._derived(target)
            targets.append(target)
        return make.Comparison(self.expression(made.left), targets)

    def _conditional(self, made: ast.IfExp) -> cst.IfExp:
        return make.IfExp(self.expression(made.test), self.expression(made.body), self.expression(made.orelse))

    def _named(self, made: ast.NamedExpr) -> cst.NamedExpr:
        return make.NamedExpr(self.expression(made.target), self.expression(made.value))

    def _await(self, made: ast.Await) -> cst.Await:
        return make.Await(self.expression(made.value))

    def _yield(self, made: ast.Yield) -> cst.Yield:
        return make.Yield(self._optional(made.value))

    def _yield_from(self, made: ast.YieldFrom) -> cst.Yield:
        return make.Yield(self._from(made.value))

    def _from(self, made: ast.expr) -> cst.From:
        node = make.From(self.expression(made))
        self._derived(node)
        return node

    def _lambda(self, made: ast.Lambda) -> cst.Lambda:
        return make.Lambda(self._parameters(made.args), self.expression(made.body))

    def _list_comprehension(self, made: ast.ListComp) -> cst.ListComp:
        return make.ListComp(self.expression(made.elt), self._clauses(made.generators))

    def _set_comprehension(self, made: ast.SetComp) -> cst.SetComp:
        return make.SetComp(self.expression(made.elt), self._clauses(made.generators))

    def _generator(self, made: ast.GeneratorExp) -> cst.GeneratorExp:
        return make.GeneratorExp(self.expression(made.elt), self._clauses(made.generators))

    def _dict_comprehension(self, made: ast.DictComp) -> cst.DictComp:
        return make.DictComp(self.expression(made.key), self.expression(made.value), self._clauses(made.generators))

    def _clauses(self, made: Sequence[ast.comprehension]) -> cst.CompFor:
        first, *others = made
        conditions = [make.CompIf(self.expression(test)) for test in first.ifs]
        for condition in conditions:
            self._derived(condition)
        inner = self._clauses(others) if others else None
        node = make.CompFor(
            self._target(first.target), self.expression(first.iter), conditions, inner, asynchronous(first.is_async)
        )
        self._derived(node)
        return node

    def _target(self, made: ast.expr) -> Any:
        """What is assigned to, which libcst has classes of its own for."""
        return self.expression(made)

    # -- parameters ---------------------------------------------------------------------------------------------------

    def _parameters(self, made: ast.arguments) -> cst.Parameters:
        plain = [*made.posonlyargs, *made.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(made.defaults))
        found = [
            self._parameter(each, default) for each, default in zip(plain, [*defaults, *made.defaults], strict=True)
        ]
        star: cst.Param | cst.ParamStar | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT
        if made.vararg is not None:
            star = self._parameter(made.vararg, None, "*")
        elif made.kwonlyargs:
            star = make.ParamStar()
            self._derived(star)
        node = make.Parameters(
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
        node = make.Param(name, self._annotation(made.annotation), default=self._optional(default), star=star)
        self._derived(node)
        return node

    def _annotation(self, made: ast.expr | None) -> cst.Annotation | None:
        if made is None:
            return None
        node = make.Annotation(self.expression(made))
        self._derived(node)
        return node


def ends_of(made: Any) -> tuple[int, int]:
    """Where `ast` has a node begin and end."""
    return made.lineno << SHIFT | made.col_offset, made.end_lineno << SHIFT | made.end_col_offset


def _place(made: ast.expr | ast.keyword) -> tuple[int, int]:
    return made.lineno, made.col_offset


def asynchronous(is_async: object) -> cst.Asynchronous | None:
    return cst.Asynchronous() if is_async else None


def _is_several(text: str) -> bool:
    """Whether the text of an f-string is more than one literal: its first ends before its end."""
    first = SINGLE.match(text)
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
