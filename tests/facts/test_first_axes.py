"""Which arguments say how long a result is: how the table is made, and a sample of it measured again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xlalint.facts import FOLDER
from xlalint.facts.names import known
from xlalint.measuring import compose
from xlalint.measuring.__main__ import main
from xlalint.measuring.driver import journal
from xlalint.measuring.first_axes import followed

TABLE = json.loads((FOLDER / "first_axes.json").read_text(encoding="utf-8"))["follows"]


class Rows:
    """A tensor, as far as its shape is asked for."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape


def test_a_result_follows_the_argument_that_it_is_longer_with() -> None:
    calls = {
        "tf.gather(f32[5], index[4])": 4,
        "tf.gather(f32[10], index[4])": 4,
        "tf.gather(f32[5], index[8])": 8,
    }
    assert followed("tf.gather(f32[5], index[4])", {0: "params", 1: "indices"}, lambda text: [Rows(calls[text])]) == {
        "indices": 1
    }


def test_arguments_that_must_fit_each_other_are_followed_together() -> None:
    calls = {"tf.add(f32[4, 2], f32[4, 2])": 4, "tf.add(f32[8, 2], f32[8, 2])": 8}
    found = followed("tf.add(f32[4, 2], f32[4, 2])", {0: "x", 1: "y"}, lambda text: [Rows(calls[text], 2)])
    assert found == {"x": 2, "y": 2}


def test_what_was_measured_becomes_the_table(tmp_path: Path) -> None:
    rows = {"tf.pad": {"follows": {"tensor": 1}}, "tf.size": {"follows": {}}, "tf.gone": None}
    text = "".join(json.dumps({"name": name, "row": row}) + "\n" for name, row in rows.items())
    (tmp_path / "first_axes.jsonl").write_text(text, encoding="utf-8")
    shipped = {"follows": {"tf.abs": {"x": 1}, "tf.gone": {"x": 1}}}
    assert compose.first_axes(tmp_path, shipped) == {"follows": {"tf.abs": {"x": 1}, "tf.pad": {"tensor": 1}}}


def test_the_table_is_about_calls_that_there_are() -> None:
    assert [name for name in TABLE if not known(name)] == []


@pytest.mark.compiler
def test_some_calls_are_as_they_were_measured(tmp_path: Path) -> None:
    names = ("tf.image.resize", "tf.matmul", "tf.reduce_sum", "tf.gather")
    only = "|".join(name.replace(".", r"\.") for name in names)
    assert main(["first_axes", "--folder", str(tmp_path), "--only", f"^({only})$"]) == 0
    found = {name: row["follows"] for name, row in journal(tmp_path / "first_axes.jsonl").items()}
    assert found == {name: TABLE.get(name, {}) for name in found}
    assert found["tf.image.resize"] == {"images": 4}
    assert found["tf.reduce_sum"] == {}
