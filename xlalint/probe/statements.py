"""Which lines belong to one statement: what the compiler says of a line is said of the statement that it is part of."""

from __future__ import annotations

import ast
from pathlib import Path

_HEADED = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try, ast.Match)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Statements:
    """The statements of files, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, tuple[int, int]]] = {}

    def together(self, path: str, line: int, first: int, last: int) -> bool:
        """Whether a line is part of a stretch of lines, or of the statement that the stretch begins in."""
        if path not in self._known:
            self._known[path] = statements(path)
        start, end = self._known[path].get(line, (line, line))
        return first <= line <= last or start <= first <= end


def statements(path: str) -> dict[int, tuple[int, int]]:
    """By line of a file, the first and last line of the innermost statement there; of a compound one, of its head.

    Empty for what cannot be read or parsed any more.
    """
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):  # from the outside to the inside
        if isinstance(node, ast.stmt):
            last = node.end_lineno or node.lineno
            if isinstance(node, (*_HEADED, *_DEFINED)):
                body = node.cases[0].pattern if isinstance(node, ast.Match) else node.body[0]
                last = max(node.lineno, body.lineno - 1)
            found.update(dict.fromkeys(range(node.lineno, last + 1), (node.lineno, last)))
    return found
