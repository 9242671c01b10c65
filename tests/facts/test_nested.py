"""The calls whose gradient is compiled again in a nested `tf.function`: how the table is made, and what it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xlalint.facts import nested, tables
from xlalint.measuring import compose
from xlalint.measuring.__main__ import main
from xlalint.measuring.driver import journal


def test_what_was_measured_becomes_the_table(tmp_path: Path) -> None:
    fact = tables.api("tf.pad")
    assert fact is not None
    call = fact.cases[0].call
    rows = {"tf.pad": {"again": [call, "tf.pad(gone)"]}, "tf.abs": {"again": []}, "tf.gone": None}
    text = "".join(json.dumps({"name": name, "row": row}) + "\n" for name, row in rows.items())
    (tmp_path / "nested.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "nested.json").write_text(json.dumps({"packages": {"keras": "9"}}), encoding="utf-8")
    shipped = {"packages": {}, "calls": {"tf.abs": ["tf.abs(f32[4])"], "tf.never": ["tf.never()"]}}
    assert compose.nested(tmp_path, shipped) == {"packages": {"keras": "9"}, "calls": {"tf.pad": [call]}}


def test_the_table_is_about_calls_that_have_a_gradient() -> None:
    for name, calls in nested.calls().items():
        fact = tables.api(name)
        assert fact is not None, name
        known = {case.call for case in fact.cases if case.gradient is tables.Gradient.OK}
        assert {*calls} <= known, name


@pytest.mark.compiler
def test_the_gradient_of_a_padding_is_compiled_again_and_that_of_a_product_is_not(tmp_path: Path) -> None:
    assert main(["nested", "--folder", str(tmp_path), "--only", r"^tf\.(pad|multiply|concat)$"]) == 0
    found = journal(tmp_path / "nested.jsonl")
    again = {name: tuple(row["again"]) for name, row in found.items()}
    assert again == {name: nested.calls().get(name, ()) for name in ("tf.concat", "tf.multiply", "tf.pad")}
