"""`match` on a tensor: what compares the tensor is told, and what asks for an object or a structure is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

# The first five raise OperatorNotAllowedInGraphError in a `tf.function(jit_compile=True)`, the others trace.
STEP = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    match {subject}:
        case {pattern}:
            return x * 2.0
        case _:
            return x
"""


@pytest.mark.parametrize(
    ("subject", "pattern", "told"),
    [
        ("x[0]", "1.0", True),
        ("x[0]", "1.0 | 2.0", True),
        ("x[0]", "1.0 as first", True),
        ("x[0]", "first if first > 0.0", True),
        ("x[0] > 0.0", "_ if x[1] > 0.0", True),
        ("x[0] > 0.0", "True", False),
        ("x[0] > 0.0", "None", False),
        ("x", "tf.Tensor()", False),
        ("x.shape[0]", "3", False),
    ],
)
def test_what_compares_a_tensor_is_told(subject: str, pattern: str, told: bool, tmp_path: Path) -> None:
    text = STEP.format(subject=subject, pattern=pattern)
    (tmp_path / "step.py").write_text(text, encoding="utf-8")
    found = [one.code for one in check([tmp_path], Settings()).findings]
    assert found == (["XLA101"] if told else [])
