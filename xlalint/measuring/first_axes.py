"""Which arguments say how long the result of a call is: the call again, with twice as many rows of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xlalint.measuring.signatures import Moves

# What comes out of a call, which fails where the tensors do not fit each other.
Run: TypeAlias = Callable[[str], Sequence[Any]]


def followed(call: str, roles: Mapping[int, str], run: Run) -> dict[str, int]:
    """By parameter that the length of every result goes with: how many dimensions it has in the call."""
    moves = Moves(call)
    plain = _lengths(run(call))
    found: dict[str, int] = {}
    for place, (_, shape) in enumerate(moves.samples):
        if shape and None not in plain and (role := roles.get(place)):
            alike = [other for other, (_, one) in enumerate(moves.samples) if one[:1] == shape[:1]]
            if any(_follows(moves, group, plain, run) for group in ([place], alike)):
                found[role] = len(shape)
    return found


def _follows(moves: Moves, places: Sequence[int], plain: Sequence[int | None], run: Run) -> bool:
    """Whether all results are longer where these tensors have twice as many rows."""
    kinds = {place: moves.samples[place] for place in places}
    try:
        other = _lengths(run(moves.written({place: (kind, (2 * s[0], *s[1:])) for place, (kind, s) in kinds.items()})))
    except Exception:  # these tensors do not fit the others
        return False
    return len(other) == len(plain) > 0 and all(one != two for one, two in zip(plain, other, strict=True))


def _lengths(tensors: Sequence[Any]) -> list[int | None]:
    return [int(one.shape[0]) if len(one.shape) else None for one in tensors]
