"""Which rules exist, by code and name, and how they are named.

Everywhere the user names rules, a selector stands for some of them: a code (`XLA201`), a prefix of codes (`XLA2`,
`XLA`), a name (`boolean-mask`), `ALL`.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import digits
from typing import Final

from . import rule_files

UNREADABLE_FILE: Final = "XLA903"
SYNTAX_ERROR: Final = "XLA900"
UNUSED_SUPPRESSION: Final = "XLA901"
INVALID_SUPPRESSION: Final = "XLA902"
PROBE_ONLY: Final = "XLA904"
UNFINISHED_FILE: Final = "XLA905"

UNROLLED_ROUNDS: Final = 32  # from so many rounds on, XLA311 takes a loop for long, unless the settings say otherwise

# What the hundreds digit of a code stands for; it never changes its meaning.
FAMILIES: Final = {
    "1": "control flow that depends on a tensor's value",
    "2": "shapes that depend on data",
    "3": "recompilation by shape or by Python value",
    "4": "calls without an XLA kernel, and calls back to the host",
    "5": "programs for TPUs: strategies, pipelines, loops on the host, launchers",
    "6": "results that silently differ",
    "9": "the linter itself",
}


class SelectorError(Exception):
    """A selector that stands for no rule; the message suggests one that does."""


def rule_names() -> dict[str, str]:
    """Code -> name of every rule, by code. Raises RulesError."""
    return rule_files.names()


def matching(selector: str) -> frozenset[str]:
    """The codes that a selector stands for; empty when it stands for none."""
    wanted = selector.strip()
    names, upper = rule_names(), wanted.upper()
    if upper == "ALL":
        return frozenset(names)
    if named := frozenset(code for code, name in names.items() if name == wanted.lower()):
        return named
    is_prefix = upper.startswith(tuple(code_letters()))
    return frozenset(code for code in names if is_prefix and code.startswith(upper))


def is_own(code: str) -> bool:
    """Whether a code is of a rule that does not come with xlalint; "" is of none."""
    return bool(code) and code.rstrip(digits) != rule_files.SHIPPED


def code_letters() -> frozenset[str]:
    """What the codes of rules begin with."""
    return frozenset(code.rstrip(digits) for code in rule_names())


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
