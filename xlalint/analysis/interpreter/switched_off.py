"""Switches in the source: constants of modules that whoever runs a program edits, `TRAIN = False`."""

from __future__ import annotations

import ast

from ...syntax import nodes as cst
from ..domain.values import Module, ModuleValue
from .frames import Frame
from .interface import Interpreter


def is_switch(interpreter: Interpreter, frame: Frame, test: cst.BaseExpression) -> bool:
    """Whether a condition asks for nothing but such constants: what it turns off, another run of the program does."""
    match test:
        case cst.Name(value=name):
            return _is_global(frame, name) and _sets(frame.module, name)
        case cst.Attribute(value=cst.Name() as owner, attr=cst.Name(value=name)):
            settings = interpreter.evaluate(frame, owner)
            return isinstance(settings, ModuleValue) and _sets(settings.module, name)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return is_switch(interpreter, frame, inner)
        case cst.BooleanOperation(left=left, right=right):
            return is_switch(interpreter, frame, left) and is_switch(interpreter, frame, right)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=other)]):
            asked = [side for side in (left, other) if not _is_constant(side)]
            return len(asked) == 1 and is_switch(interpreter, frame, asked[0])
        case _:
            return False


def _is_constant(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Name(value="True" | "False" | "None") | cst.SimpleString() | cst.Integer():
            return True
        case _:
            return False


def _sets(module: Module, name: str) -> bool:
    """Whether a module sets a name once, to a truth value, a number or a text."""
    return isinstance(module.outline.literals.get(name), ast.Constant) and name not in module.outline.assigned


def _is_global(frame: Frame, name: str) -> bool:
    """Whether a name is none of the function that is executed, nor of one around it."""
    scope: Frame | None = frame
    while scope is not None and not scope.is_module:
        if scope.env is not None and name in scope.env:
            return False
        scope = scope.parent
    return True
