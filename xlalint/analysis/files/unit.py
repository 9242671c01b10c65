"""A stretch of a file as a tree, and locations in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from ...sources.outline import Outline, Stretch
from ...sources.text import Source
from ...syntax import nodes as cst
from ...syntax.build import module_of, parse_module
from ..record import Record
from .alone import in_block, is_indented, text_of_stretch
from .dependencies import note_whole

if TYPE_CHECKING:
    import libcst

Span4: TypeAlias = tuple[int, int, int, int]
_T = TypeVar("_T")


class UnitFile(Protocol):
    """What a unit asks of the file that it is a stretch of."""

    @property
    def source(self) -> Source: ...

    @property
    def outline(self) -> Outline: ...

    @property
    def may_be_fragment(self) -> bool: ...

    @property
    def newline(self) -> str: ...

    @property
    def is_script(self) -> bool: ...

    @property
    def text(self) -> str:
        """All that stands in the file."""

    def unit(self, stretch: Stretch) -> Unit:
        """The tree of a stretch."""

    def peek(self, stretch: Stretch) -> str:
        """The lines of a stretch as one text, not noted as read."""

    def peek_lines(self, stretch: Stretch) -> list[str]:
        """The lines of a stretch, not noted as read."""


class Unit:
    """A stretch of a file as a tree. An indented stretch, a method, hangs under an `if` not of the file."""

    def __init__(self, file: UnitFile, stretch: Stretch, statements: Sequence[ast.stmt] | None = None) -> None:
        self.file = file
        self.text = text_of_stretch(file, stretch)
        indented = is_indented(self.text)
        self.first_line = stretch.first
        self._last = stretch.last
        whole = in_block(self.text)
        if statements is not None:
            self.tree = module_of(statements, whole, stretch.first, indented=indented)
            self._offset = 0
        else:
            self.tree = parse_module(whole)
            self._offset = stretch.first - 1 - indented
        self.body: Sequence[cst.BaseStatement] = self.tree.body
        if indented:
            [around] = self.tree.body
            assert isinstance(around, cst.If)
            assert isinstance(around.body, cst.IndentedBlock)
            self.body = around.body.body

    def again(self, file: UnitFile, stretch: Stretch) -> Unit:
        """The same unit in another version of its file, whose stretch has the same text."""
        moved = copy(self)
        moved.file = file
        moved._offset += stretch.first - self.first_line
        moved.first_line = stretch.first
        moved._last = stretch.last
        return moved

    @classmethod
    def empty(cls, file: UnitFile) -> Unit:
        """A unit without source, for what stands nowhere in particular."""
        return cls(file, Stretch(1, 0))

    @cached_property
    def _told(self) -> dict[tuple[Callable[[Any], Any], cst.CSTNode], Any]:
        return {}

    def told(self, ask: Callable[[Any], _T], node: cst.CSTNode) -> _T:
        """What a function says of a node of the unit, and of nothing else: it is asked once, whoever wants to know, and
        in whichever version of the file the unit stands."""
        asked = ask, node
        try:
            found: _T = self._told[asked]
        except KeyError:
            found = self._told[asked] = ask(node)
        return found

    @cached_property
    def first_reads(self) -> dict[cst.BaseExpression, cst.CSTNode | None]:
        """Where the targets of assignments are read before, of those that somebody has looked for."""
        return {}

    @cached_property
    def calls(self) -> Mapping[str, Sequence[cst.Call]]:
        """The calls in it, by the name of what they call, on its own or as an attribute."""
        found: dict[str, list[cst.Call]] = {}
        for node in cst.within(self.tree):
            match node:
                case cst.Call(func=cst.Name(called) | cst.Attribute(attr=cst.Name(called))):
                    found.setdefault(called, []).append(node)
        return found

    @cached_property
    def assignments(self) -> Mapping[str, Sequence[cst.Assign]]:
        """The assignments to one name alone that stand in it, by that name."""
        found: dict[str, list[cst.Assign]] = {}
        for node in cst.within(self.tree):
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
                    found.setdefault(name, []).append(node)
        return found

    @cached_property
    def _parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        found: dict[cst.CSTNode, cst.CSTNode] = {}
        pending: list[cst.CSTNode] = [self.tree]
        while pending:
            node = pending.pop()
            for child in node.children:
                found[child] = node
                pending.append(child)
        return found

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node stands in, from the inside out."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def function_around(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The innermost function that a node stands in."""
        return next((it for it in self.around(node) if isinstance(it, cst.FunctionDef)), None)

    def span(self, node: cst.CSTNode) -> Span4:
        """(line, column, end line, end column), 1-based, in code points, the end exclusive."""
        source = cst.text_of(self.tree)
        (line, column), (end_line, end_column) = map(source.position, source.extent(node))
        return line + self._offset, column, end_line + self._offset, end_column

    def code(self, node: cst.CSTNode) -> str:
        """A node as it is written, with its parentheses."""
        return self.told(_code, node)

    def compact(self, node: cst.CSTNode) -> str:
        """A node as it is written, without spaces: the same for two places that read the same."""
        return self.told(_compact, node)

    def lines(self, first: int, last: int) -> list[str]:
        """Lines of the file as they stand in it, with their ends: the unit's own as a rule."""
        if not (self.first_line <= first and last <= self._last):
            note_whole(self.file.source.path)
        return self.file.peek_lines(Stretch(first, last))

    def line(self, number: int) -> str:
        """One of these lines."""
        return self.lines(number, number)[0]

    def text_between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The source between two positions, line and column; the last may stand behind the last line of the file."""
        lines = self.lines(start[0], end[0])
        if end[0] - start[0] < len(lines):
            lines[-1] = lines[-1][: end[1] - 1]
        if lines:
            lines[0] = lines[0][start[1] - 1 :]
        return "".join(lines)

    # -- for rewrites -------------------------------------------------------------------------------------------------

    def statement(self, line: cst.BaseStatement, *, above: bool = True, behind: bool = True) -> str:
        """A statement as whole lines, as they are written where its block is not indented; with the lines and comments
        `above` it, and the comment `behind` it."""
        import libcst  # only where a rewrite moves statements

        concrete: Any = self._concrete
        for field, at in self._path_to(line):
            concrete = getattr(concrete, field) if at is None else getattr(concrete, field)[at]
        if not above:
            concrete = concrete.with_changes(leading_lines=())
        if not behind and isinstance(concrete, libcst.SimpleStatementLine):
            concrete = concrete.with_changes(trailing_whitespace=libcst.TrailingWhitespace())
        text: str = self._concrete.code_for_node(concrete)
        return text

    @cached_property
    def _concrete(self) -> libcst.Module:
        """The tree with all white space and comments."""
        import libcst

        return libcst.parse_module(cst.text_of(self.tree).text)

    def _path_to(self, node: cst.CSTNode) -> list[tuple[str, int | None]]:
        """The fields, and positions in them, that lead to a node from the root."""
        path: list[tuple[str, int | None]] = []
        for parent in self.around(node):
            for field in cst.fields_of(parent):
                part = getattr(parent, field)
                if part is node:
                    path.append((field, None))
                elif isinstance(part, list) and any(each is node for each in part):
                    path.append((field, next(at for at, each in enumerate(part) if each is node)))
            node = parent
        return path[::-1]

    @cached_property
    def first_block(self) -> cst.IndentedBlock | None:
        """The first block that is indented, if there is one."""
        pending: list[cst.CSTNode] = [self.tree]
        while pending:
            node = pending.pop()
            if isinstance(node, cst.IndentedBlock):
                return node
            pending.extend(reversed(node.children))
        return None

    def indent_of(self, block: cst.IndentedBlock) -> str:
        """By how much a block is indented."""
        source = cst.text_of(self.tree)
        opening = self._parents[block]
        while not cst.is_located(opening):  # `else` and `finally` stand below what they belong to
            opening = self._parents[opening]
        before = source.indent_at(source.extent(opening)[0])
        return source.indent_at(source.extent(block.body[0])[0]).removeprefix(before)


def _code(node: cst.CSTNode) -> str:
    return cst.text_of(node).code(node)


def _compact(node: cst.CSTNode) -> str:
    return _code(node).replace(" ", "")


class QuotedUnit(Unit):
    """Code that stands in a string, as the argument of a call that runs it: each of its nodes is located at the call,
    and nothing rewrites it."""

    def __init__(self, around: Unit, call: cst.CSTNode, code: str) -> None:
        self.file = around.file
        self.text = code
        self._call = around.span(call)
        self.first_line, _, self._last, _ = self._call
        self.tree = parse_module(code)
        self.body = self.tree.body
        self._offset = 0

    def span(self, node: cst.CSTNode) -> Span4:
        return self._call


class Location(Record, eq=False):
    """A node of a file's source. Two places are equal when they are the same node."""

    unit: Unit
    node: cst.CSTNode

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Location) and self.node is other.node

    def __ne__(self, other: object) -> bool:  # msgspec compares by identity where it is not asked to compare
        return not self == other

    def __hash__(self) -> int:
        return id(self.node)

    @property
    def path(self) -> str:
        return self.unit.file.source.display

    @property
    def code(self) -> str:
        return self.unit.code(self.node)

    @property
    def span(self) -> Span4:
        return self.unit.span(self.node)

    @property
    def line(self) -> int:
        return self.span[0]

    def at(self, node: cst.CSTNode) -> Location:
        return Location(self.unit, node)

    def is_behind(self, other: Location) -> bool:
        """Whether it stands behind a loop of its function that another place is in, or is."""
        unit, node = self.unit, self.node
        if unit is not other.unit or unit.function_around(node) is not unit.function_around(other.node):
            return False
        loop = next((it for it in (other.node, *unit.around(other.node)) if isinstance(it, cst.For | cst.While)), None)
        return loop is not None and all(around is not loop for around in unit.around(node))
