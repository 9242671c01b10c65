"""The definitions of a file: which function stands around a line, and what the comments above it say to the probe."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Final, TypeAlias

from ..sources.reading import read_source
from ..sources.text import split_lines
from .fragments import free_names
from .specs import COMMENT

_Node: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class, or what the file's top binds to a name. `kind`: "function", "method", "nested", "class" or
    "object"; `lines`: decorators included; `comments`: the inputs in the probe comments right above it; `owner`: the
    class around a method."""

    qualname: str
    kind: str
    lines: tuple[int, int]
    comments: tuple[str, ...]
    owner: Definition | None = None


@dataclass(frozen=True, slots=True)
class FileDefinitions:
    """All definitions of a file, outer ones first; `fragment`: the whole file as one, where it reads names that it
    does not bind; `objects`: what its top binds to names otherwise; `receivers`: by line, those of which the top calls
    a method there; `length`: how many lines it has."""

    path: Path
    found: Sequence[Definition]
    fragment: Definition | None
    objects: Sequence[Definition] = ()
    receivers: Mapping[int, str] = field(default_factory=dict)
    length: int = 0

    @classmethod
    def of(cls, path: Path) -> FileDefinitions:
        """Read a file. Raises UnreadableSource or SyntaxError."""
        return cls.of_text(path, read_source(path, str(path)).text)

    @classmethod
    def of_text(cls, path: Path, text: str) -> FileDefinitions:
        """The definitions of what is, or is to be, in a file. Raises SyntaxError."""
        lines = split_lines(text)
        comments = takewhile(lambda line: not line or line.startswith("#"), lines)
        inputs = tuple(found["inputs"] for line in comments if (found := COMMENT.search(line)))
        fragment = Definition("", "fragment", (1, len(lines)), inputs) if free_names(text) else None
        tree = ast.parse(text)
        definitions, objects = tuple(_definitions(tree, "", None, lines)), tuple(_objects(tree, lines))
        return cls(path, definitions, fragment, objects, dict(_receivers(tree)), len(lines))

    def around(self, line: int) -> Definition | None:
        """The innermost function around a line, or the fragment that it is in."""
        inside = [one for one in self.found if one.lines[0] <= line <= one.lines[1] and one.kind != "class"]
        return inside[-1] if inside else self.fragment

    def named(self, qualname: str) -> Definition | None:
        """A definition by its qualified name; the last of several, which is the one that counts; "" is the fragment."""
        if not qualname:
            return self.fragment
        return next((one for one in reversed((*self.objects, *self.found)) if one.qualname == qualname), None)


def _definitions(
    node: ast.AST, prefix: str, owner: Definition | None, lines: Sequence[str], inside: bool = False
) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _DEFINITIONS):
            yield from _definitions(child, prefix, owner, lines, inside)
            continue
        first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
        name = prefix + child.name
        is_class = isinstance(child, ast.ClassDef)
        kind = "class" if is_class else "nested" if inside else "function" if owner is None else "method"
        made = Definition(name, kind, (first, child.end_lineno or first), tuple(_comments(lines, first)), owner)
        yield made
        if is_class:
            yield from _definitions(child, f"{name}.", made, lines, inside)
        else:
            yield from _definitions(child, f"{name}.<locals>.", None, lines, True)


def _objects(tree: ast.Module, lines: Sequence[str]) -> Iterator[Definition]:
    """What statements at the top of a file assign to single names."""
    for node in _at_the_top(tree.body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                last = node.end_lineno or node.lineno
                yield Definition(name, "object", (node.lineno, last), tuple(_comments(lines, node.lineno)))


def _receivers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines of statements at the top that call a method, with the names of the objects."""
    for node in _at_the_top(tree.body):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                yield node.lineno, name


def _at_the_top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a file is imported, inside of others, too: not those of a program's own run."""
    for node in body:
        yield node
        match node:
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                pass
            case ast.With() | ast.If() | ast.Try():
                yield from _at_the_top([*node.body, *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())])


def _comments(lines: Sequence[str], first: int) -> Iterator[str]:
    """The inputs in the comments between a definition and what stands above it."""
    line = first - 2
    while line >= 0 and lines[line].lstrip().startswith("#"):
        if found := COMMENT.search(lines[line]):
            yield found["inputs"]
        line -= 1
