"""What all nodes have, and the kinds of nodes.

Fields come in the order in which they stand in a program, so that `children` does, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol


class SourceText(Protocol):
    """What a node asks of the text that it stands in, and those ask who have a node: `source.Text`. Offsets count code
    points, and extents are two of them."""

    @property
    def text(self) -> str: ...

    def position(self, offset: int) -> tuple[int, int]:
        """The line and 1-based column of an offset."""

    def extent(self, node: CSTNode) -> tuple[int, int]:
        """Where a node begins and ends, without parentheses around it."""

    def whole(self, node: CSTNode) -> tuple[int, int]:
        """Where a node begins and ends, parentheses around it included."""

    def is_parenthesised(self, node: BaseExpression) -> bool:
        """Whether parentheses stand around an expression that are not a call's."""

    def code(self, node: CSTNode) -> str:
        """A node as it is written, parentheses around it included."""

    def bare_code(self, node: CSTNode) -> str:
        """A node as it is written, without parentheses around it."""

    def replaced(self, node: CSTNode, texts: Mapping[CSTNode, str]) -> str:
        """A node as it is written, with other texts for parts of it and the parentheses around them."""

    def comments(self, start: int, end: int) -> list[tuple[int, str]]:
        """The comments between two offsets, each with where it begins."""

    def has_fixed_lines(self, start: int, end: int) -> bool:
        """Whether line breaks between two offsets mean something: behind a comment, in a string."""

    def indent_at(self, offset: int) -> str:
        """The indentation of the statement around an offset."""


class CSTVisitor:
    """Sees nodes from the outside in: `visit_Name` is called for each `Name`, .. and may return False to see nothing of
    what is inside."""


@dataclass(slots=True, eq=False)
class CSTNode:
    """A node. `start` and `end` are of the text: the line, times 2 ** 32, plus the column in bytes; 0: see `Text`."""

    source: SourceText = field(init=False, repr=False)
    start: int = field(init=False, repr=False)
    end: int = field(init=False, repr=False)
    inside: ClassVar[tuple[str, ...]] = ()  # the fields that hold nodes

    @property
    def children(self) -> list[CSTNode]:
        """The nodes directly inside, in the order of the source."""
        found: list[CSTNode] = []
        for name in self.inside:
            part = getattr(self, name)
            if part is None:
                continue
            if isinstance(part, CSTNode):
                found.append(part)
            else:
                found.extend(part)
        return found

    def visit(self, visitor: CSTVisitor) -> None:
        """Let a visitor see this node and what is in it."""
        pending: list[CSTNode] = [self]
        while pending:
            node = pending.pop()
            seen = getattr(visitor, f"visit_{type(node).__name__}", None)
            if seen is None or seen(node) is not False:
                pending.extend(reversed(node.children))

    def deep_equals(self, other: CSTNode) -> bool:
        """Whether two nodes are written alike."""
        return type(self) is type(other) and self.source.code(self) == other.source.code(other)


class BaseStatement(CSTNode):
    __slots__ = ()


class BaseSmallStatement(CSTNode):
    __slots__ = ()


class BaseCompoundStatement(BaseStatement):
    __slots__ = ()


class BaseSuite(CSTNode):
    __slots__ = ()
    body: Sequence[CSTNode]


class BaseExpression(CSTNode):
    __slots__ = ()


class BaseNumber(BaseExpression):
    __slots__ = ()


class BaseString(BaseExpression):
    __slots__ = ()


class BaseSlice(CSTNode):
    __slots__ = ()


class BaseElement(CSTNode):
    __slots__ = ()
    value: BaseExpression
