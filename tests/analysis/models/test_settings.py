"""Settings that decide `jit_compile`: what is found where an option or a default asks for XLA, and where none does."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import argparse
from dataclasses import dataclass

import tensorflow as tf
from absl import flags

FLAGS = flags.FLAGS
flags.DEFINE_bool("xla", {absl}, "compile")

@dataclass
class Options:
    xla: bool = {record}

def total(batch):
    return tf.reduce_sum(batch)

def main(options: Options):
    parser = argparse.ArgumentParser()
    parser.add_argument("--xla", {option})
    args = parser.parse_args()
    step = tf.function(total, jit_compile={setting})
    for batch in tf.data.Dataset.range(70).batch(32):
        step(batch)
"""
TRUE: Final = {"absl": True, "record": True, "option": 'action="store_false"'}
FALSE: Final = {"absl": False, "record": False, "option": 'action="store_true"'}


@pytest.mark.parametrize(
    ("setting", "defaults", "said"),
    [
        ("args.xla", FALSE, "set by `--xla`"),
        ("args.xla", TRUE, "set by `--xla`, on by default"),
        ("FLAGS.xla", FALSE, "set by `--xla`"),
        ("options.xla", TRUE, "set by `Options.xla`, on by default"),
        ("options.xla", FALSE, "set by `Options.xla`"),
        ("args.unknown", FALSE, None),
        ("False", TRUE, None),
    ],
)
def test_settings_say_what_asks_for_xla(setting: str, defaults: dict[str, object], said: str | None) -> None:
    report = lint_source(PROGRAM.format(setting=setting, **defaults), settings=Settings())
    texts = [note.text for found in report.findings if found.code == "XLA302" for note in found.notes]
    assert len(texts) == (said is not None)
    assert said is None or said in texts[0]
