"""Which rules a test asks that is about what a program does, and not about what it lacks."""

from __future__ import annotations

from typing import Final

from xlalint.findings.codes import rule_names

# Without those that speak of what a program needs which has no strategy yet.
BUT_FOR_STRATEGY: Final = frozenset(rule_names()) - {"XLA512", "XLA515", "XLA518"}
