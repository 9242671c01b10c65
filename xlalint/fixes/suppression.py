"""Non-maximum suppression with a fixed number of positions, and how many of them are boxes."""

from __future__ import annotations

from typing import Final

from ..analysis.domain.values import Static
from ..analysis.interpreter.events import ApiCall
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .names import Names
from .rewrite import Rewrite, replace
from .syntax import plain

# What a call of another variant has in common with the padded one, in the order of its parameters.
SHARED: Final = ("boxes", "scores", "max_output_size", "iou_threshold", "score_threshold")
_NEEDED: Final = SHARED[:3]
_PADDED: Final = "pad_to_max_output_size=True"
_MOST: Final = 1_000_000  # boxes that anybody pads to


def padded_call(event: ApiCall, tf: str) -> str | None:
    """The same call of the padded form; only one image at a time has that form."""
    nodes = event.argument_nodes
    if not {*_NEEDED} <= nodes.keys():
        return None
    rest = [f"{name}={plain(nodes[name])}" for name in SHARED[3:] if name in nodes]
    arguments = ", ".join([*map(plain, (nodes["boxes"], nodes["scores"])), _number(event), *rest, _PADDED])
    return f"{tf}.image.non_max_suppression_padded({arguments})"


def marks(event: ApiCall, number: str, tf: str) -> str:
    """Which of the positions are boxes."""
    return f"{tf}.range({_number(event)}) < {number}"


def _number(event: ApiCall) -> str:
    """How many positions there are to be: `MAXIMUM` where the code says that it keeps them all."""
    match event.arguments.get("max_output_size"):
        case Static(constant=int() | float() as number) if number > _MOST:
            return "MAXIMUM"
        case _:
            return plain(event.argument_nodes["max_output_size"])


def padded(event: ApiCall, names: Names) -> Rewrite | None:
    """Positions that get a name: as many as there may be, with a mask of those that are boxes."""
    if not event.argument_nodes.keys() <= {*SHARED}:
        return None
    match [*event.location.unit.around(event.location.node)][:2]:
        case [
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=selected))]),
            cst.SimpleStatementLine(body=[_]) as line,
        ] if call := padded_call(event, names.tf):
            number = names.fresh("number")
            text = f"{selected}, {number} = {call}\n{names.fresh('valid')} = {marks(event, number, names.tf)}"
            edits = (replace(event.location.at(line), text),)
            return Rewrite("Pad to the maximum number of boxes, and mark the valid ones", edits, Safety.DISPLAY)
        case _:
            return None
