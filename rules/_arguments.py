"""Rewrites of a call's arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import ApiCall
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.findings.findings import Safety
from xlalint.fixes.names import Names
from xlalint.fixes.rewrite import Rewrite, replace
from xlalint.fixes.syntax import plain
from xlalint.syntax import nodes as cst


def without_argument(event: SetupCall, name: str, differs: str, names: Names) -> Rewrite | None:
    """The call without the argument, where it is written as True in the call itself."""
    return left_out(event, name, ("True",), differs)


def left_out(event: SetupCall | ApiCall, name: str, values: Collection[str], differs: str | None) -> Rewrite | None:
    """The call without the argument, where it is written as one of the values in the call itself. `differs`: where the
    result does; empty where it does not, None where it does everywhere."""
    for at, found in enumerate(event.node.args):
        if found.keyword is not None and found.keyword.value == name and plain(found.value) in values:
            text = _without(event.location, event.node.args, at)
            safety = Safety.DISPLAY if differs is None else Safety.UNSAFE if differs else Safety.SAFE
            title = f"Remove `{name}={plain(found.value)}`"
            return Rewrite(title, (replace(event.location, text),), safety, differs or "")
    return None


def _without(location: Location, arguments: Sequence[cst.Arg], at: int) -> str:
    """The text of a call without an argument, and without the comma that parts it from the others."""
    unit = location.unit
    spans = [unit.span(argument) for argument in arguments]  # parentheses included, commas not
    start, end = spans[at][:2], spans[at][2:]
    if at:
        start = spans[at - 1][2:]
    elif len(spans) > 1:
        end = spans[1][:2]
    return unit.text_between(location.span[:2], start) + unit.text_between(end, location.span[2:])
