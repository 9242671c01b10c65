"""Makes trees of Python's own ones, which it parses ten times faster than libcst."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from . import nodes as cst
from .expression_builder import ExpressionBuilder, asynchronous, ends_of
from .source import SHIFT, Text
from .written import import_alias, import_from

if TYPE_CHECKING:
    import libcst as make  # whose constructors take what those take
else:
    from .kinds import make

_SEMICOLON: Final = re.compile(r"[ \t\f]*;(?:[ \t\f]|\\(?:\r\n|\r|\n))*\Z")
_DEFINES: Final = re.compile(r"\b(?:def|class)(?:[ \t\f]|\\(?:\r\n|\r|\n))+")
_AS: Final = re.compile(r"\bas(?:[ \t\f]|\\(?:\r\n|\r|\n))+")

_AUGMENTED: Final[dict[type[ast.operator], cst.BaseAugOp]] = {
    ast.Add: make.AddAssign(),
    ast.Sub: make.SubtractAssign(),
    ast.Mult: make.MultiplyAssign(),
    ast.Div: make.DivideAssign(),
    ast.FloorDiv: make.FloorDivideAssign(),
    ast.Mod: make.ModuloAssign(),
    ast.Pow: make.PowerAssign(),
    ast.MatMult: make.MatrixMultiplyAssign(),
    ast.LShift: make.LeftShiftAssign(),
    ast.RShift: make.RightShiftAssign(),
    ast.BitOr: make.BitOrAssign(),
    ast.BitAnd: make.BitAndAssign(),
    ast.BitXor: make.BitXorAssign(),
}
# `type X = ...` of Python 3.12: what it gives a name to is evaluated as late as an annotation is.
_ALIASES: Final[tuple[Any, ...]] = tuple(filter(None, [getattr(ast, "TypeAlias", None)]))
_SIMPLE: Final = (
    *_ALIASES,
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


def parse_module(text: str) -> cst.Module:
    """The tree of a piece of Python. Raises what `ast.parse` does, and NestedTooDeepError."""
    return _module(Text(text), ast.parse(text).body)


def module_of(statements: Sequence[ast.stmt], text: str, first: int, *, indented: bool) -> cst.Module:
    """The tree of a text that begins with line `first` of a larger one, of which `statements` are all that stands in
    its lines. `indented`: they are in a block, and the text has a line `if 1:` above that line. Raises
    NestedTooDeepError."""
    if not indented:
        return _module(Text(text, above=first - 1), statements)
    line, last = first - 1, statements[-1]
    test = ast.Constant(1, lineno=line, col_offset=3, end_lineno=line, end_col_offset=4)
    around = ast.If(
        test,
        list(statements),
        [],
        lineno=line,
        col_offset=0,
        end_lineno=last.end_lineno,
        end_col_offset=last.end_col_offset,
    )
    return _module(Text(text, above=line - 1), [around])


def _module(source: Text, statements: Sequence[ast.stmt]) -> cst.Module:
    module: Any = make.Module(_Builder(source).block(statements))
    module.source, module.begins, module.ends = source, 0, 0
    source.settle()
    return module  # type: ignore[no-any-return]


def parse_expression(text: str) -> cst.BaseExpression:
    """The tree of an expression. Raises as `parse_module`."""
    if not text.strip():
        raise SyntaxError("no expression")
    source = Text(f"({text}\n)", skipped=1)
    node: Any = _Builder(source).expression(ast.parse(source.text, mode="eval").body)
    if node.begins == 1 << SHIFT:  # a tuple that takes the parentheses for its own
        node.begins = node.ends = 0
    return node  # type: ignore[no-any-return]


class _Builder(ExpressionBuilder):
    """Makes the nodes of one text."""

    def block(self, statements: Sequence[ast.stmt]) -> list[cst.SimpleStatementLine | cst.BaseCompoundStatement]:
        """The nodes of the statements of a block, simple ones line by line."""
        found: list[cst.SimpleStatementLine | cst.BaseCompoundStatement] = []
        before: ast.stmt | None = None
        together: list[cst.BaseSmallStatement] = []  # those of the last line
        line: Any
        for each in statements:
            node = self.statement(each)
            placed: Any = node
            if not isinstance(node, cst.BaseSmallStatement):
                assert isinstance(node, cst.BaseCompoundStatement)
                found.append(node)
                before = None
                continue
            if before is not None and self._shares_line(before, each):
                line = found[-1]
                assert isinstance(line, cst.SimpleStatementLine)
                together.append(node)
            else:
                together = [node]
                line = make.SimpleStatementLine(together)
                line.source, line.begins = self._source, placed.begins
                found.append(line)
            line.ends = placed.ends
            before = each
        return found

    def _shares_line(self, before: ast.stmt, each: ast.stmt) -> bool:
        """Whether a statement follows another behind a semicolon."""
        end = before.end_lineno or 0
        if each.lineno == end:
            return True
        if not self._source.line(end).endswith("\\"):
            return False
        between = self._source.between(end, before.end_col_offset or 0, each.lineno, each.col_offset)
        return _SEMICOLON.match(between) is not None

    def _suite(self, statements: Sequence[ast.stmt]) -> cst.BaseSuite:
        suite: cst.BaseSuite
        if self._begins_line(statements[0]):
            suite = make.IndentedBlock(self.block(statements))
        else:
            small = [self.statement(each) for each in statements]
            suite = make.SimpleStatementSuite([each for each in small if isinstance(each, cst.BaseSmallStatement)])
        self._derived(suite)
        return suite

    def _begins_line(self, made: ast.stmt) -> bool:
        if not isinstance(made, _SIMPLE):
            return True
        line = self._source.line(made.lineno)
        before = line[: made.col_offset] if line.isascii() else line.encode()[: made.col_offset].decode()
        if before.strip():
            return False
        return (
            self._source.is_first(made.lineno)
            or not self._source.line(made.lineno - 1).endswith("\\")
            or self._follows_comment(made)
        )

    def _follows_comment(self, made: ast.stmt) -> bool:
        """Whether the backslash at the end of the line before a statement ends a comment."""
        line = made.lineno - 1
        first, last = (self._source.offset(each << SHIFT) for each in (line, line + 1))
        return bool(self._source.comments(first, last))

    def statement(self, made: Any) -> cst.CSTNode:
        """The node of a statement; a small one without its line."""
        node: Any = _STATEMENTS[type(made)](self, made)
        node.source = self._source
        node.begins = made.lineno << SHIFT | made.col_offset
        node.ends = made.end_lineno << SHIFT | made.end_col_offset
        return node  # type: ignore[no-any-return]

    def _expr(self, made: ast.Expr) -> cst.Expr:
        return make.Expr(self.expression(made.value))

    def _assign(self, made: ast.Assign) -> cst.Assign:
        targets: list[Any] = [make.AssignTarget(self._target(target)) for target in made.targets]
        for target in targets:
            target.source, target.begins, target.ends = self._source, 0, 0
        return make.Assign(targets, self.expression(made.value))

    def _type_alias(self, made: Any) -> cst.Assign:
        target: Any = make.AssignTarget(self._target(made.name))
        target.source, target.begins, target.ends = self._source, 0, 0
        return make.Assign([target], self.expression(made.value))

    def _annotated(self, made: ast.AnnAssign) -> cst.AnnAssign:
        annotation = self._annotation(made.annotation)
        assert annotation is not None
        return make.AnnAssign(self._target(made.target), annotation, self._optional(made.value))

    def _augmented(self, made: ast.AugAssign) -> cst.AugAssign:
        return make.AugAssign(self._target(made.target), _AUGMENTED[type(made.op)], self.expression(made.value))

    def _return(self, made: ast.Return) -> cst.Return:
        return make.Return(self._optional(made.value))

    def _raise(self, made: ast.Raise) -> cst.Raise:
        return make.Raise(self._optional(made.exc), None if made.cause is None else self._from(made.cause))

    def _assert(self, made: ast.Assert) -> cst.Assert:
        return make.Assert(self.expression(made.test), self._optional(made.msg))

    def _delete(self, made: ast.Delete) -> cst.Del:
        if len(made.targets) == 1:
            return make.Del(self._target(made.targets[0]))
        several = make.Tuple(self._elements(made.targets))
        self._derived(several)
        return make.Del(several)

    def _pass(self, made: ast.Pass) -> cst.Pass:
        return make.Pass()

    def _break(self, made: ast.Break) -> cst.Break:
        return make.Break()

    def _continue(self, made: ast.Continue) -> cst.Continue:
        return make.Continue()

    def _global(self, made: ast.Global) -> cst.Global:
        return make.Global(self._items(made))

    def _nonlocal(self, made: ast.Nonlocal) -> cst.Nonlocal:
        return make.Nonlocal(self._items(made))

    def _items(self, made: ast.Global | ast.Nonlocal) -> list[cst.NameItem]:
        _, *names = self._source.names_between(*ends_of(made))
        items = [make.NameItem(self._read_name(*each)) for each in names]
        for item in items:
            self._derived(item)
        return items

    def _import(self, made: ast.Import) -> cst.Import:
        return make.Import([self._alias(each) for each in made.names])

    def _import_from(self, made: ast.ImportFrom) -> cst.ImportFrom:
        if made.names[0].name == "*":
            star = make.ImportStar()
            self._derived(star)
            return import_from(made.module, star, made.level)
        return import_from(made.module, [self._alias(each) for each in made.names], made.level)

    def _alias(self, made: ast.alias) -> cst.ImportAlias:
        node = import_alias(made.name, made.asname)
        self._located(node, made)
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
        return make.If(self.expression(made.test), self._suite(made.body), orelse)

    def _else(self, statements: list[ast.stmt]) -> cst.Else | None:
        if not statements:
            return None
        node = make.Else(self._suite(statements))
        self._derived(node)
        return node

    def _for(self, made: ast.For | ast.AsyncFor) -> cst.For:
        target, iterable = self._target(made.target), self.expression(made.iter)
        is_async = asynchronous(isinstance(made, ast.AsyncFor))
        return make.For(target, iterable, self._suite(made.body), self._else(made.orelse), is_async)

    def _while(self, made: ast.While) -> cst.While:
        return make.While(self.expression(made.test), self._suite(made.body), self._else(made.orelse))

    def _try(self, made: ast.Try | ast.TryStar) -> cst.Try | cst.TryStar:
        final = make.Finally(self._suite(made.finalbody)) if made.finalbody else None
        if final is not None:
            self._derived(final)
        body, orelse = self._suite(made.body), self._else(made.orelse)
        if isinstance(made, ast.Try):
            return make.Try(body, [self._handler(each) for each in made.handlers], orelse, final)
        return make.TryStar(body, [self._star_handler(each) for each in made.handlers], orelse, final)

    def _handler(self, made: ast.ExceptHandler) -> cst.ExceptHandler:
        node = make.ExceptHandler(self._suite(made.body), self._optional(made.type), self._caught(made))
        self._located(node, made)
        return node

    def _star_handler(self, made: ast.ExceptHandler) -> cst.ExceptStarHandler:
        assert made.type is not None
        node = make.ExceptStarHandler(self._suite(made.body), self.expression(made.type), self._caught(made))
        self._located(node, made)
        return node

    def _caught(self, made: ast.ExceptHandler) -> cst.AsName | None:
        if made.name is None or made.type is None:
            return None
        name = make.AsName(self._name_behind(_AS, made.type.end_lineno or 0, made.type.end_col_offset or 0))
        self._derived(name)
        return name

    def _with(self, made: ast.With | ast.AsyncWith) -> cst.With:
        items = []
        for each in made.items:
            name = None
            if each.optional_vars is not None:
                name = make.AsName(self._target(each.optional_vars))
                self._derived(name)
            item = make.WithItem(self.expression(each.context_expr), name)
            self._derived(item)
            items.append(item)
        return make.With(items, self._suite(made.body), asynchronous(isinstance(made, ast.AsyncWith)))

    def _function(self, made: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
        return make.FunctionDef(
            self._defined(made),
            self._parameters(made.args),
            self._suite(made.body),
            self._decorators(made.decorator_list),
            self._annotation(made.returns),
            asynchronous(isinstance(made, ast.AsyncFunctionDef)),
        )

    def _class(self, made: ast.ClassDef) -> cst.ClassDef:
        arguments = self._arguments(made.bases, made.keywords)
        return make.ClassDef(
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
        return self._read_name(*self._source.name_behind(words, line, column))

    def _read_name(self, name: str, begins: int, ends: int) -> cst.Name:
        node: Any = make.Name(name)
        node.source, node.begins, node.ends = self._source, begins, ends
        return node  # type: ignore[no-any-return]

    def _decorators(self, made: list[ast.expr]) -> list[cst.Decorator]:
        found = [make.Decorator(self.expression(each)) for each in made]
        for each in found:
            self._derived(each)
        return found

    # -- patterns -----------------------------------------------------------------------------------------------------

    def _match(self, made: ast.Match) -> cst.Match:
        cases = []
        for each in made.cases:
            case = make.MatchCase(self._pattern(each.pattern), self._suite(each.body), self._optional(each.guard))
            self._derived(case)
            cases.append(case)
        return make.Match(self.expression(made.subject), cases)

    def _pattern(self, made: ast.pattern) -> cst.MatchPattern:
        node: cst.MatchPattern
        match made:
            case ast.MatchAs(pattern=inner, name=name):
                node = make.MatchAs(None if inner is None else self._pattern(inner), self._last_name(name, made))
            case ast.MatchValue(value=value):
                node = make.MatchValue(self.expression(value))
            case ast.MatchSingleton(value=constant):
                node = make.MatchSingleton(self._name(str(constant), made.lineno, made.col_offset))
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=named):
                before = [patterns[-1] if patterns else cls, *named[:-1]]
                node = make.MatchClass(
                    self._target(cls),
                    [self._element_of_pattern(each) for each in patterns],
                    [self._keyword_of_pattern(*each) for each in zip(before, named, strict=False)],
                )
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                pairs = zip(keys, patterns, strict=True)
                elements = [make.MatchMappingElement(self.expression(key), self._pattern(each)) for key, each in pairs]
                for element in elements:
                    self._derived(element)
                node = make.MatchMapping(elements, rest=self._last_name(rest, made))
            case ast.MatchSequence(patterns=patterns):
                parts = [self._element_of_pattern(each) for each in patterns]
                if self._source.is_in_parentheses(made):
                    node = make.MatchTuple(parts)
                else:
                    several: Any = make.MatchList(parts)
                    if self._source.startswith("[", made.lineno, made.col_offset):
                        several.lbracket, several.rbracket = cst.LeftSquareBracket(), cst.RightSquareBracket()
                    elif len(parts) == 1:
                        parts[0].comma = cst.Comma()
                    node = several
            case ast.MatchOr(patterns=patterns):
                sides = [make.MatchOrElement(self._pattern(each)) for each in patterns]
                for side in sides:
                    self._derived(side)
                node = make.MatchOr(sides)
            case _:
                raise TypeError(f"no pattern: {made!r}")
        self._located(node, made)
        return node

    def _element_of_pattern(self, made: ast.pattern) -> Any:
        if isinstance(made, ast.MatchStar):
            star = make.MatchStar(self._last_name(made.name, made))
            self._located(star, made)
            return star
        element = make.MatchSequenceElement(self._pattern(made))
        self._derived(element)
        return element

    def _keyword_of_pattern(self, before: ast.expr | ast.pattern, made: ast.pattern) -> cst.MatchKeywordElement:
        *_, name = self._source.names_between(ends_of(before)[1], ends_of(made)[0])
        element = make.MatchKeywordElement(self._read_name(*name), self._pattern(made))
        self._derived(element)
        return element

    def _last_name(self, name: str | None, made: ast.pattern) -> cst.Name | None:
        """The name that a pattern binds, which stands at its end."""
        return None if name is None else self._read_name(*self._source.names_between(*ends_of(made))[-1])


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
    **dict.fromkeys(_ALIASES, _Builder._type_alias),
}
