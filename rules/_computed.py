"""Whether something is trained before a place, so that a gradient is taken there: what rules about gradients share."""

from __future__ import annotations

import builtins
from collections.abc import Collection
from itertools import takewhile
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.syntax import nodes as cst

_INPUTS: Final = frozenset(("Input", "InputLayer"))


def is_computed(place: Location) -> bool:
    """Whether a call gets what a layer, or another function of the program, made there, or what a tape watches: labels
    and masks are resized as well, and nothing is trained before what a layer is passed itself."""
    function = place.unit.function_around(place.node)
    return function is not None and _is_made_in(function, place.node)


def is_behind_layers(place: Location) -> bool:
    """Whether a layer stands behind others in its model: in the list of a `Sequential`, by `add`, or since its call
    gets what another one made."""
    match [place.node, *place.unit.around(place.node)]:
        case [_, cst.Element() as element, cst.List(elements=elements), *_]:
            return not all(map(_is_input, takewhile(lambda other: other is not element, elements)))
        case [
            cst.Call(func=cst.Attribute()) as layer,
            cst.Arg(),
            cst.Call(func=cst.Attribute(attr=cst.Name("add"))),
            *_,
        ]:
            return all(one.keyword is None or one.keyword.value != "input_shape" for one in layer.args)
        case [node, *_]:
            return _is_made_in(place.unit.function_around(node) or place.unit.tree, node)
    return True


def _is_input(element: cst.BaseElement) -> bool:
    match element.value:
        case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
            return name in _INPUTS
        case _:
            return False


def _is_made_in(scope: cst.FunctionDef | cst.Module, call: cst.CSTNode) -> bool:
    """Whether a function of the program, or a layer, is called for what a call gets, or a tape watches that."""
    given = call.args[0].value if isinstance(call, cst.Call) and call.args else None
    if given is None:
        return False
    bound: dict[str, list[cst.BaseExpression]] = {}
    params = () if isinstance(scope, cst.Module) else cst.within(scope.params)
    own = {part.name.value for part in params if isinstance(part, cst.Param)}
    for node in cst.within(scope):
        if isinstance(node, cst.Assign) and node.value is not call:
            for name in (name for one in node.targets for name in cst.names_in(one.target)):
                bound.setdefault(name, []).append(node.value)
    pending, seen = [given], set[str]()
    while pending:
        for part in cst.within(pending.pop()):
            match part:
                case cst.Call(func=func) if part is not call and _is_of_program(func, own | bound.keys()):
                    return True
                case cst.Name(value=name) if name not in seen:
                    seen.add(name)
                    pending += bound.get(name, ())
    return any(_watches(node, seen) for node in cst.within(scope))


def _is_of_program(callee: cst.BaseExpression, names: Collection[str]) -> bool:
    """Whether what is called is no function of a library: `self.dense(x)`, `layer(x)`, `Dense(3)(x)`."""
    match callee:
        case cst.Call():
            return True
        case cst.Name(value=name):
            return not hasattr(builtins, name) and name not in _INPUTS
        case cst.Attribute(value=cst.Name(value=owner)):
            return owner in names
        case cst.Attribute(value=owner) | cst.Subscript(value=owner):
            return _is_of_program(owner, names)
        case _:
            return False


def _watches(node: cst.CSTNode, names: Collection[str]) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("watch")), args=[cst.Arg(value=cst.Name(value=watched))]):
            return watched in names
        case _:
            return False
