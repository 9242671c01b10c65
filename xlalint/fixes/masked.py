"""The source of a place as messages show it, and what stands around it."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from ..semantics.files import Place

_WRITER: Final = cst.Module([])
_LONGEST: Final = 60
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def brief(node: cst.CSTNode) -> str:
    """The source of a node on one line, shortened to what a message can carry."""
    text = one_line(node)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def one_line(node: cst.CSTNode) -> str:
    """The source of a node; line breaks inside become spaces."""
    return re.sub(r"\s*\n\s*", " ", _WRITER.code_for_node(node).strip())


def replaced(node: cst.CSTNode, old: cst.CSTNode, new: str) -> str:
    """The source of `node` with `new` in the place of its part `old`."""
    changed = node.deep_replace(old, cst.parse_expression(new))
    assert isinstance(changed, cst.CSTNode)
    return one_line(changed)


def parent(place: Place) -> cst.CSTNode | None:
    """The node directly around the one of `place`."""
    path = path_to(place.unit.tree, place.node)
    return path[-2] if len(path) > 1 else None


# -- reading the tree around a place ----------------------------------------------------------------------------------


def path_to(root: cst.CSTNode, node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes from the root down to `node`."""
    if root is node:
        return [root]
    for child in root.children:
        if path := path_to(child, node):
            return [root, *path]
    return []
