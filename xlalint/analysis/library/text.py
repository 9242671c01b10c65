"""What the methods of known text return, of known arguments: names of layers and options are put together of it."""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from typing import Any, Final

from ..domain.values import STATIC, Sequence, Static, Value
from .local_paths import filled_in

METHODS: Final = frozenset(
    (
        *("lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "casefold", "swapcase"),
        *("split", "rsplit", "partition", "rpartition", "replace", "removeprefix", "removesuffix"),
        *("format", "startswith", "endswith", "isdigit", "isalpha", "isidentifier", "find", "index", "count"),
    )
)
# .. and of unknown text, or of a file.
OF_UNKNOWN: Final = frozenset(("format", "split", "rsplit", "splitlines", "readlines"))
_LONGEST: Final = 400


def call_text(text: object, method: str, arguments: Ordered[Value]) -> Value:
    """`text.method(..)`; STATIC where an argument is not known."""
    if not isinstance(text, str):
        return STATIC if method == "format" else Sequence("list", None, STATIC)
    if method == "format":  # no value, but perhaps a path: names of layers are made so
        return filled_in(text, arguments)
    known: list[Any] = [value.constant for value in arguments if isinstance(value, Static) and value.known]
    if len(known) < len(arguments) or len(text) > _LONGEST:
        return STATIC
    try:
        result = getattr(text, method)(*known)
    except (TypeError, ValueError):
        return STATIC
    match result:
        case list() | tuple():
            return Sequence("list" if isinstance(result, list) else "tuple", tuple(map(Static, result)))
        case str() if len(result) > _LONGEST:
            return STATIC
        case _:
            return Static(result)
