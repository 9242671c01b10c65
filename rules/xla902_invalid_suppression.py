"""A suppression comment that names no rule or is not written as one.

## What it does

Reports a `# xlalint:` comment with an unknown word, an unknown code or name, a list without brackets or with an open
one, an `enable` without a `disable`; and an unknown XLA code in `# noqa: ...`.

## Why

Such a comment switches nothing off: its author believes otherwise.

## Example

```python
y = x[x > 0]  # xlalint: ignore[bolean-mask]
```

## Use instead

```python
y = x[x > 0]  # xlalint: ignore[boolean-mask]
```
"""

from __future__ import annotations

from xlalint.linter.rule import Rule


class InvalidSuppression(Rule):
    code = "XLA902"
    name = "invalid-suppression"
    handles = ()
