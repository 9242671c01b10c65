"""The keys of dictionaries that failing code reads, and those of dictionaries that it holds itself, which what it is
passed is to have.

class Fields(Layer):
    def __init__(self, columns): self.starts = {column["name"]: 0 for column in columns}
    def call(self, inputs): return tf.concat([inputs[name] + start for name, start in self.starts.items()], axis=-1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .configurations import held_by
from .culprits import FailedCall, statement_at, user_frames_of

_MOST: Final = 3  # dictionaries
_MOST_KEYS: Final = 8  # of one
_UNKNOWN: Final = object()


def keys_read(failed: FailedCall) -> tuple[str, ...]:
    """The keys that the failing statement reads of what has none, as far as that is known."""
    read = list(_read(failed))
    of_others = [key for key, one in read if one is not _UNKNOWN and not isinstance(one, Mapping)]
    return tuple(dict.fromkeys(of_others or [key for key, one in read if one is _UNKNOWN]))[:_MOST_KEYS]


def keys_beside(failed: FailedCall, key: str) -> frozenset[str] | None:
    """The keys of the dictionary in which the failing statement looks for one in vain; None where it is not known."""
    held = (one for read, one in _read(failed) if read == key and isinstance(one, Mapping) and key not in one)
    return next((frozenset(map(str, one)) for one in held), None)


def _read(failed: FailedCall) -> Iterator[tuple[str, Any]]:
    """The keys that the failing statement reads by name, each with what it reads them of, if that is known."""
    for frame, line in user_frames_of(failed.error.__traceback__, failed.own)[-1:]:
        statement = statement_at(frame.f_code.co_filename, frame.f_code.co_firstlineno, line)
        names = {**frame.f_globals, **frame.f_locals}
        for node in ast.walk(statement) if statement is not None else ():
            match node:
                case ast.Subscript(value=holder, slice=ast.Constant(value=str(key)), ctx=ast.Load()):
                    held = held_by(holder, names)
                    known = held is not None or (isinstance(holder, ast.Name) and holder.id in names)
                    yield key, held if known else _UNKNOWN


def keys_held(failed: FailedCall) -> tuple[tuple[str, ...], ...]:
    """The keys of dictionaries that functions on the way to an error have in their names, or in the attributes of their
    objects, the innermost first; without what is passed itself."""
    passed = {id(one) for one in failed.objects.values()}
    found = (
        tuple(one)
        for one in _held(failed)
        if id(one) not in passed and 0 < len(one) <= _MOST_KEYS and all(isinstance(key, str) for key in one)
    )
    return tuple(dict.fromkeys(found))[:_MOST]


def _held(failed: FailedCall) -> Iterator[dict[Any, Any]]:
    for frame, _ in reversed(user_frames_of(failed.error.__traceback__, failed.own)):
        names = frame.f_locals
        held = getattr(names.get("self"), "__dict__", {})
        attributes = (value for name, value in list(held.items()) if not name.startswith("_"))
        yield from (one for one in (*names.values(), *attributes) if isinstance(one, dict))
