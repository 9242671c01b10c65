"""Counting what is there: distinct values by sorting, and the values of integers by a sum of segments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from ..analysis.domain.values import Dependence, Static, Tensor
from ..analysis.files.unit import Location
from ..analysis.interpreter.events import ApiCall
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .known import dotted
from .names import Names
from .rewrite import Rewrite, before, replace
from .selections import nodes
from .syntax import plain
from .written import AS_SIZE, dtype_written, is_a_number, written

_SORTABLE: Final = ("int32", "int64")
_SOMETIMES: Final = (
    *(cst.IfExp, cst.BooleanOperation, cst.Comparison, cst.Lambda),
    *(cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp),
)
_SORTED: Final = "Count the places where sorted values change"
_SUMMED: Final = "Count each value with a segment sum"
_COMPARED: Final = "Count the equal elements for each element"
_REFUSED: Final = "for values not below the length, which a segment sum refuses in eager execution"
_LONGER: Final = "for values not below the length, for which the original counts are longer"
_SQUARE: Final = "for NaN, and in memory use, which grows with the square of the number of elements"


def distinct(event: ApiCall, names: Names) -> Rewrite | None:
    """`tf.size(tf.unique(x)[0])` as a comparison of sorted neighbours."""
    counted = _counted(event, names.tf)
    statement = next((node for node in event.location.unit.around(event.location.node) if _is_simple(node)), None)
    values = event.argument_nodes.get("x")
    if counted is None or statement is None or values is None:
        return None
    tf, ordered, first = names.tf, names.fresh("ordered"), names.fresh("first")
    changes = f"{ordered}[1:] != {ordered}[:-1]"
    marks = f"{tf}.concat([{tf}.ones_like({ordered}[:1], {tf}.bool), {changes}], 0)"
    edits = (
        before(event.location.at(statement), f"{ordered} = {tf}.sort({plain(values)})\n{first} = {marks}"),
        replace(event.location.at(counted), f"{tf}.reduce_sum({tf}.cast({first}, {tf}.int32))"),
    )
    value = event.arguments.get("x")
    if not isinstance(value, Tensor) or value.dtype != "int":
        return Rewrite(_SORTED, edits, Safety.UNSAFE, "for NaN, and for values without an order")
    if dtype_written(event.location, values, tf) not in _SORTABLE:
        return Rewrite(_SORTED, edits, Safety.UNSAFE, "for dtypes that XLA does not sort (uint16)")
    if value.variable or not _comes_first(event.location, statement):
        return Rewrite(_SORTED, edits, Safety.UNSAFE, "where the statement computes it conditionally, or later")
    if not is_a_number(event.location, counted, tf):
        return Rewrite(_SORTED, edits, Safety.UNSAFE, AS_SIZE)
    return Rewrite(_SORTED, edits)


def _comes_first(location: Location, statement: cst.CSTNode) -> bool:
    """Whether a statement computes an expression whatever happens."""
    return not any(
        isinstance(node, _SOMETIMES)
        for node in takewhile(lambda node: node is not statement, location.unit.around(location.node))
    )


def _counted(event: ApiCall, tf: str) -> cst.CSTNode | None:
    """The call of `tf.size` that takes nothing but the distinct values."""
    match [*event.location.unit.around(event.location.node)][:3]:
        case [
            cst.Subscript(slice=[cst.SubscriptElement(cst.Index(cst.Integer("0")))])
            | cst.Attribute(attr=cst.Name("y")),
            cst.Arg(keyword=None, star=""),
            cst.Call(func=function, args=[_]) as call,
        ] if dotted(function) == f"{tf}.size":
            return call
        case _:
            return None


def commonest(event: ApiCall, names: Names) -> Rewrite | None:
    """`tf.unique_with_counts(x)` of which only the most frequent is taken: the first element of most equals."""
    tf = names.tf
    match [*event.location.unit.around(event.location.node)][:2], event.argument_nodes:
        case [
            [
                cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=targets))]),
                cst.SimpleStatementLine(body=[_]) as line,
            ],
            {"x": values, **rest},
        ] if not rest and len(targets) == 3:
            kept, index, counts = (plain(target.value) for target in targets)
        case _:
            return None
    around = event.location.unit.around(line)
    scope = next((node.body for node in around if isinstance(node, cst.FunctionDef)), event.location.unit.tree)
    read = {name: [*_read_as(scope, name)] for name in (kept, index, counts)}
    largest = [event.location.unit.around(use) for use in read[counts]]
    if read[index] or not read[counts] or not all(_is_all_of(f"{tf}.argmax", [*around][:2]) for around in largest):
        return None
    if not all(_is_at_largest(event.location.at(use), counts, tf) for use in read[kept]):
        return None
    equal = f"{tf}.equal({kept}[:, {tf}.newaxis], {kept})"
    text = f"{kept} = {plain(values)}\n{counts} = {tf}.reduce_sum({tf}.cast({equal}, {tf}.int32), 1)"
    return Rewrite(_COMPARED, (replace(event.location.at(line), text),), Safety.UNSAFE, _SQUARE)


def _read_as(scope: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """The places where a name is read, or bound again."""
    once = [node for node in nodes(scope) if isinstance(node, cst.Name) and node.value == name]
    return iter(once[1:])


def _is_all_of(function: str, around: list[cst.CSTNode]) -> bool:
    """Whether something is the only argument of a function."""
    match around:
        case [cst.Arg(keyword=None), cst.Call(func=called, args=[_])]:
            return dotted(called) == function
        case _:
            return False


def _is_at_largest(location: Location, counts: str, tf: str) -> bool:
    """Whether the place takes the element at the position of the largest count."""
    match [*location.unit.around(location.node)][:2]:
        case [cst.Arg() as first, cst.Call(func=take, args=[one, cst.Arg(value=position)])] if (
            first is one and dotted(take) == f"{tf}.gather"
        ):
            return plain(written(location, position)) == f"{tf}.argmax({counts})"
        case _:
            return False


def _is_simple(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine)


def binned(event: ApiCall, names: Names) -> Rewrite | None:
    """`tf.math.bincount` of a length that is written down, as the sum of ones for each value."""
    nodes, tf = event.argument_nodes, names.tf
    if not {"arr", "minlength"} <= nodes.keys() <= {"arr", "minlength", "maxlength", "weights", "dtype"}:
        return None
    length, most = nodes["minlength"], nodes.get("maxlength")
    match event.arguments["minlength"]:
        case Static() | Tensor(dependence=Dependence.SHAPE):
            pass
        case _:
            return None
    if most is not None and not length.deep_equals(most):
        return None
    dtype = plain(nodes["dtype"]) if "dtype" in nodes else f"{tf}.int32"
    values = plain(nodes["arr"])
    counted = plain(nodes["weights"]) if "weights" in nodes else f"{tf}.ones_like({values}, {dtype})"
    text = f"{tf}.math.unsorted_segment_sum({counted}, {values}, {plain(length)})"
    differs = _LONGER if most is None else _REFUSED
    return Rewrite(_SUMMED, (replace(event.location, text),), Safety.UNSAFE, differs)
