"""Which texts name a file of the machine that runs Python, which is not that of a TPU node."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Several
from typing import Final

from ..domain.values import STATIC, ApiObject, Sequence, Setting, Static, Value

PATH: Final = "pathlib.Path"
PATH_CLASSES: Final = tuple(f"pathlib.{name}" for name in ("Path", "PosixPath", "PurePath", "PurePosixPath"))
LOCAL: Final = Static(local=True)
_PLACES: Final = re.compile(r"%s|\{\}")  # of a text that is filled in
_SCHEME: Final = "://"  # of a bucket: `gs://..`


def known_path(value: Value) -> str | None:
    """The text of a path, where all of it is known."""
    match value:
        case Static(str() as text):
            return text
        case _:
            return None


def usual_path(value: Value) -> str | None:
    """The same, or what it is by default."""
    match value:
        case Static(setting=Setting(str() as text), local=False):
            return text
        case _:
            return known_path(value)


def setting_of(value: Value) -> str | None:
    """How a message names the setting that says where a path begins; None where the program says that itself."""
    match value:
        case Static(setting=Setting(str(), name)):
            return name
        case _:
            return None


def is_local(value: Value) -> bool:
    """Whether a path is one of this machine, by default at least."""
    match value:
        case Static(local=True):
            return True
        case Static(str() as text) | Static(setting=Setting(str() as text)):
            return bool(text) and _SCHEME not in text
        case ApiObject(api=name):
            return name == PATH
        case _:
            return False


def begins_locally(value: Value) -> bool:
    """Whether a text that is put together names a file of this machine, by what stands first in it: `"data/" + name`.
    What names no folder need not be a path."""
    text = usual_path(value)
    return is_local(value) if text is None else "/" in text and _SCHEME not in text


def holds_paths(value: Value) -> bool:
    """Whether it is a column of a table, or a list, of which each item is a path of this machine."""
    match value:
        case Sequence(items=None, element=Static(local=True)):
            return True
        case _:
            return isinstance(value, Static) and value.local


def begun_by(value: Value) -> Value:
    """A path that begins with this one."""
    match value:
        case Static(setting=Setting(str() as text, name)) if is_local(value):
            return Static(setting=Setting(text, name), local=True)
        case Static(str() as text) | Static(begins=text) if is_local(value):
            return Static(local=True, begins=text)
        case _:
            return LOCAL if is_local(value) else STATIC


def put_together(parts: Several[Value], join: Callable[[Iterable[str]], str]) -> Value:
    """A path of several parts: the whole of it where that is known, or known by default; else how it begins."""
    texts = [usual_path(part) for part in parts]
    whole = join(text for text in texts if text is not None) if parts and None not in texts else None
    if whole is None:
        return begun_by(parts[0]) if parts else STATIC
    match parts[0]:
        case Static(setting=Setting(str(), name)):
            return Static(setting=Setting(whole, name))
        case first:
            return Static(whole) if all(known_path(part) is not None for part in parts) else begun_by(first)


def added(left: Value, right: Value) -> Value | None:
    """`left + right`, where that names a file of this machine; None where it does not, as far as anybody knows."""
    path = put_together((left, right), "".join)
    return path if begins_locally(left) or (usual_path(path) is not None and begins_locally(path)) else None


def continued(path: Value | None, part: Value) -> Value:
    """A text with a further part; None: the first one."""
    return part if path is None else added(path, part) or STATIC


def unknown_text(path: Value) -> Value:
    """What is known of a text as a path, where the text itself is to be no value."""
    if usual_path(path) is not None and setting_of(path) is not None:
        return path
    return begun_by(path) if begins_locally(path) else STATIC


def filled_in(form: str, values: Several[Value]) -> Value:
    """`"{}/a".format(folder)` or `"%s/a" % folder`, as a path."""
    path: Value | None = None
    texts = _PLACES.split(form)
    if len(texts) != len(values) + 1:
        return begun_by(Static(texts[0])) if begins_locally(Static(texts[0])) else STATIC
    for text, value in zip(texts, (*values, Static("")), strict=True):
        path = continued(continued(path, Static(text)) if path is not None or text else None, value)
    return STATIC if path is None else unknown_text(path)
