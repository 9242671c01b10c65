"""A file that is too large, nested too deeply or takes too long: it is not checked, or not all of it.

## What it does

Reports a file with more than a million characters of Python, a definition that is nested about a thousand levels deep,
and a file whose analysis takes longer than the setting `file-timeout` allows (10 seconds of processor time). The rest
of the run goes on, and what was found in the file until then is reported.

## Why

Silence about code that was not checked would look like approval. Most such files are generated: leave them out with
`exclude`, or say with `per-file-ignores` that they need no check. A file that is meant to be checked may be given more
time with `--file-timeout`; how far it gets depends on the machine, so such a result is not cached.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class UnfinishedFile(Rule):
    code = "XLA905"
    name = "unfinished-file"
    handles = ()
