"""A file that is not Python, or not the Python of the interpreter that runs xlalint.

## What it does

Reports a file, or a definition in it, that cannot be parsed. The rest of the run goes on.

## Why

Nothing in what cannot be parsed has been checked: silence about it would look like approval. Run xlalint with a Python
at least as new as the syntax of the code.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class SyntaxErrorRule(Rule):
    code = "XLA900"
    name = "syntax-error"
    handles = ()
