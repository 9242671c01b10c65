"""Numbers of Keras's objects that host code sets between steps: in the loop around them, or where Keras calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Function
from ..files.unit import Location
from ..interpreter.changed_outside import is_newer
from ..interpreter.contexts import CallPath
from ..interpreter.frames import LINE_BY_LINE, Act, Summary
from ..interpreter.setup_events import SetBetweenSteps
from .reached import Reached, header

_BETWEEN: Final = frozenset(
    ("on_batch_begin", "on_batch_end", "on_epoch_begin", "on_epoch_end", "on_train_batch_begin", "on_train_batch_end")
)


def is_between(function: Function | None) -> bool:
    """Whether Keras calls a function between steps of training."""
    owner = None if function is None else function.owner
    return function is not None and owner is not None and function.name in _BETWEEN and owner.is_keras("callback")


def set_by_callback(summary: Summary, trail: CallPath | None, reached: Sequence[Reached]) -> Iterator[SetBetweenSteps]:
    """What a method sets that Keras calls between steps."""
    for each in reached:
        if each.done.act is Act.SET:
            yield SetBetweenSteps(each.done.location, summary.context, trail, False, 0, None)


def set_between(summary: Summary, trail: CallPath | None, reached: Sequence[Reached]) -> Iterator[SetBetweenSteps]:
    """What a function sets in a loop of its own in which compiled steps run, too, on whatever conditions."""
    for each in reached:
        if each.done.act is Act.SET and each.at == each.done.location:
            for place, around in enumerate(each.around, 1):
                shared = each.around[:place]
                steps = (one for one in reached if one.around[:place] == shared and _is_compiled(one))
                if around.is_loop and any(steps) and not _makes_anew(around.node):
                    loop = Location(each.done.location.unit, header(around.node))
                    yield SetBetweenSteps(each.done.location, summary.context, trail, False, 0, loop)
                    break


def _is_compiled(act: Reached) -> bool:
    """Whether a compiled step runs, or Keras trains, of an object that is older than the loops around it."""
    match act.at.node:
        case cst.Call(func=callee) if not is_newer(act.at.unit, act.at.node, callee):
            return act.done.act in (Act.FIT, Act.STEP) and act.done.reader != LINE_BY_LINE
        case _:
            return False


def _makes_anew(loop: cst.CSTNode) -> bool:
    """Whether a loop makes what it trains with: a function of its own, or a model that it compiles each time."""
    for node in cst.within(loop):
        match node:
            case cst.FunctionDef() | cst.Call(func=cst.Attribute(attr=cst.Name("compile" | "function"))):
                return True
    return False
