"""Settings with a default: what is found where one asks for XLA, names the size of batches, or drops the last one."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.linter.rule import Severity
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


BATCHES: Final = """\
import argparse
import os

import tensorflow as tf
from absl import flags

flags.DEFINE_integer("size", 1, "rows")
flags.DEFINE_bool("whole", False, "drop the rest")
parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=1)
parser.add_argument("--rows", type=int, default="1")
parser.add_argument("--many", type=int, default=2)
parser.add_argument("--whole", action="store_true")
parser.add_argument("--ragged", dest="even", action="store_false")
args = parser.parse_args()
rows = tf.data.TFRecordDataset("rows")

@tf.function(jit_compile=True)
def step(batch):
    return tf.reduce_sum(tf.io.decode_raw(batch, tf.float32))

for batch in rows.{made}:
    step(batch)
"""
UNLESS: Final = "may be smaller, unless `{}` stays at its default, 1"


@pytest.mark.parametrize(
    ("made", "said", "severity"),
    [
        ("batch(args.size)", UNLESS.format("--size"), Severity.INFO),
        ("batch(args.rows)", UNLESS.format("--rows"), Severity.INFO),
        ("batch(vars(args)['size'])", UNLESS.format("--size"), Severity.INFO),
        ("batch(flags.FLAGS.size)", UNLESS.format("--size"), Severity.INFO),
        ("batch(int(os.environ.get('SIZE', '1')))", UNLESS.format("SIZE"), Severity.INFO),
        ("batch(int(os.getenv('SIZE', '2')))", "may be smaller:", Severity.WARNING),
        ("batch(int(os.getenv('SIZE', 'many')))", "may be smaller:", Severity.WARNING),
        ("take(70).batch(args.size)", UNLESS.format("--size"), Severity.INFO),
        ("take(70).batch(args.many)", None, None),
        ("batch(args.many)", "may be smaller:", Severity.WARNING),
        ("batch(args.size * 8)", "may be smaller:", Severity.WARNING),
        ("batch(8, drop_remainder=args.whole)", "may be smaller:", Severity.WARNING),
        ("batch(8, drop_remainder=flags.FLAGS.whole)", "may be smaller:", Severity.WARNING),
        ("batch(8, drop_remainder=args.even)", None, None),
        ("batch(args.size, drop_remainder=True)", None, None),
        ("repeat().batch(args.size)", None, None),
        ("batch(1)", None, None),
    ],
)
def test_a_default_is_no_promise(made: str, said: str | None, severity: Severity | None) -> None:
    report = lint_source(BATCHES.format(made=made), settings=Settings())
    found = [finding for finding in report.findings if finding.code == "XLA302"]
    assert [finding.severity for finding in found] == ([] if severity is None else [severity])
    assert said is None or said in found[0].message


FIT: Final = """\
import argparse
import keras

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=1)
args = parser.parse_args()
(x, y), _ = keras.datasets.mnist.load_data()
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
"""


def test_arrays_in_batches_of_one_by_default() -> None:
    report = lint_source(f"{FIT}model.fit(x, y, batch_size=args.size)\n", settings=Settings())
    assert [UNLESS.format("--size") in finding.message for finding in report.findings] == [True]
    assert report.findings[0].severity is Severity.INFO


def test_batches_that_keras_makes_have_no_drop_remainder() -> None:
    made = "keras.utils.image_dataset_from_directory('a', batch_size=args.size)"
    report = lint_source(f"{FIT}model.fit({made})\n", settings=Settings())
    assert [finding.fix for finding in report.findings] == [None]
