"""The pages of the rules: a header, what the rule's docstring says, its examples, and what was measured (Markdown)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ..analysis.interpreter.contexts import ContextKind
from ..authoring import examples
from ..authoring.verdicts import section
from ..facts import constructs, tables, tpu
from ..facts.constructs.listing import flagged_by
from ..facts.tables import WORDS
from ..findings.codes import FAMILIES
from ..findings.findings import Effect, Safety
from ..findings.rule_files import SHIPPED
from ..findings.site import call_page, rule_page
from ..linter.rule import Bad, Good, Rule, all_rules
from ..linter.severities import severity_of
from .cells import OUTCOMES

_MOST: Final = 4  # examples of a kind on a page
_CONTEXTS: Final = {
    ContextKind.XLA: "compiled code",
    ContextKind.GRAPH: "a plain `tf.function`",
    ContextKind.OPEN: "code without a known caller",
    ContextKind.HOST: "eager code (`--include-host`)",
}
_SAFETY: Final = {
    Safety.SAFE: "safe (`--fix`)",
    Safety.UNSAFE: "unsafe (`--fix --unsafe-fixes`)",
    Safety.DISPLAY: "shown, never applied",
}
_INDENTED: Final = re.compile(r"(?:^(?: {4}.*|)\n)*^ {4}.*$", re.MULTILINE)
_ADDRESS: Final = re.compile(r"(?<![<(\"`])(https?://[^\s)>]+)")


def pages() -> Iterator[tuple[str, str]]:
    """The file of each page (`rules/xla101.md`) and its text; the list of all rules comes first."""
    rules = [rule for rule in all_rules() if rule.code.startswith(SHIPPED)]
    yield "rules/index.md", _index(rules)
    for rule in rules:
        yield rule_page(rule.code).replace(".html", ".md"), _page(rule)


def _index(rules: Sequence[type[Rule]]) -> str:
    lines = ["# Rules", "", "Use the code or the name wherever xlalint expects a rule.", ""]
    for digit, about in FAMILIES.items():
        lines += [f"## {SHIPPED}{digit}xx: {about}", "", "| code | name | what it reports |", "| --- | --- | --- |"]
        for rule in rules:
            if rule.code[len(SHIPPED)] == digit:
                summary = rule.summary().replace("|", "\\|")
                lines.append(f"| [{rule.code}]({rule.code.lower()}.md) | `{rule.name}` | {summary} |")
        lines.append("")
    contents = ["```{toctree}", ":hidden:", *(rule.code.lower() for rule in rules), "```"]
    return "\n".join([*lines, *contents, ""])


def _page(rule: type[Rule]) -> str:
    text = rule.documentation()
    summary, _, rest = text.partition("\n")
    parts = [
        f"# {rule.code} {rule.name}",
        summary,
        _header(rule),
        _fenced(_ADDRESS.sub(r"<\1>", rest.strip("\n"))),
        *_examples("Flagged", [bad for bad in rule.bad if bad.behaviour is not None]),
        *_examples("Not flagged", [good for good in rule.good if good.behaviour is not None]),
        section(rule),
        _constructs(rule),
        _calls(rule),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _header(rule: type[Rule]) -> str:
    """Severity, fix, version and what was asked, at a glance."""
    effects, safeties = _seen(rule)
    rows = [(f"Effect: {effect.value}", _severities(effect)) for effect in Effect if effect in effects]
    if rule.handles:
        rows.append(("Fix", ", ".join(_SAFETY[one] for one in Safety if one in safeties) or "none"))
    rows.append(("Since", rule.since))
    if section(rule):
        versions, topology = tpu.stack()
        rows.append(("Measured", f"TensorFlow {_asked(rule)} on a CPU; the TPU compiler ({versions}, {topology})"))
    return "\n".join(["| about | this rule |", "| --- | --- |", *(f"| {head} | {told} |" for head, told in rows)])


def _seen(rule: type[Rule]) -> tuple[set[Effect], set[Safety]]:
    """The effects of what the rule finds in its own examples, and how safe its fixes of them are."""
    effects: set[Effect] = set()
    safeties: set[Safety] = set()
    for bad in rule.bad:
        _, report = examples.lint(rule, bad.code, bad)
        own = [finding for finding in report.findings if finding.code == rule.code]
        effects |= {finding.effect for finding in own if finding.effect is not None}
        safeties |= {finding.fix.safety for finding in own if finding.fix is not None}
    return effects, safeties


def _severities(effect: Effect) -> str:
    """ "error in compiled code; warning in a plain `tf.function`, ..." """
    by_severity: dict[str, list[str]] = {}
    for kind, words in _CONTEXTS.items():
        by_severity.setdefault(severity_of(effect, kind).label, []).append(words)
    return "; ".join(f"{severity} in {', '.join(places)}" for severity, places in by_severity.items())


def _examples(title: str, found: Sequence[Bad | Good]) -> Iterator[str]:
    """Some examples as code, those with a rewrite first; each was run on the compiler."""
    chosen = sorted(found, key=lambda one: not (isinstance(one, Bad) and one.fixed))[:_MOST]
    if chosen:
        yield f"## Examples: {title.lower()}"
    for number, one in enumerate(chosen, 1):
        yield f"### {title} {number}"
        if one.why:
            yield f"{one.why[:1].upper()}{one.why[1:]}."
        yield _code(one.code)
        if isinstance(one, Bad) and one.fixed:
            yield f"The {one.safety.value if one.safety else ''} fix:"
            yield _code(one.fixed)


def _code(text: str) -> str:
    return f"```python\n{text.strip()}\n```"


def _fenced(markdown: str) -> str:
    """Indented code as fenced code, which is highlighted."""

    def fence(match: re.Match[str]) -> str:
        lines = match[0].split("\n")
        return "\n".join(["```python", *(line[4:] for line in lines), "```"])

    return _INDENTED.sub(fence, markdown)


def _asked(rule: type[Rule]) -> str:
    """The versions of TensorFlow with which something was measured that the rule is about."""
    asked = {*(constructs.versions() if flagged_by(rule.code) else ()), *(tables.versions() if _known(rule) else ())}
    oldest = min(asked, key=tables.numbers, default=None)
    newest = tables.nearest(None)
    return newest if oldest in (None, newest) else f"{oldest} to {newest}"


def _constructs(rule: type[Rule]) -> str:
    """What was measured of the constructs that the rule reports: by version those that changed, else how many."""
    verdicts = [
        (program.name, verdict)
        for construct in flagged_by(rule.code)
        for program in construct.programs
        if (verdict := constructs.of(program)) is not None and rule.code in verdict.rules
    ]
    if not verdicts:
        return ""
    changed = {name: verdict for name, verdict in verdicts if verdict.older}
    versions = constructs.versions()
    alike = Counter(OUTCOMES[verdict.cpu.outcome][1] for name, verdict in verdicts if name not in changed)
    lines = [
        "## Its constructs by version",
        "What becomes of the [constructs](../xla/constructs.md) that it reports, on a CPU with TensorFlow",
        f"{versions[-1]} to {versions[0]}.",
    ]
    if alike:
        told = ", ".join(f"{word} ({number})" for word, number in alike.most_common())
        lines += [f"The same with all versions: {told}.", ""]
    rows = [
        [name, *(OUTCOMES[cpu.outcome][1] for cpu in constructs.by_version(verdict).values())]
        for name, verdict in changed.items()
    ]
    return "\n".join([*lines, *(_table(["construct", *versions], rows) if rows else ())])


def _known(rule: type[Rule]) -> list[str]:
    """The calls that the rule is about and that were measured."""
    return [name for name in sorted(rule.apis) if (fact := tables.api(name)) is not None and fact.plain is not None]


def _calls(rule: type[Rule]) -> str:
    """What the tables say of the calls that the rule is about, by version."""
    rows = []
    for name in _known(rule):
        facts = (tables.api(name, version) for version in tables.versions())
        cells = [WORDS[fact.outcome] if fact is not None else "no such call" for fact in facts]
        rows.append([f'<a href="../{call_page(name)}"><code>{name}</code></a>', *cells])
    if not rows:
        return ""
    about = "The result of the plain call, compiled on a CPU, with each version of TensorFlow."
    return "\n".join(["## Its calls by version", about, *_table(["call", *tables.versions()], rows)])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    for cells in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(cells)} |"
