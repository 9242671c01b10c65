"""Which rules exist, by code and name, read from their file names so that nothing heavy is imported.

A rule's file is called after it (`xla201_boolean_mask.py` is XLA201, boolean-mask). Everywhere the user names rules, a
selector stands for some of them: a code (`XLA201`), a prefix of codes (`XLA2`, `XLA`), a name (`boolean-mask`), `ALL`.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

_RULE_FILE: Final = re.compile(r"(xla\d{3})_(\w+)\.py")

UNREADABLE_FILE: Final = "XLA903"
SYNTAX_ERROR: Final = "XLA900"
UNUSED_SUPPRESSION: Final = "XLA901"
INVALID_SUPPRESSION: Final = "XLA902"
PROBE_ONLY: Final = "XLA904"

UNROLLED_ROUNDS: Final = 32  # from so many rounds on, XLA311 takes a loop for long, unless the settings say otherwise


class SelectorError(Exception):
    """A selector that stands for no rule; the message suggests one that does."""


@cache
def rules_sources() -> tuple[Path, ...]:
    """Every Python file of the package of rules, what they share included."""
    spec = importlib.util.find_spec("xlalint.rules")
    folders = spec.submodule_search_locations if spec else None
    return tuple(sorted(path for folder in folders or () for path in Path(folder).glob("*.py")))


@cache
def rule_names() -> dict[str, str]:
    """Code -> name of every rule, by code."""
    found = (_RULE_FILE.fullmatch(path.name) for path in rules_sources())
    return {match[1].upper(): match[2].replace("_", "-") for match in found if match}


@cache
def matching(selector: str) -> frozenset[str]:
    """The codes that a selector stands for; empty when it stands for none."""
    wanted = selector.strip()
    upper = wanted.upper()
    if upper == "ALL":
        return frozenset(rule_names())
    if upper.startswith("XLA"):
        return frozenset(code for code in rule_names() if code.startswith(upper))
    return frozenset(code for code, name in rule_names().items() if name == wanted.lower())


def codes_of(selectors: Iterable[str]) -> frozenset[str]:
    """The codes that the selectors stand for together; raises `SelectorError` for one that stands for none."""
    result: set[str] = set()
    for selector in selectors:
        if not (found := matching(selector)):
            raise SelectorError(f"no rule is called {selector!r}{suggestion(selector, selectors_known())}")
        result |= found
    return frozenset(result)


def selectors_known() -> list[str]:
    """Every full code and name, for suggestions and shell completion."""
    return [*rule_names(), *rule_names().values()]


def suggestion(given: str, known: Iterable[str]) -> str:
    """`; did you mean ...?`, or nothing when nothing known is close."""
    from difflib import get_close_matches

    by_lower = {option.lower(): option for option in known}
    close = get_close_matches(given.strip().lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
