"""What was measured on a GPU: how the table is made and read, and how it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import ran
from xlalint.facts import gpu, tables
from xlalint.facts.constructs import constructs, on_gpu
from xlalint.facts.constructs import of as verdict_of
from xlalint.facts.gpu import OnGpu
from xlalint.facts.tables import Case, Gradient, Outcome
from xlalint.measuring import compose
from xlalint.measuring.outcome import reason

NEW = 6  # calls that the table may lack
PROGRAMS = [program for construct in constructs() for program in construct.programs]


def test_what_was_measured_becomes_the_table(tmp_path: Path) -> None:
    one, other = PROGRAMS[:2]
    rows = {
        "tf.abs": {"cases": [{"call": "tf.abs(f32[4])", "gradient": "ok", "ops": ["Abs"]}]},
        "tf.linalg.lu": {"cases": [{"call": "tf.linalg.lu(spd[3, 3])", "outcome": "fails", "missing": ["Lu"]}]},
        "tf.gone": {"cases": [{"call": "tf.gone()"}]},
        "tf.new": None,
    }
    journal = "".join(json.dumps({"name": name, "row": row}) + "\n" for name, row in rows.items())
    (tmp_path / "gpu.jsonl").write_text(journal, encoding="utf-8")
    (tmp_path / "gpu.json").write_text(json.dumps({"packages": {"keras": "9"}, "device": "a GPU"}), encoding="utf-8")
    row = {"name": one.digest, "row": {"outcome": "fails", "detail": "why"}}
    (tmp_path / "gpu-programs.jsonl").write_text(json.dumps(row), encoding="utf-8")
    shipped = {"calls": {"tf.exp(f32[4])": {"outcome": "bounded"}}, "programs": {other.digest: {}, "gone": {}}}
    assert compose.gpu(tmp_path, shipped) == {
        "packages": {"keras": "9"},
        "device": "a GPU",
        "calls": {
            "tf.abs(f32[4])": {"gradient": "ok"},
            "tf.exp(f32[4])": {"outcome": "bounded"},
            "tf.linalg.lu(spd[3, 3])": {"outcome": "fails", "missing": ["Lu"]},
        },
        "programs": dict(sorted({one.digest: {"outcome": "fails", "detail": "why"}, other.digest: {}}.items())),
    }


def test_every_call_and_construct_was_asked() -> None:
    """But for a few calls that were written where there is no GPU."""
    calls = [case.call for fact in tables.apis() for case in fact.cases if "enable" not in fact.name]
    left = [call for call in calls if gpu.of_call(call) is None]
    assert len(left) <= NEW, f"{left} are not in the table: python -m xlalint.measuring gpu, and then tables"
    assert [program.name for program in PROGRAMS if gpu.of_program(program.digest) is None] == []


def test_only_what_differs_is_told() -> None:
    lstm = "keras.layers.LSTM(3)(f32[2, 4, 3])"
    assert gpu.of_call(lstm) == OnGpu(Outcome.FAILS, missing=("CudnnRNNV3",))
    assert gpu.otherwise(Case(lstm)) == gpu.of_call(lstm)
    assert gpu.otherwise(Case(lstm, Outcome.FAILS)) is None
    assert gpu.otherwise(Case("tf.abs(f32[4])", gradient=Gradient.OK)) is None
    assert gpu.otherwise(Case("tf.never()")) is None
    [construct] = [one for one in constructs() if one.name == "LSTM"]
    verdict = verdict_of(construct.plain)
    assert verdict is not None
    found = on_gpu(verdict)
    assert found is not None
    assert found.outcome is Outcome.FAILS


def test_the_calls_that_differ_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "facts", "--on-gpu")
    assert code == 0
    assert "\n  on a GPU: does not compile: no kernel for `CudnnRNNV3`\n" in out
    assert out.splitlines()[-1].endswith("than on a CPU.")
    code, out, _ = ran(capsys, "facts", "--on-gpu", "--output-format", "json")
    [lstm] = [row for row in json.loads(out) if row["name"] == "keras.layers.LSTM"]
    assert (lstm["cpu"], lstm["gpu"]["outcome"], lstm["gpu"]["missing"]) == ("ok", "fails", ["CudnnRNNV3"])
    code, out, _ = ran(capsys, "facts", "keras.layers.GRU")
    assert f"    on a GPU ({gpu.stack()[1]}): does not compile: no kernel for `CudnnRNNV3`\n" in out
    assert ran(capsys, "facts", "--on-gpu", "--on-tpu")[0] == 2
    assert ran(capsys, "facts", "--on-gpu", "--tensorflow", "2.15")[0] == 2


def test_where_a_resource_lives_is_told_without_what_differs_from_run_to_run() -> None:
    error = (
        "InvalidArgumentError: Trying to access resource Variable/412 (defined @ m.py:2) located in device "
        "/job:localhost/replica:0/task:0/device:CPU:0 from device /job:localhost/replica:0/task:0/device:GPU:0"
    )
    told = "InvalidArgumentError: Trying to access resource located in device CPU:0 from device GPU:0"
    assert reason(error) == told
