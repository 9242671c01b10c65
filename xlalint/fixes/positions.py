"""Subscripts at positions from data as gathers, which XLA compiles once for all positions."""

from __future__ import annotations

from typing import Final

from ..analysis.domain.values import Tensor
from ..analysis.files.unit import Location
from ..analysis.interpreter.events import IndexWith
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .names import Names
from .rewrite import Rewrite, replace
from .syntax import plain
from .written import dtype_written, written

_POSITIONS: Final = ("int32", "int64")
_OF_VARIABLES: Final = frozenset(("assign", "assign_add", "assign_sub"))
_NEGATIVE = "for negative indices"
_SPARSE = "in the gradient of a variable, which becomes `tf.IndexedSlices`"
_BEYOND = "for slices that reach past the end"


def gathered(node: cst.Subscript, axis: int, tf: str = "tf") -> str | None:
    """The subscript whose item number `axis` is a position from data, as a gather along one axis, or at one point."""
    x = plain(node.value)
    others = [element.slice for at, element in enumerate(node.slice) if at != axis]
    along = _along(node, axis)
    match node.slice[axis].slice:
        case cst.Index(cst.BaseExpression() as position) if along is not None:
            return f"{tf}.gather({x}, {plain(position)}{along})"
        case cst.Slice(lower=cst.BaseExpression() as start) as cut if along is not None and (
            width := cst.width_of(cut)
        ):
            return f"{tf}.gather({x}, {tf}.cast({plain(start)}, {tf}.int32) + {tf}.range({plain(width)}){along})"
        case cst.Index() if all(map(_is_point, others)):
            return f"{tf}.gather_nd({x}, {tf}.stack([{', '.join(plain(_index(each)) for each in node.slice)}]))"
        case _:
            return None


def at_position(event: IndexWith, axis: int, names: Names) -> Rewrite | None:
    """The gather in place of a subscript that is read."""
    text = gathered(event.node, axis, names.tf)
    if text is None or event.store or _is_asked_as_variable(event):
        return None
    base = event.base
    constant = isinstance(base, Tensor) and base.dtype in ("bool", "int") and not base.variable
    differs = [] if constant else [_SPARSE]
    match event.node.slice[axis].slice:
        case cst.Slice():
            differs = [_NEGATIVE, _BEYOND]
        case cst.Index(value=position) if not _counts_from_the_start(event.location, position, names.tf):
            differs = [_NEGATIVE]
    if len(event.index) > 1 and _along(event.node, axis) is None:
        differs = [_NEGATIVE, "for indices of different integer dtypes"]
    safety = Safety.UNSAFE if differs else Safety.SAFE
    return Rewrite("Gather at the index", (replace(event.location, text),), safety, " or ".join(differs))


def _is_asked_as_variable(event: IndexWith) -> bool:
    """Whether the part of a variable is assigned by one of its methods, which no tensor has."""
    match next(event.location.unit.around(event.node), None):
        case cst.Attribute(attr=cst.Name(name)):
            return name in _OF_VARIABLES or getattr(event.base, "variable", True)
        case cst.Del():
            return True
        case _:
            return False


def _along(node: cst.Subscript, axis: int) -> str | None:
    """The argument that names the axis of the only position among whole dimensions; None where it is not the only."""
    others = [element.slice for at, element in enumerate(node.slice) if at != axis]
    if all(map(_everything, others)):
        return f", axis={axis}" if axis else ""
    if _is_ellipsis(others[0]) and axis == len(others) and all(map(_everything, others[1:])):
        return ", axis=-1"
    return None


def _counts_from_the_start(location: Location, position: cst.BaseExpression, tf: str) -> bool:
    """Whether a position is never negative and of a dtype of positions, by its form."""
    match written(location, position):
        case cst.Call(func=function, args=[first, *rest]) as call if dtype_written(location, call, tf) in _POSITIONS:
            match plain(function).removeprefix(f"{tf}.").removeprefix("math."), rest:
                case "cast", _:
                    return _counts_from_the_start(location, first.value, tf)
                case (("argmax" | "argmin"), _):
                    return True
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
