"""The trees against libcst's own of the same text: the same nodes at the same places, written alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final, cast

import libcst
from libcst.metadata import CodeRange, PositionProvider

from xlalint.syntax import nodes
from xlalint.syntax.build import parse_module

# What only libcst has, and what has no place of its own.
_SPACE: Final = (
    libcst.BaseParenthesizableWhitespace,
    libcst.AssignEqual,
    libcst.Asynchronous,
    libcst.Colon,
    libcst.Comma,
    libcst.Dot,
    libcst.EmptyLine,
    libcst.LeftCurlyBrace,
    libcst.LeftParen,
    libcst.LeftSquareBracket,
    libcst.ParamSlash,
    libcst.RightCurlyBrace,
    libcst.RightParen,
    libcst.RightSquareBracket,
    libcst.Semicolon,
    libcst.TrailingWhitespace,
)
_OTHERWISE_BUILT: Final = (
    libcst.ConcatenatedString,
    libcst.Global,
    libcst.Import,
    libcst.ImportFrom,
    libcst.MatchCase,
    libcst.Nonlocal,
)


class _Positions(PositionProvider):
    def of(self, tree: libcst.Module) -> Mapping[libcst.CSTNode, CodeRange]:
        self._gen_impl(tree)
        return cast(Mapping[libcst.CSTNode, CodeRange], self._computed)


class DifferenceError(Exception):
    """The trees part; the text says where and how."""


def _same(theirs: object, ours: object, what: str, node: libcst.CSTNode) -> None:
    if theirs != ours:
        code = libcst.Module([]).code_for_node(node).strip().partition("\n")[0][:80]
        raise DifferenceError(f"{what} of {type(node).__name__} `{code}`: libcst has {theirs!r}, this tree {ours!r}")


def _reads_alike(theirs: str, ours: str) -> bool:
    """Whether texts differ at most in how far lines are indented that go on behind a backslash or in an f-string."""
    if theirs == ours:
        return True
    if [line.strip() for line in theirs.splitlines()] != [line.strip() for line in ours.splitlines()]:
        return False
    try:
        return ast.dump(ast.parse(f"({theirs})")) == ast.dump(ast.parse(f"({ours})"))
    except SyntaxError:
        return ast.dump(ast.parse(theirs)) == ast.dump(ast.parse(ours))


def pairs(theirs: libcst.CSTNode, ours: nodes.CSTNode) -> Iterator[tuple[libcst.CSTNode, nodes.CSTNode]]:
    """The nodes of both trees side by side. Raises DifferenceError where they are not built alike."""
    if isinstance(theirs, libcst.MatchPattern):
        return
    _same(type(theirs).__name__, type(ours).__name__, "the kind", theirs)
    yield theirs, ours
    if isinstance(theirs, _OTHERWISE_BUILT):
        return
    inside = [child for child in theirs.children if not isinstance(child, _SPACE)]
    _same([type(one).__name__ for one in inside], [type(one).__name__ for one in ours.children], "the parts", theirs)
    for their, our in zip(inside, ours.children, strict=True):
        yield from pairs(their, our)


def compare(text: str) -> int:
    """Compare both trees of a text; how many nodes were compared. Raises DifferenceError."""
    tree, ours = libcst.parse_module(text), parse_module(text)
    where = _Positions().of(tree)
    count = 0
    for their, our in pairs(tree, ours):
        source = our.source if not isinstance(our, nodes.BaseOperator) else ours.source
        match their:
            case libcst.StarredElement():
                pass  # libcst writes the comma behind it
            case libcst.BaseExpression() | libcst.BaseSmallStatement() | libcst.BaseCompoundStatement():
                count += 1
                locations = [
                    (location.line, location.column + 1) for location in (where[their].start, where[their].end)
                ]
                _same(locations, [*map(source.position, source.extent(our))], "the place", their)
                text = tree.code_for_node(their).strip().rstrip("; \\\n")
                if not isinstance(their, libcst.BaseCompoundStatement) and not _reads_alike(text, source.code(our)):
                    _same(text, source.code(our), "the text", their)
                if isinstance(our, nodes.BaseExpression):
                    _same(bool(getattr(their, "lpar", ())), source.is_parenthesised(our), "the parentheses", their)
        match their, our:
            case (
                (libcst.Name(value=value), nodes.Name(value=same))
                | (libcst.SimpleString(value=value), nodes.SimpleString(value=same))
                | (libcst.Integer(value=value), nodes.Integer(value=same))
                | (libcst.Float(value=value), nodes.Float(value=same))
            ):
                _same(value, same, "the value", their)
            case libcst.Arg(star=star), nodes.Arg(star=same):
                _same(star, same, "the star", their)
    return count
