"""Which callables have gradients of which the table says something else than what becomes of them today.

Only gradients are measured for that, which takes a fraction of the time of whole rows; `apis --only` then measures the
rows of these callables anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from xlalint.measuring.driver import plans as rows_to_repeat
from xlalint.measuring.variations import Variation

NONE: Final = "none"


def plans(rows: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By callable whose plain call compiles: that case of its row, what is varied in it, and whether the calls of its
    cases give random numbers."""
    repeated = rows_to_repeat({"apis": rows}, complete=True)
    return {
        name: {
            "plain": rows[name]["cases"][0],
            "varied": plan["varied"],
            "random": {case["call"]: case.get("random", False) for case in rows[name]["cases"]},
        }
        for name, plan in repeated.items()
        if rows[name]["cases"][0].get("outcome") != "fails"
    }


def groups(plain: Mapping[str, Any], others: Iterator[list[Variation]]) -> Iterator[list[Variation]]:
    """The plain call, then of each group of variations those whose gradient is asked for."""
    yield [Variation({}, plain["call"])]
    for group in others:
        yield [one for one in group if one.gradient]


def told_otherwise(row: Mapping[str, Any], seen: Sequence[Mapping[str, Any]]) -> list[str]:
    """The calls whose gradient a row of the table tells otherwise than it was seen; of a call that is not in the row,
    nothing is told."""
    return [
        one["call"]
        for one in seen
        if (case := _case(row, one["varied"])) is not None and _essence(case) != _essence(one)
    ]


def _case(row: Mapping[str, Any], varied: Mapping[str, str]) -> Mapping[str, Any] | None:
    """What a row says of a call: its own case, or the plain one where what is varied changes nothing."""
    plain: Mapping[str, Any] = row["cases"][0]
    own = next((case for case in row["cases"] if case.get("varied", {}) == varied), None)
    if own is not None:
        return None if own.get("outcome") == "fails" else own
    same = row.get("same", {})
    return plain if all(text in same.get(parameter, ()) for parameter, text in varied.items()) else None


def _essence(case: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """What two gradients must agree in to be the same for whoever writes the call."""
    return case.get("gradient", NONE), tuple(case.get("gradient_missing", ()))
