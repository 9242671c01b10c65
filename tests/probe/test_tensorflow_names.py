"""What a worker uses of TensorFlow is also in the oldest one that the probe takes, by a list that was looked up."""

from __future__ import annotations

import pytest

from .tensorflow_names import listed, missing, names_in, used


def test_every_name_has_been_looked_up_in_the_oldest_tensorflow() -> None:
    new = used() - listed()
    assert not new, f"look these up in TensorFlow 2.15.1 as `tensorflow_names` says, and list them: {sorted(new)}"
    assert not listed() - used()


def test_names_are_found_whole_and_not_where_something_stands_in() -> None:
    text = """
import tensorflow as tf
from tensorflow.python.framework import ops as inner
try:
    from tensorflow.python.summary import late
except ImportError:
    late = None

def f(x):
    return tf.nn.softmax(x).shape, inner.EagerTensor, late.thing
"""
    assert {*names_in(text)} == {
        "tensorflow",
        "tensorflow.python.framework.ops",
        "tensorflow.nn.softmax",
        "tensorflow.python.framework.ops.EagerTensor",
    }


@pytest.mark.compiler
def test_what_is_missing_is_told() -> None:
    assert missing(("tensorflow.nn.softmax", "tensorflow.nn.hardmax", "tensorflow.python.framework.absent")) == [
        "tensorflow.nn.hardmax",
        "tensorflow.python.framework.absent",
    ]
    assert not missing(listed())
