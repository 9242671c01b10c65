"""Defaults of parameters: Python evaluates them where the function is defined, and not where it is called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..domain.values import Function, Module
from ..files.unit import Unit
from .contexts import HOST
from .frames import Frame, Summary
from .interface import Interpreter

_WORD: Final = re.compile(r"\w+")


def bind_defaults(interpreter: Interpreter, module: Module, lines: range) -> None:
    """Evaluate the defaults of what a module defines in some lines, where they name what it binds again elsewhere: as
    it is now. Others are evaluated when somebody asks for them, and say the same."""
    if not module.outline.rebound:
        return
    scope = interpreter.module_frame(module)
    for function in module.all_functions():
        if function.stretch is None or function.stretch.first not in lines or not _may_name(function):
            continue
        try:
            defaults, unit = list(_defaults_of(function)), function.unit
        except (SyntaxError, NestedTooDeepError, LookupError) as error:
            interpreter.note_trouble(function, error)
            continue
        for default in defaults:
            if any(isinstance(node, cst.Name) and node.value in module.outline.rebound for node in cst.within(default)):
                interpreter.defaults[default] = interpreter.evaluate(frame_of_default(scope, unit), default)


def frame_of_default(scope: Frame, unit: Unit) -> Frame:
    """Where a default is evaluated: around its function, of which `unit` holds the text. Nobody reads its events."""
    return Frame(unit, scope.module, HOST, Summary("", None, None, HOST), dict(scope.env or {}), parent=scope.parent)


def _may_name(function: Function) -> bool:
    """Whether a name that the module binds again stands in the function at all: most are never parsed."""
    text = function.text
    named = [name for name in function.module.outline.rebound if name in text]  # many times as fast as to find words
    return bool(named) and not set(named).isdisjoint(_WORD.findall(text))


def _defaults_of(function: Function) -> Iterator[cst.BaseExpression]:
    parameters = function.node.params
    for parameter in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params):
        if parameter.default is not None:
            yield parameter.default
