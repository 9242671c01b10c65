"""Rewrites of a call's arguments."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from xlalint.fixes.names import Names
from xlalint.fixes.rewrite import Rewrite, replace
from xlalint.semantics.events import SetupCall
from xlalint.semantics.files import Place


def without_argument(event: SetupCall, name: str, names: Names) -> Rewrite | None:
    """The call without the argument, where it is written as True in the call itself."""
    arguments = event.node.args
    given = [at for at, found in enumerate(arguments) if found.keyword is not None and found.keyword.value == name]
    match [arguments[at] for at in given]:
        case [cst.Arg(value=cst.Name(value="True")) as removed]:
            text = _without(event.place, removed, arguments[given[0] - 1] if given[0] else None, arguments[1:])
            return Rewrite(f"Remove `{name}=True`", (replace(event.place, text),))
        case _:
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
