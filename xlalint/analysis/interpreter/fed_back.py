"""What a compiled function returns to a loop on the host, which passes it to the next call: `x, past = step(x, past)`.
Where the function joins something to it, it is longer each time."""

from __future__ import annotations

from collections.abc import Mapping

from ...syntax import nodes as cst
from ..domain.values import Array, Dict, OneOf, Sequence, Structure, Tensor, Value, Variation
from ..domain.varying_shapes import FED_BACK, GROWS, variations_of, varied, without
from ..files.unit import Location
from ..record import Record, replace
from .contexts import NOT_TRACED
from .frames import Arguments, Frame

_DATA = Array | Dict | OneOf | Sequence | Structure | Tensor


class Feedback(Record):
    """A call in a loop. `names`: the names that hold what it returned when it comes again, each with the name that the
    result has first; `targets`: what the result is assigned to."""

    call: Location
    names: Mapping[str, str]
    targets: tuple[cst.BaseExpression, ...]

    def marked(self, arguments: Arguments) -> Arguments:
        """The arguments with a mark at those that the call before has returned."""

        def mark(value: Value, written: cst.CSTNode | None) -> Value:
            if not (isinstance(written, cst.Name) and written.value in self.names and isinstance(value, _DATA)):
                return value
            return varied(value, (Variation(FED_BACK, self.call, detail=f"{FED_BACK} {self.names[written.value]}"),))

        nodes = [*arguments.nodes, *([None] * len(arguments.positional))]
        keywords = {name: mark(value, arguments.keyword_nodes.get(name)) for name, value in arguments.keywords.items()}
        positional = [mark(value, written) for value, written in zip(arguments.positional, nodes, strict=False)]
        return replace(arguments, positional=positional, keywords=keywords)

    def returned(self, result: Value) -> Value:
        """The result, each part of which gets longer only where something is joined to what that part was before."""
        if not any(each.kind == GROWS and each.detail.startswith(FED_BACK) for each in variations_of(result)):
            return result
        match self.targets, result:
            case (cst.Tuple(elements=parts),), Sequence(items=tuple(items)) if len(parts) == len(items):
                kept = [_own(item, part.value) for part, item in zip(parts, items, strict=True)]
                return replace(result, items=tuple(kept))
            case (target,), _:
                return _own(result, target)
            case _:
                return _own(result, None)


def _own(value: Value, target: cst.BaseExpression | None) -> Value:
    name = target.value if isinstance(target, cst.Name) else ""

    def is_of_another(variation: Variation) -> bool:
        joined = variation.kind in (FED_BACK, GROWS) and variation.detail.startswith(FED_BACK)
        return joined and (variation.kind == FED_BACK or variation.detail != f"{FED_BACK} {name}")

    return without(value, is_of_another)


def feedback_of(frame: Frame, call: cst.CSTNode) -> Feedback | None:
    """A call on the host that is passed in a loop what it returned before; None for another."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline or not (frame.looped or frame.python_loop):
        return None
    targets: tuple[cst.BaseExpression, ...] = ()
    for around in frame.unit.around(call):
        match around:
            case cst.Assign(targets=assigned, value=value) if value is call:
                targets = tuple(each.target for each in assigned)
            case cst.For(body=body) | cst.While(body=body) if targets:
                names = {name: name for target in targets for name in cst.names_in(target)}
                return Feedback(Location(frame.unit, call), names | _renamed(body, names), targets)
            case cst.For() | cst.While() | cst.FunctionDef() | cst.Lambda():
                return None
    return None


def _renamed(body: cst.CSTNode, names: Mapping[str, str]) -> dict[str, str]:
    """The names that get one of these: `past = new`."""
    return {
        target.value: node.value.value
        for node in cst.within(body)
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Name) and node.value.value in names
        for each in node.targets
        if isinstance(target := each.target, cst.Name)
    }
