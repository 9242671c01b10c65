"""A mask that is a window has a bounded dynamic shape, which what attention returns takes over: it is broadcast."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

attend = tf.keras.layers.MultiHeadAttention(2, 4)
query, memory, mask = tf.ones([2, 1, 8]), tf.ones([2, 5, 8]), tf.ones([2, 4, 5]) > 0.0
attend(query, memory)


@tf.function(jit_compile=True)
def decode(x, memory, mask):
    def body(i, y):
        own = mask[:, i : i + 1]
        return i + 1, CONSUMED

    return tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]


def run():
    return decode(query, memory, mask)
"""
MASKED: Final = "tf.reshape(attend(y, memory, attention_mask=own), [2, 1, 8])"
WHOLE: Final = "tf.reshape(attend(y, memory, attention_mask=mask[:, :1]), [2, 1, 8])"


@pytest.mark.parametrize(("consumed", "told"), [(MASKED, True), (WHOLE, False)])
def test_the_result_has_the_shape_of_the_mask(consumed: str, told: bool, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("CONSUMED", consumed), encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if "does not compile" in one.message]
    assert [one.code for one in found] == (["XLA206"] if told else [])


@pytest.mark.compiler
@pytest.mark.parametrize(("consumed", "fails"), [(MASKED, True), (WHOLE, False)])
def test_the_compiler_agrees_on_masks(consumed: str, fails: bool) -> None:
    namespace: dict[str, Any] = {}
    exec(PROGRAM.replace("CONSUMED", consumed), namespace)
    if fails:
        with pytest.raises(Exception, match=r"(?i)reshape"):
            namespace["run"]()
    else:
        assert namespace["run"]().shape == (2, 1, 8)
