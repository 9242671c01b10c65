"""From a log to answers: which rule an error is about, the user's own line, the reason, and what to write instead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from ..facts.errors import PATTERNS
from ..facts.errors.forms import forms_of
from ..facts.errors.pattern import UNLIKELY, Candidate, Pattern
from ..findings.codes import rule_names
from ..findings.findings import Finding
from ..sources.text import UnreadableSource, read_bytes
from .log import Frame, Kind, Log, parse
from .operations import LISTED, UNSUPPORTED, UNSUPPORTED_LIST, operation_error

# How far from a line of the traceback a finding may stand that explains it: a tensor is kept here and used there.
_NEAR: Final = 25
_LAYERS: Final = "keras/src/layers/preprocessing/"
_SAID: Final = 160  # how much of the error's own words is repeated
_EXCEPTION: Final = re.compile(r"^[ \t]*(?:\w+\.)*[A-Z]\w*(?:Error|Exception): (?P<message>.*)", re.MULTILINE)
_COMPILED: Final = re.compile(r"jit_compile=True|_XlaMustCompile")
# What announces an error that follows.
_HERALD: Final = re.compile(r"in user code:|Exception encountered when calling |Graph execution error")


@dataclass(frozen=True, slots=True)
class Place:
    """The user's own line, as the log names it; `installed`: that of a package, where the log has none of theirs."""

    path: str
    line: int
    function: str | None
    source: str | None
    installed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What one error of the log is about. `code` None: no rule finds it; the reason and the rewrite still hold.
    `link`: a page of its library's that explains it."""

    error: str
    reason: str
    code: str | None = None
    place: Place | None = None
    rewrite: str | None = None
    others: tuple[Candidate, ...] = ()
    finding: Finding | None = None
    times: int = 1
    link: str | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """The rule that is meant, and those that may be meant instead."""
        first = () if self.code is None else (self.code,)
        return (*first, *(other.code for other in self.others))


@dataclass(frozen=True, slots=True)
class Answers:
    """The distinct errors of a log in their order, and the first lines of those that are not known."""

    answers: tuple[Answer, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Hit:
    """A pattern that was found in the log, with its reason filled in."""

    start: int
    end: int
    pattern: Pattern
    reason: str
    op: str | None = None


def explain_log(text: str) -> Answers:
    """Answer every distinct error of a log."""
    log = parse(text)
    hits = _hits(log)
    found: dict[tuple[str, Place | None], Answer] = {}
    for hit in hits:
        answer = _answer(log, hit)
        key = answer.reason, answer.place
        known = found.get(key)
        found[key] = replace(known, times=known.times + 1) if known else answer
    placed = {reason for reason, place in found if place is not None}
    answers = tuple(answer for (reason, place), answer in found.items() if place is not None or reason not in placed)
    return Answers(answers, _unknown(log, hits))


def _hits(log: Log) -> list[_Hit]:
    """What is found where, in order; where several patterns find the same words, the first of the table counts."""
    found: list[_Hit] = []
    taken = bytearray(len(log.text))
    for match in UNSUPPORTED.finditer(log.text):
        pattern, reason = operation_error(match["op"], match["device"], match["attributes"], match["node"] or "")
        found.append(_Hit(match.start(), match.end(), pattern, reason))
        taken[match.start() : match.end()] = b"x" * len(match[0])
    for match in UNSUPPORTED_LIST.finditer(log.text):
        if listed := LISTED.match(log.text, match.end()):
            for op in dict.fromkeys(listed[0].split(", ")):
                pattern, reason = operation_error(op, match["device"], None)
                found.append(_Hit(match.start(), listed.end(), pattern, reason))
    for pattern in PATTERNS:
        for match in pattern.wording.finditer(log.text):
            if not any(taken[match.start() : match.end()]) and _beside(log, match.start(), pattern.beside):
                taken[match.start() : match.end()] = b"x" * len(match[0])
                caught = {name: value or "" for name, value in match.groupdict().items()}
                caught["op"] = next(
                    filter(None, map(caught.get, ("op", "old", "short", "title", "name"))), "an operation"
                )
                found.append(_Hit(match.start(), match.end(), pattern, pattern.reason.format_map(caught), caught["op"]))
    return sorted(found, key=lambda hit: hit.start)


def _beside(log: Log, position: int, words: re.Pattern[str] | None) -> bool:
    """Whether the passage around a position has these words."""
    return words is None or words.search(log.text, *log.passage(position)) is not None


def _unknown(log: Log, hits: Sequence[_Hit]) -> tuple[str, ...]:
    """The exceptions of passages in which nothing is known."""
    answered = {log.passage(hit.start) for hit in hits}
    return tuple(
        dict.fromkeys(
            match[0].strip()
            for match in _EXCEPTION.finditer(log.text)
            if log.passage(match.start()) not in answered and not _HERALD.search(match["message"])
        )
    )


def _answer(log: Log, hit: _Hit) -> Answer:
    frames = _frames(log, hit)
    frame = _own(frames)
    text = (frame.text or _line_of(frame)) if frame is not None else None
    place = Place(frame.path, frame.line, frame.function, text, frame.installed) if frame is not None else None
    forms = _forms(log, hit, text, frames)
    candidates = sorted(hit.pattern.candidates, key=lambda candidate: candidate.weight(forms))
    finding = _found(frames, candidates)
    if finding is not None:
        code: str | None = finding.code
    else:
        code = candidates[0].code if candidates and candidates[0].weight(forms) < UNLIKELY else None
    rewrite = (finding.help if finding is not None else None) or hit.pattern.rewrite
    if rewrite is None and code is not None:
        rewrite = _page_rewrite(code)
    others = tuple(candidate for candidate in candidates if candidate.code != code)
    others = () if finding is not None else others
    return Answer(_error(log, hit), hit.reason, code, place, rewrite, others, finding, link=hit.pattern.link)


def _error(log: Log, hit: _Hit) -> str:
    """What the log says: the words that are known, to the end of their line or sentence."""
    end = log.text.find("\n", hit.end)
    said = " ".join(log.text[hit.start : end if end >= 0 else len(log.text)].split())
    return said if len(said) <= _SAID else f"{said[: _SAID - 3]}..."


# -- the user's line --------------------------------------------------------------------------------------------------


def _frames(log: Log, hit: _Hit) -> list[Frame]:
    """The frames that lead to the error, outermost first: of an operation, to where it was made."""
    start, end = log.passage(hit.start)
    middle = hit.start if hit.pattern.compiled else hit.end
    before = log.frames_between(start, middle)
    after = log.frames_between(middle, end)
    made = _first_list([frame for frame in after if frame.kind is Kind.DEFINITION], log)
    called = [frame for frame in before if frame.kind is not Kind.DEFINITION]
    below = [frame for frame in after if frame.kind is not Kind.DEFINITION]
    if hit.pattern.compiled:
        return made or below or [frame for frame in before if frame.kind is Kind.DEFINITION] or called
    located = below[:1] if below and below[0].kind is Kind.LOCATION else []
    return [*called, *located] or below or made


def _first_list(frames: Sequence[Frame], log: Log) -> list[Frame]:
    """The frames up to the first gap: a message may go on with where the operation around it was made."""
    found: list[Frame] = []
    for frame in frames:
        if found and log.text.count("\n", found[-1].at, frame.at) > 2:
            break
        found.append(frame)
    return found


def _own(frames: Sequence[Frame]) -> Frame | None:
    """The last frame of the user's own code; of an installed package where there is none."""
    own = [frame for frame in frames if frame.own]
    return next((frame for frame in reversed(own) if not frame.installed), own[-1] if own else None)


def _forms(log: Log, hit: _Hit, text: str | None, frames: Iterable[Frame]) -> frozenset[str]:
    """What speaks for one rule or another: the form of the user's line, the functions that it called, the operation,
    and whether the passage says that XLA compiles."""
    called = {f"call {frame.function}" for frame in frames if not frame.own}
    layers = {"preprocessing layer"} if any(_LAYERS in frame.path for frame in frames) else set()
    compiled = {"jit_compile"} if _beside(log, hit.start, _COMPILED) else set()
    return (forms_of(text) if text else frozenset()) | called | layers | compiled | {f"op {hit.op}"}


# -- the source, where it is at hand ----------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _file(path: str) -> Path | None:
    """The file of a frame. XLA leaves out the first folders of a path: it may stand below any folder above this one."""
    if not path.endswith(".py"):
        return None
    here = Path.cwd()
    candidates = (Path(os.path.expanduser(path)), *(folder / path for folder in (here, *here.parents)))
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), None)


@lru_cache(maxsize=64)
def _lines(path: Path) -> list[str]:
    try:
        return read_bytes(path).decode("utf-8", "replace").splitlines()
    except UnreadableSource:
        return []


def _line_of(frame: Frame) -> str | None:
    """The line of a frame, read from its file."""
    file = _file(frame.path)
    if file is None or not 0 < frame.line <= len(lines := _lines(file)):
        return None
    return lines[frame.line - 1].strip()


def _found(frames: Sequence[Frame], candidates: Sequence[Candidate]) -> Finding | None:
    """What the linter itself finds at the user's line, in the file as it is there now."""
    codes = [candidate.code for candidate in candidates]
    best: tuple[int, int, int] | None = None
    chosen = None
    for depth, frame in enumerate(reversed([frame for frame in frames if frame.own])):
        file = _file(frame.path)
        if file is None or (frame.text is not None and frame.text != _line_of(frame)):
            continue  # nothing there, or it has changed since
        for finding in _findings(file):
            if finding.code in codes:
                span = finding.span
                away = max(0, span.line - frame.line, frame.line - span.end_line)
                weight = (min(away, 1), depth, away)
                if away <= _NEAR and (best is None or weight < best):
                    best, chosen = weight, finding
        if best is not None and not best[0]:
            break  # no frame further out comes before it, and to lint what called may take long
    return chosen


@lru_cache(maxsize=16)
def _findings(file: Path) -> tuple[Finding, ...]:
    from ..linter.run import check
    from ..settings.config import Settings

    return check([str(file)], Settings(include_host=True)).findings


def _page_rewrite(code: str) -> str | None:
    """What the rule's page says to write instead."""
    from ..linter.rule import all_rules

    page = next(rule.documentation() for rule in all_rules() if rule.code == code)
    section = page.partition("## Use instead\n")[2].partition("\n## ")[0]
    return section.strip("\n") or None


def name_of(code: str) -> str:
    """The name of a rule."""
    return rule_names()[code]


__all__ = ["Answer", "Answers", "Place", "explain_log", "name_of"]
