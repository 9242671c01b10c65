"""How a rule says a rewrite: edits of nodes, a title and a safety. The engine makes text edits of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ..analysis.files.unit import Location
from ..findings.findings import Safety
from .names import Names


class GivenUp(Exception):  # noqa: N818
    """What is flagged is used in a way that has no rewrite."""


class Side(Enum):
    """Where the text of an edit goes."""

    INSTEAD = "instead of the node"
    BEFORE = "before the node"
    AFTER = "behind the node"


@dataclass(frozen=True, slots=True)
class NodeEdit:
    """Put `text` instead of the node at `place`, before it or behind it.

    At a statement the text is whole statements, the first at column 0, lines ended by "\\n" and blocks indented by
    `Names.indent`: it is moved to the statement's indentation and gets the file's line ends. The empty text instead of
    a statement or a decorator removes it. At an expression the text is an expression, and is put into parentheses where
    it needs them; before or behind one it may be anything ("tf.logical_and(", ")").
    """

    location: Location
    text: str
    side: Side = Side.INSTEAD


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewrite of a flagged place, all of its edits in the file of the finding.

    `title`: what it does, in the imperative, without a full stop. `safety`: `safe` is proven for all inputs; where a
    rewrite is `unsafe`, `differs` completes "differs ..." ("where both branches raise", "for an empty mask").
    """

    title: str
    edits: tuple[NodeEdit, ...]
    safety: Safety = Safety.SAFE
    differs: str = ""

    def __post_init__(self) -> None:
        if (self.safety is Safety.UNSAFE) != bool(self.differs):
            raise ValueError(f"{self.title}: an unsafe rewrite, and no other, says where it differs")

    @property
    def text(self) -> str:
        """What the rewrite puts in, as a help shows it."""
        return "\n".join(edit.text for edit in self.edits if edit.text)


Rewriter: TypeAlias = Callable[[Names], Rewrite | None]
"""Builds a rewrite with the names of the place; None where the code has no honest one."""


def replace(location: Location, text: str) -> NodeEdit:
    """Put `text` instead of an expression or a statement."""
    return NodeEdit(location, text)


def before(location: Location, text: str) -> NodeEdit:
    """Put statements before a statement, or text before an expression."""
    return NodeEdit(location, text, Side.BEFORE)


def after(location: Location, text: str) -> NodeEdit:
    """Put statements behind a statement, or text behind an expression."""
    return NodeEdit(location, text, Side.AFTER)


def remove(location: Location) -> NodeEdit:
    """Take a statement or a decorator away."""
    return NodeEdit(location, "")
