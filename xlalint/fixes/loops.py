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
from .syntax import any_node, assigned, call, indented, is_movable, plain, read, read_first, small_statements

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
