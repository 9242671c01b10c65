"""The definitions of a file: which function stands around a line, and what the comments above it say to the probe."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Final, TypeAlias

from ..sources.reading import read_source
from ..sources.specs import COMMENT
from ..sources.text import split_lines
from .fragments import free_names

_Node: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class, or what the file's top binds to a name. `kind`: "function", "method", "nested", "class" or
    "object"; `lines`: decorators included; `comments`: the inputs in the probe comments right above it; `owner`: the
    class around a method; `needs`: whether it has parameters besides its object that have to be filled."""

    qualname: str
    kind: str
    lines: tuple[int, int]
    comments: tuple[str, ...]
    owner: Definition | None = None
    needs: bool = False


@dataclass(frozen=True, slots=True)
class FileDefinitions:
    """All definitions of a file, outer ones first; `fragment`: the whole file as one, where it reads names that it
    does not bind; `objects`: what its top binds to names otherwise; `receivers`: by line, those of which the top calls
    a method there; `length`: how many lines it has; `calls`: by the last part of its name, the lines of the calls of a
    function; `instances`: by the last part of a class's name, those of the names that its objects are bound to."""

    path: Path
    found: Sequence[Definition]
    fragment: Definition | None
    objects: Sequence[Definition] = ()
    receivers: Mapping[int, str] = field(default_factory=dict)
    length: int = 0
    calls: Mapping[str, Sequence[int]] = field(default_factory=dict)
    instances: Mapping[str, Sequence[str]] = field(default_factory=dict)

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
        receivers, calls, instances = dict(_receivers(tree)), _calls(tree), _instances(tree)
        return cls(path, definitions, fragment, objects, receivers, len(lines), calls, instances)

    def around(self, line: int) -> Definition | None:
        """The innermost function around a line, or the fragment that it is in."""
        inside = [one for one in self.found if one.lines[0] <= line <= one.lines[1] and one.kind != "class"]
        return inside[-1] if inside else self.fragment

    def calling(self, name: str) -> list[Definition]:
        """The functions that call something of this name, nearest to the top of the file first."""
        around = (self.around(line) for line in self.calls.get(name, ()))
        return list(dict.fromkeys(one for one in around if one is not None))

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
        needs = not is_class and _needs(child, bound=kind == "method")
        made = Definition(name, kind, (first, child.end_lineno or first), tuple(_comments(lines, first)), owner, needs)
        yield made
        if is_class:
            yield from _definitions(child, f"{name}.", made, lines, inside)
        else:
            yield from _definitions(child, f"{name}.<locals>.", None, lines, True)


def _needs(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, *, bound: bool) -> bool:
    """Whether a function has parameters without a default, besides that of its object."""
    if isinstance(node, ast.ClassDef):
        return False
    taken = node.args
    required = len(taken.posonlyargs) + len(taken.args) - len(taken.defaults)
    return required > int(bound) or any(default is None for default in taken.kw_defaults)


def _calls(tree: ast.Module) -> dict[str, list[int]]:
    """The lines of all calls, by the last part of the name of what is called."""
    found: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                found.setdefault(name, []).append(node.lineno)
    return {name: sorted(set(lines)) for name, lines in found.items()}


def _instances(tree: ast.Module) -> dict[str, list[str]]:
    """The names that objects of classes are bound to, by the last parts of the names of the classes and of those that
    these derive from in the file."""
    found: dict[str, list[str]] = {}
    derived: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=made)) if bound := _last_part(target):
                found.setdefault(_last_part(made), []).append(bound)
            case ast.ClassDef(name=name, bases=bases):
                derived[name] = [_last_part(base) for base in bases]
    for name, ancestors in reversed(derived.items()):  # a class stands behind those that it derives from
        for base in ancestors:
            if base in derived:
                found.setdefault(base, []).extend(found.get(name, ()))
    return found


def _last_part(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


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
