"""Makes trees of Python's own ones, which it parses ten times faster than libcst."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..sources.outline import TOO_DEEP
from . import nodes as cst
from .source import Text

_SHIFT: Final = 32
_LONGEST_CHAIN: Final = 1000
# One string literal from its beginning to its end; anything else of a constant's text is several.
_SINGLE: Final = re.compile(
    r"""[A-Za-z]{0,2}(?:"(?!"")(?:[^"\\]|\\.)*"|'(?!'')(?:[^'\\]|\\.)*'|\"{3}(?:[^"\\]|\\.|"(?!""))*\"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3})""",
    re.DOTALL,
)
_SEMICOLON: Final = re.compile(r"[ \t\f]*;(?:[ \t\f]|\\\r?\n)*\Z")
_DEFINES: Final = re.compile(r"\b(?:def|class)(?:[ \t\f]|\\\r?\n)+")
_AS: Final = re.compile(r"\bas(?:[ \t\f]|\\\r?\n)+")

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
_AUGMENTED: Final[dict[type[ast.operator], cst.BaseAugOp]] = {
    ast.Add: cst.AddAssign(),
    ast.Sub: cst.SubtractAssign(),
    ast.Mult: cst.MultiplyAssign(),
    ast.Div: cst.DivideAssign(),
    ast.FloorDiv: cst.FloorDivideAssign(),
    ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
    ast.LShift: cst.LeftShiftAssign(),
    ast.RShift: cst.RightShiftAssign(),
    ast.BitOr: cst.BitOrAssign(),
    ast.BitAnd: cst.BitAndAssign(),
    ast.BitXor: cst.BitXorAssign(),
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
_SIMPLE: Final = (
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Return,
    ast.Raise,
    ast.Assert,
    ast.Delete,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.Global,
    ast.Nonlocal,
    ast.Import,
    ast.ImportFrom,
)


class NestedTooDeepError(Exception):
    """Python of which a tree would be so deep that its readers have not the stack for it."""


def parse_module(text: str) -> cst.Module:
    """The tree of a piece of Python. Raises what `ast.parse` does, and NestedTooDeepError."""
    source = Text(text)
    module = cst.Module(_Builder(source).block(ast.parse(text).body))
    module.source, module.start, module.end = source, 0, 0
    source.settle()
    return module


def parse_expression(text: str) -> cst.BaseExpression:
    """The tree of an expression. Raises as `parse_module`."""
    if not text.strip():
        raise SyntaxError("no expression")
    source = Text(f"({text}\n)", skipped=1)
    node = _Builder(source).expression(ast.parse(source.text, mode="eval").body)
    if node.start == 1 << _SHIFT:  # a tuple that takes the parentheses for its own
        node.start = node.end = 0
    return node


class _Builder:
    """Makes the nodes of one text."""

    def __init__(self, source: Text) -> None:
        self._source = source
        self._lines = source.lines

    # -- where nodes stand --------------------------------------------------------------------------------------------

    def _derived(self, node: cst.CSTNode) -> None:
        """A node that `ast` does not have: it stands where its parts stand."""
        node.source, node.start, node.end = self._source, 0, 0

    def _name(self, name: str, line: int, column: int) -> cst.Name:
        node = cst.Name(name)
        node.source = self._source
        node.start = line << _SHIFT | column
        node.end = node.start + len(name.encode())
        return node

    def _text(self, made: ast.expr) -> str:
        return self._source.between(made.lineno, made.col_offset, made.end_lineno or 0, made.end_col_offset or 0)

    # -- expressions --------------------------------------------------------------------------------------------------

    def expression(self, made: Any) -> cst.BaseExpression:
        """The node of an expression."""
        node = _EXPRESSIONS[type(made)](self, made)
        node.source = self._source
        node.start = made.lineno << _SHIFT | made.col_offset
        node.end = made.end_lineno << _SHIFT | made.end_col_offset
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
        name.end = (made.end_lineno or 0) << _SHIFT | (made.end_col_offset or 0)
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
                arg.start = each.lineno << _SHIFT | each.col_offset
            else:
                arg = cst.Arg(self.expression(each))
                arg.source, arg.start = self._source, 0
            arg.end = 0
            args.append(arg)
        for named in keywords:
            name = None if named.arg is None else self._name(named.arg, named.lineno, named.col_offset)
            arg = cst.Arg(self.expression(named.value), name, "" if name is not None else "**")
            arg.source = self._source
            arg.start = named.lineno << _SHIFT | named.col_offset
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
            part.start = made.lineno << _SHIFT | made.col_offset
            part.end = (made.end_lineno or 0) << _SHIFT | (made.end_col_offset or 0)
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
        start = made.lineno << _SHIFT | made.col_offset
        for each in values[1:]:
            first = cst.BooleanOperation(first, operator, each)
            first.source, first.start, first.end = self._source, start, 0
        return first

    def _comparison(self, made: ast.Compare) -> cst.Comparison:
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

    # -- statements ---------------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> list[cst.BaseStatement]:
        """The nodes of the statements of a block, simple ones line by line."""
        found: list[cst.BaseStatement] = []
        before: ast.stmt | None = None
        for each in statements:
            node = self.statement(each)
            if not isinstance(node, cst.BaseSmallStatement):
                assert isinstance(node, cst.BaseStatement)
                found.append(node)
                before = None
                continue
            if before is not None and self._shares_line(before, each):
                line = found[-1]
                assert isinstance(line, cst.SimpleStatementLine)
                line.body = [*line.body, node]
            else:
                line = cst.SimpleStatementLine([node])
                line.source, line.start = self._source, node.start
                found.append(line)
            line.end = node.end
            before = each
        return found

    def _shares_line(self, before: ast.stmt, each: ast.stmt) -> bool:
        """Whether a statement follows another behind a semicolon."""
        end = before.end_lineno or 0
        if each.lineno == end:
            return True
        if not self._lines[end - 1].endswith("\\"):
            return False
        between = self._source.between(end, before.end_col_offset or 0, each.lineno, each.col_offset)
        return _SEMICOLON.match(between) is not None

    def _suite(self, statements: Sequence[ast.stmt]) -> cst.BaseSuite:
        suite: cst.BaseSuite
        if self._begins_line(statements[0]):
            suite = cst.IndentedBlock(self.block(statements))
        else:
            small = [self.statement(each) for each in statements]
            suite = cst.SimpleStatementSuite([each for each in small if isinstance(each, cst.BaseSmallStatement)])
        self._derived(suite)
        return suite

    def _begins_line(self, made: ast.stmt) -> bool:
        if not isinstance(made, _SIMPLE):
            return True
        line = self._lines[made.lineno - 1]
        before = line[: made.col_offset] if line.isascii() else line.encode()[: made.col_offset].decode()
        if before.strip():
            return False
        return made.lineno < 2 or not self._lines[made.lineno - 2].endswith("\\")

    def statement(self, made: Any) -> cst.CSTNode:
        """The node of a statement; a small one without its line."""
        node = _STATEMENTS[type(made)](self, made)
        node.source = self._source
        node.start = made.lineno << _SHIFT | made.col_offset
        node.end = made.end_lineno << _SHIFT | made.end_col_offset
        return node

    def _expr(self, made: ast.Expr) -> cst.Expr:
        return cst.Expr(self.expression(made.value))

    def _assign(self, made: ast.Assign) -> cst.Assign:
        targets = [cst.AssignTarget(self.expression(target)) for target in made.targets]
        for target in targets:
            target.source, target.start, target.end = self._source, 0, 0
        return cst.Assign(targets, self.expression(made.value))

    def _annotated(self, made: ast.AnnAssign) -> cst.AnnAssign:
        annotation = self._annotation(made.annotation)
        assert annotation is not None
        return cst.AnnAssign(self.expression(made.target), annotation, self._optional(made.value))

    def _augmented(self, made: ast.AugAssign) -> cst.AugAssign:
        return cst.AugAssign(self.expression(made.target), _AUGMENTED[type(made.op)], self.expression(made.value))

    def _return(self, made: ast.Return) -> cst.Return:
        return cst.Return(self._optional(made.value))

    def _raise(self, made: ast.Raise) -> cst.Raise:
        return cst.Raise(self._optional(made.exc), None if made.cause is None else self._from(made.cause))

    def _assert(self, made: ast.Assert) -> cst.Assert:
        return cst.Assert(self.expression(made.test), self._optional(made.msg))

    def _delete(self, made: ast.Delete) -> cst.Del:
        if len(made.targets) == 1:
            return cst.Del(self.expression(made.targets[0]))
        several = cst.Tuple(self._elements(made.targets))
        self._derived(several)
        return cst.Del(several)

    def _pass(self, made: ast.Pass) -> cst.Pass:
        return cst.Pass()

    def _break(self, made: ast.Break) -> cst.Break:
        return cst.Break()

    def _continue(self, made: ast.Continue) -> cst.Continue:
        return cst.Continue()

    def _global(self, made: ast.Global) -> cst.Global:
        return cst.Global(self._items(made))

    def _nonlocal(self, made: ast.Nonlocal) -> cst.Nonlocal:
        return cst.Nonlocal(self._items(made))

    def _items(self, made: ast.Global | ast.Nonlocal) -> list[cst.NameItem]:
        items = []
        for word in made.names:
            name = self._name(word, made.lineno, made.col_offset)
            name.end = (made.end_lineno or 0) << _SHIFT | (made.end_col_offset or 0)  # somewhere in the statement
            item = cst.NameItem(name)
            self._derived(item)
            items.append(item)
        return items

    def _import(self, made: ast.Import) -> cst.Import:
        return cst.Import([self._alias(each) for each in made.names])

    def _import_from(self, made: ast.ImportFrom) -> cst.ImportFrom:
        if made.names[0].name == "*":
            star = cst.ImportStar()
            self._derived(star)
            return cst.ImportFrom(made.module, star, made.level)
        return cst.ImportFrom(made.module, [self._alias(each) for each in made.names], made.level)

    def _alias(self, made: ast.alias) -> cst.ImportAlias:
        node = cst.ImportAlias(made.name, made.asname)
        node.source = self._source
        node.start = made.lineno << _SHIFT | made.col_offset
        node.end = (made.end_lineno or 0) << _SHIFT | (made.end_col_offset or 0)
        return node

    def _if(self, made: ast.If) -> cst.If:
        orelse: cst.If | cst.Else | None = None
        match made.orelse:
            case [ast.If() as other] if self._source.startswith("elif", other.lineno, other.col_offset):
                inner = self.statement(other)
                assert isinstance(inner, cst.If)
                orelse = inner
            case [_, *_]:
                orelse = self._else(made.orelse)
        return cst.If(self.expression(made.test), self._suite(made.body), orelse)

    def _else(self, statements: list[ast.stmt]) -> cst.Else | None:
        if not statements:
            return None
        node = cst.Else(self._suite(statements))
        self._derived(node)
        return node

    def _for(self, made: ast.For | ast.AsyncFor) -> cst.For:
        target, iterable = self.expression(made.target), self.expression(made.iter)
        return cst.For(target, iterable, self._suite(made.body), self._else(made.orelse))

    def _while(self, made: ast.While) -> cst.While:
        return cst.While(self.expression(made.test), self._suite(made.body), self._else(made.orelse))

    def _try(self, made: ast.Try | ast.TryStar) -> cst.Try:
        final = cst.Finally(self._suite(made.finalbody)) if made.finalbody else None
        if final is not None:
            self._derived(final)
        handlers = [self._handler(each) for each in made.handlers]
        kind = cst.Try if isinstance(made, ast.Try) else cst.TryStar
        return kind(self._suite(made.body), handlers, self._else(made.orelse), final)

    def _handler(self, made: ast.ExceptHandler) -> cst.ExceptHandler:
        name = None
        if made.name is not None and made.type is not None:
            name = cst.AsName(self._name_behind(_AS, made.type.end_lineno or 0, made.type.end_col_offset or 0))
            self._derived(name)
        node = cst.ExceptHandler(self._suite(made.body), self._optional(made.type), name)
        node.source = self._source
        node.start = made.lineno << _SHIFT | made.col_offset
        node.end = (made.end_lineno or 0) << _SHIFT | (made.end_col_offset or 0)
        return node

    def _with(self, made: ast.With | ast.AsyncWith) -> cst.With:
        items = []
        for each in made.items:
            name = None
            if each.optional_vars is not None:
                name = cst.AsName(self.expression(each.optional_vars))
                self._derived(name)
            item = cst.WithItem(self.expression(each.context_expr), name)
            self._derived(item)
            items.append(item)
        return cst.With(items, self._suite(made.body))

    def _function(self, made: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
        return cst.FunctionDef(
            self._defined(made),
            self._parameters(made.args),
            self._suite(made.body),
            self._decorators(made.decorator_list),
            self._annotation(made.returns),
        )

    def _class(self, made: ast.ClassDef) -> cst.ClassDef:
        arguments = self._arguments(made.bases, made.keywords)
        return cst.ClassDef(
            self._defined(made),
            self._suite(made.body),
            [each for each in arguments if each.keyword is None and each.star != "**"],
            [each for each in arguments if each.keyword is not None or each.star == "**"],
            self._decorators(made.decorator_list),
        )

    def _defined(self, made: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> cst.Name:
        return self._name_behind(_DEFINES, made.lineno, made.col_offset)

    def _name_behind(self, words: re.Pattern[str], line: int, column: int) -> cst.Name:
        """A name as it is written, which Python normalises."""
        name, start, end = self._source.name_behind(words, line, column)
        node = cst.Name(name)
        node.source, node.start, node.end = self._source, start, end
        return node

    def _decorators(self, made: list[ast.expr]) -> list[cst.Decorator]:
        found = [cst.Decorator(self.expression(each)) for each in made]
        for each in found:
            self._derived(each)
        return found

    # -- patterns -----------------------------------------------------------------------------------------------------

    def _match(self, made: ast.Match) -> cst.Match:
        cases = []
        for each in made.cases:
            case = cst.MatchCase(self._pattern(each.pattern), self._suite(each.body), self._optional(each.guard))
            self._derived(case)
            cases.append(case)
        return cst.Match(self.expression(made.subject), cases)

    def _pattern(self, made: ast.pattern) -> cst.MatchPattern:
        node: cst.MatchPattern
        match made:
            case ast.MatchAs(pattern=inner, name=name):
                inside = [] if inner is None else [self._pattern(inner)]
                node = cst.MatchAs([], inside, self._captured(name, made))
            case ast.MatchStar(name=name):
                node = cst.MatchStar([], [], self._captured(name, made))
            case ast.MatchValue(value=value):
                node = cst.MatchPattern([self.expression(value)])
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=named):
                node = cst.MatchPattern([self.expression(cls)], [*map(self._pattern, (*patterns, *named))])
            case ast.MatchMapping(keys=keys, patterns=patterns):
                node = cst.MatchPattern([*map(self.expression, keys)], [*map(self._pattern, patterns)])
            case ast.MatchSequence(patterns=patterns) | ast.MatchOr(patterns=patterns):
                node = cst.MatchPattern([], [*map(self._pattern, patterns)])
            case _:
                node = cst.MatchPattern()
        node.source = self._source
        node.start = made.lineno << _SHIFT | made.col_offset
        node.end = made.end_lineno << _SHIFT | made.end_col_offset
        return node

    def _captured(self, name: str | None, made: ast.pattern) -> cst.Name | None:
        return None if name is None else self._name(name, made.lineno, made.col_offset)


def _place(made: ast.expr | ast.keyword) -> tuple[int, int]:
    return made.lineno, made.col_offset


def _is_several(text: str) -> bool:
    """Whether the text of an f-string is more than one literal: its first ends before its end."""
    first = _SINGLE.match(text)
    return first is not None and first.end() < len(text)


_EXPRESSIONS: Final[dict[type[ast.expr], Callable[[_Builder, Any], cst.BaseExpression]]] = {
    ast.Name: _Builder._identifier,
    ast.Constant: _Builder._constant,
    ast.JoinedStr: _Builder._joined,
    ast.Attribute: _Builder._attribute,
    ast.Call: _Builder._call,
    ast.Subscript: _Builder._subscript,
    ast.Starred: _Builder._starred,
    ast.Tuple: _Builder._tuple,
    ast.List: _Builder._list,
    ast.Set: _Builder._set,
    ast.Dict: _Builder._dict,
    ast.UnaryOp: _Builder._unary,
    ast.BinOp: _Builder._binary,
    ast.BoolOp: _Builder._boolean,
    ast.Compare: _Builder._comparison,
    ast.IfExp: _Builder._conditional,
    ast.NamedExpr: _Builder._named,
    ast.Await: _Builder._await,
    ast.Yield: _Builder._yield,
    ast.YieldFrom: _Builder._yield_from,
    ast.Lambda: _Builder._lambda,
    ast.ListComp: _Builder._list_comprehension,
    ast.SetComp: _Builder._set_comprehension,
    ast.GeneratorExp: _Builder._generator,
    ast.DictComp: _Builder._dict_comprehension,
}
_STATEMENTS: Final[dict[type[ast.stmt], Callable[[_Builder, Any], cst.CSTNode]]] = {
    ast.Expr: _Builder._expr,
    ast.Assign: _Builder._assign,
    ast.AnnAssign: _Builder._annotated,
    ast.AugAssign: _Builder._augmented,
    ast.Return: _Builder._return,
    ast.Raise: _Builder._raise,
    ast.Assert: _Builder._assert,
    ast.Delete: _Builder._delete,
    ast.Pass: _Builder._pass,
    ast.Break: _Builder._break,
    ast.Continue: _Builder._continue,
    ast.Global: _Builder._global,
    ast.Nonlocal: _Builder._nonlocal,
    ast.Import: _Builder._import,
    ast.ImportFrom: _Builder._import_from,
    ast.If: _Builder._if,
    ast.For: _Builder._for,
    ast.AsyncFor: _Builder._for,
    ast.While: _Builder._while,
    ast.Try: _Builder._try,
    ast.TryStar: _Builder._try,
    ast.With: _Builder._with,
    ast.AsyncWith: _Builder._with,
    ast.FunctionDef: _Builder._function,
    ast.AsyncFunctionDef: _Builder._function,
    ast.ClassDef: _Builder._class,
    ast.Match: _Builder._match,
}
