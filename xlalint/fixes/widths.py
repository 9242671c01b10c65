"""Masks of lengths that are as wide as the longest, as wide as the tensor that they are multiplied by.

The two agree, or the product fails: broadcasting apart, `x * tf.sequence_mask(lengths)` needs an `x` that is as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..analysis.domain.values import Tensor
from ..analysis.files.unit import Location
from ..analysis.interpreter.events import ApiCall
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .flow.calls import number
from .known import dotted
from .names import Names
from .rewrite import Rewrite, replace
from .syntax import assigned, parameter_names, plain, small_statements
from .written import written

_WIDTH: Final = "width"
_DIFFERS: Final = (
    "where the longest is shorter than `{name}`, which fails in eager execution, or where one of the two has a single "
    "element there"
)
Dimensions = tuple[str, ...]


def as_wide(event: ApiCall, names: Names) -> Rewrite | None:
    """`tf.sequence_mask(lengths, tf.reduce_max(lengths))` with the size of what it is multiplied by."""
    lengths, given = event.argument_nodes.get("lengths"), event.argument_nodes
    value = event.arguments.get("lengths")
    if (
        lengths is None
        or not isinstance(value, Tensor)
        or value.rank not in (1, None)
        or any(one.star for one in event.node.args)
    ):
        return None
    if (
        "maxlen" in given
        and plain(written(event.location, given["maxlen"])) != f"{names.tf}.reduce_max({plain(lengths)})"
    ):
        return None
    found = _multiplied(event.location, names.tf)
    if found is None:
        return None
    name, axis = found
    size = f"{names.tf}.shape({name})[{axis}]"
    node = given.get("maxlen")
    at = event.location
    edit = (
        replace(at.at(node), size)
        if node is not None
        else replace(at, cst.text_of(event.node).replaced(event.node, {lengths: f"{plain(lengths)}, {size}"}))
    )
    title = "Make the mask as wide as what it is multiplied by"
    return Rewrite(title, (edit,), Safety.UNSAFE, _DIFFERS.format(name=name))


def _multiplied(location: Location, tf: str) -> tuple[str, int] | None:
    """The tensor that a mask is multiplied by first, and the dimension of it that is the mask's width."""
    around = list(location.unit.around(location.node))
    function = next((one for one in around if isinstance(one, cst.FunctionDef)), None)
    if function is None:
        return None
    lines = list(small_statements(function.body))
    start = next((at for at, line in enumerate(lines) if line in around), None)
    if start is None:
        return None
    match lines[start]:
        case cst.Assign(targets=[cst.AssignTarget(cst.Name(mask))], value=value):
            dimensions = _made(value, location.node, ("batch", _WIDTH), tf)
        case _:
            return None
    bound = {*parameter_names(function.params), *assigned(lines[:start])}
    for line in lines[start + 1 :]:
        if dimensions is None:
            return None
        if (by := _factor(line, mask)) is not None:
            return (by, dimensions.index(_WIDTH) - len(dimensions)) if by in bound else None
        match line:
            case cst.Assign(targets=[cst.AssignTarget(cst.Name(again))], value=value) if again == mask:
                dimensions = _made(value, None, dimensions, tf, mask)
        bound -= set(assigned([line]))  # what is bound anew may have another size
    return None


def _made(
    node: cst.BaseExpression, start: cst.CSTNode | None, dimensions: Dimensions, tf: str, name: str = ""
) -> Dimensions | None:
    """The dimensions of what is made of a mask, which is a node or has a name."""
    match node:
        case _ if node is start:
            return dimensions
        case cst.Name(own) if own == name:
            return dimensions
        case cst.Call(func=function, args=[first, *rest]) if (dotted(function) or "") == f"{tf}.cast":
            return _made(first.value, start, dimensions, tf, name) if len(rest) == 1 else None
        case cst.Call(func=function, args=[first, cst.Arg(value=axis)]) if dotted(function) == f"{tf}.expand_dims":
            inner = _made(first.value, start, dimensions, tf, name)
            at = number(axis)
            if inner is None or at is None:
                return None
            at = at if at >= 0 else len(inner) + 1 + at
            return (*inner[:at], "one", *inner[at:])
        case cst.Subscript(value=value, slice=elements):
            inner = _made(value, start, dimensions, tf, name)
            return None if inner is None else _indexed(inner, elements)
        case _:
            return None


def _indexed(dimensions: Dimensions, elements: Sequence[cst.SubscriptElement]) -> Dimensions | None:
    """The dimensions behind an index of whole and new dimensions."""
    signs = list(map(_sign, elements))
    left, made = list(dimensions), list[str]()
    whole = len(left) - signs.count(":")
    for sign in signs:
        match sign:
            case "...":
                made += [left.pop(0) for _ in range(whole)]
            case ":" if left:
                made.append(left.pop(0))
            case "new":
                made.append("one")
            case _:
                return None
    return (*made, *left)


def _sign(element: cst.SubscriptElement) -> str:
    match element.slice:
        case cst.Slice(lower=None, upper=None, step=None):
            return ":"
        case cst.Index(value=cst.Ellipsis()):
            return "..."
        case cst.Index(value=index) if plain(index).rpartition(".")[2] in ("None", "newaxis"):
            return "new"
        case _:
            return ""


def _factor(node: cst.CSTNode, mask: str) -> str | None:
    """The name that a statement multiplies by a mask."""
    match node:
        case cst.AugAssign(target=cst.Name(name), operator=cst.MultiplyAssign(), value=cst.Name(factor)) if (
            factor == mask
        ):
            return name
        case cst.BinaryOperation(left=cst.Name(left), operator=cst.Multiply(), right=cst.Name(right)) if mask in (
            left,
            right,
        ):
            return right if left == mask else left
        case _:
            return next(filter(None, (_factor(child, mask) for child in node.children)), None)
