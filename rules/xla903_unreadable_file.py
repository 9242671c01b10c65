"""A file that cannot be read as text.

## What it does

Reports a file that cannot be opened, is not in the encoding that it declares (UTF-8 where it declares none), or holds
null bytes. The rest of the run goes on, and the exit code is 2: what was asked could not be done.

## Why

Nothing in the file has been checked.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class UnreadableFile(Rule):
    code = "XLA903"
    name = "unreadable-file"
    handles = ()
