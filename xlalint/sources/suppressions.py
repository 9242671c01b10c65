"""Comments that switch findings off.

`# xlalint: ignore[XLA101] reason` and `# noqa: XLA101` speak for their line: for the whole statement when they stand on
its first or last line. An `ignore` on a line of its own speaks for the statement (or, inside brackets, the line) below.
`# xlalint: file-ignore[..]` speaks for the file, `# xlalint: disable[..]` for what follows it, up to an `enable[..]`.
Without brackets all rules are meant. Comments are found by the tokenizer, so text in strings is never one.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from ..findings.codes import code_letters, matching, selectors_known, suggestion
from ..findings.findings import Finding, Span
from .text import Source, split_lines

_MARK: Final = r"#\s*xlalint:|#\s*noqa\s*:[^\n\r#]*(?:%s)"
_PRAGMA: Final = re.compile(r"#\s*xlalint:\s*(?P<verb>[\w-]*)(?P<list>\s*\[(?P<items>[^]#]*)\])?(?P<rest>[^#]*)")
_NOQA: Final = re.compile(r"#\s*noqa(?:\s*:\s*(?P<items>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?(?![-\w])", re.IGNORECASE)
_ITEM: Final = re.compile(r"[^\s,][^,]*")
_NOQA_ITEM: Final = r"\b(?:%s)\d+"
_CODE: Final = re.compile(r"[A-Z]+\d+")
_VERBS: Final = ("ignore", "file-ignore", "disable", "enable")
# No suppressions: what the probe calls a function with, and how large a size is at most.
_OTHERS: Final = ("probe", "bound")
_END: Final = sys.maxsize
_NARROW: Final = 50  # lines
_WIDE: Final = 0  # the place of what is not narrow among the lines
# Of each more than anybody writes: rules in a comment, comments that speak for more than lines, suggestions.
_MOST_SELECTORS: Final = 200
_MOST_WIDE: Final = 1000
_MOST_HINTS: Final = 50
_QUIET: Final = frozenset((tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER))


@dataclass(slots=True)
class Stretch:
    """The lines over which some codes are off, both ends included."""

    codes: frozenset[str]
    first: int
    last: int


@dataclass(slots=True, eq=False)
class Suppression:
    """One selector of one comment. `selector` is None when the comment names no rules and means all."""

    verb: str
    selector: str | None
    codes: frozenset[str]
    span: Span
    stretches: list[Stretch] = field(default_factory=list)
    used: bool = False

    def covers(self, finding: Finding) -> bool:
        span = finding.span
        # Findings about suppressions are only switched off by name: else a bare `ignore` would hide its own.
        if self.selector is None and finding.code.startswith("XLA9"):
            return False
        return any(
            finding.code in stretch.codes and stretch.first <= span.end_line and span.line <= stretch.last
            for stretch in self.stretches
        )


@dataclass(frozen=True, slots=True)
class Misuse:
    """A suppression comment that says nothing: an unknown word, or the `selector` of no rule."""

    span: Span
    message: str
    selector: str = ""


@dataclass(slots=True)
class Suppressions:
    """All suppressions of one file."""

    entries: list[Suppression] = field(default_factory=list)
    misuses: list[Misuse] = field(default_factory=list)
    _by_line: dict[int, dict[Suppression, None]] | None = None

    def suppress(self, finding: Finding) -> bool:
        """Whether a comment switches `finding` off; every comment that does is then used. To be asked when
        all comments have been read."""
        if self._by_line is None:
            self._by_line = self._lines()
        lines = (_WIDE, *range(finding.span.line, finding.span.end_line + 1))
        near = dict.fromkeys(entry for line in lines for entry in self._by_line.get(line, ()))
        covering = [entry for entry in near if entry.covers(finding)]
        for entry in covering:
            entry.used = True
        return bool(covering)

    def _lines(self) -> dict[int, dict[Suppression, None]]:
        """What may cover each line: there may be as many comments as findings, and most speak for one line."""
        found: dict[int, dict[Suppression, None]] = {}
        for entry in self.entries:
            for stretch in entry.stretches:
                narrow = stretch.last - stretch.first < _NARROW
                for line in range(stretch.first, stretch.last + 1) if narrow else (_WIDE,):
                    found.setdefault(line, {})[entry] = None
        return found

    def unused(self, ran: frozenset[str]) -> Iterator[tuple[Suppression, str]]:
        """The suppressions that switched nothing off although the rules they name `ran`, and what to say of each."""
        for entry in self.entries:
            reported_by_flake8 = entry.verb == "noqa" and entry.selector is None
            about_itself = all(code.startswith("XLA9") for code in entry.codes)
            if entry.used or reported_by_flake8 or about_itself or not _ordinary(entry.codes) <= ran:
                continue
            what = f"`{entry.verb}`" if entry.selector is None else f"`{entry.selector}` in this `{entry.verb}`"
            yield entry, f"{what} suppresses nothing"


def _ordinary(codes: frozenset[str]) -> frozenset[str]:
    return frozenset(code for code in codes if not code.startswith("XLA9"))


def names_rules(text: str) -> bool:
    """Whether the text may hold a suppression that must be accounted for even when nothing was found."""
    return _of_codes(_MARK).search(text) is not None


def may_suppress(text: str) -> bool:
    """Whether the text may hold a suppression at all."""
    return names_rules(text) or ("noqa" in text.lower() and any(not one["items"] for one in _NOQA.finditer(text)))


def _of_codes(pattern: str) -> re.Pattern[str]:
    """A pattern with the letters of our codes in it: `noqa` serves other tools, too."""
    return re.compile(pattern % "|".join(sorted(code_letters())), re.IGNORECASE)


def suppressions_of(text: str) -> Suppressions:
    """The suppressions of a file; of a file that does not tokenize, those before the error."""
    if not may_suppress(text):
        return Suppressions()
    reader = _Reader()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            reader.read(token)
    except (tokenize.TokenError, SyntaxError):
        pass  # the syntax error is a finding of its own
    return reader.result


def suppressions_in(source: Source) -> Suppressions:
    """The suppressions of a source. In a notebook they end with their cell, except those of the whole file."""
    if not source.cells:
        return suppressions_of(source.text)
    result = Suppressions()
    lines = split_lines(source.text)
    for cell in source.cells:
        found = suppressions_of("\n".join(lines[cell.first - 1 : cell.last]) + "\n")
        for entry in found.entries:
            entry.span = _below(entry.span, cell.first - 1)
            for stretch in entry.stretches if entry.verb != "file-ignore" else ():
                stretch.first += cell.first - 1
                stretch.last = min(stretch.last + cell.first - 1, cell.last)
        result.entries += found.entries
        result.misuses += (replace(misuse, span=_below(misuse.span, cell.first - 1)) for misuse in found.misuses)
    return result


def _below(span: Span, lines: int) -> Span:
    return replace(span, line=span.line + lines, end_line=span.end_line + lines)


class _Reader:
    """Follows the tokens of a file: knows which statement a comment belongs to."""

    def __init__(self) -> None:
        self.result = Suppressions()
        self._statement: int | None = None  # the first line of the statement being read
        self._inside: list[tuple[int, list[Suppression]]] = []  # comments of the statement being read, by line
        self._above: list[Suppression] = []  # comments on lines of their own that wait for the next code
        self._open: list[Suppression] = []  # `disable` without its `enable` yet
        self._wide = 0

    def read(self, token: tokenize.TokenInfo) -> None:
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            self._comment(token, own_line=not token.line[: token.start[1]].strip())
        elif token.type == tokenize.NEWLINE:
            self._end_statement(token.end[0])
        elif token.type not in _QUIET:
            if self._statement is None:
                self._statement = line
                self._inside = [(line, self._above)]
                self._above = []
            elif self._above:  # a comment between brackets, for the line below it
                self._cover(self._above, line, line)
                self._above = []

    def _end_statement(self, last: int) -> None:
        first = self._statement if self._statement is not None else last
        for line, entries in self._inside:
            whole = line in (first, last)
            self._cover(entries, first if whole else line, last if whole else line)
        self._statement, self._inside = None, []

    @staticmethod
    def _cover(entries: list[Suppression], first: int, last: int) -> None:
        for entry in entries:
            entry.stretches.append(Stretch(entry.codes, first, last))

    def _comment(self, token: tokenize.TokenInfo, *, own_line: bool) -> None:
        line, offset = token.start
        for match in _PRAGMA.finditer(token.string):
            self._pragma(match, line, offset, own_line=own_line)
        for match in _NOQA.finditer(token.string):
            items = match["items"]
            start = match.start("items") if items else 0
            selectors = [(item[0], start + item.start()) for item in _of_codes(_NOQA_ITEM).finditer(items or "")]
            if items is None or selectors:
                entries = self._entries("noqa", selectors, match, line, offset)
                self._attach(entries, line, own_line=False)

    def _pragma(self, match: re.Match[str], line: int, offset: int, *, own_line: bool) -> None:
        verb, items, rest = match["verb"], match["items"], match["rest"]
        if verb in _OTHERS:
            return
        if problem := _problem(verb, match["list"], rest):
            self._misuse(line, offset + match.start() + 1, len(match[0].rstrip()), problem)
            return
        start = match.start("items")
        selectors = [(item[0].strip(), start + item.start()) for item in _ITEM.finditer(items or "")]
        entries = self._entries(verb, selectors, match, line, offset) if items is None or selectors else []
        match verb:
            case "ignore":
                self._attach(entries, line, own_line=own_line)
            case "file-ignore" | "disable" if self._wide > _MOST_WIDE:
                self._misuse(line, offset + match.start() + 1, 1, f"more than {_MOST_WIDE} comments of this kind")
            case "file-ignore":
                self._wide += 1
                self._cover(entries, 1, _END)
                self.result.entries += entries
            case "disable":
                self._wide += 1
                self._cover(entries, line, _END)
                self.result.entries += entries
                self._open += entries
            case "enable":
                self._enable(entries, line)

    def _attach(self, entries: list[Suppression], line: int, *, own_line: bool) -> None:
        self.result.entries += entries
        if own_line:
            self._above += entries
        elif self._statement is not None:
            self._inside.append((line, entries))
        else:
            self._cover(entries, line, line)

    def _enable(self, entries: list[Suppression], line: int) -> None:
        for entry in entries:
            ended = False
            for disabled in self._open:
                current = disabled.stretches[-1]
                if not current.codes & entry.codes:
                    continue
                ended = True
                current.last = line
                # what `enable` does not name stays off
                disabled.stretches.append(Stretch(current.codes - entry.codes, line, _END))
            self._open = [disabled for disabled in self._open if disabled.stretches[-1].codes]
            if not ended:
                self.result.misuses.append(Misuse(entry.span, "`enable` without a `disable` before it"))

    def _entries(
        self, verb: str, selectors: list[tuple[str, int]], match: re.Match[str], line: int, offset: int
    ) -> list[Suppression]:
        """One suppression for each selector that stands for a rule; one for all rules when there is no selector."""
        if not selectors:
            length = len(match[0].rstrip()) - len(match.groupdict().get("rest") or "")
            span = _span(line, offset + match.start() + 1, max(length, 1))
            return [Suppression(verb, None, matching("ALL"), span)]
        entries = []
        if len(selectors) > _MOST_SELECTORS:
            at = offset + match.start() + 1
            self._misuse(line, at, 1, f"more than {_MOST_SELECTORS} rules in one comment; the others are ignored")
        for selector, at in selectors[:_MOST_SELECTORS]:
            column = offset + at + 1
            if codes := matching(selector):
                entries.append(Suppression(verb, selector, codes, _span(line, column, len(selector))))
            else:
                # To look for what may be meant takes longer than all else.
                few = len(self.result.misuses) < _MOST_HINTS
                hint = suggestion(selector, selectors_known()) if few else ""
                self._misuse(line, column, len(selector), f"no rule is called {selector!r}{hint}", selector)
        return entries

    def _misuse(self, line: int, column: int, length: int, message: str, selector: str = "") -> None:
        self.result.misuses.append(Misuse(_span(line, column, length), message, selector))


def _span(line: int, column: int, length: int) -> Span:
    return Span(line, column, line, column + length)


def _meant(rest: str) -> str | None:
    """The rules that somebody names after a verb in another tool's way: `disable=XLA203,XLA205`, `ignore: XLA203`,
    `ignore(boolean-mask)`; None for a reason in words."""
    text = rest.strip()
    names = [name for name in re.split(r"[\s,=:(){}]+", text) if name]
    assigned = text[:1] in ("=", "(", "{")
    named = list(takewhile(lambda name: matching(name) or _CODE.fullmatch(name), names))
    return ", ".join(named or names or ["XLA203"]) if named or assigned else None


def _problem(verb: str, listed: str | None, rest: str) -> str | None:
    """What is wrong with the form of a comment, if anything."""
    if verb not in _VERBS:
        return f"a suppression starts with one of {', '.join(_VERBS)}{suggestion(verb, _VERBS)}"
    if listed is None and rest.lstrip().startswith("["):
        return "the bracket is not closed"
    # Without brackets all rules are meant: what looks like the name of one would switch off all others with it.
    if listed is None and (meant := _meant(rest)) is not None:
        return f"rules must be in brackets: `{verb}[{meant}]`"
    if listed is not None and not listed.strip(" []"):
        return "no rule between the brackets"
    return None
