"""What to try in place of a dictionary at fault, and of what is to be one, by what the error says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from xlalint.sources.specs import Form, Keyed, Literal, Spec

from .error_clues import ErrorClues
from .numbers import SIZE
from .slots import Choice, Slot, tensor
from .spec_changes import less

TEXT: Final = "same"
TYPES: Final = frozenset(("None", "NoneType", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "set"))
_MOST_OF_ROWS: Final = 2  # dimensions: images have more
_NAMES: Final = re.compile(r"(?:^|_)names?$")


def instead_of_keyed(part: Keyed, slot: Slot | None, clues: ErrorClues) -> Iterator[Choice]:
    """What may stand in the place of a dictionary, the likeliest first."""
    known = dict(part.entries)
    keys = [clues.key] if clues.key is not None else [one for one in _words_for_keys(clues) if one not in known][:3]
    if not clues.of_object and clues.key is None:
        alike = next(iter(known.values()), tensor())
        others = (several for several in clues.held if set(several) != known.keys())
        yield from (Keyed(tuple((key, known.get(key, alike)) for key in several)) for several in others)
    for key in keys:
        if key not in known and clues.of_object:
            guess = guess_of(key)
            yield from (Keyed((*part.entries, *one.items())) for one in known_first({key: guess}, clues))
            yield Keyed((*part.entries, (key, Literal(SIZE if guess.value == TEXT else TEXT))))
        if key not in known:
            yield Keyed((*part.entries, (key, tensor())))
    if slot is not None:
        yield from (choice for choice in slot.choices if choice != part)
    yield tensor()


def asks_for_key(part: Choice, clues: ErrorClues) -> bool:
    """Whether a dictionary lacks the key that is read, or what is read by keys has none."""
    if isinstance(part, Keyed):
        return clues.beside is not None and clues.beside == dict(part.entries).keys()
    return bool(clues.read) and isinstance(part, Literal) and not isinstance(part.value, str)


def _words_for_keys(clues: ErrorClues) -> Iterator[str]:
    """The words of an error that may be keys: no types, and no attribute that something else than a dictionary
    lacks."""
    of_other = "" if clues.attribute is None or clues.attribute[0] == "dict" else clues.attribute[1]
    yield from (word for word in clues.words if word not in TYPES and word != of_other)


def guess_of(name: str) -> Literal:
    """What a setting is of which only the name is known."""
    return Literal(TEXT if _NAMES.search(name) else SIZE)


def known_first(unknown: Mapping[str, Form], clues: ErrorClues) -> Iterator[dict[str, Form]]:
    """Settings of some names: as the project says that they are, and as they are here."""
    said = {name: clues.said.get(name, form) for name, form in unknown.items()}
    yield from ([said] if said != unknown else [])
    yield dict(unknown)


def with_fewer(form: Choice) -> Iterator[Keyed]:
    """Dictionaries of which one tensor has a dimension less: where one element is asked for, it may be computed from an
    element of any."""
    entries = form.entries if isinstance(form, Keyed) else ()
    for place, (key, one) in enumerate(entries):
        if isinstance(one, Spec) and 0 < len(one.dims) <= _MOST_OF_ROWS:
            yield Keyed((*entries[:place], (key, less(one, 1)), *entries[place + 1 :]))
