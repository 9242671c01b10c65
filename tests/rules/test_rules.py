"""Every rule is tested by its own page: the examples are linted, and what they claim is run on the compiler."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.compiler.claims import claim as asked
from tests.compiler.claims import sources
from xlalint.authoring import examples
from xlalint.decoder.answers import explain_log
from xlalint.facts import tables
from xlalint.linter.rule import Bad, Breaks, Fails, Good, Rule, all_rules

LISTENERS = [rule for rule in all_rules() if rule.handles]  # the others are the linter's own
BAD = [pytest.param(rule, bad, id=f"{rule.code}-{at}") for rule in LISTENERS for at, bad in enumerate(rule.bad)]
GOOD = [pytest.param(rule, good, id=f"{rule.code}-{at}") for rule in LISTENERS for at, good in enumerate(rule.good)]


def deciding() -> str:
    """What decides by which rule the decoder tells of an error: of the facts those that it reads, of the table of calls
    which operations they lack."""
    lacking = [
        (fact.name, case is fact.plain, case.missing, case.gradient_missing)
        for fact in tables.apis()
        for case in fact.cases
    ]
    read = sources("xlalint/decoder", *(f"xlalint/facts/{name}" for name in ("errors", "families.py", "ops.json")))
    return read + hashlib.sha256(repr(lacking).encode()).hexdigest()


def claims() -> Iterator[object]:
    """Each example that claims a behaviour; the same code with the same inputs and claim is run once."""
    seen, decoder = set(), deciding()
    for rule in LISTENERS:
        kinds: dict[str, Sequence[Bad | Good]] = {"bad": rule.bad, "good": rule.good}
        for kind, given in kinds.items():
            for at, example in enumerate(given):
                claim = (example.code, tuple(example.inputs), example.behaviour)
                if example.behaviour is not None and claim not in seen:
                    seen.add(claim)
                    code = rule.code if kind == "bad" else None
                    # What becomes of an error depends on the decoder as well.
                    told = code is not None and isinstance(example.behaviour, Fails | Breaks)
                    marks = asked(*claim, decoder) if told else asked(*claim)
                    yield pytest.param(example, code, id=f"{rule.code}-{kind}-{at}", marks=marks)


def rewrites() -> Iterator[object]:
    """Each runnable example with a rewritten form."""
    for rule in LISTENERS:
        for at, bad in enumerate(rule.bad):
            if bad.fixed is not None and bad.behaviour is not None:
                marks = asked(bad.code, bad.fixed, bad.inputs, bad.safety)
                yield pytest.param(bad, id=f"{rule.code}-{at}", marks=marks)


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_bad_example_is_flagged_at_its_places(rule: type[Rule], example: Bad) -> None:
    assert list(examples.flagged(rule, example)) == []


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_bad_example_is_rewritten_as_it_says(rule: type[Rule], example: Bad) -> None:
    assert list(examples.rewritten(rule, example)) == []


@pytest.mark.compiler
@pytest.mark.parametrize("example", [*rewrites()])
def test_rewritten_example_compiles_and_equals_the_original(example: Bad) -> None:
    measured = examples.measured_rewrite(example)
    assert measured is not None
    assert list(examples.same(example, measured)) == []


@pytest.mark.parametrize(("rule", "example"), GOOD)
def test_good_example_is_silent(rule: type[Rule], example: Good) -> None:
    assert list(examples.silent(rule, example)) == []


@pytest.mark.compiler
@pytest.mark.parametrize(("example", "rule"), [*claims()])
def test_claimed_behaviour_is_what_xla_does(example: Bad | Good, rule: str | None) -> None:
    measured = examples.measured_claim(example)
    assert list(examples.claimed(example, measured)) == []
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
    assert list(examples.page(rule)) == []
    assert len(rule.bad) >= 4
    assert len(rule.good) >= 5


def test_codes_and_names_are_unique() -> None:
    rules = all_rules()
    assert len({rule.code for rule in rules}) == len(rules)
    assert len({rule.name for rule in rules}) == len(rules)
