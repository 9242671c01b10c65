"""Code pasted without what is around it: a function of the names that nothing in it binds. Standard library only."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from typing import Final

NAME: Final = "fragment"
# What snippets leave out of their imports.
CUSTOMARY: Final = frozenset(("tf", "np", "keras"))


def free_names(text: str) -> tuple[str, ...]:
    """The names that code reads and never binds, in order. Raises SyntaxError."""
    top = symtable.symtable(text, "<fragment>", "exec")
    bound = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    known = bound | set(dir(builtins)) | CUSTOMARY | {"__name__", "__file__", "__doc__"}
    free = {name for name in _read(top) if name not in known}
    order = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and node.id in free]
    return tuple(dict.fromkeys(order))


def _read(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that a scope and those inside it take from the module."""
    for one in table.get_symbols():
        if one.is_referenced() and (table.get_type() == "module" or one.is_global()):
            yield one.get_name()
    for inner in table.get_children():
        yield from _read(inner)


def wrapped(text: str) -> str:
    """The code as the body of the function NAME, one line further down, which returns what it binds and what its last
    line gives. Raises SyntaxError."""
    tree = ast.parse(text)
    *_, last = tree.body
    lines = text.splitlines()
    kept = _inside_strings(tree)
    if isinstance(last, ast.Expr):
        at = last.lineno - 1
        lines[at] = f"{lines[at][: last.col_offset]}return {lines[at][last.col_offset :]}"
        end = ""
    else:
        bound = symtable.symtable(text, "<fragment>", "exec").get_symbols()
        values = [one.get_name() for one in bound if one.is_assigned() and not one.is_namespace()]
        end = f"    return {', '.join(values)}\n" if values else ""
    body = "".join(f"{line}\n" if number in kept else f"    {line}\n" for number, line in enumerate(lines, 1))
    return f"def {NAME}({', '.join(free_names(text))}):\n{body}{end}"


def _inside_strings(tree: ast.AST) -> set[int]:
    """The lines that begin inside a string: nothing may stand before them."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
