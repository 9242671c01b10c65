"""What is written into the calls that make a pipeline."""

from __future__ import annotations

from pathlib import Path

from xlalint.linter.fix_runs import fix
from xlalint.settings.config import Settings

APPLIED = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x):
    return x

def run(texts):
    buckets = tf.data.experimental.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [10, 20], [4, 4, 4])
    rows = tf.data.Dataset.from_generator(texts, output_signature=tf.TensorSpec([None], tf.int32))
    for x in rows.apply(buckets):
        f(x)

run(input())
"""


def test_what_a_dataset_applies_is_set_where_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(APPLIED, encoding="utf-8")
    (change,) = fix([path], Settings(unsafe_fixes=True)).changes
    made = "[4, 4, 4], pad_to_bucket_boundary=True, drop_remainder=True)"
    assert change.after.decode() == APPLIED.replace("[4, 4, 4])", made)
