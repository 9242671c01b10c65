"""Which Python constructs stand in one line of source, as far as the line alone can say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

_NUMPY: Final = frozenset(("np", "numpy", "onp"))
_COMPARING: Final = frozenset(("max", "min", "any", "all"))


def forms_of(line: str) -> frozenset[str]:
    """The names of the forms in a line: "if", "while", "assert", "operator", "call NAME", "slice", "numpy", ..."""
    tree = _parsed(line.strip())
    return frozenset(form for node in ast.walk(tree) for form in _forms(node)) if tree is not None else frozenset()


def _parsed(line: str) -> ast.Module | None:
    """The line as a statement; the head of a block gets a body, and `elif` an `if`."""
    body = f"{line}\n    pass"
    for attempt in (line, body, f"if _:\n    pass\n{body}", f"{line.rstrip(',')})", f"({line.rstrip(',')})"):
        try:
            return ast.parse(attempt)
        except (SyntaxError, ValueError):
            continue
    return None


def _forms(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            yield f"call {name}"
            if name in _COMPARING:
                yield "operator"
        case ast.Call(func=ast.Attribute(value=owner, attr=name)):
            yield f"call {name}"
            if isinstance(owner, ast.Name) and owner.id in _NUMPY:
                yield "numpy"
        case ast.If() | ast.IfExp() | ast.comprehension(ifs=[_, *_]):
            yield "if"
        case ast.Slice(lower=ast.expr() as lower, upper=ast.expr()) if not isinstance(lower, ast.Constant):
            yield "slice"
        case ast.While():
            yield "while"
        case ast.Assert():
            yield "assert"
        case ast.BoolOp() | ast.Not() | ast.Compare(ops=[_, _, *_]) | ast.Compare(ops=[ast.In() | ast.NotIn()]):
            yield "operator"
