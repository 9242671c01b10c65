"""Objects that are made of what a project keeps in files of settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.targets import Targets
from xlalint.probe.worker.inputs.setting_files import as_settings, settings_with

_PROGRAM = """\
import tensorflow as tf

CODES = {"seven": 7}

class Stack:
    def __init__(self, parts, scale, name="stack"):
        self.code = sum(CODES[one["code"]] for one in parts["several"])
        self.scale = tf.constant(scale, tf.float32)
        if self.code != 14 or scale != 0.25:
            raise LookupError("not these")

    def run(self, x):
        y = tf.reshape(x, [-1, 3])
        return y * self.scale
"""
_OTHERS = '{"scale": 0.5, "rate": 3, "inside": [{"parts": null}]}'
_JSON = '{"model": {"scale": 0.25, "parts": {"several": [{"code": "seven"}, {"code": "seven"}]}, "name": "deep"}}'
_YAML = """\
{% import "others" as others %}
model:
  scale: 0.25
  name: {{ others.name }}
  parts:
    several:
      - code: seven
      - code: seven
"""


@pytest.mark.compiler
@pytest.mark.parametrize(("file", "text"), [("deep.json", _JSON), ("deep.yml.j2", _YAML)])
def test_an_object_is_made_of_them(worker: Worker, tmp_path: Path, file: str, text: str) -> None:
    if file != "deep.json":
        pytest.importorskip("yaml")
    (tmp_path / "README.md").write_text("A project.\n")
    (tmp_path / "program.py").write_text(_PROGRAM)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "a.json").write_text(_OTHERS)
    (tmp_path / "configs" / file).write_text(text)
    outcome = worker.ask(Targets().at(tmp_path / "program.py", "Stack.run"), Plan(drive_only=True), Limits())
    assert outcome.not_run is None, outcome
    assert outcome.how.startswith("Stack(parts: {'several': [{'code': 'seven'}, {'code': 'seven'}]}, scale: 0.25")


def test_a_mapping_that_has_all_names_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(_OTHERS)
    (tmp_path / "b.json").write_text(_JSON)
    (tmp_path / "broken.json").write_text('{"parts": scale}')
    [found] = settings_with((str(tmp_path),), frozenset(("parts", "scale")))
    assert found["name"] == "deep"


def test_great_numbers_become_small() -> None:
    value = {"units": 1024, "sizes": [256, 256, 256, 256], "rate": 0.1, "other": None}
    assert str(as_settings(value, small=True)) == "{'units': 64, 'sizes': [16, 16, 16], 'rate': 0.1, 'other': None}"
    assert str(as_settings(value, small=False)) == str(value)
