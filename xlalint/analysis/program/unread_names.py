"""Names that a program binds and never reads."""

from __future__ import annotations

import re

from ...syntax import nodes as cst
from ..files.unit import Location
from .decorator_texts import without_speech


def is_unread(location: Location) -> bool:
    """Whether what an expression makes is bound to a name that nothing reads: in its function, or in its file, if no
    other file imports that."""
    unit = location.unit
    inside: cst.CSTNode = location.node
    for around in unit.around(location.node):
        match around:
            case cst.Attribute() | cst.Call(func=cst.Attribute()) if _goes_on(around, inside):
                inside = around
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if around.value is inside:
                function = unit.function_around(around)
                if function is not None:
                    return sum(isinstance(part, cst.Name) and part.value == name for part in cst.within(function)) == 1
                return unit.file.is_script and len(re.findall(rf"\b{name}\b", without_speech(unit.file.text))) == 1
            case _:
                return False
    return False


def _goes_on(around: cst.CSTNode, inside: cst.CSTNode) -> bool:
    """Whether a method of what is made is called: `made.batch(8)`."""
    match around:
        case cst.Attribute(value=value):
            return value is inside
        case cst.Call(func=function):
            return function is inside
        case _:
            return False
