"""Whether something is trained before a place, so that a gradient is taken there: what rules about gradients share."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.contexts import CallPath
from xlalint.analysis.library.refusing_layers import WITHOUT_WEIGHTS
from xlalint.syntax import nodes as cst

_INPUTS: Final = frozenset(("Input", "InputLayer"))


def is_computed(place: Location) -> bool:
    """Whether a call gets what a layer, or another function of the program, made there, or what a tape watches: labels
    and masks are resized as well, and nothing is trained before what a layer is passed itself."""
    function = place.unit.function_around(place.node)
    return function is not None and _is_made_in(function, place.node)


def is_behind_layers(place: Location, trail: CallPath | None = None) -> bool:
    """Whether a layer stands behind others in its model: in the list of a `Sequential`, by `add`, or since its call
    gets what another one made, or a call that leads there (`trail`)."""
    match [place.node, *place.unit.around(place.node)]:
        case [_, cst.Element() as element, cst.List(elements=elements), *_]:
            return not all(map(_is_weightless, takewhile(lambda other: other is not element, elements)))
        case [
            cst.Call(func=cst.Attribute() | cst.Name()) as layer,
            cst.Arg(),
            cst.Call(func=cst.Attribute(value=model, attr=cst.Name("add"))) as added,
            *_,
        ]:
            if any(one.keyword is not None and one.keyword.value == "input_shape" for one in layer.args):
                return False
            function = place.unit.function_around(layer)
            if function is not None and isinstance(model, cst.Name) and model.value in _parameters(function):
                return True
            scope = function or place.unit.tree
            return not all(map(_is_without_weights, _added_before(scope, model, added)))
        case [cst.Call(args=[given, *_]) as call, *_]:
            return _is_trained(place.unit, call, given.value, trail)
        case _:
            return False


def _added_before(scope: cst.CSTNode, model: cst.BaseExpression, added: cst.Call) -> Iterator[cst.BaseExpression]:
    """What is added to a model before a layer, in the same function."""
    for node in takewhile(lambda node: node is not added, cst.within(scope)):
        match node:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("add")), args=[cst.Arg(value=layer)]) if (
                owner.deep_equals(model)
            ):
                yield layer


def _is_trained(unit: Unit, call: cst.CSTNode, given: cst.BaseExpression, trail: CallPath | None) -> bool:
    """Whether layers make what a call gets, in its function, or before that is called."""
    scope = unit.function_around(call) or unit.tree
    if _is_made_in(scope, call, given):
        return True
    caller = None if trail is None else trail.location.node
    if trail is None or not isinstance(scope, cst.FunctionDef) or not isinstance(caller, cst.Call):
        return False
    parameters = _parameters(scope)
    read = [name for name in parameters if name in _read_for(scope, call, given)]
    passed = (_argument(caller, parameters, name) for name in read)
    return any(_is_trained(trail.location.unit, caller, each, trail.parent) for each in passed if each is not None)


def _parameters(function: cst.FunctionDef) -> list[str]:
    """The names of what a caller passes."""
    names = [parameter.name.value for parameter in function.params.params]
    return names[names[:1] == ["self"] :]


def _argument(call: cst.Call, parameters: Sequence[str], name: str) -> cst.BaseExpression | None:
    for index, arg in enumerate(call.args):
        if arg.keyword is None and index == parameters.index(name) and not arg.star:
            return arg.value
        if arg.keyword is not None and arg.keyword.value == name:
            return arg.value
    return None


def _is_weightless(element: cst.BaseElement) -> bool:
    return _is_without_weights(element.value)


def _is_without_weights(layer: cst.BaseExpression) -> bool:
    """Whether a layer that is made here has nothing to train."""
    match layer:
        case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
            return name in WITHOUT_WEIGHTS
        case _:
            return False


def _is_made_in(
    scope: cst.FunctionDef | cst.Module, call: cst.CSTNode, given: cst.BaseExpression | None = None
) -> bool:
    """Whether a function of the program, or a layer, is called for what a call gets, or a tape watches that."""
    if given is None:
        given = call.args[0].value if isinstance(call, cst.Call) and call.args else None
    if given is None:
        return False
    bound = _bound(scope, call)
    params = () if isinstance(scope, cst.Module) else cst.within(scope.params)
    own = {part.name.value for part in params if isinstance(part, cst.Param)}
    seen = set[str]()
    for part in _parts(given, bound, seen):
        match part:
            case cst.Call(func=func) if part is not call and _is_of_program(func, own | bound.keys()):
                return True
    return any(_watches(node, seen) for node in cst.within(scope))


def _read_for(scope: cst.FunctionDef, call: cst.CSTNode, given: cst.BaseExpression) -> set[str]:
    """The names of which a call gets something."""
    seen = set[str]()
    for _ in _parts(given, _bound(scope, call), seen):
        pass
    return seen


def _bound(scope: cst.FunctionDef | cst.Module, call: cst.CSTNode) -> dict[str, list[cst.BaseExpression]]:
    """What is assigned to names in a function, but for what the call returns."""
    bound: dict[str, list[cst.BaseExpression]] = {}
    for node in cst.within(scope):
        if isinstance(node, cst.Assign) and node.value is not call:
            for name in (name for one in node.targets for name in cst.names_in(one.target)):
                bound.setdefault(name, []).append(node.value)
    return bound


def _parts(
    given: cst.BaseExpression, bound: Mapping[str, Sequence[cst.BaseExpression]], seen: set[str]
) -> Iterator[cst.CSTNode]:
    """The parts of an expression, and of what is assigned to the names in it, which are noted."""
    pending = [given]
    while pending:
        for part in cst.within(pending.pop()):
            yield part
            if isinstance(part, cst.Name) and part.value not in seen:
                seen.add(part.value)
                pending += bound.get(part.value, ())


def _is_of_program(callee: cst.BaseExpression, names: Collection[str]) -> bool:
    """Whether what is called is no function of a library: `self.dense(x)`, `layer(x)`, `Dense(3)(x)`."""
    match callee:
        case cst.Call():
            return not _is_without_weights(callee)
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
