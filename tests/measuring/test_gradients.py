"""What is seen of gradients alone, beside what the table says of them."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from xlalint.facts import FOLDER
from xlalint.measuring import gradients
from xlalint.measuring.driver import Driver

RESIZE: Final = "tf.image.resize(x, [4, 4])"
NEAREST: Final = "tf.image.resize(x, [4, 4], method='nearest')"
FAILING: Final = {"gradient": "fails", "gradient_missing": ["ResizeNearestNeighborGrad"]}
ROW: Final[dict[str, Any]] = {
    "cases": [{"call": RESIZE, "gradient": "ok"}, {"call": NEAREST, "varied": {"method": "'nearest'"}, **FAILING}],
    "same": {"method": ["'area'"]},
}


def seen(varied: dict[str, str], **found: Any) -> dict[str, Any]:
    return {"call": f"with {varied}", "varied": varied, **found}


def test_what_the_table_says_is_not_told() -> None:
    found = [
        seen({}, gradient="ok"),
        seen({"method": "'nearest'"}, **FAILING),
        seen({"method": "'area'"}, gradient="ok"),
    ]
    assert gradients.told_otherwise(ROW, found) == []


def test_a_gradient_that_ends_otherwise_is_told_by_its_call() -> None:
    assert gradients.told_otherwise(ROW, [seen({})]) == ["with {}"]
    assert gradients.told_otherwise(ROW, [seen({"method": "'nearest'"}, gradient="ok")])
    assert gradients.told_otherwise(ROW, [seen({"method": "'nearest'"}, gradient="fails", gradient_missing=["Other"])])


def test_an_option_that_changes_nothing_is_compared_with_the_plain_call() -> None:
    assert gradients.told_otherwise(ROW, [seen({"method": "'area'"}, **FAILING)]) == ["with {'method': \"'area'\"}"]


def test_of_what_the_row_does_not_have_or_does_not_compile_nothing_is_told() -> None:
    assert gradients.told_otherwise(ROW, [seen({"method": "'bicubic'"}, **FAILING)]) == []
    row = {"cases": [{"call": RESIZE}, {"call": NEAREST, "varied": {"method": "'nearest'"}, "outcome": "fails"}]}
    assert gradients.told_otherwise(row, [seen({"method": "'nearest'"}, gradient="ok")]) == []


@pytest.mark.compiler
def test_gradients_are_those_of_the_table_and_another_table_would_be_seen() -> None:
    rows: dict[str, Any] = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))["apis"]
    driver = Driver()
    try:
        for name in ("tf.image.resize", "tf.signal.stft", "keras.layers.LayerNormalization", "tf.linalg.expm"):
            row = rows[name]
            found = (driver.row(name, gradients.plans({name: row})[name], task="gradients") or {})["seen"]
            assert found[0]["call"] == row["cases"][0]["call"]
            assert gradients.told_otherwise(row, found) == []
            wrong = {**row, "cases": [{**row["cases"][0], "gradient": "diverges"}, *row["cases"][1:]]}
            assert gradients.told_otherwise(wrong, found)
    finally:
        driver.close()
