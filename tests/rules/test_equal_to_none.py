"""`tensor == None`, which Python decides (measured: TensorFlow 2.21, in eager execution as in a graph)."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source

LAYER: Final = """
import tensorflow as tf

def halved(image):
    if image == None:
        return None
    return image / 2.0

class Net(tf.keras.Model):
    def call(self, x):
        y = halved(x)
        if {test}:
            y = y + 1.0
        return y

net = Net()
net.compile("sgd", "mse", jit_compile=True)
net.fit(tf.ones([8, 3]), tf.ones([8, 3]), batch_size=4)
"""


@pytest.mark.parametrize("test", ["y != None", "None != y", "not y == None", "y is not None"])
def test_none_is_asked_for(test: str) -> None:
    assert lint_source(LAYER.format(test=test)).findings == ()


@pytest.mark.parametrize("test", ["y != 0.0", "tf.reduce_sum(y) == 1.0"])
def test_numbers_are_compared(test: str) -> None:
    assert [finding.code for finding in lint_source(LAYER.format(test=test)).findings] == ["XLA101"]


@pytest.mark.compiler
def test_python_decides() -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    seen: list[object] = []

    def asked(x: object) -> object:
        seen.extend([x == None, x != None])  # noqa: E711
        return x

    tf.function(asked, autograph=False)(tf.ones([3]))
    asked(tf.ones([3]))
    assert seen == [False, True] * 2
    assert all(isinstance(each, bool) for each in seen)
