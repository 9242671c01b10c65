"""A suppression comment is malformed or names an unknown rule.

## What it does
Reports a `# xlalint:` comment with an unknown word, an unknown code or name, missing or unclosed brackets, or an
`enable` without a `disable`. Also reports an unknown XLA code in `# noqa: ...`.

## Why
Such a comment suppresses nothing, although its author believes it does.

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
