"""Elements that have the size that a file or a record gives them, and what brings them to one size."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

# What `decoded` returns of `parsed`, a record that holds a picture, its size, and lists of numbers.
VARYING: Final = {
    "by its height and width": 'return tf.reshape(pixels, [parsed["height"], parsed["width"], 3])',
    "by a number that is cast": 'rows = tf.cast(parsed["height"], "int32")\n    return tf.reshape(pixels, (rows, -1))',
    "by its shape": 'return tf.reshape(pixels, parsed["shape"])',
    "by a stacked shape": 'return tf.reshape(pixels, tf.stack([parsed["height"], 3, parsed["width"]]))',
    "a picture": 'return tf.cast(tf.io.decode_png(parsed["png"]), tf.float32) / 255.0',
    "a piece of a picture": 'return tf.cast(tf.io.decode_png(parsed["png"], channels=3), tf.float32)[1:, 1:]',
    "bytes": "return pixels",
    "as many as there are": 'return tf.sparse.to_dense(parsed["numbers"])',
    "a list": 'return parsed["list"] * 2.0',
    "made as large": 'return tf.zeros([parsed["height"], 4])',
}
FIXED: Final = {
    "reshaped": 'return tf.reshape(tf.image.resize(tf.io.decode_png(parsed["png"], 3), [4, 4]), [48])',
    "cropped": 'return tf.image.random_crop(tf.io.decode_png(parsed["png"], 3), [2, 2, 3])',
    "padded": 'return tf.image.resize_with_crop_or_pad(tf.io.decode_png(parsed["png"], 3), 8, 8)',
    "a number": 'return tf.cast(parsed["height"], tf.float32)',
    "multiplied": 'return tf.ones([4]) * tf.cast(parsed["height"], tf.float32)',
    "summed up": 'return tf.reduce_sum(tf.sparse.to_dense(parsed["numbers"]))',
    "the first": 'return parsed["list"][:2]',
}
PROGRAM: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(element):
    return tf.reduce_sum(tf.cast(element, tf.float32))

FEATURES = {
    **{name: tf.io.FixedLenFeature([], tf.string) for name in ("raw", "png")},
    "height": tf.io.FixedLenFeature([], tf.int64),
    "width": tf.io.FixedLenFeature([], tf.int64),
    "shape": tf.io.FixedLenFeature([3], tf.int64),
    "numbers": tf.io.VarLenFeature(tf.float32),
    "list": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
}

def decoded(record):
    parsed = tf.io.parse_single_example(record, FEATURES)
    pixels = tf.io.decode_raw(parsed["raw"], tf.uint8)
    BODY

def run(records):
    for element in records.map(decoded)BATCH:
        step(element)
"""
FILES: Final = '\nrun(tf.data.TFRecordDataset("pictures.tfrecord"))\n'
BATCHES: Final = ("", ".batch(1)", ".prefetch(2).batch(1, drop_remainder=True)")


def _program(body: str, batch: str) -> str:
    return PROGRAM.replace("BODY", body).replace("BATCH", batch)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", [*VARYING, *FIXED])
def test_sizes_that_records_give(name: str, batch: str, tmp_path: Path) -> None:
    text = _program((VARYING | FIXED)[name], batch)
    (tmp_path / "train.py").write_text(text + FILES, encoding="utf-8")
    found = [(one.code, one.span.line) for one in check([tmp_path], Settings()).findings if one.code.startswith("XLA3")]
    assert found == ([("XLA308", text.count("\n"))] if name in VARYING else [])


@pytest.mark.parametrize("name", VARYING)
def test_what_fits_into_batches_of_several_has_one_size(name: str, tmp_path: Path) -> None:
    text = _program(VARYING[name], ".batch(4, drop_remainder=True)")
    (tmp_path / "train.py").write_text(text + FILES, encoding="utf-8")
    assert [one for one in check([tmp_path], Settings()).findings if one.code.startswith("XLA3")] == []


RECORDS: Final = """
def feature(**kinds):
    return tf.train.Feature(**kinds)

def record(height):
    pixels = tf.zeros([height, height + 1, 3], tf.uint8)
    whole = {"height": [height], "width": [height + 1], "shape": pixels.shape}
    held = {"raw": pixels.numpy().tobytes(), "png": tf.io.encode_png(pixels).numpy()}
    features = {name: feature(int64_list=tf.train.Int64List(value=value)) for name, value in whole.items()}
    for name, value in held.items():
        features[name] = feature(bytes_list=tf.train.BytesList(value=[value]))
    for name in ("numbers", "list"):
        features[name] = feature(float_list=tf.train.FloatList(value=[1.0] * height))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

run(tf.data.Dataset.from_tensor_slices([record(height) for height in (4, 6, 5)]))
"""


@pytest.mark.compiler
@pytest.mark.parametrize("name", [*VARYING, *FIXED])
def test_the_step_has_as_many_shapes(name: str) -> None:
    namespace: dict[str, object] = {}
    exec(_program((VARYING | FIXED)[name], ".batch(1)") + RECORDS, namespace)
    traces = namespace["step"].experimental_get_tracing_count()  # type: ignore[attr-defined]
    assert (traces > 1) == (name in VARYING)
