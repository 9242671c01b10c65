"""Which rules a test asks that is about what a program does, and not about what it lacks."""

from __future__ import annotations

from typing import Final

from xlalint.findings.codes import rule_names

BUT_FOR_STRATEGY: Final = frozenset(rule_names()) - {"XLA512"}  # which speaks of each program that has no strategy
