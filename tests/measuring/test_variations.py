"""What is called of a callable beside its plain call: how it is chosen, and that no row of the table lacks it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from xlalint.facts import FOLDER
from xlalint.measuring import compose
from xlalint.measuring.arguments import Parameter, Target
from xlalint.measuring.compose import UNTAKEN
from xlalint.measuring.recipes import Recipe, recipes
from xlalint.measuring.variations import DIES, Variation, beside, lacking, plan_of_today, variations
from xlalint.measuring.versions import rows_by_version

ROWS: Final[dict[str, Any]] = json.loads((FOLDER / "apis.json").read_text(encoding="utf-8"))["apis"]
REFUSED: Final[dict[str, Any]] = json.loads(UNTAKEN.read_text(encoding="utf-8"))
SUM: Final = Target(
    "tf.reduce_sum",
    "tf.reduce_sum",
    (Parameter("x", True, False), Parameter("axis", False, False, 1), Parameter("keepdims", False, False, False)),
)
CALL: Final = "tf.reduce_sum(f32[4])"
BY_HAND: Final = Recipe(CALL, (({"keepdims": "True"}, "tf.reduce_sum(f32[4], 0, True)"),))


def test_what_is_written_by_hand_comes_first_and_once() -> None:
    first, *groups = variations(SUM, BY_HAND, {"call": CALL})
    assert first == [Variation({"keepdims": "True"}, "tf.reduce_sum(f32[4], 0, True)")]
    assert [[one.call for one in group] for group in groups] == [
        ["tf.reduce_sum(f32[4], axis=0)", "tf.reduce_sum(f32[4], axis=-1)", "tf.reduce_sum(f32[4], axis=[0])"],
        [f"tf.reduce_sum(f32[4], axis={text})" for text in ("i32[()]", "index[()]", "pick[1, 2, 3]", "pick[1, 0, 1]")],
    ]


def test_of_a_call_that_fails_only_options_are_varied() -> None:
    options = list(variations(SUM, Recipe(""), {"call": CALL, "outcome": "fails"}))
    assert options == [[Variation({"keepdims": "True"}, "tf.reduce_sum(f32[4], keepdims=True)", gradient=False)]]


def test_of_a_call_that_ends_its_process_nothing_is_varied() -> None:
    dead = {"call": CALL, "outcome": "fails", "detail": f"{DIES} (SIGABRT)"}
    assert [one.call for [one] in variations(SUM, BY_HAND, dead)] == ["tf.reduce_sum(f32[4], 0, True)"]


def test_what_was_planned_takes_the_place_of_what_is_suggested() -> None:
    planned = [("axis", "-1"), ("keepdims", "True")]
    assert [one.call for [one] in variations(SUM, BY_HAND, {"call": CALL}, planned)] == [
        "tf.reduce_sum(f32[4], 0, True)",
        "tf.reduce_sum(f32[4], axis=-1)",
    ]


def test_an_object_from_outside_stands_in_for_one_of_constant_structure() -> None:
    [outside] = beside(Recipe(""), "tf.RaggedTensor.from_row_lengths(f32[4], [1, 3]).to_tensor()")
    assert outside.varied.keys() == {"self"}
    assert "pick[(1, 3)" in outside.call


@pytest.mark.parametrize(
    ("row", "untaken", "left"),
    [
        ({}, {}, ["a", "b", "c"]),
        ({"same": {"axis": ["0"]}}, {}, ["c"]),
        ({"cases": [{"varied": {"axis": "1"}}]}, {}, ["c"]),
        ({}, {"axis": ["0"]}, ["b", "c"]),
        ({"same": {"keepdims": ["True"]}}, {"axis": ["1", "0"]}, []),
    ],
)
def test_one_of_several_texts_is_enough(row: dict[str, Any], untaken: dict[str, Any], left: list[str]) -> None:
    axes = [Variation({"axis": "0"}, "a"), Variation({"axis": "1"}, "b")]
    groups = [axes, [Variation({"keepdims": "True"}, "c")]]
    assert [one.call for one in lacking({"cases": [], **row}, untaken, groups)] == left


def test_no_row_lacks_what_is_written_by_hand() -> None:
    by_hand, left = recipes(), dict[str, list[str]]()
    for name, row in ROWS.items():
        if not row.get("cases"):
            continue
        recipe = by_hand.get(name, Recipe(""))
        plan = plan_of_today(row, recipe)
        assert plan is not None, f"{name}: its plain call is {row['cases'][0]['call']} and not {recipe.call}"
        groups = [[one] for one in beside(recipe, plan["call"])]
        if lack := lacking(row, REFUSED.get(name, {}), groups):
            left[name] = [one.call for one in lack]
    assert left == {}, "python -m xlalint.measuring apis --outdated, and then tables"


@pytest.mark.compiler
def test_no_row_lacks_anything_that_would_be_measured_today() -> None:
    command = [sys.executable, "-m", "xlalint.measuring", "outdated"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "", "python -m xlalint.measuring apis --outdated, and then tables"


def test_what_was_not_taken_is_kept_of_measured_rows_only() -> None:
    assert REFUSED.keys() <= {name for name, row in ROWS.items() if row.get("cases")}
    told = [
        (name, parameter, text)
        for name, texts_of in REFUSED.items()
        for parameter, texts in texts_of.items()
        for text in texts
        if text in ROWS[name].get("same", {}).get(parameter, ())
    ]
    assert told == []


def test_what_was_not_taken_stays_known_where_only_the_planned_is_measured_again(tmp_path: Path) -> None:
    row = {"cases": [{"call": CALL}], "untaken": {"keepdims": ["3"]}}
    (tmp_path / "apis-2.21.jsonl").write_text(json.dumps({"name": "tf.reduce_sum", "row": row}) + "\n")
    shipped = {"tf.reduce_sum": {"axis": ["'x'"]}, "tf.reduce_max": {"axis": ["'y'"]}}
    assert compose.untaken(tmp_path, shipped) == {
        "tf.reduce_max": {"axis": ["'y'"]},
        "tf.reduce_sum": {"axis": ["'x'"], "keepdims": ["3"]},
    }


def test_an_older_version_has_the_rows_of_the_newer_one_that_it_does_not_change() -> None:
    table = {"versions": ["2.21", "2.18", "2.15"], "apis": {"a": 1, "b": 2, "c": 3}}
    changed = {"2.18": {"b": 4}, "2.15": {"c": None}}
    assert rows_by_version({**table, "changed": changed}) == {
        "2.21": {"a": 1, "b": 2, "c": 3},
        "2.18": {"a": 1, "b": 4, "c": 3},
        "2.15": {"a": 1, "b": 4},
    }
