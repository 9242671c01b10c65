"""Conditions that come out the same way in each iteration of a loop, though nobody knows which: a parameter or a flag
decides them, which the loop does not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Function
from ..program.definitions import all_methods

_ASKING: Final = frozenset(("callable", "getattr", "hasattr", "isinstance", "issubclass", "len"))
_CONSTRUCTORS: Final = ("__init__", "build")


def is_unchanging(
    condition: cst.CSTNode, loop: cst.CSTNode, outer: Function | None, call: cst.CSTNode, inner: Function | None
) -> bool:
    """Whether a condition comes out the same way in each iteration of a loop of the `outer` function: one in the loop,
    or one of the `inner` function, where the loop calls it itself."""
    test = _test(condition)
    if test is None:
        return False
    if any(node is condition for node in cst.within(loop)):
        return _keeps(test, loop, outer)
    if inner is None or not isinstance(inner.node, cst.FunctionDef) or not isinstance(call, cst.Call):
        return False
    if not any(node is condition for node in cst.within(inner.node)) or cst.called_name(call) != inner.name:
        return False
    given = dict(passed(inner, call))
    names = set(_names(test))
    parameters = {part.name.value for part in cst.within(inner.node.params) if isinstance(part, cst.Param)}
    of_caller = [given[name] for name in names & parameters if name in given]
    return _keeps(test, inner.node.body, inner) and all(_keeps(value, loop, outer) for value in of_caller)


def is_chosen(call: cst.CSTNode, function: Function) -> bool:
    """Whether a function calls the one of several objects that a parameter says: `model = self.models[number]`."""
    match call:
        case cst.Call(func=cst.Attribute(value=cst.BaseExpression() as called)) | cst.Call(func=called):
            parameters = {part.name.value for part in cst.within(function.node.params) if isinstance(part, cst.Param)}
            made = [called]
            for node in cst.within(function.node.body):
                match node:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if name in _names(called):
                        made.append(node.value)
            chosen = (part for value in made for part in cst.within(value) if isinstance(part, cst.Subscript))
            return any(not parameters.isdisjoint(_names(part)) for one in chosen for part in one.slice)
        case _:
            return False


def _test(condition: cst.CSTNode) -> cst.BaseExpression | None:
    match condition:
        case cst.If(test=test) | cst.IfExp(test=test) | cst.BooleanOperation(left=test):
            return test
        case _:
            return None


def _keeps(test: cst.BaseExpression, loop: cst.CSTNode, function: Function | None) -> bool:
    """Whether what a condition asks is the same in each iteration."""
    changed = set(_changed(loop))
    used = set(_used(loop))
    for part in cst.within(test):
        match part:
            case cst.Call(func=cst.Name(value=name)) if name in _ASKING:
                continue
            case cst.Call() | cst.Subscript() | cst.NamedExpr() | cst.Await() | cst.Modulo():
                return False
            case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=attribute)):
                if function is None or function.owner is None or _assigns(function, attribute):
                    return False
    names = {*_names(test)} - {"self"}
    return names.isdisjoint(changed) and names.isdisjoint(used)


def _names(node: cst.CSTNode) -> Iterator[str]:
    """The names that an expression reads, attributes left out."""
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Attribute(value=value):
            yield from _names(value)
        case _:
            for child in node.children:
                yield from _names(child)


def _changed(loop: cst.CSTNode) -> Iterator[str]:
    """The names that are assigned to in a loop, or parts of them."""
    targets = list(cst.targets_in(loop))
    targets += [node.target for node in cst.within(loop) if isinstance(node, cst.CompFor)]
    for target in targets:
        yield from (node.value for node in cst.within(target) if isinstance(node, cst.Name))


def _used(loop: cst.CSTNode) -> Iterator[str]:
    """The names of objects whose methods are called for nothing but what they do: `rows.append(x)`."""
    for node in cst.within(loop):
        match node:
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=owner))):
                yield from _names(owner)


def _assigns(function: Function, attribute: str) -> bool:
    """Whether methods assign to an attribute, but where the object is set up."""
    assert function.owner is not None
    return any(
        isinstance(part, cst.Attribute) and part.attr.value == attribute
        for method in all_methods(function.owner)
        if method.name not in _CONSTRUCTORS
        for target in cst.targets_in(method.node.body)
        for part in cst.within(target)
    )


def passed(function: Function, call: cst.Call) -> Iterator[tuple[str, cst.BaseExpression]]:
    """What a call passes to the parameters of a function."""
    names = [parameter.name.value for parameter in function.node.params.params]
    names = names[1:] if function.owner is not None and isinstance(call.func, cst.Attribute) else names
    for name, arg in zip(names, call.args, strict=False):
        if arg.keyword is None:
            yield name, arg.value
    yield from ((arg.keyword.value, arg.value) for arg in call.args if arg.keyword is not None)
