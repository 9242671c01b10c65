"""Single statements of the user's functions, each as the text of a function of the names that it uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Final

NAME: Final = "piece"
OPERAND: Final = "zz_operand"  # after other names, as structures are sorted
_GIVES: Final = "return ("
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.While)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert)
_WHOLE = (*_SIMPLE, *_LOOPS, ast.If, ast.With)
# What is not run once each time that the statement around it is.
_RUN_APART = (*_FUNCTIONS, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MOST_PARTS: Final = 6
_MOST_BEFORE: Final = 6
# What means something else, or nothing, away from the function around it.
_BOUND_TO_ITS_PLACE = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Global, ast.Nonlocal, ast.Try),
    *(ast.FunctionDef, ast.ClassDef),
)
_PRIVATE: Final = re.compile(r"(?<=\.)__(?=\w)(?!\w*__\b)")


@dataclass(frozen=True)
class Piece:
    """A statement of a file. `lines`: from its first to the last that is executed to begin it; `last`: its last one;
    `text`: of a function NAME with the statement as its second line and `{names}` for its parameters; `names`: those
    that it uses; `changes`: those of objects that it writes into; `parts`: calls and subscripts inside of it, each as a
    statement that returns it, since one that fails at its first hazard shows none of the others."""

    lines: tuple[int, int]
    last: int
    text: str
    names: frozenset[str]
    changes: frozenset[str]
    parts: tuple[Piece, ...] = ()
    rest: str = ""  # of a part: the statement around it, as `text`, with OPERAND in its place
    start: tuple[int, int] | None = None  # of what a lambda gives: the line and column where that begins
    longer: tuple[Piece, ...] = ()  # it with more and more of the statements before it, which make what it takes
    first: int | None = None  # of one with statements before it: the line where it begins itself

    def of(self, names: list[str]) -> str:
        """The text with these parameters."""
        return self.text.replace("{names}", ", ".join(names), 1)


def pieces(path: str, wanted: frozenset[int], *, converted: bool) -> tuple[Piece, ...]:
    """The innermost statements at the wanted lines of a file that can be run by themselves. `converted`: AutoGraph
    does; where it does not, of a compound statement only what it begins with is taken."""
    try:
        source = Path(path).read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError):
        return ()
    found: dict[Piece, None] = {}
    for owner, function in _functions(tree, ""):
        for given in _given(function):
            first, last = given.lineno, given.end_lineno or given.lineno
            if not wanted.isdisjoint(range(first, last + 1)) and (text := _text_of_value(source, given)) is not None:
                text = _PRIVATE.sub(f"_{owner.lstrip('_')}__", text) if owner else text
                names = frozenset(one.id for one in ast.walk(given) if isinstance(one, ast.Name))
                start = given.lineno, given.col_offset
                piece = Piece((first, last), last, text, names, frozenset(), start=start)
                statement: ast.stmt = ast.Expr(given)
                found.setdefault(replace(piece, parts=tuple(islice(_parts(source, statement, piece), _MOST_PARTS))))
        blocks = dict(_blocks(function))
        for statement in _statements(function):
            first, last = _head(statement)
            if wanted.isdisjoint(range(first, last + 1)) or not isinstance(statement, _WHOLE):
                continue
            if (text := _text(source, statement, function, converted)) is not None:
                text = _PRIVATE.sub(f"_{owner.lstrip('_')}__", text) if owner else text
                names = frozenset(one.id for one in ast.walk(statement) if isinstance(one, ast.Name))
                piece = Piece((first, last), statement.end_lineno or last, text, names, _changed(statement))
                parts = tuple(islice(_parts(source, statement, piece), _MOST_PARTS))
                longer = tuple(islice(_longer(source, statement, piece, blocks[statement]), _MOST_BEFORE))
                found.setdefault(replace(piece, parts=parts, longer=longer))
    return tuple(found)


def _functions(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a file, each with the class around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield owner, child
        yield from _functions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)


def _blocks(node: ast.AST) -> Iterator[tuple[ast.stmt, Sequence[ast.stmt]]]:
    """The statements of a function, each with those before it in its block, the nearest first."""
    for child in ast.walk(node):
        for name in ("body", "orelse", "finalbody"):
            block = found if isinstance(found := getattr(child, name, None), list) else []
            yield from ((one, block[:place][::-1]) for place, one in enumerate(block))


def _longer(source: str, statement: ast.stmt, piece: Piece, before: Sequence[ast.stmt]) -> Iterator[Piece]:
    """A simple statement with more and more of those before it, as far as these run by themselves."""
    first, names, changes = statement, piece.names, piece.changes
    for other in before if isinstance(statement, _SIMPLE) else ():
        if not _is_taken_along(other) or other.col_offset != first.col_offset or _last(other) >= first.lineno:
            return
        made = _bound(other) if isinstance(other, ast.Assign) else frozenset[str]()
        named = [one for one in ast.walk(other) if isinstance(one, ast.Name)]
        names = (names - made) | {one.id for one in named if one.id not in made or isinstance(one.ctx, ast.Load)}
        changes, first = changes | _changed(other), other
        head, _, body = piece.text.partition("\n")
        above = source.splitlines()[first.lineno - 1 : statement.lineno - 1]
        text = "\n".join((head, *above, body))
        yield replace(piece, lines=_head(first), text=text, names=names, changes=changes, first=statement.lineno)


def _is_taken_along(statement: ast.stmt) -> bool:
    """Whether a statement is the same in front of another one as in its function."""
    inside = list(ast.walk(statement))
    ends = (*_BOUND_TO_ITS_PLACE, ast.Return, ast.Raise)
    if not isinstance(statement, _WHOLE) or any(isinstance(one, ends) for one in inside):
        return False
    return not any(map(_asks_for_super, inside)) and not _leaves(statement)


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _given(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What the lambdas in a function give, without those of functions inside it, which are others here."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Lambda):
            yield node.body
        pending += [] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ast.iter_child_nodes(node)


def start_of(code: CodeType) -> tuple[int, int]:
    """The line and column where begins what the code of a lambda gives."""
    places = ((line, first, last) for line, _, first, last in code.co_positions())
    return min(((line, first) for line, first, last in places if line and first is not None and last), default=(0, 0))


def _head(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement; of a compound one, those before its body."""
    body = getattr(statement, "body", None)
    last = statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, body[0].lineno - 1) if isinstance(body, list) and body else last


def _text(source: str, statement: ast.stmt, function: ast.FunctionDef, converted: bool) -> str | None:
    """A function of the statement, which returns what it gives; None where that is another thing by itself."""
    inside = list(ast.walk(statement))
    if any(isinstance(one, _BOUND_TO_ITS_PLACE) for one in inside) or any(map(_asks_for_super, inside)):
        return None
    segment = ast.get_source_segment(source, statement) or ""
    results = ""
    match statement:
        case ast.Return() | ast.Assert():
            pass
        case ast.Expr():
            segment = f"return {segment}"
        case ast.Assign(targets=targets):
            results = ", ".join(ast.unparse(one) for target in targets for one in _flat(target))
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target, value=ast.expr()):
            results = ast.unparse(target)
        case ast.If(test=test) if not converted:
            segment = f"if ({ast.get_source_segment(source, test)}): pass"
        case ast.While(test=test) if not converted:
            segment = f"while ({ast.get_source_segment(source, test)}): break"
        case ast.For(target=target, iter=iterated) if not converted:
            segment = f"for {ast.unparse(target)} in ({ast.get_source_segment(source, iterated)}): pass"
        case ast.If() | ast.While() | ast.For() | ast.With():
            if any(isinstance(one, ast.Return) for one in inside) or _leaves(statement):
                return None
            results = ", ".join(_kept(statement, function))
        case _:
            return None
    column = len(source.splitlines()[statement.lineno - 1].encode()[: statement.col_offset].decode())
    margin = " " * max(column, 1)
    end = f"{margin}return {results}\n" if results else ""
    return f"def {NAME}({{names}}):\n{margin}{segment}\n{end}"


def _text_of_value(source: str, value: ast.expr) -> str | None:
    """A function that returns a value, at the column where it stands; None where it is another thing by itself."""
    inside = list(ast.walk(value))
    if any(isinstance(one, _BOUND_TO_ITS_PLACE) for one in inside) or any(map(_asks_for_super, inside)):
        return None
    before = source.splitlines()[value.lineno - 1].encode()[: value.col_offset].decode()
    segment = ast.get_source_segment(source, value) or ""
    return f"def {NAME}({{names}}):\n{' ' * max(len(before) - len(_GIVES), 1)}{_GIVES}{segment})\n"


def _parts(source: str, statement: ast.stmt, whole: Piece) -> Iterator[Piece]:
    """The calls and subscripts inside of a simple statement, at the columns where they stand."""
    nodes = _run(statement) if isinstance(statement, _SIMPLE) else ()
    for node in nodes:
        if not isinstance(node, ast.Call | ast.Subscript) or node is getattr(statement, "value", None):
            continue
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            continue
        text, segment = _text_of_value(source, node) or "", ast.get_source_segment(source, node) or ""
        last = node.end_lineno or node.lineno
        *above, end = segment.split("\n")
        name = "".join((OPERAND.ljust(len(above[0])) if above else "", "\n" * len(above)))
        rest = whole.text.replace(segment, name + (" " if above else OPERAND).ljust(len(end)), 1)
        yield replace(whole, lines=(node.lineno, last), last=last, text=text, rest=rest)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """What runs once each time that a statement does."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _RUN_APART):
            yield child
            yield from _run(child)


def _asks_for_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("super", "__class__")


def _leaves(node: ast.AST, inside: bool = False) -> bool:
    """Whether a `break` or `continue` is one of a loop around a statement."""
    inside = inside or isinstance(node, _LOOPS)
    return any(
        not inside if isinstance(child, ast.Break | ast.Continue) else _leaves(child, inside)
        for child in ast.iter_child_nodes(node)
    )


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _flat(one.value if isinstance(one, ast.Starred) else one)
    else:
        yield target


def _bound(node: ast.AST) -> frozenset[str]:
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def _kept(statement: ast.stmt, function: ast.FunctionDef) -> list[str]:
    """The names that a compound statement binds, that were bound before, and that are read elsewhere: what it leaves
    behind in any case."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    elsewhere = [one for one in ast.walk(function) if isinstance(one, ast.Name) and not first <= one.lineno <= last]
    arguments = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    before = {one.id for one in elsewhere if isinstance(one.ctx, ast.Store) and one.lineno < first} | arguments
    read = {one.id for one in elsewhere if isinstance(one.ctx, ast.Load) and one.lineno > last}
    return sorted(_bound(statement) & before & read)


def _changed(statement: ast.stmt) -> frozenset[str]:
    """The names of objects of which a statement sets attributes or entries."""
    found = set()
    for one in ast.walk(statement):
        if isinstance(one, ast.Attribute | ast.Subscript) and isinstance(one.ctx, ast.Store):
            inner: ast.expr = one
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name):
                found.add(inner.id)
    return frozenset(found)
