"""Which texts name a file of the machine that runs Python, which is not that of a TPU node."""

from __future__ import annotations

from typing import Final

from ..domain.values import ApiObject, Static, Value

PATH: Final = "pathlib.Path"
LOCAL: Final = Static(local=True)
_SCHEME: Final = "://"  # of a bucket: `gs://..`


def known_path(value: Value) -> str | None:
    """The text of a path, where all of it is known."""
    match value:
        case Static(str() as text):
            return text
        case _:
            return None


def is_local(value: Value) -> bool:
    """Whether a path is one of this machine."""
    match value:
        case Static(local=True):
            return True
        case Static(str() as text):
            return bool(text) and _SCHEME not in text
        case ApiObject(api=name):
            return name == PATH
        case _:
            return False


def begins_locally(value: Value) -> bool:
    """Whether a text that is put together names a file of this machine, by what stands first in it: `"data/" + name`.
    What names no folder need not be a path."""
    text = known_path(value)
    return is_local(value) if text is None else "/" in text and _SCHEME not in text
