"""What a magic ran in a notebook that was exported as a script is code, which stands in a string."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

EXPORTED: Final = """\
import tensorflow as tf
rows = tf.data.Dataset.from_tensor_slices((tf.ones([70, 4]), tf.ones([70, 1]))).batch(32)
get_ipython().run_cell_magic('{magic}', '', '{code}')
model.fit(rows)
"""
MODEL: Final = (
    'model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\\nmodel.compile("sgd", "mse", jit_compile=True)\\n'
)
STEP: Final = "@tf.function(jit_compile=True)\\ndef f(x):\\n    return tf.unique(x)\\nf(tf.ones([3]))\\n"


@pytest.mark.parametrize(
    ("magic", "code", "places"),
    [
        ("time", MODEL, [("XLA302", 2)]),
        ("capture", f"!pip install tensorflow\\n{MODEL}", [("XLA302", 2)]),
        ("time", STEP, [("XLA202", 3)]),
        ("bash", MODEL, []),
        ("time", "this is no Python", []),
    ],
)
def test_a_cell_in_a_string_is_read(tmp_path: Path, magic: str, code: str, places: list[tuple[str, int]]) -> None:
    (tmp_path / "exported.py").write_text(EXPORTED.format(magic=magic, code=code), encoding="utf-8")
    run = check([tmp_path], Settings())
    assert [(one.code, one.span.line) for one in run.findings] == places
    assert not run.problems
    assert all(one.fix is None for one in run.findings if one.code == "XLA202")
