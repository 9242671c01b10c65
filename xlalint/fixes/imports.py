"""Where a file takes a new import."""

from __future__ import annotations

import ast

from ..findings.findings import Edit, Span
from ..sources.text import newline_of, split_lines


def import_edit(text: str, statement: str, line: int) -> Edit:
    """Insert an import that code at `line` needs: behind the imports that stand before the first definition, since
    what stands between them (the environment, the path) may matter to it; else behind the docstring, else on top."""
    behind: int | None = None
    first: int | None = None
    for node in ast.parse(text).body:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        start = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if first is None and behind is None:
                behind = node.end_lineno
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                first = first or start
                break
            case _ if (node.end_lineno or start) >= line:
                first = first or start
                break
            case ast.Import() | ast.ImportFrom():
                behind = node.end_lineno
        first = first or start
    newline = newline_of(text)
    if behind is not None:
        column = len(split_lines(text)[behind - 1]) + 1
        return Edit(Span(behind, column, behind, column), f"{newline}{statement}")
    top = first or 1
    return Edit(Span(top, 1, top, 1), f"{statement}{newline}{newline}")
