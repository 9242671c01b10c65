"""Rewrites of a call's arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst

from xlalint.findings import Safety
from xlalint.fixes.names import Names
from xlalint.fixes.rewrite import Rewrite, replace
from xlalint.fixes.syntax import plain
from xlalint.semantics.events import ApiCall, SetupCall
from xlalint.semantics.files import Place


def without_argument(event: SetupCall, name: str, names: Names) -> Rewrite | None:
    """The call without the argument, where it is written as True in the call itself."""
    return left_out(event, name, ("True",), "")


def left_out(event: SetupCall | ApiCall, name: str, values: Collection[str], differs: str | None) -> Rewrite | None:
    """The call without the argument, where it is written as one of the values in the call itself. `differs`: where the
    result does; empty where it does not, None where it does everywhere."""
    arguments = event.node.args
    for at, found in enumerate(arguments):
        if found.keyword is not None and found.keyword.value == name and plain(found.value) in values:
            text = _without(event.place, found, arguments[at - 1] if at else None, arguments[1:])
            safety = Safety.DISPLAY if differs is None else Safety.UNSAFE if differs else Safety.SAFE
            title = f"Remove `{name}={plain(found.value)}`"
            return Rewrite(title, (replace(event.place, text),), safety, differs or "")
    return None


def _without(place: Place, removed: cst.Arg, before: cst.Arg | None, others: Sequence[cst.Arg]) -> str:
    """The text of a call without an argument, and without the comma that parts it from the others."""
    unit, file = place.unit, place.unit.file
    start, end = unit.span(removed)[:2], unit.span(removed.value)[2:]
    if before is not None:
        start = unit.span(before.value)[2:]
    elif others:
        end = unit.span(others[0])[:2]
    first = place.span[:2]
    return file.text_between(first, start) + file.text_between(end, place.span[2:])
