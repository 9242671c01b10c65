"""A value before a branch for what only one side of it assigns."""

from __future__ import annotations

from typing import Final

from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .logic import is_pure
from .names import Names
from .rewrite import Rewrite, before
from .syntax import assigned, plain, read, small_statements

_DIFFERS: Final = "where the branch is not taken: the name is zero there, and has no value in eager execution"


def default_before(test: Location, name: str, names: Names) -> Rewrite | None:
    """Zeros of the shape and dtype that the branch on `test` gives to `name`. None where that cannot be computed before
    the branch."""
    statement = next(test.unit.around(test.node))
    if not isinstance(statement, cst.If) or isinstance(next(test.unit.around(statement), None), cst.If):
        return None
    blocks = [statement.body, *([statement.orelse.body] if isinstance(statement.orelse, cst.Else) else [])]
    for block in blocks:
        bound = set[str]()
        for line in small_statements(block):
            match line:
                case cst.Assign(targets=[cst.AssignTarget(cst.Name(target))], value=value) if target == name:
                    if not is_pure(value, names.tf) or bound & set(read(value)):
                        return None
                    text = f"{name} = {names.tf}.zeros_like({plain(value)})"
                    return Rewrite(
                        f"Give `{name}` a value before the branch",
                        (before(test.at(statement), text),),
                        Safety.UNSAFE,
                        _DIFFERS,
                    )
            bound |= set(assigned([line]))
    return None
