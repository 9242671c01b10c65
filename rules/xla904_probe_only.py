"""Something that the probe saw XLA do at a place of which no rule speaks.

## What it does

Reports, when the probe runs the code (`--probe`), a line at which XLA refused a function, compiled it to something else
than eager execution gives, or compiled it again for every new value, and at which no rule has found anything. It is a
warning: that the function is compiled anywhere else than under the probe is not known.

## Why

It was measured, not concluded. A rule is missing, or what it would have to know cannot be read from the source.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class ProbeOnly(Rule):
    code = "XLA904"
    name = "probe-only"
    handles = ()
