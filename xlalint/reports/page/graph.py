"""The way from an entry point to a finding, as a small call graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .markup import Markup, element

_WIDTH: Final = 360
_BOX: Final = 46  # height of a box; the arrow below it has another _GAP
_GAP: Final = 22
_NAME: Final = 42  # characters that fit in a box
_PLACE: Final = 52


@dataclass(frozen=True, slots=True)
class Stop:
    """A box: what is there, and where."""

    name: str
    place: str
    kind: str = "call"


def graph(stops: Sequence[Stop]) -> Markup:
    """The stops one below the other, with arrows."""
    height = len(stops) * (_BOX + _GAP) - _GAP
    parts = []
    for number, stop in enumerate(stops):
        top = number * (_BOX + _GAP)
        if number:
            parts.append(_arrow(top))
        parts.append(
            element(
                "g",
                element("title", f"{stop.name} ({stop.place})"),
                element("rect", x=1, y=top + 1, width=_WIDTH - 2, height=_BOX - 2, rx=8),
                element("text", _fitted(stop.name, _NAME), x=14, y=top + 20, class_="name"),
                element("text", _fitted(stop.place, _PLACE), x=14, y=top + 36, class_="place"),
                class_=stop.kind,
            )
        )
    said = "; ".join(f"{stop.name} in {stop.place}" for stop in stops)
    return element(
        "svg",
        parts,
        viewBox=f"0 0 {_WIDTH} {height}",
        width=_WIDTH,
        height=height,
        class_="graph",
        role="img",
        aria_label=f"How the compiler gets there: {said}",
    )


def _arrow(top: int) -> Markup:
    """From the box above to the one that begins at `top`."""
    return element("path", d=f"M28 {top - _GAP}V{top - 6}M23 {top - 8}l5 7 5-7", class_="arrow")


def _fitted(text: str, size: int) -> str:
    """Text with its middle left out where it is too long."""
    half = (size - 1) // 2
    return text if len(text) <= size else f"{text[:half]}…{text[-half:]}"
