"""Configurations that a function asks for: classes of the project whose objects have an attribute, and what else the
function reads of the same object.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from xlalint.sources.packages import imported_name, python_files
from xlalint.sources.specs import Form, Literal, Many

from ..code.missing import imported_without
from .culprits import FailedCall, function_at, tree_of_file, user_frames_of

_MOST_FILES = 3000
_MOST_CLASSES = 3
_MOST_FELLOWS = 60
_MOST_WORDS = 8
_MOST_SAYING = 6
_GREAT = 64
_PART = 16
_FEW = 3


def read_with(failed: FailedCall, attribute: str) -> tuple[str, ...]:
    """The attributes that the failing function reads of the object of which it misses one, and what its file reads of
    it where it is kept under that name."""
    for frame, line in reversed(user_frames_of(failed.error.__traceback__, failed.own)):
        function = function_at(frame.f_code.co_filename, frame.f_code.co_firstlineno)
        if function is not None and (holder := _holder(function, attribute, line)) is not None:
            kept = attributes_of(f"self.{holder}", tree_of_file(frame.f_code.co_filename))
            return tuple(attributes_of(holder, function) | kept)[:_MOST_FELLOWS]
    return ()


def read_in_file(failed: FailedCall, attribute: str) -> tuple[str, ...]:
    """The same for all of the file, which keeps what it is told by under one name: what tells apart the configurations
    that have it."""
    for frame, line in reversed(user_frames_of(failed.error.__traceback__, failed.own)):
        tree = tree_of_file(frame.f_code.co_filename)
        if (holder := _holder(tree, attribute, line)) is not None:
            others = (holder, f"self.{holder}", holder.removeprefix("self."))
            return tuple(dict.fromkeys(name for one in others for name in attributes_of(one, tree)))
    return ()


def _holder(tree: ast.AST, attribute: str, line: int) -> str | None:
    """Of what an attribute is read at a line."""
    read = (node for node in _attributes_in(tree) if node.attr == attribute and isinstance(node.ctx, ast.Load))
    near = (node for node in read if node.lineno <= line <= _end(node))
    return next((ast.unparse(node.value) for node in near), None)


def attributes_of(holder: str, tree: ast.AST) -> dict[str, None]:
    """The attributes that are read of an expression, and not called."""
    nodes = (node for node in _attributes_in(tree) if isinstance(node.ctx, ast.Load))
    return {node.attr: None for node in nodes if ast.unparse(node.value) == holder}


def _attributes_in(tree: ast.AST) -> list[ast.Attribute]:
    nodes = list(ast.walk(tree))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return [node for node in nodes if isinstance(node, ast.Attribute) and id(node) not in called]


def modes_of(failed: FailedCall) -> tuple[str, ...]:
    """The words that the innermost function of the user's tells apart, where it raises an error itself; the keys of
    the dictionary in which it looks in vain for what it was passed."""
    if isinstance(failed.error, KeyError):
        return _keys_of(failed)
    for frame, line in reversed(user_frames_of(failed.error.__traceback__, failed.own)):
        function = function_at(frame.f_code.co_filename, frame.f_code.co_firstlineno)
        nodes = list(ast.walk(function)) if function is not None else []
        if not any(isinstance(node, ast.Raise) and node.lineno <= line <= (node.end_lineno or 0) for node in nodes):
            return ()
        told_apart = [node for node in nodes if isinstance(node, ast.Compare | ast.MatchValue)]
        constants = (inner for node in told_apart for inner in ast.walk(node) if isinstance(inner, ast.Constant))
        return tuple(dict.fromkeys(one.value for one in constants if isinstance(one.value, str)))
    return ()


def _keys_of(failed: FailedCall) -> tuple[str, ...]:
    """The keys of the dictionary that the failing line reads, where it is none of the inputs."""
    for frame, line in user_frames_of(failed.error.__traceback__, failed.own)[-1:]:
        function = function_at(frame.f_code.co_filename, frame.f_code.co_firstlineno)
        nodes = ast.walk(function) if function is not None else ()
        read = [node for node in nodes if isinstance(node, ast.Subscript) and node.lineno <= line <= _end(node)]
        for node in read:
            held = held_by(node.value, {**frame.f_globals, **frame.f_locals})
            if isinstance(held, dict) and held and failed.error.args[0] not in held:
                return tuple(key for key in held if isinstance(key, str))[:_MOST_WORDS]
    return ()


def _end(node: ast.expr) -> int:
    return node.end_lineno or node.lineno


def held_by(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What a name, or an attribute of what has one, holds."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=value, attr=attribute):
            return vars(holder).get(attribute) if hasattr(holder := held_by(value, names), "__dict__") else None
    return None


def classes_with(roots: Sequence[str], attribute: str, fellows: Sequence[str]) -> Iterator[type]:
    """Classes of the project that set an attribute of their objects, declare or define it; those first that have the
    most of its `fellows`."""
    known = sorted(_defined(tuple(roots), attribute), key=lambda one: -len(one[2].intersection(fellows)))
    for path, name, _ in known[:_MOST_CLASSES]:
        try:
            module, _ = imported_without(partial(importlib.import_module, imported_name(Path(path))[0]))
            found: Any = getattr(module, name)
        except Exception:  # of any kind: its file is no module, or raises what it will
            continue
        if isinstance(found, type):
            yield found


@lru_cache(maxsize=64)
def said_in(roots: tuple[str, ...], names: tuple[str, ...]) -> Mapping[str, Form]:
    """What settings of some names are by what a project says of them: its options and flags, entries of dictionaries,
    defaults of what objects are made of. Those files come first that say the most of them; great sizes become small."""
    counted = [(sum(name in text for name in names), path) for path, text in texts_below(roots)]
    likely = sorted((one for one in counted if one[0]), key=lambda one: -one[0])[:_MOST_SAYING]
    found: dict[str, Form] = {}
    for one in sorted((_said(path) for _, path in likely), key=lambda one: -len(one.keys() & set(names))):
        for name in one.keys() & set(names):
            found.setdefault(name, one[name])
    return found


@lru_cache(maxsize=64)
def _said(path: str) -> Mapping[str, Form]:
    """The values that a file has for names of settings: what is set comes before what something has by default."""
    found: dict[str, Form] = {}
    several = sorted(ast.walk(tree_of_file(path)), key=lambda one: isinstance(one, ast.FunctionDef))
    for name, node in (pair for one in several for pair in _pairs(one)):
        try:
            form = small_form(ast.literal_eval(node))
        except (ValueError, TypeError):
            continue
        if form is not None:
            found.setdefault(name.lstrip("-").replace("-", "_"), form)
    return found


def _pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a node gives values to, as settings get them."""
    match node:
        case ast.Call(
            func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(name)), *rest]
        ):
            if rest and called.startswith("DEFINE_"):
                yield name, rest[0]
            yield from ((name, one.value) for one in node.keywords if one.arg == "default")
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if (
            called == "dict" or called[:1].isupper()
        ):
            yield from ((one.arg, one.value) for one in node.keywords if one.arg is not None)
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            yield from (
                (key.value, one) for key, one in pairs if isinstance(key, ast.Constant) and type(key.value) is str
            )
        case ast.FunctionDef(name="__init__", args=taken):
            several = zip(reversed([*taken.posonlyargs, *taken.args]), reversed(taken.defaults), strict=False)
            several_more = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
            yield from ((one.arg, default) for one, default in (*several, *several_more) if default is not None)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.ClassDef(body=body):
            yield from ((name, one.value) for one in body if isinstance(one, ast.Assign) for name in _names_set(one))


def small_form(value: Any) -> Form | None:
    """A value as an input, with smaller numbers and fewer of them where they are great."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= _GREAT:
        return Literal(max(value // _PART, 1))
    return as_form(value, small_form, _FEW)


def as_form(value: Any, of_part: Callable[[Any], Form | None] | None = None, most: int | None = None) -> Form | None:
    """A value as an input; None where there is no such. `most`: how many items of a list are taken."""
    of_part = of_part or as_form
    if isinstance(value, list | tuple):
        items = [of_part(one) for one in value][: most if isinstance(value, list) else None]
        return Many(type(value).__name__, tuple(filter(None, items))) if items and None not in items else None
    return Literal(value) if isinstance(value, bool | int | float | str) else None


@lru_cache(maxsize=8)
def texts_below(roots: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The files of a project, with their texts."""
    paths = (path for root in roots for path in ([Path(root)] if root.endswith(".py") else python_files(Path(root))))
    found = []
    for path in islice(paths, _MOST_FILES):
        try:
            found.append((str(path), path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            continue
    return tuple(found)


@lru_cache(maxsize=256)
def _defined(roots: tuple[str, ...], attribute: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Where classes are whose objects have an attribute: file and name, with all that they have."""
    found: list[tuple[str, str, frozenset[str]]] = []
    name = re.escape(attribute)
    said = re.compile(rf"^\s+(?:(?:self\.)?{name}\s*(?::[^=\n]+)?=|def {name}\(self\b)", re.MULTILINE)
    for path, text in texts_below(roots):
        if attribute not in text or not said.search(text):
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        classes = [(path, node.name, _attributes(node)) for node in tree.body if isinstance(node, ast.ClassDef)]
        found += [one for one in classes if attribute in one[2]]
    return tuple(found)


def _names_set(node: ast.stmt) -> Iterator[str]:
    """The names that a statement sets or declares."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _attributes(node: ast.ClassDef) -> frozenset[str]:
    """The attributes that a class declares or defines, or sets when an object is made."""
    made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    own = {
        one.attr
        for function in made
        for one in ast.walk(function)
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "self"
    }
    declared = {name for one in node.body for name in _names_set(one)}
    defined = {one.name for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")}
    return frozenset(own | declared | defined)
