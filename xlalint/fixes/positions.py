"""Subscripts at positions from data as gathers, which XLA compiles once for all positions."""

from __future__ import annotations

from typing import Final

from ..analysis.files.unit import Location
from ..analysis.interpreter.events import IndexWith
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .names import Names
from .rewrite import Rewrite, replace
from .syntax import any_node, assigned, parameter_names, plain, small_statements

_OTHER_BINDERS: Final = (cst.Global, cst.Nonlocal, cst.NamedExpr)
_NEGATIVE = "for positions that count from the end"
_BEYOND = "for windows that reach beyond the end"


def gathered(node: cst.Subscript, axis: int, tf: str = "tf") -> str | None:
    """The subscript whose item number `axis` is a position from data, as a gather along one axis, or at one point."""
    x = plain(node.value)
    others = [element.slice for at, element in enumerate(node.slice) if at != axis]
    along = _along(node, axis)
    match node.slice[axis].slice:
        case cst.Index(cst.BaseExpression() as position) if along is not None:
            return f"{tf}.gather({x}, {plain(position)}{along})"
        case cst.Slice(lower=cst.BaseExpression() as start) as cut if along is not None and (width := _width(cut)):
            return f"{tf}.gather({x}, {tf}.cast({plain(start)}, {tf}.int32) + {tf}.range({plain(width)}){along})"
        case cst.Index() if all(map(_is_point, others)):
            return f"{tf}.gather_nd({x}, {tf}.stack([{', '.join(plain(_index(each)) for each in node.slice)}]))"
        case _:
            return None


def at_position(event: IndexWith, axis: int, names: Names) -> Rewrite | None:
    """The gather in place of a subscript that is read."""
    text = gathered(event.node, axis, names.tf)
    if text is None or event.store:
        return None
    differs = []
    match event.node.slice[axis].slice:
        case cst.Slice():
            differs = [_NEGATIVE, _BEYOND]
        case cst.Index(value=position) if not _counts_from_the_start(_written(event.location, position), names.tf):
            differs = [_NEGATIVE]
    if len(event.index) > 1 and _along(event.node, axis) is None:
        differs = [_NEGATIVE, "for positions of different integer types"]
    safety = Safety.UNSAFE if differs else Safety.SAFE
    return Rewrite("Gather at the position", (replace(event.location, text),), safety, " or ".join(differs))


def _along(node: cst.Subscript, axis: int) -> str | None:
    """The argument that names the axis of the only position among whole dimensions; None where it is not the only."""
    others = [element.slice for at, element in enumerate(node.slice) if at != axis]
    if all(map(_everything, others)):
        return f", axis={axis}" if axis else ""
    if _is_ellipsis(others[0]) and axis == len(others) and all(map(_everything, others[1:])):
        return ", axis=-1"
    return None


def _width(window: cst.Slice) -> cst.BaseExpression | None:
    """`n` of `[i : i + n]`."""
    match window:
        case cst.Slice(
            lower=cst.BaseExpression() as lower,
            upper=cst.BinaryOperation(left=left, operator=cst.Add(), right=width),
            step=None,
        ) if left.deep_equals(lower):
            return width
        case _:
            return None


def _written(location: Location, position: cst.BaseExpression) -> cst.BaseExpression:
    """What a name stands for that the function around it binds once, above the place; else the position itself."""
    function = next((node for node in location.unit.around(location.node) if isinstance(node, cst.FunctionDef)), None)
    if not isinstance(position, cst.Name) or function is None:
        return position
    name = position.value
    if any(bound == name for bound in parameter_names(function.params)) or any_node(function, _OTHER_BINDERS):
        return position
    bindings = [line for line in small_statements(function.body) if name in assigned([line])]
    match bindings:
        case [cst.Assign(targets=[cst.AssignTarget(cst.Name())], value=value)] if location.unit.span(
            value
        ) < location.unit.span(position):
            return value
        case _:
            return position


def _counts_from_the_start(position: cst.BaseExpression, tf: str) -> bool:
    """Whether a position is never negative, by its form."""
    match position:
        case cst.Call(func=function, args=[first, *rest]):
            name = plain(function).removeprefix(f"{tf}.").removeprefix("math.")
            match name, rest:
                case "cast", _:
                    return _counts_from_the_start(first.value, tf)
                case (("argmax" | "argmin"), _):
                    return not any(argument.star for argument in rest)
                case "maximum", [cst.Arg(keyword=None, value=cst.Integer())]:
                    return True
                case "clip_by_value", [cst.Arg(keyword=None, value=cst.Integer()), _]:
                    return True
                case _:
                    return False
        case _:
            return False


def _everything(syntax: cst.BaseSlice) -> bool:
    return isinstance(syntax, cst.Slice) and syntax.lower is None and syntax.upper is None and syntax.step is None


def _is_ellipsis(syntax: cst.BaseSlice) -> bool:
    return isinstance(syntax, cst.Index) and isinstance(syntax.value, cst.Ellipsis)


def _is_point(syntax: cst.BaseSlice) -> bool:
    return isinstance(syntax, cst.Index) and not isinstance(syntax.value, cst.Ellipsis)


def _index(element: cst.SubscriptElement) -> cst.BaseExpression:
    assert isinstance(element.slice, cst.Index)
    return element.slice.value
