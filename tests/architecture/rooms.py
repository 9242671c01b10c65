"""The rooms of the package, read off its imports, as a Mermaid diagram."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import grimp

from tests import ROOT

GUIDE: Final = ROOT / "xlalint" / "docs" / "inside.md"
# What is drawn with rooms of its own inside.
_HOUSES: Final = ("xlalint.analysis",)
_BEGIN: Final = "<!-- rooms: python -m tests.architecture -->\n```mermaid\n"
_END: Final = "```\n"


def room_of(module: str) -> str | None:
    """The room of a module: a package of the tool, or of one of its houses; None for a module of no room."""
    if module.partition(".")[0] == "rules":
        return "rules"
    for house in _HOUSES:
        if module.startswith(house + "."):
            return ".".join(module.split(".")[1:3])
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and not parts[1].startswith("__") else None


def arrows() -> Mapping[str, frozenset[str]]:
    """Each room with those that it imports."""
    graph = grimp.build_graph("xlalint", "rules", cache_dir=None)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in graph.modules:
        room = room_of(module)
        if room is None:
            continue
        found[room] |= set()
        for imported in graph.find_modules_directly_imported_by(module):
            other = room_of(imported)
            if other is not None and other != room:
                found[room].add(other)
    return {room: frozenset(others) for room, others in sorted(found.items())}


def without_detours(rooms: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """The arrows that no longer way replaces. Raises ValueError where rooms import each other in a circle."""
    below: dict[str, frozenset[str]] = {}

    def reached(room: str, above: tuple[str, ...] = ()) -> frozenset[str]:
        if room in above:
            raise ValueError(" -> ".join((*above[above.index(room) :], room)))
        if room not in below:
            others = rooms.get(room, frozenset())
            below[room] = others.union(*(reached(other, (*above, room)) for other in others))
        return below[room]

    for room in rooms:
        reached(room)
    return {
        room: frozenset(other for other in others if not any(other in below[third] for third in others - {other}))
        for room, others in rooms.items()
    }


def diagram() -> str:
    """The rooms and the arrows between them, as Mermaid draws them."""
    rooms = without_detours(arrows())
    lines = ["flowchart TD"]
    inside = [room for room in rooms if room.startswith("analysis.")]
    lines += ["    subgraph analysis", *(f"        {room}[{room.partition('.')[2]}]" for room in inside), "    end"]
    for room, others in rooms.items():
        lines += (f"    {room} --> {other}" for other in sorted(others))
    return "\n".join(lines) + "\n"


def drawn(guide: str) -> str:
    """The diagram that the guide shows."""
    return guide.partition(_BEGIN)[2].partition(_END)[0]


def draw(file: Path = GUIDE) -> bool:
    """Write the diagram of today into the guide; whether it was another one."""
    text = file.read_text("utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    new = before + begin + diagram() + end + after
    if new == text:
        return False
    file.write_text(new, "utf-8")
    return True
