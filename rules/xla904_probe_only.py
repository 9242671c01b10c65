"""The probe saw XLA misbehave on a line where no rule reports anything.

## What it does
When the probe runs the code (`--probe`), reports a line where XLA refused a function, compiled it to a different result
than eager execution, or recompiled it for every new value, and where no rule reports a finding. The severity is
`warning`, because it is not known whether anything but the probe compiles the function.

## Why
This was measured, not inferred. Either a rule is missing, or the source does not show what the rule needs to know.
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class ProbeOnly(Rule):
    code = "XLA904"
    name = "probe-only"
    handles = ()
