"""A rule tried by its own examples: what is said here of the rules that are shipped is said of everybody's.

Each function yields complaints, one line each; none says that all is well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from ..facts.names import canonical
from ..findings.codes import rule_names
from ..findings.findings import Backend, Finding, Report, Safety
from ..findings.rule_files import SHIPPED
from ..fixes.apply import apply_fixes
from ..linter.rule import Bad, Behaviour, Compiles, Good, Rule, Runs
from ..linter.run import Stdin, check
from ..settings.config import Settings
from .measured import Measured, measure, run_program
from .verdicts import is_program

SECTIONS: Final = (
    "What it does",
    "What XLA does",
    "Example",
    "Use instead",
    "Not flagged",
    "Fix safety",
    "References",
)
# Examples are linted as a file of a folder that is not there, so that nothing beside them is found.
_PATH: Final = Path(os.sep, "xlalint", "example.py")
# Whose reports are kept: several things are asked of each.
_EXAMPLES: Final = 4096


def page(rule: type[Rule]) -> Iterator[str]:
    """What is wrong with the rule as a whole: its page, its calls, its having examples."""
    if not rule.summary().endswith("."):
        yield "the first line of its docstring is not a sentence that ends with a full stop"
    found = tuple(re.findall(r"^## (.+)$", rule.documentation(), re.MULTILINE))
    if found != SECTIONS:
        yield f"the sections of its page are {', '.join(found) or 'none'}; they should be {', '.join(SECTIONS)}"
    for name in sorted(rule.apis):
        if canonical(name) != name:
            yield f"apis: {name} is called {canonical(name)} here"
    for kind, examples in (("BAD", rule.bad), ("GOOD", rule.good)):
        if not examples:
            yield f"it has no {kind} example"


def flagged(rule: type[Rule], bad: Bad) -> Iterator[str]:
    """Whether a bad example is flagged where it says, and as it says."""
    code, report = lint(rule, bad.code, bad)
    own = _own(rule, report)
    yield from _problems(report)
    if (found := [text_at(code, finding) for finding in own]) != list(bad.at):
        yield f"flags {found}, but the example says {list(bad.at)}{_others(rule, code, bad, report)}"
    if bad.behaviour is None and not bad.why:
        yield "it claims no behaviour, and `why` does not say why"
    for finding in own:
        if "\n" in finding.message:
            yield f"the message has more than one line: {finding.message!r}"
        for what, expected in (("effect", bad.effect), ("severity", bad.severity)):
            given = getattr(finding, what)
            if expected not in (None, given):
                yield f"the {what} is {given!s}, but the example says {expected!s}"
    if bad.help is not None and own and bad.help not in (own[0].help or ""):
        yield f"the help does not contain {bad.help!r}: {own[0].help!r}"


def rewritten(rule: type[Rule], bad: Bad) -> Iterator[str]:
    """Whether a bad example is rewritten as it says, as safely as it says."""
    code, report = lint(rule, bad.code, bad)
    own = _own(rule, report)
    fixes = [finding.fix for finding in own if finding.fix is not None]
    given, expected = {fix.safety for fix in fixes}, {bad.safety} if bad.safety else set()
    if given != expected:
        yield f"the safety of its rewrites is {sorted(given)}, but the example says {sorted(expected)}"
    if (bad.fixed is None) != (bad.safety in (None, Safety.DISPLAY)):
        yield "`fixed` needs a safety above display"
    if bad.fixed is None:
        return
    for _ in own:  # of places inside each other, one is rewritten at a time
        if fixes:
            code = apply_fixes(code.encode(), fixes, _PATH)[0].decode()
        code, report = lint(rule, code, bad)
        fixes = [finding.fix for finding in _own(rule, report) if finding.fix is not None]
    if code != with_import(bad.fixed):
        yield f"it is rewritten as\n{code}\nbut the example says\n{with_import(bad.fixed)}"
    if _own(rule, report):
        yield "its rewrite is flagged again"


def silent(rule: type[Rule], good: Good) -> Iterator[str]:
    """Whether a good example is not flagged."""
    code, report = lint(rule, good.code, good)
    yield from _problems(report)
    if found := [text_at(code, finding) for finding in _own(rule, report)]:
        yield f"flags {found}, but a good example must not be flagged"


def claimed(example: Bad | Good, measured: Measured) -> Iterator[str]:
    """Whether the compiler did what an example claims."""
    if example.behaviour is not None and not measured.matches(example.behaviour):
        yield f"claimed {example.behaviour}, measured: {measured}"


def measured_claim(example: Bad | Good) -> Measured:
    """What the compiler does with an example that claims something."""
    if is_program(example.behaviour):
        return run_program(with_import(example.code))
    return measure(example.code, tuple(example.inputs))


def measured_rewrite(bad: Bad) -> Measured | None:
    """What the compiler does with the rewrite of an example that runs, beside what it gave eagerly as it was."""
    if bad.fixed is None or bad.behaviour is None:
        return None
    if is_program(bad.behaviour):
        return run_program(with_import(bad.fixed))
    return measure(bad.fixed, tuple(bad.inputs), original=bad.code)


def same(bad: Bad, measured: Measured) -> Iterator[str]:
    """Whether the rewrite of an example compiles, and gives what the example gave eagerly."""
    expected: Behaviour = Runs() if is_program(bad.behaviour) else Compiles()
    if not measured.matches(expected):
        yield f"the compiled rewrite differs: {measured}"


def with_import(code: str) -> str:
    """An example as a file: the import may be left out."""
    return code if "import tensorflow as tf" in code else f"import tensorflow as tf\n{code}"


def lint(rule: type[Rule], code: str, example: Bad | Good) -> tuple[str, Report]:
    """The text of an example that was linted as it says, and the report of its rule and of all that are shipped."""
    code = with_import(code)
    return code, _linted(_Asked(rule, code, example.target, example.backend))


class _Asked(NamedTuple):
    """An example as it is linted."""

    rule: type[Rule]
    code: str
    target: str | None
    backend: str | None


@lru_cache(maxsize=_EXAMPLES)
def _linted(asked: _Asked) -> Report:
    codes = frozenset(known for known in rule_names() if known.startswith(SHIPPED) or known == asked.rule.code)
    backends = None if asked.backend is None else frozenset((Backend(asked.backend),))
    settings = Settings(codes=codes, target=asked.target, exposure="certain", backends=backends)
    return check([_PATH], settings, Stdin(_PATH, asked.code.encode()))


def text_at(code: str, finding: Finding) -> str:
    """The source that a finding's span covers."""
    span = finding.span
    lines = code.splitlines(keepends=True)[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "".join(lines)


def _own(rule: type[Rule], report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.code == rule.code]


def _others(rule: type[Rule], code: str, bad: Bad, report: Report) -> str:
    """Which other rules speak of the places that this one is said to flag: of one place the gravest does."""
    found = [f for f in report.findings if f.code != rule.code and text_at(code, f) in bad.at]
    return "".join(f"; {finding.code} reports line {finding.span.line} with a higher severity" for finding in found)


def _problems(report: Report) -> Iterator[str]:
    for problem in report.problems:
        yield f"{problem.message}\n{problem.detail}".rstrip()
