"""Patterns in `.gitignore` syntax, matched in time that grows with the name alone: whoever writes the patterns and the
names of a checkout must not be able to keep the linter busy.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

# The parts of the regular expressions that pathspec makes.
_STAR: Final = r"[^/]*"  # of `*`
_ANY_FOLDERS: Final = r"(?:/.+)?"  # of `**` between names
_FIRST_FOLDERS: Final = r"^(?:.+/)?"  # of `**` before the first name
_FOLDER: Final = "ps_d"  # the group of the slash behind a folder's name
_UP_TO_STAR: Final = re.compile(r"\[\^/\]\*((?:\[\^?\]?[^\]]*\](?!\*)|\\.|[^/\[\\()^$*])+)(?=\[\^/\]\*)")


def _pattern(line: str) -> GitIgnoreSpecPattern:
    """A pattern whose wildcards, but for the last, take the first place that fits and no other. What follows the next
    wildcard has the most room then, so that no other place could match where this one does not. Raises ValueError."""
    regex, include = GitIgnoreSpecPattern.pattern_to_regex(line)
    return GitIgnoreSpecPattern(None if regex is None else re.compile(_without_backtracking(regex)), include)


def _without_backtracking(regex: str) -> str:
    while _STAR * 2 in regex:
        regex = regex.replace(_STAR * 2, _STAR)
    regex = _UP_TO_STAR.sub(r"(?>[^/]*?\1)", regex)
    first, *others = regex.split(_ANY_FOLDERS)
    if not others:
        return regex
    if first.startswith(_FIRST_FOLDERS):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_FIRST_FOLDERS)}(?=/))"
    between = [f"(?>(?:/.+?)??{names}(?=/))" for names, _ in pairwise(others)]
    return "".join((first, *between, _ANY_FOLDERS, others[-1]))


@lru_cache(maxsize=256)
def spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """What matches paths as Git does. A line that is no pattern is passed over, as Git does, too."""
    try:
        return GitIgnoreSpec.from_lines(patterns, _pattern)
    except ValueError:
        return GitIgnoreSpec.from_lines(filter(is_pattern, patterns), _pattern)


def is_pattern(pattern: str) -> bool:
    """Whether `pattern` is valid in `.gitignore` syntax."""
    try:
        _pattern(pattern)
    except ValueError:
        return False
    return True


def verdict_on(patterns: GitIgnoreSpec, name: str) -> bool | None:
    """What the last pattern that matches `name` itself says of it, a folder's name ending in a slash. What matches a
    folder above says nothing: who walks down has asked of that before."""
    for pattern in reversed(list(patterns.patterns)):
        if pattern.include is None or pattern.regex is None:
            continue
        for match in pattern.regex.finditer(name):
            if _FOLDER not in match.re.groupindex or match.start(_FOLDER) in (-1, len(name) - 1):
                return pattern.include
    return None
