"""A suppression comment that suppresses nothing.

## What it does

Reports `# xlalint: ignore[..]`, `file-ignore[..]` and `disable[..]` comments, and `# noqa: XLA...` codes, for which no
finding was switched off although the rules they name were run. A comment with several codes is reported for each
unused one. A bare `# noqa` belongs to every linter and is never reported.

## Why

The comment claims a hazard that is no longer there, and would hide the next one that appears on its line.

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
