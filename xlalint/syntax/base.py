"""What all nodes have, and the kinds of nodes.

Fields come in the order in which they stand in a program, so that `children` does, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .source import Text


class CSTVisitor:
    """Sees nodes from the outside in: `visit_Name` is called for each `Name`, .. and may return False to see nothing of
    what is inside."""


@dataclass(slots=True, eq=False)
class CSTNode:
    """A node. `start` and `end` are of the text: the line, times 2 ** 32, plus the column in bytes; 0: see `Text`."""

    source: Text = field(init=False, repr=False)
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
