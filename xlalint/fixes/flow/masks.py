"""The masks of an analysis: how a frame writes them, and what they meet."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.domain.values import Tensor, Value
from ...syntax import nodes as cst
from ..rewrite import GivenUp
from .frames import Frame
from .selecting import spread_over
from .states import OTHER, Callable, Items, Mask, Places, Rows, State, holds_rows
from .writing import Writing, atom


class Masks:
    """What is known of the selection that is wanted. `mask_value`: what is known of its mask; `filled`: the selections
    whose other rows get values that nothing goes wrong for, by the selection or by its mask: "zero", or those of a
    "row" that is selected."""

    def __init__(
        self, writing: Writing, wanted: cst.CSTNode, mask_value: Value | None, filled: dict[int | str, str]
    ) -> None:
        self.writing, self.wanted, self.filled = writing, wanted, filled
        self.wanted_mask = _mask_node(wanted)
        self.mask_rank = mask_value.rank if isinstance(mask_value, Tensor) else None
        self.mask_is_boolean = isinstance(mask_value, Tensor) and mask_value.dtype == "bool"
        self.needs_filling: dict[int | str, str] = {}
        self.has_met = False

    def note_singular(self, states: Sequence[State], is_singular: bool, kind: str = "row") -> None:
        """What is computed of these may be infinite, or fail, for what is not selected."""
        for state in states:
            if is_singular and isinstance(state, Rows):
                if kind == "row":
                    self.needs_filling[state.mask.key] = kind  # what meets it later, too
                else:
                    self.needs_filling |= dict.fromkeys(state.roots, kind)

    def mask_here(self, mask: Mask, text: str, frame: Frame) -> Mask:
        """A mask under the name that it has in a frame."""
        head = text.partition(".")[0]
        return Mask(mask.key, text, mask.rank, frame.number, ((head, frame.version(head)),), mask.is_boolean, mask.kind)

    def mask_text(self, mask: Mask, frame: Frame) -> str:
        """How a frame writes a mask: a function that does not see it gets it as an argument."""
        if frame.sees(mask):
            return mask.text if mask.is_boolean else f"{self.writing.tf}.cast({mask.text}, {self.writing.tf}.bool)"
        if not isinstance(frame.function, cst.FunctionDef) or frame.caller is None or frame.call is None:
            raise GivenUp
        text = self.mask_text(mask, frame.caller)
        name = self.writing.fresh(frame.function, "mask")
        self.writing.parameter(frame.function, frame.call, name, text)
        return name

    def as_rows(self, node: cst.BaseExpression, state: State, frame: Frame) -> State:
        """Places of a mask with one dimension as what they are: the numbers of the rows."""
        match state:
            case Places(mask, flat=True):
                tf = self.writing.tf
                self.writing.put(node, f"{tf}.range({tf}.size({self.mask_text(mask, frame)}, {tf}.int64))")
                return Rows(mask, 0, 0)
            case Places(mask):
                tf, text = self.writing.tf, self.mask_text(mask, frame)
                grid = f'{tf}.meshgrid(*map({tf}.range, {atom(text)}.shape), indexing="ij")'
                self.writing.put(node, f"{tf}.cast({tf}.stack({grid}, -1), {tf}.int64)")
                return Rows(mask, 0, 1)
            case _:
                return state

    def spread(self, rows: Rows, node: cst.BaseExpression, frame: Frame, times: int = 1) -> tuple[str, str]:
        """The mask with as many dimensions as rows have, and the rows as text that may stand so many times more."""
        return spread_over(self.writing, self.mask_text(rows.mask, frame), rows, node, times)

    def operand(self, node: cst.BaseExpression, state: State, frame: Frame) -> State:
        """An argument of a function that computes something for each position."""
        state = self.as_rows(node, state, frame)
        return OTHER if isinstance(state, Items | Callable) and not holds_rows(state) else state


def _mask_node(wanted: cst.CSTNode) -> cst.BaseExpression | None:
    """The mask of a selection, or the condition of places."""
    match wanted:
        case cst.Subscript(slice=[cst.SubscriptElement(cst.Index(mask))]):
            return mask
        case cst.Call(func=cst.Attribute(attr=cst.Name("top_k")) | cst.Name("top_k")):
            return None
        case cst.Call(args=[cst.Arg(value=condition)]):
            return condition
        case cst.Call(args=[_, cst.Arg(value=mask), *_]):
            return mask
        case _:
            return None
