"""What a loop collects, at a size that is known before it: a `tf.TensorArray`, or one operation over all steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .known import dotted
from .names import Names
from .rewrite import Rewrite, Rewriter, replace
from .syntax import any_node, assigned, plain, read, small_statements

_WHOLE: Final = ("write", "stack", "concat")
_PARTLY: Final = "in the array's size before the loop ends, and in the gradient of infinite elements that nothing reads"
_SIZE: Final = "NUMBER_OF_WRITES"  # what the author has to say
_FIXED: Final = "Make the array as long as the loop that fills it"
_NUMBERED: Final = "where the body needs the loop index as a tensor"
_MOST_STEPS: Final = 16  # each is compiled again


@dataclass(frozen=True, slots=True)
class _Loop:
    """A `for` in a block: the expression that it counts to, where it counts, and the statements of its body."""

    node: cst.For
    steps: cst.BaseExpression | None
    body: Sequence[cst.CSTNode]

    @classmethod
    def of(cls, node: cst.CSTNode, tf: str) -> _Loop | None:
        if not isinstance(node, cst.For) or node.orelse is not None or not isinstance(node.target, cst.Name):
            return None
        steps = None
        match node.iter:
            case cst.Call(func=function, args=[cst.Arg(keyword=None, star="", value=limit)]) if dotted(function) in (
                "range",
                f"{tf}.range",
            ):
                steps = limit
        return cls(node, steps, small_statements(node.body))


# -- arrays that grow -------------------------------------------------------------------------------------------------


def sized_array(location: Location, node: cst.Call) -> Rewriter:
    """The rewrite of a call of `tf.TensorArray` with `dynamic_size=True`."""

    def build(names: Names) -> Rewrite:
        size = _size(location, node, names.tf)
        edits = (replace(location, _array(node, size or _SIZE)),)
        if size is None:
            return Rewrite(_FIXED, edits, Safety.DISPLAY)
        if size.isdecimal():
            if _is_taken_whole(location, node):
                return Rewrite(_FIXED, edits)
            return Rewrite(_FIXED, edits, Safety.UNSAFE, _PARTLY)
        return Rewrite(_FIXED, edits, Safety.UNSAFE, "where the number of iterations is not static")

    return build


def _is_taken_whole(location: Location, node: cst.Call) -> bool:
    """Whether the array is written, and then read as a whole only; nobody asks for its size, which it has at once now,
    and it has no other name."""
    around = [*location.unit.around(node)]
    scope = next((one.body for one in around if isinstance(one, cst.FunctionDef)), location.unit.tree)
    match around[0]:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))]):
            return all(use in _WHOLE for use in _uses_of(scope, name)) and all(
                use == "write" for loop in _loops(scope) for use in _uses_of(loop.body, name)
            )
        case _:
            return False


def _loops(node: cst.CSTNode) -> Iterator[cst.For | cst.While]:
    if isinstance(node, cst.For | cst.While):
        yield node
    for child in node.children:
        yield from _loops(child)


def _uses_of(node: cst.CSTNode, name: str) -> Iterator[str]:
    """The methods that are asked of what a name stands for; empty where it is read in another way."""
    match node:
        case cst.Attribute(value=cst.Name(owner), attr=cst.Name(attribute)) if owner == name:
            yield attribute
        case cst.Name(value=found) if found == name:
            yield ""
        case cst.AssignTarget(target=cst.Name(found)) if found == name:
            return
        case cst.Attribute(value=owner):
            yield from _uses_of(owner, name)
        case cst.Arg(value=value):
            yield from _uses_of(value, name)
        case _:
            for child in node.children:
                yield from _uses_of(child, name)


def _array(node: cst.Call, size: str) -> str:
    """The call with a fixed size: what follows the dtype but its two sizes."""
    named = [(keyword.value, plain(argument.value)) for argument in node.args if (keyword := argument.keyword)]
    given = {argument.keyword.value if argument.keyword else None for argument in node.args}
    others = [f"{name}={value}" for name, value in named if name not in ("dtype", "size", "dynamic_size")]
    first = f"dtype={dict(named)['dtype']}" if "dtype" in given else plain(node.args[0].value)
    return f"{plain(node.func)}({', '.join([first, f'size={size}', *others])})"


def _size(location: Location, node: cst.Call, tf: str) -> str | None:
    """How long the array gets, where every step of one loop writes to it once."""
    begins = next((arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "size"), None)
    positional = [arg.value for arg in node.args if arg.keyword is None]
    begins = begins or (positional[1] if len(positional) > 1 else None)
    match begins:
        case None:
            least = 0
        case cst.Integer():
            least = begins.evaluated_value
        case _:
            return None
    found = _block_of(location)
    if found is None:
        return None
    block, at = found
    match block[at]:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=value) if value is node:
            pass
        case _:
            return None
    written = [one for one in block[at + 1 :] if name in assigned([one])]
    loop = _Loop.of(written[0], tf) if len(written) == 1 else None
    if loop is None or loop.steps is None or not _writes_each_step(loop, name):
        return None
    between = {bound for one in block[at : block.index(loop.node)] for bound in assigned([one])}
    if between & set(read(loop.steps)):
        return None
    match loop.steps:
        case cst.Integer() as literal:
            return str(max(literal.evaluated_value, least))
        case steps:
            return plain(steps) if least == 0 else None


def _writes_each_step(loop: _Loop, name: str) -> bool:
    """Whether each step of a loop writes once, at its own number."""
    writes = [one for one in loop.body if name in assigned([one])]
    assert isinstance(loop.node.target, cst.Name)
    match writes:
        case [cst.Assign(value=cst.Call(func=cst.Attribute(value=cst.Name(owner), attr=cst.Name("write")), args=args))]:
            positions = [arg.value for arg in args if arg.keyword is None or arg.keyword.value == "index"]
        case _:
            return False
    at = positions[0] if positions else None
    own = isinstance(at, cst.Name) and at.value == loop.node.target.value and owner == name
    rebound = loop.node.target.value in assigned(loop.body)
    return own and not rebound and not any_node(loop.node.body, (cst.Break, cst.Continue, cst.Return))


# -- lists in loops of tensors ----------------------------------------------------------------------------------------


def unrolled(location: Location) -> Rewriter:
    """The rewrite of a change of Python state in a short loop over `tf.range`: a loop of Python's."""

    def build(names: Names) -> Rewrite | None:
        for node in location.unit.around(location.node):
            match node:
                case cst.For(iter=cst.Call(func=function, args=[cst.Arg(keyword=None, value=cst.Integer() as steps)])):
                    if dotted(function) != f"{names.tf}.range" or steps.evaluated_value > _MOST_STEPS:
                        return None
                    if any_node(node.body, (cst.Break, cst.Continue, cst.Return), below=False):
                        return None
                    edits = (replace(location.at(node.iter), f"range({plain(steps)})"),)
                    return Rewrite("Unroll the loop", edits, Safety.UNSAFE, _NUMBERED)
                case cst.For() | cst.While() | cst.FunctionDef() | cst.Lambda() | cst.If():
                    return None
        return None

    return build


# -- the source around a place ----------------------------------------------------------------------------------------


def _block_of(location: Location) -> tuple[Sequence[cst.CSTNode], int] | None:
    """The statements of the block around a place, and which of them holds it."""
    inside = [location.node, *location.unit.around(location.node)]
    for parent in inside[1:]:
        match parent:
            case cst.IndentedBlock(body=lines) | cst.Module(body=lines):
                small = small_statements(lines)
                at = [number for number, one in enumerate(small) if one in inside]
                return (small, at[0]) if at else None
            case cst.FunctionDef() | cst.Lambda():
                return None
    return None
