"""The examples are what they say: the linter finds what stands in the way, and the rewrite really compiles."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.compiler.claims import claim, sources

EXAMPLES = ROOT / "examples"
STANDING_IN_THE_WAY = [
    ("train/model.py", "labels, logits = labels[mask], logits[mask]", "XLA201"),
    ("train/model.py", "labels, logits = labels[mask], logits[mask]", "XLA201"),
    ("train/ops.py", "if tf.reduce_max(tf.abs(features)) > 3.0:", "XLA101"),
    ("train/ops.py", "return features[:, :longest]", "XLA205"),
]


def findings(folder: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "xlalint", "check", "--output-format", "json", "--no-cache", "--isolated", folder]
    linter = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, check=False)
    assert linter.returncode in (0, 1), linter.stderr
    found: list[dict[str, Any]] = json.loads(linter.stdout)["findings"]
    return found


def source(finding: dict[str, Any]) -> str:
    line: int = finding["line"]
    return Path(EXAMPLES, finding["path"]).read_text(encoding="utf-8").splitlines()[line - 1].strip()


def train(project: str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1", "KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, str(EXAMPLES / project / "train.py"), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def losses(training: subprocess.CompletedProcess[str]) -> list[float]:
    title, _, numbers = training.stdout.strip().partition(": ")
    assert title == "loss per epoch", training.stderr
    return [float(number) for number in numbers.split(",")]


def test_the_project_is_flagged_where_it_must_change() -> None:
    found = findings("train")
    assert sorted((item["path"], source(item), item["code"]) for item in found) == STANDING_IN_THE_WAY


def test_the_trail_leads_from_the_model_to_the_helper() -> None:
    (slicing,) = [item for item in findings("train") if item["code"] == "XLA205"]
    names = [step["name"].rpartition(".")[2] for step in slicing["context"]["trail"]]
    assert names[-4:] == ["call", "prepare", "normalise", "trim"]


def test_the_rewrite_is_clean() -> None:
    assert findings("clean") == []


@pytest.mark.parametrize(
    ("fragment", "code", "locations", "rewrite"),
    [
        ("branch.py", "XLA101", [1], ["tf.cast(tf.reduce_sum(tensor) > 10, tf.float32)", "tensor / (1.0 + "]),
        ("masked_loss.py", "XLA201", [2, 3], ["tf.float32)", "tf.reduce_sum(loss * ", " / tf.reduce_sum("]),
    ],
)
def test_a_pasted_fragment_gets_its_rewrite(fragment: str, code: str, locations: list[int], rewrite: list[str]) -> None:
    found = findings(f"canonical/{fragment}")
    assert [(item["code"], item["line"]) for item in found] == [(code, location) for location in locations]
    for part in rewrite:
        assert part in found[0]["help"]


@pytest.mark.slow
@pytest.mark.compiler
@claim(sources("examples/train", "examples/clean"), sampled=False)
def test_the_rewrite_compiles_and_learns_the_same() -> None:
    assert losses(train("clean", "--jit")) == pytest.approx(losses(train("train")), rel=1e-3)


@pytest.mark.slow
@pytest.mark.compiler
@claim(sources("examples/train"), sampled=False)
def test_the_project_does_not_compile() -> None:
    refused = train("train", "--jit")
    assert refused.returncode == 1
    assert "OperatorNotAllowedInGraphError" in refused.stderr
