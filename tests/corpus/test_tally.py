"""The tally of hand-read findings is consistent, and the check would notice if it were not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.linter.rule import all_rules

from . import packages as corpus
from .packages import packages
from .scan import COLUMNS, write_table
from .tally import TALLY, Reading, dump, from_tables, inconsistencies, load, share, summary

CODES = [rule.code for rule in all_rules()]
FINE = Reading("transformers", "4.37.2", "XLA101", "error", found=4, right=2, wrong=1, arguable=1, note='a "reason"')


def test_the_tally_is_consistent() -> None:
    assert inconsistencies(load(TALLY.read_text(encoding="utf-8")), CODES) == []


def test_packages_are_pinned() -> None:
    assert "transformers" in {package.name for package in packages()}
    assert all(package.version[0].isdigit() for package in packages())


def test_a_consistent_reading_is_accepted() -> None:
    assert inconsistencies([FINE], CODES) == []


@pytest.mark.parametrize(
    ("readings", "complaint"),
    [
        ([replace(FINE, version="4.0.0")], "not a version of the corpus"),
        ([replace(FINE, package="unheard-of")], "not a version of the corpus"),
        ([replace(FINE, code="XLA999")], "no such rule"),
        ([replace(FINE, severity="fatal")], "no such severity"),
        ([replace(FINE, right=-1)], "a negative count"),
        ([replace(FINE, found=1)], "more read than found"),
        ([replace(FINE, right=0)], "an error was not read"),
        ([replace(FINE, note="")], "a wrong finding without a note"),
        ([FINE, replace(FINE, found=5, right=3)], "twice"),
    ],
)
def test_an_inconsistent_tally_is_noticed(readings: list[Reading], complaint: str) -> None:
    assert any(complaint in found for found in inconsistencies(readings, CODES))


def test_the_text_form_keeps_everything() -> None:
    readings = [FINE, replace(FINE, severity="warning", note="")]
    assert load(dump(readings)) == readings


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(TypeError, match="rigth"):
        load(dump([FINE]).replace("right", "rigth"))


def test_the_share_leaves_out_what_is_arguable() -> None:
    assert share([FINE]) == pytest.approx(2 / 3)
    assert share([replace(FINE, right=0, wrong=0)]) is None
    assert "66.7%" in summary([FINE])


def test_verdicts_are_counted_of_what_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "TABLES", tmp_path)
    verdicts = (("error", "right"), ("error", "wrong"), ("error", "arguable"), ("error", "right"), ("info", ""))
    rows = [
        dict.fromkeys(COLUMNS, "") | {"code": "XLA101", "severity": severity, "verdict": verdict}
        for severity, verdict in verdicts
    ]
    write_table(tmp_path / "transformers.tsv", rows)
    assert from_tables({FINE.key: FINE.note}) == [FINE]
