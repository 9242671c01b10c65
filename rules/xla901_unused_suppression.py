"""A suppression comment suppresses nothing.

## What it does
Reports `# xlalint: ignore[..]`, `file-ignore[..]` and `disable[..]` comments, and `# noqa: XLA...` codes, that suppress
no finding although their rules were run. If a comment has several codes, each unused one is reported. A bare `# noqa`
belongs to every linter and is never reported.

## Why
The comment points to a problem that no longer exists, and would hide the next one on its line.

## Example
```python
total = tf.reduce_sum(x)  # xlalint: ignore[XLA201]
```

## Use instead
```python
total = tf.reduce_sum(x)
```
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class UnusedSuppression(Rule):
    code = "XLA901"
    name = "unused-suppression"
    handles = ()
