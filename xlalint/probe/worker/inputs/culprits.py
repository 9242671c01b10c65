"""Which inputs, or parts of them, a failing call is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from .error_clues import ErrorClues
from .parts import Assignment, PartPath, part_at, parts_of
from .slots import Slot
from .tensors import ComposedInput

_MOST_STORED = 3  # attributes behind attributes
_LISTS = (list, tuple)
_SELF = "self."  # before the name of an attribute of the object


@dataclass
class FailedCall:
    """A call that failed. `objects`: what was passed, by slot; `own`: whether a file is the user's."""

    slots: Sequence[Slot]
    assignment: Assignment
    objects: Mapping[int, Any]
    error: BaseException
    own: Callable[[str], bool]
    entry: Any  # the code object that was called
    roots: tuple[str, ...] = ()  # where the user's files are


def culprits_of(failed: FailedCall, clues: ErrorClues) -> list[tuple[int, PartPath]]:
    """The parts of the inputs that the failing line is about, those first that it names itself."""
    by_identity = _by_identity(failed)
    by_name = _by_name(failed)
    by_entry = _entries(failed.assignment)
    found: dict[tuple[int, PartPath], None] = {}
    words = {_bare(word) for word in clues.arguments or re.findall(r"\w{3,}", clues.text)}
    for frame in frames_of(failed.error.__traceback__):
        # Where TensorFlow names an argument of its own, that is the one.
        for name, value in frame.f_locals.items():
            if len(name) > 2 and id(value) in by_identity and _bare(name) in words:
                found.setdefault(by_identity[id(value)])
    found.update(dict.fromkeys(_too_short(failed, by_identity) if clues.of_length else ()))
    outside = _arguments(failed, words) if clues.beyond else set()
    for frame, line in reversed(user_frames_of(failed.error.__traceback__, failed.own)):
        direct, slice_ = _names(frame.f_code.co_filename, frame.f_code.co_firstlineno, line)
        values = frame.f_locals
        named = tuple(name for name in direct if name in values and id(values[name]) in outside)
        behind = _sources(frame.f_code.co_filename, frame.f_code.co_firstlineno, line, named)
        for name in dict.fromkeys((*named, *behind, *direct, *slice_)):
            if clues.attribute is not None and name == clues.attribute[1]:
                continue  # what is missed, of what is at fault
            if name in values and id(values[name]) in by_identity:
                found.setdefault(by_identity[id(values[name])])
            elif name in by_name:
                entered = frame.f_code is failed.entry
                for position in by_name[name]:
                    called = entered and failed.slots[position].group == "call"
                    making = frame.f_code.co_name == "__init__" and failed.assignment[position] is None
                    if called or making or _is_passed(values, name, failed, position):
                        found.setdefault((position, ()))
            elif name.startswith(_SELF):
                sources = stored_by(values["self"].__class__) if "self" in values else {}
                for source in sources.get(name.removeprefix(_SELF), ()):
                    found.update(dict.fromkeys((position, ()) for position in _made(by_name.get(source, ()), failed)))
            for place in by_entry.get(name, ()) or _items(name, by_name, failed):
                found.setdefault(place)
    for word in (*clues.words, *re.findall(r"\w+", clues.text)):
        found.update(dict.fromkeys((position, ()) for position in by_name.get(word, ())))
    paths = dict(found)
    # A part of a structure may be at fault as well where the structure is, less likely than one that is named.
    for one, path in found:
        for inner, _ in parts_of(part_at(failed.assignment[one], path), None):
            paths.setdefault((one, (*path, *inner)))
    for position in sorted(range(len(failed.slots)), key=lambda position: failed.slots[position].group):
        for inner, _ in parts_of(failed.assignment[position], None):
            paths.setdefault((position, inner))
    return [(position, path) for position, path in paths if not failed.slots[position].fixed]


def _too_short(failed: FailedCall, by_identity: Mapping[int, tuple[int, PartPath]]) -> Iterator[tuple[int, PartPath]]:
    """The lists among the inputs that are indexed at the failing line, or whose items the indexed list has."""
    for frame, line in reversed(user_frames_of(failed.error.__traceback__, failed.own)):
        statement = statement_at(frame.f_code.co_filename, frame.f_code.co_firstlineno, line)
        for node in ast.walk(statement) if statement is not None else ():
            match node:
                case ast.Subscript(value=ast.Name(id=name)) if isinstance(several := frame.f_locals.get(name), _LISTS):
                    items = (by_identity[id(one)] for one in several if id(one) in by_identity)
                    yield from ((slot, path[:-1]) for slot, path in items if path)


def _arguments(failed: FailedCall, words: Container[str]) -> set[int]:
    """The identities of what a library got for the arguments that an error names: the indices that are out of range."""
    return {
        id(value)
        for frame in frames_of(failed.error.__traceback__)
        if not failed.own(frame.f_code.co_filename)
        for name, value in frame.f_locals.items()
        if len(name) > 2 and _bare(name) in words and not isinstance(value, bool | int | str | None)
    }


def _by_name(failed: FailedCall) -> dict[str, list[int]]:
    """The parameters of each name: what an object is made of may be called as what its method takes."""
    found: dict[str, list[int]] = {}
    for position, slot in enumerate(failed.slots):
        found.setdefault(slot.name, []).append(position)
    return found


def switches_of(failed: FailedCall) -> Iterator[int]:
    """The parameters that decide whether the failing lines run at all, the innermost first."""
    by_name = _by_name(failed)
    found: dict[int, None] = {}
    for frame, line in reversed(user_frames_of(failed.error.__traceback__, failed.own)):
        function = function_at(frame.f_code.co_filename, frame.f_code.co_firstlineno)
        tests = [
            node.test
            for node in (ast.walk(function) if function is not None else ())
            if isinstance(node, ast.If) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        for name in (name for test in reversed(tests) for name in _loaded(test)):
            if name.startswith(_SELF) and "self" in frame.f_locals:
                sources = stored_by(frame.f_locals["self"].__class__).get(name.removeprefix(_SELF), ())
                found.update((one, None) for source in sources for one in _made(by_name.get(source, ()), failed))
            elif frame.f_code is failed.entry:
                found.update((one, None) for one in by_name.get(name, ()))
            elif frame.f_code.co_name == "__init__":  # what an object is made of
                found.update((one, None) for one in by_name.get(name, ()) if failed.slots[one].group == "init")
    yield from (position for position in found if not failed.slots[position].fixed)


def _made(positions: Sequence[int], failed: FailedCall) -> Sequence[int]:
    """Of parameters of one name those that an object is made of, where there are such."""
    return [one for one in positions if failed.slots[one].group == "init"] or positions


def _is_passed(values: Mapping[str, Any], name: str, failed: FailedCall, slot: int) -> bool:
    """Whether a name of a parameter holds what was passed to it: as it does where an object is made."""
    return name in values and slot in failed.objects and values[name] is failed.objects[slot]


def _by_identity(failed: FailedCall) -> dict[int, tuple[int, PartPath]]:
    """Where an object was passed, by its identity; Python has one object for all equal small numbers, which tells
    nothing where several were passed."""
    found: dict[int, list[tuple[int, PartPath]]] = {}
    numbers: set[int] = set()
    for slot, value in failed.objects.items():
        for path, part in parts_of(failed.assignment[slot], value):
            if part is not None and not isinstance(part, bool):
                found.setdefault(id(part), []).append((slot, path))
                numbers.update([id(part)] if isinstance(part, int | str) else [])
    return {one: places[0] for one, places in found.items() if len(places) == 1 or one not in numbers}


@lru_cache(maxsize=256)
def stored_by(cls: type) -> Mapping[str, tuple[str, ...]]:
    """For each attribute that an object gets when it is made, the names that it is made of, by way of others, too."""
    made_of: dict[str, tuple[str, ...]] = {}
    for function in _making(cls):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                names = tuple(dict.fromkeys(_loaded(node.value)))
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                        made_of.setdefault(target.attr, names)
    found: dict[str, tuple[str, ...]] = {}
    for attribute, names in made_of.items():
        reached = dict.fromkeys(names)
        for _ in range(_MOST_STORED):
            further = [made_of.get(name.removeprefix(_SELF), ()) for name in reached if name.startswith(_SELF)]
            reached |= dict.fromkeys(chain.from_iterable(further))
        found[attribute] = tuple(name for name in reached if not name.startswith(_SELF))
    return found


def _making(cls: type) -> Iterator[ast.FunctionDef]:
    """What runs when an object is made: the constructors of its classes, and the methods that these call of it."""
    for base in cls.__mro__:
        code = getattr(vars(base).get("__init__"), "__code__", None)
        function = function_at(code.co_filename, code.co_firstlineno) if code is not None else None
        if function is None:
            continue
        yield function
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                    called = getattr(getattr(cls, name, None), "__code__", None)
                    inner = function_at(called.co_filename, called.co_firstlineno) if called is not None else None
                    if inner is not None:
                        yield inner


def _entries(assignment: Assignment) -> dict[str, list[tuple[int, PartPath]]]:
    """Where the entries of settings and other objects are, by their names."""
    found: dict[str, list[tuple[int, PartPath]]] = {}
    for slot, choice in enumerate(assignment):
        for path, _ in parts_of(choice, None):
            if path and isinstance(part_at(choice, path[:-1]), ComposedInput):
                found.setdefault(str(path[-1]), []).append((slot, path))
    return found


def _items(name: str, by_name: Mapping[str, list[int]], failed: FailedCall) -> Iterator[tuple[int, PartPath]]:
    """The part of an input that `name[key]` names, where the input has such a part."""
    holder, _, key = name.removesuffix("]").partition("[")
    path = (int(key) if key.isdigit() else key,)
    for slot in by_name.get(holder, ()) if key else ():
        if any(inner == path for inner, _ in parts_of(failed.assignment[slot], None)):
            yield slot, path


def _bare(name: str) -> str:
    """A name as an op's attribute has it: `Tnumsegments` is the dtype of `num_segments`."""
    return name.removeprefix("T").replace("_", "").lower()


def frames_of(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def user_frames_of(trace: TracebackType | None, own: Callable[[str], bool]) -> list[tuple[FrameType, int]]:
    """The frames of the user's code, outermost first, each with the failing line."""
    found = []
    while trace is not None:
        if own(trace.tb_frame.f_code.co_filename):
            found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


def statement_at(path: str, first_line: int, line: int) -> ast.stmt | None:
    """The innermost statement at a line of a function; of a compound one the head."""
    function = function_at(path, first_line)
    return min(
        (
            node
            for node in (ast.walk(function) if function is not None else ())
            if isinstance(node, ast.stmt) and node.lineno <= line <= _last(node)
        ),
        key=lambda node: _last(node) - node.lineno,
        default=None,
    )


@lru_cache(maxsize=4096)
def _names(path: str, first_line: int, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names in the statement at a line, and those that these come from within the function around it."""
    statement = statement_at(path, first_line, line)
    if statement is None:
        return (), ()
    direct = tuple(dict.fromkeys(_loaded(statement)))
    return direct, _sources(path, first_line, line, direct)


@lru_cache(maxsize=4096)
def _sources(path: str, first_line: int, line: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """What names come from within a function when a line of it runs, the nearest first."""
    function = function_at(path, first_line)
    sources: dict[str, dict[str, None]] = {}
    for node in _run_by(function, line) if function is not None else ():
        for name, value in _bound(node):
            sources.setdefault(name, {}).update(dict.fromkeys(_loaded(value)))
    reached = dict.fromkeys(names)
    pending = list(names)
    while pending:
        for name in sources.get(pending.pop(0), ()):
            if name not in reached:
                reached[name] = None
                pending.append(name)
    return tuple(name for name in reached if name not in names)


def _run_by(function: ast.FunctionDef, line: int) -> Iterator[ast.AST]:
    """What a function may have run when a line of it runs: what stands before it, or in a loop around it."""
    loops = (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    last = max((node.end_lineno or 0 for node in loops if node.lineno <= line <= (node.end_lineno or 0)), default=line)
    return (node for node in ast.walk(function) if getattr(node, "lineno", 0) <= last)


def function_at(path: str, first_line: int) -> ast.FunctionDef | None:
    """The function of a file that begins at a line; else the innermost around it, of a comprehension there."""
    several = _functions(tree_of_file(path))
    around = [node for node in several if _first_line(node) < first_line <= (node.end_lineno or 0)]
    return next((node for node in several if _first_line(node) == first_line), around[-1] if around else None)


@lru_cache(maxsize=64)
def tree_of_file(path: str) -> ast.AST:
    """The syntax of a file; nothing where it cannot be read."""
    try:
        return ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


@lru_cache(maxsize=64)
def _functions(tree: ast.AST) -> tuple[ast.FunctionDef, ...]:
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _last(node: ast.stmt) -> int:
    # Of a compound statement only the head is meant.
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno


def _loaded(node: ast.AST) -> Iterator[str]:
    """The names that are read, and the attributes: of `self`, which are named after parameters, and of settings."""
    for inner in ast.walk(node):
        match inner:
            case ast.Subscript(value=ast.Name(id=holder), slice=ast.Constant(value=int() | str() as key)):
                yield f"{holder}[{key}]"
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner.id
        elif isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load):
            if isinstance(inner.value, ast.Name) and inner.value.id == "self":
                yield from (inner.attr.lstrip("_"), _SELF + inner.attr)
            else:
                yield inner.attr


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a statement binds, each with what it is made of."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        value: ast.expr = node.value
    elif isinstance(node, ast.For | ast.comprehension):
        targets, value = [node.target], node.iter
    else:
        return
    for target in targets:
        items = target.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Name) else []
        for place, item in enumerate(items):
            if isinstance(item, ast.Name):
                yield item.id, ast.Subscript(value, ast.Constant(place), ast.Load())
        for inner in ast.walk(target) if not items else ():
            if isinstance(inner, ast.Name):
                yield inner.id, value
