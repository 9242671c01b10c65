"""Source text of nodes, and what a block does to names: what the builders of rewrites share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..syntax import nodes as cst
from ..syntax.source import Text

_WIDTH: Final = 100  # longer calls are written one argument a line
# A line break inside an expression, with a backslash before it or without.
_BREAK: Final = re.compile(r"\s*\\?[\r\n]\s*")
_INSIDE_BRACKETS: Final = re.compile(r"(?<=[(\[{])\s*[\r\n]\s*|\s*[\r\n]\s*(?=[)\]}])")
# Expressions that need no parentheses beside an operator or a dot.
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.List, cst.Tuple)

# Statements that a function around them would change the meaning of.
_UNMOVABLE: Final = (
    cst.Break,
    cst.Continue,
    cst.Yield,
    cst.Await,
    cst.Raise,
    cst.Global,
    cst.Nonlocal,
    cst.Del,
    cst.NamedExpr,
    cst.Import,
    cst.ImportFrom,
)

# Methods that change a Python container: what they keep belongs to the branch's own graph.
_CHANGING: Final = frozenset(
    ("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "clear")
)


def plain(node: cst.BaseExpression) -> str:
    """The text of an expression that stands as an argument; line breaks inside become spaces."""
    whole = isinstance(node, cst.Tuple | cst.GeneratorExp | cst.NamedExpr)
    return _on_one_line(node, cst.text_of(node).code(node)) if whole else inner(node)


def inner(node: cst.BaseExpression) -> str:
    """The text of an expression without parentheses around it."""
    return _on_one_line(node, cst.text_of(node).bare_code(node))


def compared(left: cst.BaseExpression, target: cst.ComparisonTarget) -> str:
    """The text of a comparison out of a chain: what stands behind `left` there, with its operator."""
    source = cst.text_of(left)
    behind = source.text[source.whole(left)[1] : source.whole(target.comparator)[1]]
    return f"{inner(left)}{_on_one_line(target, behind)}"


def _on_one_line(node: cst.CSTNode, text: str) -> str:
    """The text of a node; line breaks become spaces where they mean nothing: not behind a comment, nor in a string."""
    if "\n" not in text or cst.text_of(node).has_fixed_lines(*cst.text_of(node).whole(node)):
        return text
    return _BREAK.sub(" ", _INSIDE_BRACKETS.sub("", text))


def operand(node: cst.BaseExpression) -> str:
    """The text of an expression where an operator or a dot is beside it."""
    text = plain(node)
    return text if isinstance(node, _ATOMS) else f"({text})"


def indented(code: str, step: str) -> str:
    """Code farther to the right; lines that begin inside of a string stay."""
    return Text(code).indented(step)


def call(function: str, arguments: Sequence[str], step: str, before: str = "") -> str:
    """A call as text, one argument a line where the line that begins with `before` would be too long."""
    line = f"{function}({', '.join(arguments)})"
    if len(before) + len(line) <= _WIDTH and "\n" not in line:
        return before + line
    return f"{before}{function}(\n" + "".join(f"{indented(one, step)},\n" for one in arguments) + ")"


def small_statements(body: cst.BaseSuite | Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
    """The statements of a block, small ones one by one."""
    if isinstance(body, cst.SimpleStatementSuite):
        return body.body
    lines = body.body if isinstance(body, cst.BaseSuite) else body
    return [part for line in lines for part in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,))]


# -- names ------------------------------------------------------------------------------------------------------------


def assigned(body: cst.BaseSuite | Sequence[cst.CSTNode]) -> Iterator[str]:
    """The names and attributes that a block assigns, in order."""
    for line in small_statements(body):
        match line:
            case cst.Assign(targets=targets):
                for target in targets:
                    yield from _targets(target.target)
            case cst.AugAssign(target=target) | cst.AnnAssign(target=target, value=cst.BaseExpression()):
                yield from _targets(target)
            case cst.If():
                yield from assigned(line.body)
                yield from assigned([line.orelse] if isinstance(line.orelse, cst.If) else _else(line.orelse))
            case cst.For(target=target, body=inner):
                yield from _targets(target)
                yield from assigned(inner)
            case cst.While(body=inner):
                yield from assigned(inner)
            case cst.With(items=items, body=inner):
                for item in items:
                    if item.asname is not None:
                        yield from _targets(item.asname.name)
                yield from assigned(inner)
            case cst.FunctionDef(name=cst.Name(name)):
                yield name


def _else(orelse: cst.Else | None) -> Sequence[cst.CSTNode]:
    return () if orelse is None else small_statements(orelse.body)


def _targets(target: cst.CSTNode) -> Iterator[str]:
    match target:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _targets(element.value)
        case cst.StarredElement(value=inner):
            yield from _targets(inner)
        case cst.Name() | cst.Attribute():
            yield plain(target)
        case cst.Subscript():
            yield plain(target)


def read(node: cst.CSTNode) -> list[str]:
    """The names that a piece of code reads from outside of the functions and comprehensions in it."""
    found: list[str] = []
    _note_read(node, found)
    return found


def _note_read(node: cst.CSTNode, found: list[str]) -> None:
    """Add them to a list: each name once, however deep it stands."""
    match node:
        case cst.Name(value=name):
            found.append(name)
        case cst.NameItem():
            return
        case cst.AssignTarget(target=target) | cst.AsName(name=target):
            _note_read_to_bind(target, found)
        case cst.AnnAssign(target=target) | cst.For(target=target) | cst.CompFor(target=target):
            _note_read_to_bind(target, found)
            _note_children(node, target, found)
        case cst.Attribute(value=owner) | cst.Arg(value=owner):
            _note_read(owner, found)
        case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
            inner: list[str] = []
            _note_children(node, None, inner)
            found += _without(inner, _comprehended(node.for_in))
        case cst.Lambda(params=parameters, body=body):
            _note_read(parameters, found)
            found += _without(read(body), set(parameter_names(parameters)))
        case cst.FunctionDef(params=parameters, body=body, decorators=decorators):
            for part in (*decorators, parameters):
                _note_read(part, found)
            found += _without(read(body), {*parameter_names(parameters), *assigned(body)})
        case cst.Param(name=name):
            _note_children(node, name, found)
        case _:
            _note_children(node, None, found)


def _note_read_to_bind(target: cst.CSTNode, found: list[str]) -> None:
    """What is read to bind a target: owners and indices."""
    match target:
        case cst.Name():
            return
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                _note_read_to_bind(element.value, found)
        case cst.StarredElement(value=inner):
            _note_read_to_bind(inner, found)
        case _:
            _note_read(target, found)


def _note_children(node: cst.CSTNode, left_out: cst.CSTNode | None, found: list[str]) -> None:
    for child in node.children:
        if child is not left_out:
            _note_read(child, found)


def _without(names: list[str], bound: set[str]) -> list[str]:
    return [name for name in names if name not in bound]


def parameter_names(parameters: cst.Parameters) -> Iterator[str]:
    """The names that a function's parameters bind."""
    for child in parameters.children:
        match child:
            case cst.Param(name=cst.Name(name)):
                yield name


def _comprehended(node: cst.CompFor | None) -> set[str]:
    """The names that the `for` parts of a comprehension bind."""
    return set() if node is None else {*_targets(node.target), *_comprehended(node.inner_for_in)}


def read_first(body: cst.BaseSuite | Sequence[cst.CSTNode]) -> set[str]:
    """The names that a block may read before it assigns them."""
    found: set[str] = set()
    bound: set[str] = set()
    for line in small_statements(body):
        found |= _read_early(line) - bound
        match line:
            case cst.Assign(targets=targets):
                bound |= {name for target in targets for name in _targets(target.target)}
            case cst.FunctionDef(name=cst.Name(name)):
                bound.add(name)
            case cst.If() | cst.With():
                bound |= surely_assigned([line])
    return found


def _read_early(line: cst.CSTNode) -> set[str]:
    match line:
        case cst.For(target=target, iter=iterable, body=body, orelse=orelse):
            return set(read(iterable)) | read_first(body) - set(_targets(target)) | read_first(_else(orelse))
        case cst.While(test=test, body=body, orelse=orelse):
            return set(read(test)) | read_first(body) | read_first(_else(orelse))
        case cst.If(test=test, body=body, orelse=orelse):
            other = [orelse] if isinstance(orelse, cst.If) else _else(orelse)
            return set(read(test)) | read_first(body) | read_first(other)
        case _:
            return set(read(line))


def surely_assigned(body: cst.BaseSuite | Sequence[cst.CSTNode]) -> set[str]:
    """The names that a block has assigned when it ends, whichever way it goes."""
    found: set[str] = set()
    for line in small_statements(body):
        match line:
            case cst.If(body=inner, orelse=orelse):
                other = surely_assigned([orelse] if isinstance(orelse, cst.If) else _else(orelse))
                found |= surely_assigned(inner) & other
            case cst.For() | cst.While():
                continue
            case cst.With(body=inner):
                found |= surely_assigned(inner)
            case _:
                found |= set(assigned([line]))
    return found


def surely_bound(around: Iterable[cst.CSTNode], node: cst.CSTNode) -> set[str]:
    """The names that have a value where a node stands, whichever way leads there. `around`: the nodes that hold it,
    from the inside."""
    found: set[str] = set()
    for parent in around:
        match parent:
            case cst.IndentedBlock(body=lines) | cst.Module(body=lines):
                found |= surely_assigned(lines[: next(at for at, line in enumerate(lines) if line is node)])
            case cst.For(target=target, body=body) if body is node:
                found |= set(_targets(target))
            case cst.FunctionDef(params=parameters) | cst.Lambda(params=parameters):
                found |= set(parameter_names(parameters))
        node = parent
    return found


def any_node(node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...], below: bool = True) -> bool:
    """Whether a piece of code holds a node of some kinds; `below`: inside of nested functions too."""
    if isinstance(node, kinds):
        return True
    if not below and isinstance(node, cst.FunctionDef | cst.Lambda):
        return False
    return any(any_node(child, kinds, below) for child in node.children)


def is_movable(node: cst.CSTNode) -> bool:
    """Whether a piece of code means the same in a function of its own, which is traced once: it does not leave what is
    around it, changes no container there, and does not read its frame."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(name))) if name in _CHANGING:
            return False
        case cst.Call(func=cst.Name("super" | "locals" | "vars"), args=[]):
            return False
        case _:
            return not isinstance(node, _UNMOVABLE) and all(map(is_movable, node.children))
