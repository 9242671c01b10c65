"""Loops on tensors as TensorFlow's own: `tf.while_loop` with a bound, so that a gradient through it compiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..analysis.domain.values import Static, Tensor, Value
from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .known import Scope
from .logic import condition
from .names import Names
from .rewrite import Rewrite, Rewriter, replace
from .syntax import (
    any_node,
    assigned,
    call,
    indented,
    is_movable,
    parameter_names,
    plain,
    read,
    read_first,
    small_statements,
)

_DIFFERS: Final = (
    "where the counter begins below zero, a name changes its dtype or shape, or the body has side effects in Python"
)
_LIMIT: Final = "LIMIT"  # what the author has to say


def while_loop(location: Location, test: Value, scope: Scope) -> Rewriter:
    """The rewrite of the `cst.While` at `place`, which runs as long as `test` says."""
    counts = isinstance(test, Tensor) and test.dtype in ("int", "float")

    def build(names: Names) -> Rewrite | None:
        match location.node:
            case cst.While(orelse=None, test=syntax, body=body) as node if is_movable(body) and is_movable(syntax):
                if any_node(body, (cst.Return,), below=False):
                    return None
                carried = _carried(location, node, scope)
                holds = f"{names.tf}.not_equal({plain(syntax)}, 0)" if counts else condition(syntax, names.tf)
                return _loop(location, node, carried, holds, _bound(node, scope), names) if carried else None
            case _:
                return None

    return build


def _loop(
    location: Location, node: cst.While, carried: list[str], holds: str, bound: str | None, names: Names
) -> Rewrite:
    step, body = names.indent, names.fresh("body")
    parameters = ", ".join(carried)
    values = parameters if len(carried) > 1 else f"{parameters},"
    lines = node.body.body
    code = "".join(
        # The comment behind the last line stays where it is, behind all of the loop.
        location.unit.statement(line, behind=line is not lines[-1])
        if isinstance(line, cst.BaseStatement)
        else f"{location.unit.code(line)}\n"
        for line in lines
    )
    function = f"def {body}({parameters}):\n{indented(code, step)}{step}return {values}\n\n"
    arguments = [
        f"lambda {parameters}: {holds}",
        body,
        f"({values})",
        f"maximum_iterations={bound or _LIMIT}",
    ]
    target = parameters if len(carried) > 1 else f"({values})"
    text = function + call(f"{names.tf}.while_loop", arguments, step, f"{target} = ")
    edits = (replace(location, text),)
    title = "Use `tf.while_loop` with a bound"
    if bound is None:
        return Rewrite(title, edits, Safety.DISPLAY)
    return Rewrite(title, edits, Safety.UNSAFE, _DIFFERS)


def _carried(location: Location, node: cst.While, scope: Scope) -> list[str]:
    """The names that go from one round to the next or out of the loop; none where they cannot be carried."""
    function = next((around for around in location.unit.around(node) if isinstance(around, cst.FunctionDef)), None)
    early = read_first([node])
    found = []
    for name in dict.fromkeys(assigned(node.body)):
        if not name.isidentifier():
            return []
        outside = function is None or read(function.body).count(name) > read(node).count(name)
        if name in early or outside:
            if name not in early and name not in scope:
                return []  # bound in the loop alone
            found.append(name)
    return found


def _bound(node: cst.While, scope: Scope) -> str | None:
    """How often the loop can run, where it counts up to a number that is written down."""
    for counter, limit in _limits(node.test):
        counted = [line for line in small_statements(node.body) if counter in assigned([line])]
        if len(counted) == 1 and _counts(counted[0], counter):
            match scope.get(counter):
                case Tensor() | Static(constant=int()):
                    return limit
    return None


def _limits(test: cst.BaseExpression) -> Iterator[tuple[str, str]]:
    """The names that a test wants below a number, with how many non-negative integers that are."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            yield from _limits(left)
            yield from _limits(right)
        case cst.Comparison(left=cst.Name(name), comparisons=[cst.ComparisonTarget(operator, cst.Integer(limit))]):
            match operator:
                case cst.LessThan():
                    yield name, limit
                case cst.LessThanEqual():
                    yield name, str(int(limit, 0) + 1)


def _counts(line: cst.CSTNode, counter: str) -> bool:
    """Whether a statement makes a name larger by a written number."""
    match line:
        case cst.AugAssign(target=cst.Name(), operator=cst.AddAssign(), value=cst.Integer(step)):
            return int(step, 0) > 0
        case cst.Assign(
            targets=[_],
            value=cst.BinaryOperation(left=cst.Name(name), operator=cst.Add(), right=cst.Integer(step)),
        ):
            return name == counter and int(step, 0) > 0
        case _:
            return False


_LEFT: Final = (
    "where a name changes its dtype or shape in the loop, or where code behind the loop needs the loop's variable as a "
    "Python number"
)


def over_tensors(location: Location, names: Names) -> Rewrite | None:
    """The Python loop around a `break` that a tensor decides, over `tf.range`: AutoGraph makes a TensorFlow loop of it,
    which may end early. None where the body needs a Python number, or names that no statement before gives a value."""
    inside = location.node
    for node in location.unit.around(location.node):
        match node:
            case cst.For(
                target=cst.Name(counter), iter=cst.Call(func=cst.Name("range")) as steps, body=body, orelse=None
            ) if body is inside:
                if any_node(body, (cst.Return,), below=False) or not is_movable(_without_breaks(body)):
                    return None
                if not _counts_only(location, body, counter) or _late(location, node, counter):
                    return None
                edit = replace(location.at(steps.func), f"{names.tf}.range")
                return Rewrite("Loop over `tf.range`, which a tensor may end", (edit,), Safety.UNSAFE, _LEFT)
            case cst.For() | cst.While() | cst.FunctionDef():
                return None
        inside = node
    return None


def _without_breaks(body: cst.BaseSuite) -> cst.Module:
    """The statements of a loop that stay in it."""
    return cst.Module(
        [cst.SimpleStatementLine([cst.Expr(node)]) for node in cst.within(body) if isinstance(node, cst.BaseExpression)]
    )


def _counts_only(location: Location, body: cst.BaseSuite, counter: str) -> bool:
    """Whether the counter of a loop is only an index into something, of one dimension at a time."""
    uses = [node for node in cst.within(body) if isinstance(node, cst.Name) and node.value == counter]
    return all(isinstance(around, cst.Index) for use in uses if (around := next(location.unit.around(use))) is not None)


def _late(location: Location, loop: cst.For, counter: str) -> bool:
    """Whether something behind the loop reads a name that only the loop gives a value."""
    block = next(location.unit.around(loop))
    lines = block.body if isinstance(block, cst.IndentedBlock | cst.Module) else []
    at = next((number for number, line in enumerate(lines) if line is loop), len(lines))
    function = next((one for one in location.unit.around(loop) if isinstance(one, cst.FunctionDef)), None)
    known = {*parameter_names(function.params)} if function is not None else set()
    known |= {name for line in lines[:at] for name in assigned([line])}
    own = {*assigned(loop.body), counter} - known
    return bool(own & {name for line in lines[at + 1 :] for name in read(line)})
