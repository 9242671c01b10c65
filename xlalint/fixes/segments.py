"""Reductions of segments whose number data decides, for which XLA has a kernel only where the number is said.

What follows may say it: a matrix that the segments are added to has as many rows. Where each element is given what its
segment has, segments that nobody asks for do no harm. Elsewhere it is computed, and XLA compiles for each number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..analysis.files.unit import Location
from ..analysis.interpreter.events import ApiCall
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .bounds import Bound, statement_of
from .known import dotted
from .names import Names
from .rewrite import NodeEdit, Rewrite, before, replace
from .selections import nodes
from .syntax import plain
from .written import is_bound_once

_PREFIX: Final = "tf.math.segment_"
_TITLE: Final = "Pass the number of segments"
_COUNTED: Final = "where there are no elements; XLA recompiles for each set of segment ids"
_GAPS: Final = "where a segment id is not below the number of elements"
_EMPTY: Final = "where a segment has no elements, or "
_ROWS: Final = "where `{}` has a different number of rows"
_OF_EMPTY: Final = ("max", "min")  # what another number stands for where there is nothing
_PAIRWISE: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)
_NAMED: Final = (cst.Name, cst.Attribute)


def segmented(event: ApiCall, names: Names) -> Rewrite | None:
    """`tf.math.segment_sum(x, owners)` and its relatives, spelled out where they stand."""
    kind, tf = event.api.removeprefix(_PREFIX), names.tf
    values, owners = event.argument_nodes.get("data"), event.argument_nodes.get("segment_ids")
    spelled = (dotted(event.node.func) or "").rpartition(".")[2] == f"segment_{kind}"
    if kind == event.api or not spelled or values is None or owners is None or len(event.argument_nodes) != 2:
        return None
    location, other = event.location, _same_rows(event.location, tf)
    if isinstance(owners, cst.Name) and _is_only_gathered(location, owners, tf):
        return _spelled(event, names, f"{tf}.shape({{ids}})[0]", _GAPS)
    differs = _COUNTED if other is None else _ROWS.format(other)
    if kind in _OF_EMPTY:
        differs = _EMPTY + differs
    if other is not None:
        return _spelled(event, names, f"{tf}.shape({other})[0]", differs)
    if (bound := Bound.of(names, owners)) is not None and (rewrite := _under(bound, kind, event, tf)) is not None:
        return rewrite
    return _spelled(event, names, f"{tf}.reduce_max({{ids}}) + 1", differs)


def _spelled(event: ApiCall, names: Names, number: str, differs: str) -> Rewrite | None:
    """The reduction with its number of segments, which is computed of the `ids`."""
    location, owners, edits = event.location, event.argument_nodes["segment_ids"], list[NodeEdit]()
    ids = plain(owners)
    if not isinstance(owners, _NAMED):
        statement = statement_of(location)
        if statement is None:
            return None
        names.renew()
        ids = names.fresh("owners")
        edits.append(before(location.at(statement), f"{ids} = {plain(owners)}"))
    kind, values = event.api.removeprefix(_PREFIX), plain(event.argument_nodes["data"])
    text = f"{names.tf}.math.unsorted_segment_{kind}({values}, {ids}, {number.format(ids=ids)})"
    return Rewrite(_TITLE, (*edits, replace(location, text)), Safety.UNSAFE, differs)


def _under(bound: Bound, kind: str, event: ApiCall, tf: str) -> Rewrite | None:
    """A reduction of as many segments as there are at most."""
    values, owners = event.argument_nodes["data"], event.argument_nodes["segment_ids"]
    ids = plain(owners) if isinstance(owners, _NAMED) else bound.assign("owners", plain(owners))
    number = bound.assign("number", f"{tf}.reduce_max({ids}) + 1")
    whole = f"{tf}.math.unsorted_segment_{kind}({plain(values)}, {ids}, {bound.number})"
    nothing = "or where there are no elements"
    differs = f"or {_EMPTY}{nothing}" if kind in _OF_EMPTY else nothing
    return bound.padded(whole, number, differs)


def _is_only_gathered(location: Location, owners: cst.Name, tf: str) -> bool:
    """Whether the only use of what a segment gives is to give it to its elements again."""
    match next(location.unit.around(location.node)):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))]) if is_bound_once(location, owners.value):
            uses = [node for node in nodes(_function(location)) if isinstance(node, cst.Name) and node.value == name]
            return len(uses) > 1 and all(_is_gathered(location, use, owners, tf) for use in uses)
        case cst.Arg():
            return _is_gathered(location, location.node, owners, tf)
        case _:
            return False


def _is_gathered(location: Location, use: cst.CSTNode, owners: cst.Name, tf: str) -> bool:
    match [*location.unit.around(use)][:2]:
        case [cst.AssignTarget(), *_]:
            return True
        case [cst.Arg() as first, cst.Call(func=function, args=[taken, cst.Arg(value=by)])] if first is taken:
            return dotted(function) == f"{tf}.gather" and by.deep_equals(owners)
        case _:
            return False


def _same_rows(location: Location, tf: str) -> str | None:
    """The name of a matrix that the segments are added to or multiplied by, row by row."""
    matrices = {*_matrices(_function(location), tf)}
    inside = location.node
    for node in location.unit.around(location.node):
        match node:
            case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, _PAIRWISE):
                other = right if left is inside else left
                if isinstance(other, cst.Name) and other.value in matrices:
                    return other.value
            case _:
                return None
        inside = node
    return None


def _matrices(function: cst.CSTNode, tf: str) -> Iterator[str]:
    """The names of what a function takes rows of, or multiplies by a matrix: no vector that is added to each row."""
    for node in nodes(function):
        match node:
            case cst.Call(func=called, args=[cst.Arg(value=cst.Name(name)), _, *_]) if dotted(called) in (
                f"{tf}.matmul",
                f"{tf}.linalg.matmul",
            ):
                yield name


def _function(location: Location) -> cst.CSTNode:
    around = location.unit.around(location.node)
    return next((node for node in around if isinstance(node, cst.FunctionDef)), location.unit.tree)
