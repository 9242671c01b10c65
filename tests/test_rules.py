"""Every rule is tested by its own page: the examples are linted, and what they claim is run on the compiler."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.compiler import measure, run_program
from xlalint.config import Settings
from xlalint.engine import check
from xlalint.errors.answers import explain_log
from xlalint.findings import Finding, Safety
from xlalint.fixes.apply import apply_fixes
from xlalint.rule import Bad, Behaviour, Breaks, Compiles, Good, Rule, Runs, all_rules

SECTIONS = (
    "What it does",
    "What XLA does",
    "Example",
    "Use instead",
    "Not flagged",
    "Fix safety",
    "References",
)
LISTENERS = [rule for rule in all_rules() if rule.listens]  # the others are the linter's own
BAD = [pytest.param(rule, bad, id=f"{rule.code}-{at}") for rule in LISTENERS for at, bad in enumerate(rule.bad)]
GOOD = [pytest.param(rule, good, id=f"{rule.code}-{at}") for rule in LISTENERS for at, good in enumerate(rule.good)]


def claims() -> Iterator[object]:
    """Each example that claims a behaviour; the same code with the same inputs and claim is run once."""
    seen = set()
    for rule in LISTENERS:
        kinds: dict[str, Sequence[Bad | Good]] = {"bad": rule.bad, "good": rule.good}
        for kind, examples in kinds.items():
            for at, example in enumerate(examples):
                claim = (example.code, tuple(example.inputs), example.behaviour)
                if example.behaviour is not None and claim not in seen:
                    seen.add(claim)
                    code = rule.code if kind == "bad" else None
                    yield pytest.param(*claim, code, id=f"{rule.code}-{kind}-{at}")


def rewrites() -> Iterator[object]:
    """Each runnable example with its rewritten form."""
    for rule in LISTENERS:
        for at, bad in enumerate(rule.bad):
            if bad.fixed is not None and bad.behaviour is not None:
                inputs = None if isinstance(bad.behaviour, Breaks | Runs) else tuple(bad.inputs)
                yield pytest.param(bad.code, bad.fixed, inputs, id=f"{rule.code}-{at}")


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name does not look like one of tests."""
    return tmp_path_factory.mktemp("example", numbered=True)


def with_import(code: str) -> str:
    return code if "import tensorflow as tf" in code else f"import tensorflow as tf\n{code}"


def lint(code: str, folder: Path) -> tuple[str, list[Finding]]:
    """The text that was linted, and its findings."""
    code = with_import(code)
    path = folder / "example.py"
    path.write_text(code, encoding="utf-8")
    report = check([str(path)], Settings())
    assert report.problems == ()
    return code, list(report.findings)


def text_at(code: str, finding: Finding) -> str:
    """The source that a finding's span covers."""
    span = finding.span
    lines = code.splitlines(keepends=True)[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "".join(lines)


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_bad_example_is_flagged_at_its_places(rule: type[Rule], example: Bad, folder: Path) -> None:
    code, findings = lint(example.code, folder)
    own = [finding for finding in findings if finding.code == rule.code]
    assert [text_at(code, finding) for finding in own] == list(example.at)
    places = {finding.span for finding in own}
    assert [finding.code for finding in findings if finding.span in places] == [rule.code] * len(own)
    for finding in own:
        assert finding.name == rule.name
        assert "\n" not in finding.message
        assert example.effect in (None, finding.effect), finding
        assert example.severity in (None, finding.severity), finding
    if example.help is not None:
        assert example.help in (own[0].help or "")


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_bad_example_is_rewritten_as_it_says(rule: type[Rule], example: Bad, folder: Path) -> None:
    code, findings = lint(example.code, folder)
    own = [finding for finding in findings if finding.code == rule.code]
    fixes = [finding.fix for finding in own if finding.fix is not None]
    assert {fix.safety for fix in fixes} == ({example.safety} if example.safety else set())
    assert (example.fixed is None) == (example.safety in (None, Safety.DISPLAY))
    if example.fixed is None:
        return
    for _ in own:  # of places inside each other, one is rewritten at a time
        if fixes:
            code = apply_fixes(code.encode(), fixes, folder)[0].decode()
        code, findings = lint(code, folder)
        fixes = [finding.fix for finding in findings if finding.code == rule.code and finding.fix is not None]
    assert code == with_import(example.fixed)
    assert rule.code not in {finding.code for finding in findings}


@pytest.mark.compiler
@pytest.mark.parametrize(("code", "fixed", "inputs"), [*rewrites()])
def test_rewritten_example_compiles_and_equals_the_original(
    code: str, fixed: str, inputs: tuple[str, ...] | None
) -> None:
    if inputs is None:  # a program
        measured = run_program(with_import(fixed))
        assert measured.matches(Runs()), measured
    else:
        measured = measure(fixed, inputs, original=code)
        assert measured.matches(Compiles()), measured


@pytest.mark.parametrize(("rule", "example"), GOOD)
def test_good_example_is_silent(rule: type[Rule], example: Good, folder: Path) -> None:
    _, findings = lint(example.code, folder)
    assert [finding for finding in findings if finding.code == rule.code] == []


@pytest.mark.compiler
@pytest.mark.parametrize(("code", "inputs", "behaviour", "rule"), [*claims()])
def test_claimed_behaviour_is_what_xla_does(
    code: str, inputs: tuple[str, ...], behaviour: Behaviour, rule: str | None
) -> None:
    program = isinstance(behaviour, Breaks | Runs)
    measured = run_program(with_import(code)) if program else measure(code, inputs)
    assert measured.matches(behaviour), f"claimed {behaviour}, measured: {measured}"
    if rule is not None and measured.trace is not None:
        explained = explain_log(measured.trace)
        assert explained.unknown == ()
        assert rule in {code for answer in explained.answers for code in answer.codes}, explained


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_rule_has_its_place_and_page(rule: type[Rule]) -> None:
    file = Path(inspect.getfile(rule))
    assert re.fullmatch(r"XLA\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert file.stem == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert rule.summary().endswith(".")


@pytest.mark.parametrize("rule", LISTENERS, ids=lambda rule: rule.code)
def test_page_has_all_sections_and_enough_examples(rule: type[Rule]) -> None:
    found = re.findall(r"^## (.+)$", rule.documentation(), re.MULTILINE)
    assert tuple(found) == SECTIONS
    assert len(rule.bad) >= 4
    assert len(rule.good) >= 5
    for bad in rule.bad:
        assert bad.behaviour is not None or bad.why, "an example that does not run says why"
        assert bad.at


def test_codes_and_names_are_unique() -> None:
    rules = all_rules()
    assert len({rule.code for rule in rules}) == len(rules)
    assert len({rule.name for rule in rules}) == len(rules)
