"""Which one object a call names: the place of the only binding of the name, so that two calls by it are of one."""

from __future__ import annotations

from collections.abc import Iterator

from ...syntax import nodes as cst
from ..files.unit import Location, UnitFile


def binding_of(call: Location, *, method: bool) -> Location | None:
    """Where the name is bound by which a place calls a function, or for a `method` its object: a parameter, or a
    statement; None where there is no such name, or it is bound more than once."""
    match call.node:
        case cst.Call(func=cst.Attribute(value=cst.Name(value=name))) if method:
            pass
        case cst.Call(func=cst.Name(value=name)) if not method:
            pass
        case _:
            return None
    for around in call.unit.around(call.node):
        if isinstance(around, cst.FunctionDef) and (found := list(_bindings(around, name))):
            return Location(call.unit, found[0]) if len(found) == 1 else None
    return _binding_of_module(call.unit.file, name)


def _binding_of_module(file: UnitFile, name: str) -> Location | None:
    """Where the code of a module binds a name, if that is one place and no definition or import does."""
    if name not in file.outline.assigned or name in file.outline.bindings:
        return None
    units = map(file.unit, file.outline.code)
    found = [Location(unit, node) for unit in units for node in _bindings(unit.tree, name)]
    return found[0] if len(found) == 1 else None


def passed_in_turn(call: Location, loop: cst.For) -> Iterator[int | str]:
    """The arguments of a call, by position or keyword, that a name of the loop's target decides."""
    if not isinstance(call.node, cst.Call):
        return
    turns = frozenset(cst.names_in(loop.target))
    for index, given in enumerate(call.node.args):
        if not given.star and not turns.isdisjoint(_roots(given.value)):
            yield index if given.keyword is None else given.keyword.value


def _roots(node: cst.BaseExpression) -> Iterator[str]:
    """The names that decide which object an expression is: of a variable, its attribute, its item."""
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Attribute(value=owner):
            yield from _roots(owner)
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            yield from _roots(owner)
            yield from _roots(index)


def _bindings(scope: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    """What binds a name in a scope, which functions and classes in it do not do for it."""
    if isinstance(scope, cst.FunctionDef):
        yield from (it for it in cst.within(scope.params) if isinstance(it, cst.Param) and it.name.value == name)
    pending: list[cst.CSTNode] = [scope.body] if isinstance(scope, cst.FunctionDef) else [*scope.children]
    while pending:
        node = pending.pop()
        match node:
            case cst.FunctionDef(name=target) | cst.ClassDef(name=target):
                yield from _named(target, name)
                continue
            case cst.Lambda():
                continue
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target):
                yield from _named(target, name)
            case cst.For(target=target) | cst.NamedExpr(target=target) | cst.AsName(name=target):
                yield from _named(target, name)
            case cst.ImportAlias(name=cst.Name() as target, asname=None):
                yield from _named(target, name)
            case cst.Global(names=names) | cst.Nonlocal(names=names):
                yield from (it.name for it in names for _ in range(2) if it.name.value == name)  # others bind it, too
        pending.extend(node.children)


def _named(target: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """The places in a target that bind a name: two names of an unpacking are two places."""
    match target:
        case cst.Name(value=bound) if bound == name:
            yield target
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _named(element.value, name)
