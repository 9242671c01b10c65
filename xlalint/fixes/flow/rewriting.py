"""The rewrite of a function, and of those that it calls, by where selected rows go in them."""

from __future__ import annotations

from typing import Final

from ...analysis.domain.values import Value
from ...analysis.files.unit import Location
from ...findings.findings import Safety
from ...syntax import nodes as cst
from ..names import Names
from ..rewrite import GivenUp, Rewrite
from .interpreter import Interpreter
from .program import Program
from .states import holds_rows
from .writing import Writing

_TITLE: Final = "Keep all rows in their places, and leave out what is not selected where it is reduced or put back"
_ROWS: Final = "where a function in between does not treat each row by itself"
_LEVELS: Final = 4
_PASSES: Final = 4


def follow(location: Location, names: Names, mask_value: Value | None) -> Rewrite | None:
    """The rewrite of the selection at a location, with all that follows from it; None where its rows go somewhere
    that needs to know how many they are. `mask_value`: what is known of its mask, or of what is cut."""
    try:
        return _follow(location, names, mask_value)
    except GivenUp:
        return None


def _follow(location: Location, names: Names, mask_value: Value | None) -> Rewrite | None:
    wanted = location.node
    if next((one for one in location.unit.around(wanted) if isinstance(one, cst.FunctionDef)), None) is None:
        return None
    program = Program(location)
    function = program.function_around(wanted)
    kept: dict[tuple[int, str], str] = {}
    tried: set[cst.CSTNode] = set()
    for _ in range(_LEVELS):
        if function is None or function in tried:
            return None
        tried.add(function)
        found, escapes = _followed(program, names, wanted, mask_value, function, kept)
        if found is not None or not escapes:
            return found
        function = _only_caller(program, function)
    return None


def _followed(
    program: Program,
    names: Names,
    wanted: cst.CSTNode,
    mask_value: Value | None,
    function: cst.FunctionDef,
    kept: dict[tuple[int, str], str],
) -> tuple[Rewrite | None, bool]:
    """The rewrite of a function, and whether rows leave it."""
    filled: dict[int | str, str] = {}
    for _ in range(_PASSES):
        writing = Writing(program, names, kept)
        interpreter = Interpreter(program, writing, wanted, mask_value, filled)
        try:
            result = interpreter.start(function)
            if holds_rows(result) or holds_rows(interpreter.left):
                return None, True
            if not interpreter.has_met or not writing.has_reduced:
                return None, False
            interpreter.check_calls()
            needed = filled | interpreter.needs_filling
            if needed != filled:
                filled = needed
                continue
            edits = tuple(writing.edits())
        except (GivenUp, RecursionError):
            return None, False
        differs = "; ".join((*writing.differs, _ROWS))
        return Rewrite(_TITLE, edits, Safety.UNSAFE, differs), False
    return None, False


def _only_caller(program: Program, function: cst.FunctionDef) -> cst.FunctionDef | None:
    """The one function that calls another, or makes the objects of a class whose method it is."""
    name = function.name.value
    if name == "__init__":
        name = program.class_around(function) or ""
    found = {program.function_around(call) for call in program.calls(name)}
    if len(found) == 1:
        return next(iter(found))
    return None
