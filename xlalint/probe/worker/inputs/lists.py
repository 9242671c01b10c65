"""Lists and tuples like others, of another length or kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from xlalint.sources.specs import Form, Keyed, Literal, Many, Spec

from .error_clues import MOST_RANK, ErrorClues
from .numbers import SIZE
from .slots import Choice, Slot, tensor
from .spec_changes import is_other, less, of_rank
from .tensors import map_specs

_LONGEST: Final = 6  # items


def sizes_of(part: Many) -> tuple[Any, ...] | None:
    """The values of a structure of Python values, which may be a shape."""
    return tuple(item.value for item in part.items if isinstance(item, Literal)) or None


def instead_of_many(part: Many, slot: Slot | None, clues: ErrorClues) -> Iterator[Choice]:
    first: Form = part.items[0] if part.items else tensor()
    longer = Many(part.kind, (*part.items, part.items[-1] if part.items else first))
    if clues.of_length and len(part.items) < _LONGEST:
        yield longer
    if (sizes := sizes_of(part)) in clues.shapes:
        others = (other for other in clues.shapes if is_other(other, sizes))
        yield from (Many(part.kind, tuple(map(Literal, other))) for other in others)
    for count in clues.counts:
        if count != len(part.items):
            yield Many(part.kind, (*part.items, *(first,) * count)[:count])
    if clues.unpack is not None and clues.unpack != len(part.items):
        yield Many(part.kind, (*part.items, *(first,) * clues.unpack)[: clues.unpack])
    if part.items and all(isinstance(item, Spec) for item in part.items):
        if clues.of_one_element:
            yield from (map_specs(part, partial(less, ranks=ranks)) for ranks in (MOST_RANK, 1))
        if clues.asks:  # what operations take for one tensor has a dimension more than its items
            yield from (map_specs(part, partial(of_rank, rank=rank - 1)) for rank in clues.ranks if rank)
        # It may be a structure of sizes.
        yield Many(part.kind, (Literal(SIZE),) * len(part.items))
    if clues.kind in ("IndexError", "ValueError", "AssertionError", "TypeError") and len(part.items) < _LONGEST:
        yield longer
    if part.items:
        yield Many("tuple" if part.kind == "list" else "list", part.items)
    if slot is not None:
        yield from (choice for choice in slot.choices if choice != part)
    if slot is not None and "not str" in clues.text:  # it is read by key
        yield Keyed(())
    yield from (first, tensor(), Literal(2))
    if len(part.items) < _LONGEST:
        yield longer
    if part.items:
        yield Many(part.kind, part.items[:-1])
