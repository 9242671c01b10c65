"""Statements that XLA cannot compile and that nothing depends on, where only eager execution reaches them."""

from __future__ import annotations

from typing import Final

from ..analysis.interpreter.events import ApiCall
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .names import Names
from .rewrite import Rewrite, replace
from .syntax import plain

EAGERLY: Final = "Run this only in eager execution"
SILENT: Final = "where a `tf.function` runs without XLA: it becomes silent"


def eagerly_only(event: ApiCall, names: Names) -> Rewrite | None:
    """A call that is a statement on a line of its own, under `tf.executing_eagerly()`. None in a file of TensorFlow 1,
    which runs graphs in sessions, never eagerly."""
    if names.only_version_1:
        return None
    match [*event.location.unit.around(event.location.node)][:2]:
        case [cst.Expr(), cst.SimpleStatementLine(body=[_]) as line]:
            text = f"if {names.tf}.executing_eagerly():\n{names.indent}{plain(event.node)}"
            edits = (replace(event.location.at(line), text),)
            return Rewrite(EAGERLY, edits, Safety.UNSAFE, SILENT)
        case _:
            return None
