"""The page: what was found by effect, rule and package, then each finding with its way, its code and its rewrite."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from ... import __version__
from ...authoring.verdicts import page as documented
from ...findings.findings import Edit, Effect, Finding, Fix, Note, Report, Safety, Severity
from ...linter.rule import all_rules
from ..around import Around
from ..full import Lines
from ..summary import counts
from ..terminal import counted, place
from .code import excerpt, side_by_side
from .graph import Stop, graph
from .markup import Markup, element, joined
from .prose import inline, page

_PACKAGES: Final = 12  # bars of packages; deeper folders are counted together where there would be more
_NOUNS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
EFFECTS: Final = {
    Effect.FAILS: "does not compile",
    Effect.DIVERGES: "gives another result",
    Effect.RECOMPILES: "recompiles",
    Effect.TPU: "breaks on a TPU",
    Effect.NAMED: "compiles, but is not portable",
    None: "about the file itself",
}
CONTEXTS: Final = {
    "xla": "compiled by XLA",
    "graph": "in a graph",
    "open": "no known caller",
    "host": "eager, on the host",
    "": "none",
}
_SAFETY: Final = {
    Safety.SAFE: "safe: the same result on all inputs",
    Safety.UNSAFE: "unsafe: review before you apply it",
    Safety.DISPLAY: "a sketch, to be finished by hand",
}
_KEYS: Final = (("/", "search"), ("j", "next"), ("k", "previous"), ("e", "open or close all"), ("Esc", "show all"))


def html(report: Report, around: Around) -> str:
    """The page of a run in the current folder."""
    return whole_page(report, around.lines, Path.cwd().name or "/")


def whole_page(report: Report, lines: Lines, title: str) -> str:
    """The page. `title`: what was checked."""
    packages = _packages(report)
    findings = [_Shown(number, finding, packages) for number, finding in enumerate(report.findings, 1)]
    style, script = (Path(__file__).with_name(name).read_text("utf-8") for name in ("page.css", "page.js"))
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:"
    head = (
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"xlalint: {title}"),
        element("style", Markup(style)),
    )
    body = (
        element("a", "Skip to the findings", href="#findings", class_="skip"),
        element("header", _masthead(report, title)),
        element("main", _overview(findings), _listing(findings, lines), _rules(report)),
        element("footer", _footer(report)),
        element("script", Markup(script)),
    )
    whole = element("html", element("head", head), element("body", body), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class _Shown:
    """A finding with the groups that it belongs to."""

    def __init__(self, number: int, finding: Finding, packages: dict[str, str]) -> None:
        self.number, self.finding = number, finding
        context = finding.context
        self.groups = {
            "severity": finding.severity.label,
            "effect": finding.effect or "",
            "rule": finding.code,
            "package": packages[finding.path],
            "context": context.kind if context else "",
        }


def _packages(report: Report) -> dict[str, str]:
    """For each file the folder that it counts for: as deep as the number of bars allows."""
    folders = {finding.path: finding.path.split("/")[:-1] for finding in report.findings}
    deepest = max(map(len, folders.values()), default=0)

    def cut(depth: int) -> dict[str, str]:
        return {path: "/".join(parts[:depth]) or "." for path, parts in folders.items()}

    depths = (depth for depth in range(deepest, 1, -1) if len(set(cut(depth).values())) <= _PACKAGES)
    return cut(next(depths, 1))


# -- the top ----------------------------------------------------------------------------------------------------------


def _masthead(report: Report, title: str) -> Iterator[Markup]:
    yield element("p", element("span", "xlalint", class_="brand"), f" {__version__}", class_="eyebrow")
    yield element("h1", title)
    found = [
        (str(number), _NOUNS[severity] if number == 1 else f"{_NOUNS[severity]}s", severity.label)
        for severity, number in counts(report).items()
    ]
    safe = sum(finding.fix is not None and finding.fix.safety is Safety.SAFE for finding in report.findings)
    more = sum(finding.fix is not None and finding.fix.safety is Safety.UNSAFE for finding in report.findings)
    found.append((f"{safe}", f"fixed by --fix, {more} more with --unsafe-fixes", "fix"))
    found.append((str(report.files_checked), "file checked" if report.files_checked == 1 else "files checked", "files"))
    yield element(
        "ul",
        (element("li", element("b", number), f" {what}", class_=kind) for number, what, kind in found),
        class_="tiles",
    )
    for problem in report.problems:
        said = f"{problem.path}: {problem.message}" if problem.path else problem.message
        yield element("p", element("b", "Not checked: "), said, class_="problem")


def _overview(findings: Sequence[_Shown]) -> Markup | None:
    if not findings:
        return element("p", "No findings.", class_="nothing")
    names = {shown.finding.code: shown.finding.name for shown in findings}
    panels = (
        _panel("What XLA does", "effect", findings, lambda value: EFFECTS[Effect(value) if value else None]),
        _panel("Rules", "rule", findings, lambda value: f"{value} {names[value]}"),
        _panel("Packages", "package", findings, str),
    )
    return element("section", panels, class_="overview", aria_label="Overview")


def _panel(title: str, group: str, findings: Sequence[_Shown], label: Callable[[str], str]) -> Markup:
    """A bar for each value, divided by severity; pressing one shows its findings only."""
    by_value: dict[str, Counter[Severity]] = {}
    for shown in findings:
        by_value.setdefault(shown.groups[group], Counter())[shown.finding.severity] += 1
    most = max(counter.total() for counter in by_value.values())
    ranked = sorted(by_value.items(), key=lambda item: (-item[1].total(), item[0]))
    bars = (
        element(
            "li",
            element(
                "button",
                element("span", label(value), class_="label"),
                element("span", str(counter.total()), class_="number"),
                _bar(counter, most),
                type="button",
                data_group=group,
                data_value=value,
                aria_pressed="false",
            ),
        )
        for value, counter in ranked
    )
    return element("div", element("h2", title), element("ul", bars), class_="panel")


def _bar(counter: Counter[Severity], most: int) -> Markup:
    parts, done = [], 0.0
    for severity in sorted(counter, reverse=True):
        width = round(100 * counter[severity] / most, 2)
        parts.append(element("rect", x=done, y=0, width=width, height=4, class_=severity.label))
        done = round(done + width, 2)
    return element("svg", parts, viewBox="0 0 100 4", preserveAspectRatio="none", class_="bar", aria_hidden="true")


# -- the findings -----------------------------------------------------------------------------------------------------


def _listing(findings: Sequence[_Shown], lines: Lines) -> Markup | None:
    if not findings:
        return None
    files = (
        element(
            "section",
            element("h2", path, " ", element("span", str(len(here)), class_="count")),
            (_card(shown, lines) for shown in here),
            class_="file",
        )
        for path, here in ((path, list(some)) for path, some in groupby(findings, lambda one: one.finding.path))
    )
    empty = element("p", "No finding matches.", class_="nothing", id="none", hidden=True)
    return element("section", _filters(findings), files, empty, id="findings", aria_label="Findings")


def _filters(findings: Sequence[_Shown]) -> Markup:
    names = {shown.finding.code: shown.finding.name for shown in findings}
    fields: tuple[tuple[str, str, Callable[[str], str]], ...] = (
        ("severity", "Severity", str),
        ("effect", "Effect", lambda value: EFFECTS[Effect(value) if value else None]),
        ("rule", "Rule", lambda value: f"{value} {names[value]}"),
        ("context", "Context", lambda value: CONTEXTS[value]),
        ("package", "Package", str),
    )
    return element(
        "form",
        element(
            "label",
            element("span", "Search"),
            element("input", type="search", id="search", placeholder="code, path, message …", autocomplete="off"),
            class_="wide",
        ),
        (_choice(group, title, findings, label) for group, title, label in fields),
        element(
            "p",
            element("output", counted(len(findings), "finding"), id="shown"),
            element("button", "Show all", type="reset"),
            element("button", "Open all", type="button", id="unfold", aria_pressed="false"),
            class_="actions",
        ),
        class_="filters",
        role="search",
    )


def _choice(group: str, title: str, findings: Sequence[_Shown], label: Callable[[str], str]) -> Markup:
    values = sorted({shown.groups[group] for shown in findings})
    options = (element("option", label(value), value=value, data_value=value) for value in values)
    everything = element("option", "all", value="", data_all=True)
    return element("label", element("span", title), element("select", everything, options, data_group=group))


def _card(shown: _Shown, lines: Lines) -> Markup:
    finding = shown.finding
    where = place("", finding.cell, finding.span.line, finding.span.column).removeprefix(":")
    summary = element(
        "summary",
        element("span", finding.severity.label, class_=f"severity {finding.severity.label}"),
        element("span", finding.code, class_="rule"),
        element("span", where, class_="where"),
        element("span", inline(finding.message), class_="message"),
    )
    told = element("div", _told(finding, lines), class_="told")
    body = element("div", told, _way(finding), _instead(finding, lines), class_="body")
    return element(
        "article",
        element("details", summary, body),
        id=f"f{shown.number}",
        class_=f"finding {finding.severity.label}",
        **{f"data_{group}": value for group, value in shown.groups.items()},
    )


def _told(finding: Finding, lines: Lines) -> Iterator[Markup | None]:
    effect = EFFECTS[finding.effect]
    context = f" · {CONTEXTS[finding.context.kind]}" if finding.context else ""
    rule = element("a", f"{finding.code} {finding.name}", href=f"#{finding.code}")
    yield element("p", rule, f" · {effect}{context}", class_="facts")
    yield excerpt(lines(finding.path, finding.cell), finding.span)
    yield from (_note(note, lines) for note in finding.notes)
    if (verdict := finding.verdict) is not None:
        yield element("p", element("b", f"Probe: {verdict.status}. "), inline(verdict.text), class_="verdict")


def _note(note: Note, lines: Lines) -> Markup:
    where = place(note.path, note.cell, note.span.line, note.span.column)
    said = element("p", inline(note.text), " ", element("span", where, class_="where"))
    return element("div", said, excerpt(lines(note.path, note.cell), note.span, "noted"), class_="note")


def _instead(finding: Finding, lines: Lines) -> Markup | None:
    """The rewrite, or else what there is to say of one."""
    rewrite = None if finding.fix is None else _rewrite(finding, finding.fix, lines)
    if rewrite is None and finding.help:
        advice = element("pre", element("code", finding.help), tabindex=0)
        return element("div", element("h3", "What to write instead"), advice, class_="rewrite")
    return rewrite


def _rewrite(finding: Finding, fix: Fix, lines: Lines) -> Markup | None:
    by_cell: dict[int | None, list[Edit]] = {}
    for edit in fix.all_edits:
        by_cell.setdefault(edit.cell, []).append(edit)
    sides = [side_by_side(lines(finding.path, cell), edits) for cell, edits in by_cell.items()]
    if not all(sides):
        return None
    differs = element("p", "Differs ", inline(fix.differs), ".", class_="differs") if fix.differs else None
    safety = element("span", _SAFETY[fix.safety], class_=f"safety {fix.safety}")
    return element("div", element("h3", inline(fix.title), " ", safety), differs, sides, class_="rewrite")


def _way(finding: Finding) -> Markup | None:
    """How the compiler gets to a finding."""
    context = finding.context
    if context is None or not context.trail:
        return None
    stops = [Stop(step.name, place(step.path, step.cell, step.line), "call") for step in context.trail]
    stops[0] = Stop(stops[0].name, stops[0].place, "entry")
    where = place(finding.path, finding.cell, finding.span.line, finding.span.column)
    stops.append(Stop(f"{finding.code} {finding.name}", where, f"end {finding.severity.label}"))
    graphed = "off" if not context.autograph else "on"
    said = f"{CONTEXTS[context.kind]}, AutoGraph {graphed}"
    return element("aside", element("h3", "How the compiler gets there"), element("p", said), graph(stops))


# -- the bottom -------------------------------------------------------------------------------------------------------


def _rules(report: Report) -> Markup | None:
    used = {finding.code for finding in report.findings}
    pages = [
        element(
            "details",
            element("summary", element("span", rule.code, class_="rule"), f" {rule.name}: ", inline(rule.summary())),
            element("div", page(documented(rule).partition("\n")[2]), class_="page"),
            id=rule.code,
        )
        for rule in all_rules()
        if rule.code in used
    ]
    return element("section", element("h2", "The rules"), pages, class_="rules") if pages else None


def _footer(report: Report) -> Iterable[Markup]:
    keys = joined(joined((element("kbd", key), f" {what}  ")) for key, what in _KEYS)
    yield element("p", keys, class_="keys")
    yield from (element("p", remark) for remark in report.remarks)
