"""The source of a place as messages show it, and what stands around it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping
from typing import Final

from ..analysis.files.unit import Location
from ..syntax import nodes as cst

_LONGEST: Final = 60
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def brief(node: cst.CSTNode) -> str:
    """The source of a node on one line, shortened to what a message can carry."""
    text = one_line(node)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def one_line(node: cst.CSTNode) -> str:
    """The source of a node; line breaks inside become spaces, with the backslashes before them."""
    return _on_one_line(cst.text_of(node).code(node))


def _on_one_line(text: str) -> str:
    return re.sub(r"\s*\\?\n\s*", " ", _without_comments(text) if "#" in text and "\n" in text else text)


def _without_comments(text: str) -> str:
    """The source of an expression; a comment would swallow what follows it on one line."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            line, before = lines[row - 1], column - (row == 1)  # the bracket stands before the first line
            lines[row - 1] = f"{line[:before].rstrip()}\n"
    return "".join(lines)


def replaced(node: cst.CSTNode, texts: Mapping[cst.CSTNode, str]) -> str:
    """The source of `node` on one line, with other texts in the place of parts of it."""
    return _on_one_line(cst.text_of(node).replaced(node, texts))


def parent(location: Location) -> cst.CSTNode | None:
    """The node directly around the one of `place`."""
    path = path_to(location.unit.tree, location.node)
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
