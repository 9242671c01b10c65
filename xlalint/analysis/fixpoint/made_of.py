"""What a model is made of, by the statements that make it: of which names, and of which attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...syntax import nodes as cst


def path_of(node: cst.CSTNode) -> str:
    """What an expression begins with, as names with dots: "model.layers" of `model.layers[-20:]`; "" of others."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            path = path_of(owner)
            return f"{path}.{name}" if path else ""
        case cst.Subscript(value=owner):
            return path_of(owner)
        case cst.Call(func=cst.Name("reversed" | "enumerate" | "list"), args=[cst.Arg(value=inner), *_]):
            return path_of(inner)
        case cst.Call(func=cst.Attribute() as method):
            return path_of(method)
        case _:
            return ""


def parts_of(node: cst.CSTNode) -> Iterator[str]:
    """What a call is made with: the object before the dot, and its arguments."""
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute):
            yield path_of(node.func.value)
        yield from (path_of(argument.value) for argument in node.args)


def made_of(blocks: Iterable[cst.CSTNode], path: str) -> frozenset[str]:
    """The names and attributes that code makes `path` of, at once or by others in between."""
    assigned = [one for block in blocks for one in _assigned(block)]
    found = {path}
    grown = True
    while grown:
        grown = False
        for targets, sources in assigned:
            if not found.isdisjoint(targets) and not found >= (targets | sources):
                found |= targets | sources
                grown = True
    return frozenset(found)


def _assigned(block: cst.CSTNode) -> Iterator[tuple[set[str], set[str]]]:
    """What each statement assigns to, and what it makes that of; what is added to an object is a part of it."""
    for node in cst.within(block):
        match node:
            case cst.Assign(targets=targets, value=value):
                places = {path for target in targets for path in paths_in(target.target)}
                yield places, set(paths_in(value))
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("add")), args=[cst.Arg(value=value)]):
                yield {path_of(owner)}, set(paths_in(value))


def paths_in(node: cst.CSTNode) -> Iterator[str]:
    """The names and attributes in an expression, the longest alone."""
    match node:
        case cst.Attribute() if path_of(node):
            yield path_of(node)
        case cst.Name(value=name):
            yield name
        case cst.Call(func=function, args=arguments):
            if isinstance(function, cst.Attribute | cst.Call):
                yield from paths_in(function.value if isinstance(function, cst.Attribute) else function)
            elif isinstance(function, cst.Name):
                yield function.value
            for argument in arguments:
                yield from paths_in(argument.value)
        case _:
            for part in node.children:
                yield from paths_in(part)
