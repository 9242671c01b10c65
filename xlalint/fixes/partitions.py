"""Partitions by data at a static shape: as masks where each part is summed up, and whole where the parts are stitched
together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..analysis.files.unit import Location
from ..analysis.interpreter.events import ApiCall
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .flow.program import Program
from .known import dotted
from .names import Names
from .rewrite import NodeEdit, Rewrite, remove, replace
from .syntax import operand, plain
from .written import definition

_SUMMED: Final = "Sum each part with a mask over the whole tensor"
_DIGITS: Final = "in the last digits, and where the values have more dimensions than the partition indices"
_CHOSEN: Final = "Apply each function to all rows, and select by partition index"
_ROWS: Final = "where a function does not treat each row independently"


@dataclass(frozen=True, slots=True)
class _Partition:
    """A call of `tf.dynamic_partition`."""

    node: cst.CSTNode
    values: cst.BaseExpression
    owners: cst.BaseExpression
    number: cst.BaseExpression

    @classmethod
    def of(cls, node: cst.CSTNode | None, tf: str) -> _Partition | None:
        match node:
            case cst.Call(func=function, args=[_, _, _] as arguments) if dotted(function) == f"{tf}.dynamic_partition":
                named = {one.keyword.value: one.value for one in arguments if one.keyword is not None}
                given = [one.value for one in arguments if one.keyword is None and not one.star]
                parts = [*given, *(named[key] for key in ("data", "partitions", "num_partitions") if key in named)]
                return cls(node, *parts) if len(parts) == len(arguments) else None
            case _:
                return None

    def is_by_the_same(self, other: _Partition) -> bool:
        return self.owners.deep_equals(other.owners) and self.number.deep_equals(other.number)


def partitioned(event: ApiCall, names: Names) -> Rewrite | None:
    """The rewrite of a partition whose parts are summed up, or stitched together again after functions of each."""
    function = next(
        (node for node in event.location.unit.around(event.location.node) if isinstance(node, cst.FunctionDef)), None
    )
    partition = _Partition.of(event.location.node, names.tf)
    if function is None or partition is None:
        return None
    location = event.location
    found = _stitched(location.at, [function], partition, names) or _summed(location, function, partition, names)
    return found or _stitched_elsewhere(location, names)


def _stitched_elsewhere(location: Location, names: Names) -> Rewrite | None:
    """The same, where one method of a class partitions by an attribute of its object, and another stitches."""
    program, partition = Program(location), _Partition.of(location.node, names.tf)
    function = program.function_around(location.node)
    cls = None if function is None else program.class_around(function)
    if cls is None or partition is None:
        return None
    if not isinstance(partition.owners, cst.Attribute) or plain(partition.owners.value) != "self":
        return None
    return _stitched(program.location, [*program.methods(cls)], partition, names)


def _stitched(
    location: Callable[[cst.CSTNode], Location], scope: Sequence[cst.CSTNode], partition: _Partition, names: Names
) -> Rewrite | None:
    """`tf.dynamic_stitch` of functions of the parts, as the choice of a row among the functions of everything."""
    tf, found = names.tf, list[NodeEdit]()
    same = [one for node in _all_nodes(scope) if (one := _Partition.of(node, tf)) and partition.is_by_the_same(one)]
    for node in _all_nodes(scope):
        match node:
            case cst.Call(func=stitch, args=[cst.Arg(value=cst.Name() as places), cst.Arg(value=results)]) if (
                dotted(stitch) == f"{tf}.dynamic_stitch"
            ):
                positions = _Partition.of(definition(location(node), places.value), tf)
                if positions is None or not partition.is_by_the_same(positions) or not _counts(positions.values, tf):
                    return None
                text = f"{tf}.gather({tf}.stack({plain(results)}, 1), {plain(partition.owners)}, batch_dims=1)"
                found.append(replace(location(node), text))
                statement = next(location(positions.node).unit.around(positions.node))
                found.append(remove(location(statement)))
                same = [one for one in same if one.node is not positions.node]
    if len(found) != 2 or not same:
        return None  # what is stitched may come from anywhere
    found += (replace(location(one.node), f"[{plain(one.values)}] * {operand(one.number)}") for one in same)
    return Rewrite(_CHOSEN, tuple(found), Safety.UNSAFE, _ROWS)


def _all_nodes(scope: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    return (node for one in scope for node in _nodes(one))


def _counts(node: cst.CSTNode, tf: str) -> bool:
    """Whether what is partitioned are the numbers of the rows."""
    return isinstance(node, cst.Call) and dotted(node.func) == f"{tf}.range"


def _summed(location: Location, function: cst.FunctionDef, partition: _Partition, names: Names) -> Rewrite | None:
    """Parts that nothing but `tf.reduce_sum` takes in, as the whole with zeros elsewhere."""
    match next(location.unit.around(partition.node)):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))]):
            pass
        case _:
            return None
    uses = [node for node in _nodes(function) if isinstance(node, cst.Name) and node.value == name]
    if len(uses) < 2 or not all(_is_summed(location, use, names.tf) for use in uses):
        return None
    tf, part = names.tf, names.fresh("number")
    chosen = f"{tf}.where({tf}.equal({plain(partition.owners)}, {part}), {plain(partition.values)}, 0)"
    text = f"[{chosen} for {part} in range({plain(partition.number)})]"
    return Rewrite(_SUMMED, (replace(location, text),), Safety.UNSAFE, _DIGITS)


def _is_summed(location: Location, use: cst.Name, tf: str) -> bool:
    """Whether a use of the parts is the assignment, or sums one of them, or each."""
    match [*location.unit.around(use)][:3]:
        case [cst.AssignTarget(), *_]:
            return True
        case [cst.CompFor(target=cst.Name(each), iter=iterated), comprehension, *_] if iterated is use:
            inside = [node for node in _nodes(comprehension) if isinstance(node, cst.Name) and node.value == each]
            return all(
                isinstance(next(location.unit.around(node)), cst.CompFor) or _is_argument(location, node, tf)
                for node in inside
            )
        case [cst.Subscript(value=whole) as one, *_] if whole is use:
            return _is_argument(location, one, tf)
        case _:
            return False


def _is_argument(location: Location, node: cst.CSTNode, tf: str) -> bool:
    """Whether a part is all that `tf.reduce_sum` is passed."""
    match [*location.unit.around(node)][:2]:
        case [cst.Arg(keyword=None), cst.Call(func=function, args=[_])]:
            return dotted(function) == f"{tf}.reduce_sum"
        case _:
            return False


def _nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _nodes(child)
