"""Batches that do not divide among replicas, by the Keras that runs the program and by what makes the batches."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Effect, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

def load(path, size):
    data = tf.data.TFRecordDataset(path).map(tf.io.parse_tensor)
    return data.repeat().batch(size, drop_remainder=True).prefetch(1)

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
"""
IDLE, RAISES = (Effect.DIVERGES, Severity.WARNING), (Effect.FAILS, Severity.WARNING)
FEW = (Effect.DIVERGES, Severity.INFO)  # on a TPU of eight


@pytest.mark.parametrize(
    ("text", "keras", "found"),
    [
        ("model.fit(load('gs://a', 1), steps_per_epoch=9)\n", 3, RAISES),
        ("model.fit(load('gs://a', 1), steps_per_epoch=9)\n", 2, IDLE),
        ("model.fit(load('gs://a', 1), steps_per_epoch=9)\n", None, RAISES),
        ("model.fit(load('gs://a', 5), steps_per_epoch=9)\n", 3, RAISES),
        ("model.fit(load('gs://a', 5), steps_per_epoch=9)\n", 2, FEW),
        ("model.fit(load('gs://a', 9), steps_per_epoch=9)\n", 2, None),
        ("model.fit(load('gs://a', 5), steps_per_epoch=9)\n", None, (Effect.FAILS, Severity.INFO)),
        ("model.fit(load('gs://a', 12), steps_per_epoch=9)\n", 3, None),
        ("for batch in strategy.experimental_distribute_dataset(load('gs://a', 1)):\n    print(batch)\n", 3, IDLE),
        ("for batch in strategy.experimental_distribute_dataset(load('gs://a', 5)):\n    print(batch)\n", 3, FEW),
        ("for batch in strategy.experimental_distribute_dataset(load('gs://a', 9)):\n    print(batch)\n", 3, None),
        ("model.fit(load('gs://a', 4), steps_per_epoch=9)\n", 3, (Effect.FAILS, Severity.INFO)),
        ("model.fit(load('gs://a', 4), steps_per_epoch=9)\n", 2, FEW),
        ("model.fit(load('gs://a', 4), steps_per_epoch=9)\n", None, (Effect.FAILS, Severity.INFO)),
        ("model.fit(load('gs://a', 8), steps_per_epoch=9)\n", 2, None),
        ("model.fit(load('gs://a', 4 * strategy.num_replicas_in_sync), steps_per_epoch=9)\n", 3, None),
        ("strategy.distribute_datasets_from_function(lambda context: load('gs://a', 1))\n", 3, None),
        ("model.predict(load('gs://a', 1), steps=9)\n", 3, None),
        ("model.fit(load('gs://a', strategy.num_replicas_in_sync), steps_per_epoch=9)\n", 3, None),
    ],
)
def test_it_depends_on_keras_and_on_what_distributes(
    text: str, keras: int | None, found: tuple[Effect, Severity] | None, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM + text, encoding="utf-8")
    told = [one for one in check([tmp_path], Settings(keras=keras, jobs=1)).findings if one.code == "XLA515"]
    assert [(one.effect, one.severity) for one in told] == ([] if found is None else [found])
    assert all("`TPUStrategy`" in one.message for one in told)
