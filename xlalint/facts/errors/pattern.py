"""What a known error is: its wording, its reason, and the rules that may be meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

UNLIKELY: Final = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that may be meant. With `forms` it is offered first only where the user's line has one of them; with "any"
    among them, or without, also where nothing speaks for another one."""

    code: str
    when: str
    forms: frozenset[str] = frozenset()

    def weight(self, found: frozenset[str]) -> int:
        """How little speaks for this rule where the line has the forms `found`: 0, 1 or `UNLIKELY`."""
        if self.forms & found:
            return 0
        return UNLIKELY if self.forms and "any" not in self.forms else 1


@dataclass(frozen=True, slots=True)
class Pattern:
    """An error. `{name}` in `reason` is what the group of that name caught.

    `compiled`: XLA says it, and the line is where the operation was made, not where the function was called. `rewrite`
    is shown where no rule is meant; else the rule's page says what to write. With `beside` the pattern counts only
    where the same passage of the log has those words, too. `link`: a page of its library's that explains it.
    """

    wording: re.Pattern[str]
    reason: str
    candidates: tuple[Candidate, ...] = ()
    rewrite: str | None = None
    compiled: bool = False
    beside: re.Pattern[str] | None = None
    link: str | None = None


def wording(text: str) -> re.Pattern[str]:
    """A wording as a regular expression that forgives how it was pasted."""
    return re.compile(text.replace("`", "[`'\"]?").replace(" ", r"\s+"))


def candidate(code: str, when: str, forms: str = "") -> Candidate:
    """A rule that may be meant, with its forms in one text, a bar between each two."""
    return Candidate(code, when, frozenset(filter(None, forms.split("|"))))
