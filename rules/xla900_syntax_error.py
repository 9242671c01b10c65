"""A file is not valid Python for the interpreter that runs xlalint.

## What it does
Reports a file, or a definition in it, that xlalint cannot parse. The rest of the run continues. In a file that somebody
pasted from a notebook, lines that are commands of IPython (`!pip install ..`, `%matplotlib inline`) are reported once,
and the rest is checked. A file that names neither TensorFlow nor Keras is reported for information: it may be
a note, or a fragment of something else.

## Why
Code that cannot be parsed is not checked, and silence would look like approval. Run xlalint with a Python version that
supports the syntax of the code.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class SyntaxErrorRule(Rule):
    code = "XLA900"
    name = "syntax-error"
    handles = ()
