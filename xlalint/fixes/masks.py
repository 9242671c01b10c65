"""Selections by a mask that end in reductions, at a static shape.

The selected elements keep their places, and the reduction leaves the others out: `tf.where` puts what changes nothing
in their place, or a mask of zeros and ones weighs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..analysis.domain.values import Value
from ..analysis.files.unit import Location
from ..analysis.interpreter.events import Consume
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .flow.rewriting import follow
from .names import Names
from .one_position import one_position
from .reductions import KEEPING, REDUCTIONS, Selected, may_be_infinite, reduction
from .rewrite import NodeEdit, Rewrite, Rewriter, before, remove, replace
from .selections import Selection, call_of, flattened, gathered
from .syntax import operand, plain
from .weighed import BOUND_LATER, POSITIONS, REDUCE, Builder

_KEEP: Final = "Keep every element, with zeros where the mask is False"


def positions(location: Location, mask_value: Value | None) -> Rewriter:
    """The rewrite of `tf.where(condition)` at `place`, where its positions only select what a reduction takes in."""

    def build(names: Names) -> Rewrite | None:
        if (one := one_position(location, mask_value, names.tf)) is not None:
            return one
        if (flat := flattened(location, names.tf)) is not None:
            whole, values, mask = flat
            chosen = Selection(location.at(whole), values, mask, None, mask_value)
            made = _rewritten(chosen, names)
            statement = location.at(next(location.unit.around(location.node)))
            return made and Rewrite(REDUCE, (remove(statement), *made.edits), Safety.UNSAFE, made.differs or POSITIONS)
        for node in location.unit.around(location.node):
            found = gathered(node, names.tf)
            if found is not None:
                values, mask = found
                chosen = Selection(location.at(node), values, mask, None, mask_value)
                return _built(chosen, names, location)
            if isinstance(node, cst.BaseSmallStatement):
                break
        return follow(location, names, mask_value)

    return build


def selection(chosen: Selection, consumers: Sequence[Consume]) -> Rewriter:
    """The rewrite of a selection by a mask and of all that follows from it. `consumers`: what is passed it."""

    def build(names: Names) -> Rewrite | None:
        if any(isinstance(node, BOUND_LATER[2:]) for node in chosen.location.unit.around(chosen.location.node)):
            return None
        return _built(chosen, names, chosen.location) or _shown(chosen, consumers, names)

    return build


def _built(chosen: Selection, names: Names, location: Location) -> Rewrite | None:
    """The rewrite within a block; where weights would make that, the one by the flow, in which nothing is computed of
    what is not selected that might not be finite."""
    builder = Builder(chosen, names, in_place=False)
    found = builder.rewrite()
    if found is not None and builder.weights is None:
        return found
    if (followed := follow(location, names, chosen.mask_value)) is not None:
        return followed
    if found is None or any(may_be_infinite(one, builder.whole) for one in builder.rewritten):
        return None
    return _in_place(builder, chosen, names) or found


def _in_place(builder: Builder, chosen: Selection, names: Names) -> Rewrite | None:
    return Builder(chosen, names, in_place=True).rewrite() if builder.may_be_in_place else None


def _rewritten(chosen: Selection, names: Names) -> Rewrite | None:
    builder = Builder(chosen, names, in_place=False)
    found = builder.rewrite()
    return None if found is None else _in_place(builder, chosen, names) or found


def _shown(chosen: Selection, consumers: Sequence[Consume], names: Names) -> Rewrite | None:
    """What has the same shape whatever the mask, for a person to go on from: with how many are kept where a mean
    follows, and nothing where another reduction takes zeros for what is kept."""
    tf, x, mask = names.tf, plain(chosen.values), plain(chosen.mask)
    edits: tuple[NodeEdit, ...] = (replace(chosen.location, f"{tf}.where({mask}, {x}, {tf}.zeros_like({x}))"),)
    spoiled = [(one, name) for one in consumers if (name := reduction(one.consumer)) and name not in KEEPING]
    for consumer, name in spoiled:
        call = call_of(chosen)
        if call is not None and chosen.location.at(call) == consumer.location:
            whole = REDUCTIONS[name](Selected(tf, x, operand(chosen.values), mask, mask, "", None, True))
            return None if whole.before else Rewrite(REDUCE, (replace(consumer.location, whole.text),), Safety.DISPLAY)
    if any(name != "reduce_mean" for _, name in spoiled):
        return None
    if spoiled:
        number = f"{names.fresh('number')} = {tf}.reduce_sum({tf}.cast({mask}, {tf}.float32))"
        statement = next(
            node
            for node in chosen.location.unit.around(chosen.location.node)
            if isinstance(node, cst.BaseSmallStatement)
        )
        edits += (
            before(chosen.location.at(statement), f"{number}  # a mean counts the zeros: divide the sum by this"),
        )
    return Rewrite(_KEEP, edits, Safety.DISPLAY)
