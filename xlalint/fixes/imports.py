"""Where a file takes a new import."""

from __future__ import annotations

import ast

from ..findings import Edit, Span
from ..sources.text import newline_of, split_lines


def import_edit(text: str, statement: str) -> Edit:
    """Insert an import at the end of those that open the file, behind its docstring at least."""
    behind: int | None = None
    first: int | None = None
    for node in ast.parse(text).body:
        match node:
            case ast.Import() | ast.ImportFrom():
                behind = node.end_lineno
            case ast.Expr(value=ast.Constant(value=str())) if behind is None:
                behind = node.end_lineno
            case _:
                decorators: list[ast.expr] = getattr(node, "decorator_list", [])
                first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
                break
    newline = newline_of(text)
    if behind is not None:
        column = len(split_lines(text)[behind - 1]) + 1
        return Edit(Span(behind, column, behind, column), f"{newline}{statement}")
    line = first or 1
    return Edit(Span(line, 1, line, 1), f"{statement}{newline}{newline}")
