"""From edits of nodes to edits of the file's text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ..analysis.files.unit import Location
from ..findings.findings import Edit, Fix, Span
from ..sources.text import split_lines
from ..syntax import nodes as cst
from .imports import import_edit
from .names import Names
from .rewrite import NodeEdit, Rewrite, Side
from .syntax import indented

# Syntax in which an expression of any kind may stand without parentheses.
_OPEN: Final = (
    cst.AnnAssign,
    cst.Arg,
    cst.Assign,
    cst.AugAssign,
    cst.Element,
    cst.Expr,
    cst.If,
    cst.Index,
    cst.Return,
    cst.While,
)
# Expressions that may stand everywhere.
_ATOMS: Final = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.Constant,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
)
# .. and those that want parentheses almost everywhere.
_LOOSE: Final = (ast.Tuple, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred, ast.GeneratorExp)
# What Python's parser says of text that would be Python if it were nested less deeply.
_TOO_DEEP: Final = ("too many nested parentheses", "too many levels of indentation")


class _Unplaceable(Exception):  # noqa: N818
    """An edit that cannot be made where it stands, such as statements inside of a line."""


def fix_of(rewrite: Rewrite, names: Names, location: Location) -> Fix | None:
    """The fix that a rewrite of `place` is; None where the source leaves no room for it, or is so already. Raises
    ValueError for text that is not Python."""
    file = location.unit.file
    if any(edit.location.unit.file is not file for edit in rewrite.edits):
        return None
    try:
        edits = [made for edit in rewrite.edits for made in _TextEdit(edit).edits()]
    except _Unplaceable:
        return None
    edits.sort(key=lambda edit: edit.span)
    for one, other in pairwise(edits):
        if _overlap(one.span, other.span):
            raise ValueError(f"edits of one rewrite overlap: {rewrite.title}")
    if all(edit.text == location.unit.text_between(*_ends(edit.span)) for edit in edits):
        return None  # what it wants stands there
    imports = () if names.needed is None else (import_edit(file.text, names.needed, location.line),)
    return Fix(rewrite.safety, rewrite.title, tuple(edits), rewrite.differs, imports)


def _ends(span: Span) -> tuple[tuple[int, int], tuple[int, int]]:
    return (span.line, span.column), (span.end_line, span.end_column)


def _overlap(first: Span, second: Span) -> bool:
    """Whether `second`, which does not begin before `first`, begins inside of it."""
    return (second.line, second.column) < (first.end_line, first.end_column)


class _TextEdit:
    """One edit of a node on its way to the text."""

    def __init__(self, edit: NodeEdit) -> None:
        self._side, self._text = edit.side, "\n".join(split_lines(edit.text))
        self._unit, self._node = edit.location.unit, edit.location.node
        if isinstance(self._node, cst.BaseSmallStatement):
            line = next(self._unit.around(self._node))
            if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
                self._node = line
        self._newline = self._unit.file.newline
        self._span = self._span_of(self._node)

    def edits(self) -> Iterator[Edit]:
        """The edits of the text. Raises `_Unplaceable`, and ValueError for text that is not Python."""
        match self._node:
            case cst.SimpleStatementLine() | cst.BaseCompoundStatement():
                yield self._statement()
            case cst.BaseSmallStatement():
                yield self._small_statement()
            case cst.Decorator() if not self._text:
                yield self._removal()
            case _:
                yield from self._inline()

    # -- statements ---------------------------------------------------------------------------------------------------

    def _statement(self) -> Edit:
        _parsed(self._text, "exec")
        span, indent = self._span, self._indent_of(self._node)
        if indent is None:
            raise _Unplaceable
        text = _indented(self._text, indent, self._newline)
        match self._side:
            case Side.BEFORE:
                return Edit(_point(span.line, span.column), f"{text}{self._newline}{indent}")
            case Side.AFTER:
                return Edit(_point(span.end_line, self._width(span.end_line) + 1), f"{self._newline}{indent}{text}")
            case Side.INSTEAD if not self._text:
                return self._removal()
            case Side.INSTEAD:
                kept = (f"{comment}{self._newline}{indent}" for comment in self._lost_comments())
                return Edit(span, f"{''.join(kept)}{text}")

    def _removal(self) -> Edit:
        """The whole lines, or `pass` where nothing else would stand. Comments in the statement and behind it stay."""
        block, span = next(self._unit.around(self._node)), self._span
        lost, indent = self._lost_comments(), self._indent_of(self._node)
        if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
            return Edit(span, f"{self._newline}{indent}".join((*lost, "pass")))
        if lost:
            return Edit(span, f"{self._newline}{indent}".join(lost))
        behind = self._unit.line(span.end_line)[span.end_column - 1 :]
        if behind.lstrip(" \t").startswith("#"):
            column = span.end_column + len(behind) - len(behind.lstrip(" \t"))
            return Edit(Span(span.line, span.column, span.end_line, column), "")
        if self._unit.line(span.end_line).endswith(("\n", "\r")):
            return Edit(Span(span.line, 1, span.end_line + 1, 1), "")
        return Edit(Span(span.line, 1, span.end_line, self._width(span.end_line) + 1), "")

    def _small_statement(self) -> Edit:
        """A statement that shares its line with others, which only one of its kind can replace."""
        match _parsed(self._text, "exec"):
            case ast.Module(body=[ast.stmt() as only]) if "\n" not in self._text and not hasattr(only, "body"):
                if self._side is Side.INSTEAD:
                    return Edit(self._span, self._text)
        raise _Unplaceable

    def _indent_of(self, statement: cst.CSTNode) -> str | None:
        """The white space before a statement; None where it does not begin its line."""
        span = self._span_of(statement)
        indent = self._unit.line(span.line)[: span.column - 1]
        if indent.strip(" \t") or isinstance(next(self._unit.around(statement)), cst.If):
            return None
        return indent

    # -- expressions, and parts of them -------------------------------------------------------------------------------

    def _inline(self) -> Iterator[Edit]:
        text, span = self._text.replace("\n", self._newline), self._span
        inside = [*self._unit.around(self._node)]
        if any(isinstance(node, cst.FormattedString) for node in inside) and set(text) & set("'\"\\\r\n"):
            raise _Unplaceable
        match self._side:
            case Side.BEFORE:
                yield Edit(_point(span.line, span.column), text)
                return
            case Side.AFTER:
                yield Edit(_point(span.end_line, span.end_column), text)
                return
        if isinstance(self._node, cst.BaseExpression) and self._wants_parentheses(inside[0]):
            text = f"({text})"
        before = self._unit.line(span.line)[: span.column - 1]
        after = self._unit.line(span.end_line)[span.end_column - 1 :]
        text = f"{' ' * _would_join(before, text)}{text}{' ' * _would_join(text, after)}"
        if lost := self._lost_comments():
            yield self._comments_above(lost, inside)
        yield Edit(span, text)

    def _wants_parentheses(self, parent: cst.CSTNode) -> bool:
        """Whether the new expression must stand in parentheses that the old one does not have."""
        expression = _parsed(f"({self._text or '='})", "eval")
        assert isinstance(expression, ast.Expression)
        if isinstance(self._node, cst.BaseExpression) and cst.text_of(self._node).is_parenthesised(self._node):
            return False
        if "\n" in self._text and not _stands_alone(self._text):
            return True
        if isinstance(expression.body, _ATOMS):
            return False
        return isinstance(expression.body, _LOOSE) or not isinstance(parent, _OPEN)

    def _comments_above(self, comments: list[str], inside: list[cst.CSTNode]) -> Edit:
        """Comments of an expression that goes, on lines of their own above its statement."""
        for node in inside:
            if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
                indent = self._indent_of(node)
                if indent is not None:
                    span = self._span_of(node)
                    lines = (f"{comment}{self._newline}{indent}" for comment in comments)
                    return Edit(_point(span.line, span.column), "".join(lines))
        raise _Unplaceable

    # -- the source ---------------------------------------------------------------------------------------------------

    def _span_of(self, node: cst.CSTNode) -> Span:
        span = Span(*self._unit.span(node))
        if any("\f" in line for line in self._unit.lines(span.line, span.end_line)):
            raise _Unplaceable  # the analyser's columns leave page breaks out
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
            first = self._unit.span(node.decorators[0])
            span = Span(first[0], first[1], span.end_line, span.end_column)
        return span

    def _width(self, line: int) -> int:
        return len(self._unit.line(line).rstrip("\r\n"))

    def _lost_comments(self) -> list[str]:
        """The comments inside the node that the new text does not have."""
        source, node = cst.text_of(self._node), self._node
        start, end = source.extent(node)
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
            start = source.extent(node.decorators[0])[0]
        return [comment for _, comment in source.comments(start, end) if comment not in self._text]


def _point(line: int, column: int) -> Span:
    return Span(line, column, line, column)


def _parsed(text: str, mode: str) -> ast.AST:
    try:
        return ast.parse(text, mode=mode)
    except (RecursionError, MemoryError) as error:
        raise _Unplaceable("a rewrite is nested too deeply") from error
    except SyntaxError as error:
        if error.msg in _TOO_DEEP:
            raise _Unplaceable(error.msg) from error
        raise ValueError(f"a rewrite is not Python: {error.msg}: {text!r}") from error


def _stands_alone(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _would_join(before: str, after: str) -> bool:
    """Whether two texts, one behind the other, would make one word."""
    return _is_word(before[-1:]) and _is_word(after[:1])


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def _indented(text: str, indent: str, newline: str) -> str:
    """Statements moved to an indentation, the first of which begins there already."""
    return newline.join(indented(text, indent).removeprefix(indent).split("\n"))
