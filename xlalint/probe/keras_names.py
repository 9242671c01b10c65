"""How Keras names layers and losses after their classes. Standard library only: the worker reads it as well."""

from __future__ import annotations

import re


def named_like(cls: str) -> str:
    """The name of an object of a class with a name, where nobody gives it another."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls).lower()
