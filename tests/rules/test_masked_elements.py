"""What a dataset keeps of its elements: as many as a mask leaves, or as there are distinct values, each time others."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

VARYING: Final = {
    "a mask": "return tf.boolean_mask(row, row > 0.0)",
    "an index": "return row[row > 0.0]",
    "of rows": "rows = tf.reshape(row, [4, 2])\n    return rows[rows[:, 0] > 0.0]",
    "places": "return tf.cast(tf.where(row > 0.0), tf.float32)",
    "gathered": "return tf.gather(row, tf.where(row > 0.0)[:, 0])",
    "gathered by all indices": "return tf.gather_nd(row, tf.where(row > 0.0))",
    "gathered behind": "row = tf.reshape(row, [2, 4])\n    return tf.gather(row, tf.where(row[0] > 0.0)[:, 0], axis=1)",
    "distinct values": "return tf.unique(tf.round(row))[0]",
    "computed with": "kept = row[row > 0.0]\n    return tf.sqrt(kept) * 2.0",
}
FIXED: Final = {
    "filled up": "kept = row[row > 0.0]\n    return tf.concat([kept, tf.zeros([8 - tf.size(kept)])], 0)",
    "padded": "kept = row[row > 0.0]\n    return tf.pad(kept, [[0, 8 - tf.size(kept)]])",
    "summed up": "return tf.reduce_sum(row[row > 0.0])",
    "the largest": "return tf.math.top_k(row[row > -9.0], 3).values",
    "one of them": "return row[row > -9.0][0]",
    "chosen": "return tf.where(row > 0.0, row, 0.0)",
    "scattered": "return tf.scatter_nd(tf.where(row > 0.0), row[row > 0.0], [8])",
    "said to be all": "kept = row[row > -9.0]\n    kept.set_shape([8])\n    return kept",
    "the places of values": "return tf.cast(tf.unique(row)[1], tf.float32)",
    "a few of the places": "return tf.gather(row, tf.where(row > -9.0)[:4, 0])",
}
STEP: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(row):
    return tf.reduce_sum(row)

rows = tf.data.Dataset.from_tensor_slices(tf.random.stateless_normal([16, 8], [1, 2]))
"""


def _script(body: str) -> str:
    return f"{STEP}\ndef kept(row):\n    {body}\n\nfor row in rows.map(kept):\n    step(row)\n"


@pytest.mark.parametrize("name", [*VARYING, *FIXED])
def test_what_is_kept_of_elements(name: str, tmp_path: Path) -> None:
    text = _script((VARYING | FIXED)[name])
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    found = [(one.code, one.span.line) for one in check([tmp_path], Settings()).findings if one.code.startswith("XLA3")]
    assert found == ([("XLA308", text.count("\n"))] if name in VARYING else [])


@pytest.mark.compiler
@pytest.mark.parametrize("name", [*VARYING, *FIXED])
def test_the_elements_have_as_many_shapes(name: str) -> None:
    namespace: dict[str, object] = {}
    exec(_script((VARYING | FIXED)[name]), namespace)
    traces = namespace["step"].experimental_get_tracing_count()  # type: ignore[attr-defined]
    assert (traces > 1) == (name in VARYING)
