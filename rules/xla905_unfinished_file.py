"""A file is too large, too deeply nested or too slow to check completely.

## What it does
Reports a file with more than a million characters of Python, a definition nested about a thousand levels deep, and a
file whose analysis exceeds the setting `file-timeout` (10 seconds, counted in steps). The rest of the run continues,
and findings made in the file until then are reported.

## Why
Silence about unchecked code would look like approval. Most such files are generated: leave them out with `exclude`, or
list them in `per-file-ignores`. To check a large file completely, raise `--file-timeout`. The analysis counts 25,000
steps as a second, so that it gets equally far on every machine; on a very slow one it ends after four times as long.
Such a result is not cached.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class UnfinishedFile(Rule):
    code = "XLA905"
    name = "unfinished-file"
    handles = ()
