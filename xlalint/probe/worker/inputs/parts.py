"""Structured inputs, and the parts of which they are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from xlalint.sources.specs import Keyed, Literal, Many, Spec

from .slots import Choice
from .tensors import ComposedInput, ObjectInput

Assignment: TypeAlias = tuple[Choice, ...]  # an input for each slot
PartPath: TypeAlias = tuple[int | str, ...]  # to a part of an input: indices and keys


def parts_of(form: Choice, value: Any, path: PartPath = ()) -> Iterator[tuple[PartPath, Any]]:
    """An input and all of its parts, with the objects that they became."""
    yield path, value
    if isinstance(form, Many):
        for position, item in enumerate(form.items):
            yield from parts_of(item, _inside(value, position), (*path, position))
    elif isinstance(form, Keyed):
        for key, item in form.entries:
            yield from parts_of(item, _inside(value, key), (*path, key))
    for name, entry in form.entries if isinstance(form, ComposedInput) else ():
        yield from parts_of(entry, getattr(value, name, None), (*path, name))


def _inside(value: Any, key: int | str) -> Any:
    """What a structure holds; None where the call has taken it out."""
    try:
        return None if value is None else value[key]
    except LookupError:
        return None


def part_at(form: Choice, path: PartPath) -> Choice:
    for step in path:
        if isinstance(form, Many):
            form = form.items[int(step)]
        elif isinstance(form, Keyed | ComposedInput):
            form = next(part for name, part in form.entries if name == step)
    return form


def with_part(assignment: Assignment, slot: int, path: PartPath, part: Choice) -> Assignment:
    return (*assignment[:slot], _replaced(assignment[slot], path, part), *assignment[slot + 1 :])


def _replaced(form: Choice, path: PartPath, part: Choice) -> Choice:
    if not path:
        return part
    if isinstance(form, ComposedInput):
        inner = _replaced(dict(form.entries)[str(path[0])], path[1:], part)
        return form if inner is None else form.with_entry(str(path[0]), inner)
    if part is None or isinstance(part, ObjectInput):
        return form  # a structure holds what the grammar can write
    if isinstance(form, Many):
        items = list(form.items)
        inner = _replaced(items[int(path[0])], path[1:], part)
        assert isinstance(inner, Spec | Literal | Many | Keyed)
        items[int(path[0])] = inner
        return Many(form.kind, tuple(items))
    assert isinstance(form, Keyed)
    entries = dict(form.entries)
    inner = _replaced(entries[str(path[0])], path[1:], part)
    assert isinstance(inner, Spec | Literal | Many | Keyed)
    return Keyed(tuple({**entries, str(path[0]): inner}.items()))


def changed_part(one: Assignment, other: Assignment) -> tuple[int, PartPath] | None:
    """The slot and the part in which two assignments differ; None where these are several."""
    slots = [slot for slot, (left, right) in enumerate(zip(one, other, strict=True)) if left != right]
    return (slots[0], _changed_path(one[slots[0]], other[slots[0]])) if len(slots) == 1 else None


def _changed_path(one: Choice, other: Choice) -> PartPath:
    before, after = _entries(one), _entries(other)
    different = [key for key in before if before[key] != after.get(key)]
    if before.keys() != after.keys() or len(different) != 1:
        return ()
    return (different[0], *_changed_path(before[different[0]], after[different[0]]))


def _entries(form: Choice) -> dict[int | str, Choice]:
    match form:
        case Many(items=items):
            return dict(enumerate(items))
        case Keyed(entries=entries) | ComposedInput(entries=entries):
            return dict(entries)
    return {}
