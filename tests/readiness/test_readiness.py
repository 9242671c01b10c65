"""`xlalint readiness`: each line is decided by findings, else by evidence, and never by silence."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.commands import ran
from xlalint.findings.codes import rule_names
from xlalint.readiness.checklist import LINES, State, examine
from xlalint.readiness.evidence import UNSEEN_CALL, watchers
from xlalint.settings.config import Settings

READY: Final = """\
import numpy as np
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

class Trial(Net):
    pass

def try_out(x, y):
    model = Trial()
    model.compile("adam", "mse", jit_compile=True)
    model.fit(x, y, steps_per_epoch=2)

def train(x, y):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    with strategy.scope():
        model = Net()
        model.compile("adam", "mse")
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8, drop_remainder=True)
    model.fit(data)

x, y = np.ones([64, 3]), np.ones([64, 1])
try_out(x, y)
train(x, y)
"""
# What spoils each line, and the rule that says so.
SPOILED: Final = {
    "control-flow": ("return self.dense(x)", "return self.dense(x) if tf.reduce_sum(x) > 0 else x", "XLA101"),
    "shapes": ("return self.dense(x)", "return tf.boolean_mask(x, x > 0)", "XLA201"),
    "kernels": ("return self.dense(x)", "return tf.linalg.lu(x)[0]", "XLA401"),
    "data": ('tpu="local"', 'tpu="my-tpu"', "XLA504"),
    "initialisation": ("    tf.tpu.experimental.initialize_tpu_system(resolver)\n", "", "XLA503"),
    "scope": (
        '    with strategy.scope():\n        model = Net()\n        model.compile("adam", "mse")\n',
        '    model = Net()\n    with strategy.scope():\n        model.compile("adam", "mse")\n',
        "XLA502",
    ),
    "jit-compile": ('model.compile("adam", "mse")', 'model.compile("adam", "mse", jit_compile=True)', "XLA501"),
    "eager": ('model.compile("adam", "mse")', 'model.compile("adam", "mse", run_eagerly=True)', "XLA506"),
}


def states(folder: Path, code: str) -> dict[str, State]:
    (folder / "train.py").write_text(code, encoding="utf-8")
    return {answer.line.name: answer.state for answer in examine([folder], Settings()).answers}


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return ran(capsys, "readiness", *arguments)


def test_a_program_that_is_ready(tmp_path: Path) -> None:
    assert set(states(tmp_path, READY).values()) == {State.OK}


@pytest.mark.parametrize("line", SPOILED)
def test_what_a_rule_finds_wants_attention(tmp_path: Path, line: str) -> None:
    old, new, code = SPOILED[line]
    assert old in READY
    spoiled = READY.replace(old, new)
    if line == "data":
        rows = 'tf.data.TextLineDataset("rows.csv").map(tf.strings.to_number)'
        spoiled = spoiled.replace("    model.fit(data)", f"    model.fit({rows})")
    (tmp_path / "train.py").write_text(spoiled, encoding="utf-8")
    answer = next(answer for answer in examine([tmp_path], Settings()).answers if answer.line.name == line)
    assert answer.state is State.ATTENTION
    assert code in {finding.code for finding in answer.findings}
    assert answer.next_step


def test_code_that_fails_to_compile_was_never_compiled_once(tmp_path: Path) -> None:
    assert "jit_compile=True" in READY
    for line in ("control-flow", "kernels"):
        old, new, _ = SPOILED[line]
        assert states(tmp_path, READY.replace(old, new))["compiled-once"] is State.ATTENTION
    old, new, _ = SPOILED["scope"]
    assert states(tmp_path, READY.replace(old, new))["compiled-once"] is State.OK


@pytest.mark.parametrize(
    ("removed", "lines"),
    [
        ('model.compile("adam", "mse", jit_compile=True)', {"compiled-once"}),
        ("train(x, y)\n", {"initialisation", "scope", "jit-compile", "eager"}),
    ],
)
def test_silence_is_not_ok(tmp_path: Path, removed: str, lines: set[str]) -> None:
    head, _, tail = READY.rpartition(removed) if removed.startswith("train") else READY.partition(removed)
    code = f"{head}pass{tail}"
    if removed.startswith("train"):
        code = re.sub(r"def train\(x, y\):\n(?:    .*\n)+", "", code)
    found = states(tmp_path, code)
    assert {name for name, state in found.items() if state is State.NOT_SEEN} >= lines


@pytest.mark.parametrize("call", ["others.layer(x)", "self.made(self.dense(x))", "getattr(others, self.name)(x)"])
def test_what_nobody_has_seen_is_not_ok(tmp_path: Path, call: str) -> None:
    """A call into code that is not there keeps the whole from being ok; findings still want attention."""
    code = READY.replace("import numpy", "import others\nimport numpy").replace("self.dense(x)", call)
    code = code.replace("super().__init__()", "super().__init__()\n        self.made = others.Layer()")
    (tmp_path / "train.py").write_text(code, encoding="utf-8")
    answers = {answer.line.name: answer for answer in examine([tmp_path], Settings()).answers}
    judged = [answers[name] for name in ("control-flow", "shapes", "kernels")]
    assert {answer.state for answer in judged} == {State.NOT_SEEN}
    assert all("was not seen (" in (answer.next_step or "") for answer in judged)
    assert answers["compiled-once"].state is State.OK
    spoiled = code.replace("return ", "x = tf.boolean_mask(x, x > 0)\n        return ", 1)
    assert states(tmp_path, spoiled)["shapes"] is State.ATTENTION


def test_a_finding_that_a_comment_suppresses_is_not_ok(tmp_path: Path) -> None:
    masked = "x = tf.boolean_mask(x, x > 0)  # xlalint: ignore[XLA201]"
    code = READY.replace("return self.dense(x)", f"{masked}\n        return self.dense(x)")
    (tmp_path / "train.py").write_text(code, encoding="utf-8")
    answers = {answer.line.name: answer for answer in examine([tmp_path], Settings()).answers}
    assert answers["shapes"].state is State.NOT_SEEN
    assert (answers["shapes"].next_step or "").startswith("a comment suppresses XLA201 (")
    assert answers["control-flow"].state is State.OK


def test_a_call_of_what_is_static_hides_nothing(tmp_path: Path) -> None:
    code = READY.replace("return self.dense(x)", "return self.dense(x) * others.scale(3)")
    assert set(states(tmp_path, code.replace("import numpy", "import others\nimport numpy")).values()) == {State.OK}


def test_an_empty_program_is_seen_nowhere(tmp_path: Path) -> None:
    assert set(states(tmp_path, "import tensorflow as tf\n").values()) == {State.NOT_SEEN}


def test_rules_that_are_switched_off_do_not_make_a_program_ready(tmp_path: Path) -> None:
    old, new, _ = SPOILED["shapes"]
    (tmp_path / "train.py").write_text(READY.replace(old, new), encoding="utf-8")
    answers = examine([tmp_path], Settings(codes=frozenset({"XLA101"}))).answers
    assert {answer.line.name: answer.state for answer in answers}["shapes"] is State.ATTENTION


def test_each_line_names_rules_that_there_are() -> None:
    for line in LINES:
        assert all(any(code.startswith(prefix) for code in rule_names()) for prefix in line.codes)


def test_each_line_has_a_watcher_and_each_watcher_a_line() -> None:
    assert {line.evidence for line in LINES} == {watcher.code for watcher in watchers()} - {UNSEEN_CALL}


def test_exit_codes_and_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(READY, encoding="utf-8")
    assert called(capsys, str(path), "--isolated")[0] == 0
    path.write_text(READY.replace(*SPOILED["jit-compile"][:2]), encoding="utf-8")
    code, out, _ = called(capsys, str(path), "--isolated")
    assert code == 1
    assert re.search(r"^attention  `jit_compile=True` is removed again\n +\S+train\.py:27  XLA501 ", out, re.MULTILINE)
    code, out, error = called(capsys, str(tmp_path / "nothing"), "--isolated")
    assert (code, out) == (2, "")
    assert "no such file" in error


def test_a_syntax_error_is_no_crash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text("import tensorflow as tf\nmodel = (\n", encoding="utf-8")
    code, out, _ = called(capsys, str(tmp_path), "--isolated")
    assert code == 0
    assert "10 not seen" in out


def test_json_has_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text(READY.replace(*SPOILED["eager"][:2]), encoding="utf-8")
    code, out, _ = called(capsys, str(tmp_path), "--isolated", "--output-format", "json")
    content: dict[str, Any] = json.loads(out)
    assert code == 1
    assert [item["name"] for item in content["items"]] == [line.name for line in LINES]
    states = [item["state"] for item in content["items"]]
    assert {state: content["summary"][state] for state in set(states)} == {s: states.count(s) for s in set(states)}
    eager = content["items"][-1]
    assert eager["findings"][0]["code"] == "XLA506"
    assert eager["findings"][0]["line"] == 27
    assert all(item["evidence"] for item in content["items"] if item["state"] == "ok")


def test_markdown_is_a_task_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text(READY, encoding="utf-8")
    _, out, _ = called(capsys, str(tmp_path), "--isolated", "--output-format", "markdown")
    assert len(re.findall(r"^- \[x\] \*\*ok\*\* ", out, re.MULTILINE)) == len(LINES)


def test_a_notebook_is_shown_by_its_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in READY.split("\n\n")]
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    code, out, _ = called(capsys, str(tmp_path), "--isolated")
    assert code == 0
    assert re.search(r"train\.ipynb:cell 6:4  the TPU is initialised", out)
