"""A file cannot be read as text.

## What it does
Reports a file that cannot be opened, does not match its declared encoding (UTF-8 by default), or contains null bytes.
The rest of the run continues, and the exit code is 2.

## Why
Nothing in the file is checked.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class UnreadableFile(Rule):
    code = "XLA903"
    name = "unreadable-file"
    handles = ()
