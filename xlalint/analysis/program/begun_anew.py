"""Attributes that a function begins anew each time it is run: what it joins to one of them does not grow."""

from __future__ import annotations

from collections.abc import Iterator

from ...syntax import nodes as cst
from ..domain.values import Class
from ..files.unit import Unit


def is_begun_anew(unit: Unit, joined: cst.CSTNode, cls: Class | None) -> bool:
    """Whether a call's result is assigned to an attribute to which the same statements assign something else, each time
    that they run: `self.x = zeros(..)` before `self.x = concat([self.x, row])`, or `self.x = self.x[1:]` behind it.
    `cls`: the class of the object, a method of which may do that: `self.reset()`."""
    match [around for around in unit.around(joined) if isinstance(around, cst.Assign | cst.IndentedBlock)]:
        case [cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as held)]) as joining, block, *_]:
            name = unit.code(held)
            statements = [part for part in _statements(block) if part is not joining]
            return any(_begins(unit, part, name) or _calls_one(unit, part, held, cls) for part in statements)
        case _:
            return False


def _statements(block: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for line in block.children:
        yield from line.children


def _begins(unit: Unit, statement: cst.CSTNode, name: str) -> bool:
    """Whether a statement assigns to an attribute what does not hold all that it was before."""
    match statement:
        case cst.Assign(targets=targets, value=value) if any(unit.code(each.target) == name for each in targets):
            if isinstance(value, cst.Subscript) and unit.code(value.value) == name:
                return True
            parts = (part for part in cst.within(value) if isinstance(part, cst.Attribute))
            return not any(unit.code(part) == name for part in parts)
        case _:
            return False


def _calls_one(unit: Unit, statement: cst.CSTNode, held: cst.Attribute, cls: Class | None) -> bool:
    """Whether a statement calls a method of the same object that begins the attribute."""
    match statement:
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name)))):
            method = cls.find(name) if cls is not None and unit.code(owner) == unit.code(held.value) else None
            if method is None:
                return False
            return any(_begins(method.unit, part, unit.code(held)) for part in _statements(method.node.body))
        case _:
            return False
