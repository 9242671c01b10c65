"""Cells of a notebook that was exported as a script: what a magic ran is a string there."""

from __future__ import annotations

from typing import Final

from ...sources.ipython import RUN_PYTHON, python_of
from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..domain.values import NONE, Static, Value
from ..files.unit import QuotedUnit
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel


def _run_cell(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`get_ipython().run_cell_magic("time", "", "..")`: the string is code that runs where the call stands."""
    match arguments.positional:
        case [Static(str(name)), Static(), Static(str(code))] if name in RUN_PYTHON and frame.is_module:
            python = python_of(code)
        case _:
            return None
    try:
        cell = QuotedUnit(frame.unit, node, python or "")
    except (SyntaxError, ValueError, NestedTooDeepError):
        return NONE
    around = frame.unit
    frame.unit = cell
    try:
        interpreter.execute_body(frame, cell.body)
    finally:
        frame.unit = around
    return NONE


METHODS: Final[dict[str, MethodModel]] = {".run_cell_magic": _run_cell}
