"""What one round of a loop hands to the next: the names that its body reads before it has bound them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from ..tree import nodes as cst


def read_first(loop: cst.For | cst.While) -> frozenset[str]:
    """The names whose value at the beginning of a round may matter to the body of the loop, or to what it asks first.

    What is not certain counts as read: a name that only some ways through the body bind, all that a function made in
    it mentions, whatever `match` does.
    """
    reader = _Reader()
    if isinstance(loop, cst.For):
        bound = reader.bound_by(loop.target, frozenset())
    else:
        bound = reader.expression(loop.test, frozenset())
    reader.block(loop.body, bound)
    return frozenset(reader.found)


class _Reader:
    """Goes through statements in their order; `bound` are the names that are bound on every way to where it is."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def block(self, node: cst.BaseSuite | cst.Else | cst.Finally, bound: frozenset[str]) -> frozenset[str]:
        """Read a block; the names that are bound after it."""
        body = node.body if isinstance(node, cst.BaseSuite) else node.body.body
        return self._statements(body, bound)

    def _statements(self, statements: Iterable[cst.CSTNode], bound: frozenset[str]) -> frozenset[str]:
        for statement in statements:
            bound = self._STATEMENTS.get(type(statement), _Reader._parts)(self, statement, bound)
        return bound

    def expression(self, node: cst.CSTNode | None, bound: frozenset[str]) -> frozenset[str]:
        """Read all of a node; what it binds itself is not counted on."""
        pending = [] if node is None else [node]
        while pending:
            match pending.pop():
                case cst.Name(value=name):
                    if name not in bound:
                        self.found.add(name)
                case cst.Attribute(value=inner) | cst.Arg(value=inner):
                    pending.append(inner)
                case other:
                    pending += other.children
        return bound

    def bound_by(self, target: cst.BaseExpression, bound: frozenset[str]) -> frozenset[str]:
        """Bind a target; what stands in front of a dot or a bracket is read."""
        match target:
            case cst.Name(value=name):
                return bound | {name}
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                for element in elements:
                    bound = self.bound_by(element.value, bound)
                return bound
            case _:
                return self.expression(target, bound)

    def _line(self, node: cst.SimpleStatementLine, bound: frozenset[str]) -> frozenset[str]:
        return self._statements(node.body, bound)

    def _assign(self, node: cst.Assign, bound: frozenset[str]) -> frozenset[str]:
        self.expression(node.value, bound)
        for target in node.targets:
            bound = self.bound_by(target.target, bound)
        return bound

    def _annotated(self, node: cst.AnnAssign, bound: frozenset[str]) -> frozenset[str]:
        self.expression(node.annotation, bound)
        return bound if node.value is None else self.bound_by(node.target, self.expression(node.value, bound))

    def _if(self, node: cst.If, bound: frozenset[str]) -> frozenset[str]:
        self.expression(node.test, bound)
        taken = self.block(node.body, bound)
        match node.orelse:
            case None:
                return bound
            case cst.If() as other:
                return taken & self._if(other, bound)
            case cst.Else() as other:
                return taken & self.block(other, bound)

    def _loop(self, node: cst.For | cst.While, bound: frozenset[str]) -> frozenset[str]:
        inner = self.expression(node.iter if isinstance(node, cst.For) else node.test, bound)
        self.block(node.body, self.bound_by(node.target, inner) if isinstance(node, cst.For) else inner)
        if node.orelse is not None:
            self.block(node.orelse, bound)
        return bound

    def _with(self, node: cst.With, bound: frozenset[str]) -> frozenset[str]:
        for item in node.items:
            self.expression(item.item, bound)
            bound = bound if item.asname is None else self.bound_by(item.asname.name, bound)
        return self.block(node.body, bound)

    def _try(self, node: cst.Try, bound: frozenset[str]) -> frozenset[str]:
        self.block(node.body, bound)
        for handler in node.handlers:
            self.expression(handler.type, bound)
            self.block(handler.body, bound if handler.name is None else self.bound_by(handler.name.name, bound))
        for block in (node.orelse, node.finalbody):
            if block is not None:
                self.block(block, bound)
        return bound

    def _parts(self, node: cst.CSTNode, bound: frozenset[str]) -> frozenset[str]:
        return self.expression(node, bound)

    def _whole(self, node: cst.CSTNode, bound: frozenset[str]) -> frozenset[str]:
        """What runs later, or in a way of its own, may read whatever it names."""
        self.expression(node, frozenset())
        return bound

    _STATEMENTS: ClassVar[dict[type[cst.CSTNode], Callable[..., frozenset[str]]]] = {
        cst.SimpleStatementLine: _line,
        cst.Assign: _assign,
        cst.AnnAssign: _annotated,
        cst.If: _if,
        cst.For: _loop,
        cst.While: _loop,
        cst.With: _with,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.FunctionDef: _whole,
        cst.ClassDef: _whole,
        cst.Match: _whole,
        cst.Global: _whole,
        cst.Nonlocal: _whole,
    }
