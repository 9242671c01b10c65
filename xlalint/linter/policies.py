"""What is set for files, of which rules run there and how grave their findings are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ..findings.findings import Severity


@dataclass(frozen=True, slots=True)
class Policy:
    """What is set for a file. `codes`: the rules that run, None: all; `severities` overrule by code; `target`: what
    alone the code is for; None: it may turn out to be for TPUs, too; `bounds`: of sizes, by name."""

    codes: frozenset[str] | None = None
    severities: Mapping[str, Severity] = field(default_factory=dict)
    target: str | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)

    def runs(self, code: str) -> bool:
        """Whether a rule runs."""
        return self.codes is None or code in self.codes


NOTHING_SET: Final = Policy()
