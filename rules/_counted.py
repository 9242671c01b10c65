"""Which names hold numbers, as far as the code around them says: what a loop counts, here or in what calls this."""

from __future__ import annotations

from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import CallPath
from xlalint.syntax import nodes as cst

_SPECIFIED: Final = tuple("bcdeEfFgGnoxX%")  # how a format specification of a number ends


def is_number(node: cst.BaseExpression, place: Location, trail: CallPath | None) -> bool:
    """Whether an expression that stands at a place, to which a path of calls leads, is a number."""
    match node:
        case cst.Integer() | cst.Float() | cst.Call(func=cst.Name("len" | "int" | "float")):
            return True
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract() | cst.Multiply(), right=right):
            return is_number(left, place, trail) and is_number(right, place, trail)
        case cst.Name(value=name):
            return _is_counted(name, place, trail)
        case _:
            return False


def is_formatted_number(part: cst.FormattedStringExpression, place: Location, trail: CallPath | None) -> bool:
    """Whether a part of an f-string puts a number into it: `{fold:02d}`, `{fold}` in a loop that counts folds."""
    match part.format_spec:
        case [*_, cst.FormattedStringText(value=specified)] if specified.endswith(_SPECIFIED):
            return True
        case _:
            return is_number(part.expression, place, trail)


def _is_counted(name: str, place: Location, trail: CallPath | None) -> bool:
    for outer in place.unit.around(place.node):
        match outer:
            case cst.For(target=cst.Name(value=counted), iter=cst.Call(func=cst.Name("range"))) if counted == name:
                return True
            case cst.For(
                target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=counted)), *_]),
                iter=cst.Call(func=cst.Name("enumerate")),
            ) if counted == name:
                return True
            case cst.FunctionDef() as function:
                passed = _passed(function, name, trail)
                return passed is not None and trail is not None and is_number(passed, trail.location, trail.parent)
    return False


def _passed(function: cst.FunctionDef, name: str, trail: CallPath | None) -> cst.BaseExpression | None:
    """What the call that enters a function passes it by that name."""
    names = [parameter.name.value for parameter in function.params.params]
    if trail is None or name not in names or not isinstance(trail.location.node, cst.Call):
        return None
    call = trail.location.node
    named = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name]
    if named:
        return named[0]
    at = names.index(name) - (names[0] in ("self", "cls") and isinstance(call.func, cst.Attribute))
    given = [arg for arg in call.args if arg.keyword is None]
    return given[at].value if at < len(given) and not any(arg.star for arg in given[: at + 1]) else None
