"""The outline of a file: what it imports and defines.

Only the definitions that the analyser really executes become trees, one definition at a time (`Stretch`), so
that a file costs what it matters. Flattened: imports and definitions inside module-level `if`, `try` and `with`
count as the module's own, since the branch taken is rarely knowable and the first that resolves is the best guess.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from types import FrameType
from typing import Final, TypeAlias

# Frames of Python's stack that the parser may use, each of which is worth three levels of the tree.
_FRAMES: Final = 340
# Those that it takes to go through any tree that the parser makes.
_WALKING: Final = 30 * _FRAMES
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_GLOBAL: Final = re.compile(r"^[ \t]+global[ \t]+([^\r\n#;]+)", re.MULTILINE)
_NAME: Final = re.compile(r"\w+")
_HIDDEN: Final = re.compile(r"@[ \t\f]*[\\(]")
# What may stand behind the last statement of a stretch.
_ENDS: Final = re.compile(rb"[ \t]*;?[ \t]*(?:#[^\r\n]*)?\Z")
# Texts whose trees are kept: an edited file is compared with what it was, and may become that again.
_LATEST: Final = 4
TOO_DEEP: Final = "nested too deeply: this is not checked"


class OutlineError(Exception):
    """The file is not Python that this interpreter reads. `line` and `column` are 1-based; `deep`: it may be Python,
    and is nested too deeply."""

    def __init__(self, message: str, line: int, column: int, *, deep: bool = False) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.deep = message, line, column, deep


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole lines of the file, 1-based, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ImportOutline:
    """`import module` (attribute None) or `from module import attribute`, with `level` leading dots.

    `whole`: the import binds the top package (`import a.b` binds `a`), not the module named; `under`: what the
    module-level `if` statements around it ask of a backend, as source text; `line`: where it stands, 0: in no file.
    """

    module: str
    attribute: str | None
    level: int
    whole: bool = False
    under: tuple[str, ...] = ()
    line: int = field(default=0, compare=False, repr=False)  # what a file binds does not change as lines move


@dataclass(frozen=True, slots=True)
class FunctionOutline:
    """A function or method. `decorators` as source text."""

    name: str
    stretch: Stretch
    decorators: tuple[str, ...]


@dataclass(slots=True)
class ClassOutline:
    """A class: its bases as source text, its methods, and the stretches of other code in its body. `setters`: of
    properties, by the names that they share with their getters."""

    name: str
    stretch: Stretch
    bases: tuple[str, ...]
    decorators: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()  # what stands beside the bases, by name
    functions: dict[str, FunctionOutline] = field(default_factory=dict)
    setters: dict[str, FunctionOutline] = field(default_factory=dict)
    classes: dict[str, ClassOutline] = field(default_factory=dict)
    code: list[Stretch] = field(default_factory=list)


Binding: TypeAlias = ImportOutline | FunctionOutline | ClassOutline


class _Lines:
    """The lines of a text that are out of the ordinary, by their numbers."""

    def __init__(self, text: str = "") -> None:
        self._text = text

    @cached_property
    def continued(self) -> frozenset[int]:
        """Those that the next line continues, behind a backslash."""
        if "\\\n" not in self._text and "\\\r" not in self._text:
            return frozenset()
        return frozenset(self._that(lambda line: line.endswith("\\")))

    @cached_property
    def hide_decorators(self) -> bool:
        """Whether a decorator may stand on another line than its `@`: in parentheses, behind a backslash."""
        return _HIDDEN.search(self._text) is not None

    @cached_property
    def decorated(self) -> frozenset[int]:
        """Those that begin with `@`."""
        return frozenset(self._that(lambda line: line.lstrip(" \t\f").startswith("@")))

    @cached_property
    def set_by_functions(self) -> frozenset[str]:
        """The names that functions declare `global`."""
        return frozenset(chain.from_iterable(_NAME.findall(names) for names in _GLOBAL.findall(self._text)))

    def _that(self, is_wanted: Callable[[str], bool]) -> Iterator[int]:
        return (number for number, line in enumerate(_LINE_END.split(self._text), 1) if is_wanted(line))


@dataclass(slots=True)
class Outline:
    """What a module binds, and the stretches of code that run when it is imported.

    `bindings`: name -> definitions in order; `assigned`: names that module-level code binds in another way, or has
    functions bind that declare them `global`; `rebound`: those of them that it binds more than once, so that what they
    are depends on when they are asked for;
    `stars`: modules imported with `*`; `blocks`: `if`, `try` and `with` statements that hold definitions or imports;
    `statements`: Python's own trees of each stretch, of thirty times the size of its text, until somebody takes them;
    `lines`: what Python's trees do not say of the text; `under`: the conditions on a backend that imports stand under.
    """

    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[ImportOutline] = field(default_factory=list)
    code: list[Stretch] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    blocks: list[Stretch] = field(default_factory=list)
    literals: dict[str, ast.expr] = field(default_factory=dict)
    statements: dict[Stretch, list[ast.stmt]] = field(default_factory=dict)
    lines: _Lines = field(default_factory=_Lines)
    under: tuple[str, ...] = ()


@lru_cache(maxsize=_LATEST)
def parsed(text: str) -> ast.Module:
    """The text as Python's own tree, which nobody changes. Raises OutlineError where Python itself would refuse it."""
    try:
        with _stack_of(_FRAMES):
            return ast.parse(text)
    except SyntaxError as error:
        raise OutlineError(error.msg or "invalid syntax", error.lineno or 1, max(error.offset or 1, 1)) from None
    except (RecursionError, MemoryError):
        raise OutlineError(TOO_DEEP, 1, 1, deep=True) from None
    except ValueError as error:
        raise OutlineError(str(error), 1, 1) from None


@contextmanager
def _stack_of(frames: int) -> Iterator[None]:
    """Have the parser refuse the same trees, and have others go through the same, however deep they are called."""
    frame: FrameType | None = sys._getframe()
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def outline(text: str) -> Outline:
    """The outline of a file's text. Raises OutlineError where Python itself would refuse the file."""
    tree = parsed(text)
    with _stack_of(_WALKING):
        return _outline(tree, _Lines(text))


def _outline(tree: ast.Module, lines: _Lines) -> Outline:
    result = Outline(lines=lines)
    together: list[list[ast.stmt]] = []  # the statements of each stretch of code
    follows = False
    for statements in _by_line(tree.body, result):
        before = len(result.code)
        for statement in statements:
            _outline_statement(statement, result)
        is_code = len(result.code) > before
        if is_code:
            del result.code[before:]
            result.code.append(_stretch_of(statements, result))
        if is_code and follows:  # one stretch, so that the statements around each other can be seen
            last = result.code.pop().last
            result.code[-1] = Stretch(result.code[-1].first, last)
            together[-1].extend(statements)
        elif is_code:
            together.append(statements)
        follows = is_code
    result.statements.update(zip(result.code, together, strict=True))
    result.assigned |= result.lines.set_by_functions - result.bindings.keys() - result.literals.keys()
    return result


def _by_line(body: Sequence[ast.stmt], result: Outline) -> Iterator[list[ast.stmt]]:
    """The statements of a block, those together that share lines: a stretch holds whole lines."""
    found: list[ast.stmt] = []
    for statement in body:
        if found and statement.lineno != found[-1].end_lineno and found[-1].end_lineno not in result.lines.continued:
            yield found
            found = []
        found.append(statement)
    if found:
        yield found


def _outline_statement(statement: ast.stmt, result: Outline) -> None:
    match statement:
        case ast.Import() | ast.ImportFrom():
            bind_import(statement, result)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            result.bindings.setdefault(statement.name, []).append(_function(statement, result))
        case ast.ClassDef():
            result.bindings.setdefault(statement.name, []).append(_class(statement, result))
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.If() | ast.Try() | ast.TryStar() | ast.With():
            _outline_block(statement, result)
        case ast.Match(subject=subject) if _is_of_backend(subject):
            _outline_block(statement, result)
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
            _is_literal(value)
            and name not in result.assigned
            and name not in result.lines.set_by_functions
            and _is_told_first(name, value, result)
        ):
            result.literals[name] = value
        case _:
            result.code.append(_stretch(statement, result))
            _assign(set(_assigned(statement)), result)


_Block: TypeAlias = ast.If | ast.Match | ast.Try | ast.TryStar | ast.With


def _outline_block(statement: _Block, result: Outline) -> None:
    """A module-level block: its definitions are the module's; what else it does is code to run."""
    inner = Outline(statements=result.statements, lines=result.lines, under=result.under)
    for conditions, block in _ways(statement):
        inner.under = (*result.under, *conditions)
        for child in block:
            _outline_statement(child, inner)
    for name, bindings in inner.bindings.items():
        result.bindings.setdefault(name, []).extend(bindings)
    result.stars.extend(inner.stars)
    told = _told_several_ways(statement, inner) | _told_again(inner, result)
    for name in told:
        del inner.literals[name]
    for name, value in inner.literals.items():
        result.literals.setdefault(name, value)
    result.blocks.append(_stretch(statement, result))
    inner.assigned |= told
    if inner.code or told:
        result.code.append(_stretch(statement, result))
        result.rebound |= inner.rebound
        _assign(inner.assigned, result)


def _assign(names: set[str], result: Outline) -> None:
    """Note what a statement binds that is code to run."""
    result.rebound |= {name for name in names if name in result.assigned or name in result.literals}
    result.assigned |= names


def _ways(statement: _Block) -> Iterator[tuple[tuple[str, ...], Iterable[ast.stmt]]]:
    """The blocks of a statement, each with the conditions on a backend that it stands under."""
    match statement:
        case ast.If(test=test) if any(map(_is_of_backend, ast.walk(test))):
            asked = ast.unparse(test)
            yield (asked,), statement.body
            yield (f"not ({asked})",), statement.orelse
        case ast.Match(subject=subject):
            before: list[str] = []
            for case in statement.cases:
                condition = _asked(ast.unparse(subject), case.pattern)
                yield (*before, *([] if condition is None else [condition])), case.body
                if condition is not None and case.guard is None:
                    before.append(f"not ({condition})")
        case _:
            yield (), _block_children(statement)


def _asked(subject: str, pattern: ast.pattern) -> str | None:
    """What a pattern of constants asks of its subject, as a condition."""
    patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    values = [each.value for each in patterns if isinstance(each, ast.MatchValue)]
    if len(values) < len(patterns):
        return None
    return f"{subject} in ({', '.join(map(ast.unparse, values))},)"


def _is_of_backend(node: ast.AST) -> bool:
    """Whether a part of a condition is a call of what may say which backend there is."""
    match node:
        case ast.Call(func=ast.Name(id="backend") | ast.Attribute(attr="backend"), args=[]):
            return True
        case _:
            return False


def _told_several_ways(statement: _Block, inner: Outline) -> set[str]:
    """The names that one branch of a block binds to a constant, and another to something else: a module that may be
    missing, or a flag that says so."""
    constants: dict[str, set[str]] = {}
    for child in _block_children(statement):
        match child:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in inner.literals:
                constants.setdefault(name, set()).add(ast.dump(value))
    return {name for name, values in constants.items() if len(values) > 1 or name in inner.bindings}


def _told_again(inner: Outline, before: Outline) -> set[str]:
    """The names that a block binds to a constant, and the code in front of it to another one, a default, which it may
    leave, or to what it computes."""
    again = inner.literals.keys() & before.literals.keys()
    other = {name for name in again if ast.dump(inner.literals[name]) != ast.dump(before.literals[name])}
    return other | (inner.literals.keys() & before.assigned)


def _is_told_first(name: str, value: ast.expr, before: Outline) -> bool:
    """Whether no code in front of it binds a name to another constant: a notebook sets its numbers anew below."""
    told = before.literals.get(name)
    return told is None or ast.dump(told) == ast.dump(value)


def _is_literal(value: ast.expr) -> bool:
    """A constant, or a list, tuple or dict of constants: tables and documentation, the bulk of many files."""
    match value:
        case ast.Constant():
            return True
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return bool(elements) and all(map(_is_literal, elements))
        case ast.Dict(keys=keys, values=values):
            named = all(key is not None and _is_literal(key) for key in keys)
            return bool(keys) and named and all(map(_is_literal, values))
        case _:
            return False


def _block_children(statement: ast.stmt) -> Iterator[ast.stmt]:
    for block in ("body", "orelse", "finalbody"):
        yield from getattr(statement, block, ())
    for further in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from further.body


def bind_import(statement: ast.Import | ast.ImportFrom, result: Outline) -> None:
    """Add what an import binds."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            whole = alias.asname is None and "." in alias.name
            name = alias.asname or alias.name.partition(".")[0]
            binding = ImportOutline(alias.name, None, 0, whole, result.under, statement.lineno)
        else:
            name = alias.asname or alias.name
            binding = ImportOutline(
                statement.module or "", alias.name, statement.level, under=result.under, line=statement.lineno
            )
            if name == "*":
                result.stars.append(binding)
                continue
        result.bindings.setdefault(name, []).append(binding)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, result: Outline) -> FunctionOutline:
    stretch = _stretch(node, result)
    result.statements[stretch] = [node]
    return FunctionOutline(node.name, stretch, tuple(map(_written, node.decorator_list)))


def _class(node: ast.ClassDef, result: Outline) -> ClassOutline:
    made = ClassOutline(
        node.name,
        _stretch(node, result),
        tuple(map(_written, node.bases)),
        tuple(map(_written, node.decorator_list)),
        tuple((keyword.arg, _written(keyword.value)) for keyword in node.keywords if keyword.arg is not None),
    )
    for statements in _by_line(node.body, result):
        match statements[0]:
            case ast.FunctionDef() | ast.AsyncFunctionDef() as child:
                # A property's setter shares its getter's name: the first definition is the one that is read.
                decorators = [*map(_written, child.decorator_list)] if child.name in made.functions else []
                if any(decorator.endswith(".setter") for decorator in decorators):
                    made.setters[child.name] = _function(child, result)
                elif not any(decorator.endswith(".deleter") for decorator in decorators):
                    made.functions[child.name] = _function(child, result)
            case ast.ClassDef() as child:
                made.classes[child.name] = _class(child, result)
            case ast.Expr(value=ast.Constant()) | ast.Pass() if len(statements) == 1:
                pass
            case _:
                made.code.append(_stretch_of(statements, result))
                result.statements[made.code[-1]] = statements
    return made


def _written(node: ast.expr) -> str:
    """An expression as source text: most are names, for which `ast.unparse` takes five times as long."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner, attr=name):
            return f"{_written(owner)}.{name}"
        case _:
            return ast.unparse(node)


def _stretch(node: ast.stmt, result: Outline) -> Stretch:
    return _stretch_of([node], result)


def _stretch_of(statements: Sequence[ast.stmt], result: Outline) -> Stretch:
    """The whole lines in which statements stand that follow one another."""
    decorators: list[ast.expr] = getattr(statements[0], "decorator_list", [])
    first = min([statements[0].lineno, *(decorator.lineno for decorator in decorators)])
    if decorators and result.lines.hide_decorators:
        while first > 1 and first not in result.lines.decorated:
            first -= 1
    last = statements[-1].end_lineno or statements[-1].lineno
    while first - 1 in result.lines.continued:
        first -= 1
    while last in result.lines.continued:
        last += 1
    return Stretch(first, last)


def are_alone(statements: Sequence[ast.stmt], stretch: Stretch, text: str) -> bool:
    """Whether statements are all that stands in a stretch of a file, which reads `text`, and stand as they would
    without the rest of the file: page breaks are taken out of what is parsed by itself."""
    first, last = statements[0], statements[-1]
    if first.lineno == stretch.first:
        begins = not text[: first.col_offset].strip(" \t")
    else:
        begins = text.lstrip(" \t").startswith("@")
    line = text.rstrip("\r\n")
    line = line[max(line.rfind("\n"), line.rfind("\r")) + 1 :]
    return begins and _ENDS.match(line.encode(), last.end_col_offset or 0) is not None and "\f" not in text


def _assigned(statement: ast.stmt) -> Iterator[str]:
    return (node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
