"""HTML that is put together from elements, so that text can never become markup."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Final, TypeAlias

from ..terminal import safe

_VOID: Final = frozenset(("col", "input", "meta"))


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | Markup | Iterable[Child] | None"


def text(value: str) -> Markup:
    """Text as HTML that shows it, with everything invisible in it written out."""
    return Markup(html.escape(safe(value, keep_lines=True)))


def element(tag: str, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """An element. Attributes: `class_` is `class`, `data_code` is `data-code`; absent where False or None, without a
    value where True. Children that are no markup are text."""
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        if value is True:
            parts.append(f" {_name(name)}")
        elif value is not None and value is not False:
            parts.append(f' {_name(name)}="{text(str(value))}"')
    parts.append(">")
    if tag not in _VOID:
        parts += [joined(children), f"</{tag}>"]
    return Markup("".join(parts))


def joined(children: Iterable[Child]) -> Markup:
    """Markup and text, one after the other."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str):
            parts.append(text(child))
        elif child is not None:
            parts.append(joined(child))
    return Markup("".join(parts))


def _name(name: str) -> str:
    return name.removesuffix("_").replace("_", "-")
