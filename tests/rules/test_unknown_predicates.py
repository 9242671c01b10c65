"""What TensorFlow is asked of an argument that nothing is known of is a tensor of data; sizes stay what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf
import reader

class Net:
    def kept(self, scores, labels):
        mask = {}
        return {}

@tf.function
def step(net, scores, labels):
    return net.kept(scores, labels)

def main(net):
    while True:
        scores, labels = reader.next_batch()
        step(net, scores, labels)

main(Net())
"""


def _found(folder: Path, *said: str) -> list[str]:
    (folder / "train.py").write_text(PROGRAM.format(*said), encoding="utf-8")
    return [finding.code for finding in check([folder], Settings(target="tpu")).findings]


@pytest.mark.parametrize(
    "mask",
    [
        "labels == 1",
        "tf.equal(labels, 1)",
        "tf.not_equal(labels, 0)",
        "tf.greater(labels, 0)",
        "tf.math.less_equal(labels, 3)",
        "tf.math.logical_not(labels)",
        "tf.logical_and(labels, tf.equal(scores, 0.0))",
        "tf.math.is_finite(labels)",
        "tf.equal(tf.abs(labels), 1)",
        "tf.cast(labels, tf.bool)",
        "tf.cast(labels[..., 0], 'bool')",
    ],
)
def test_a_predicate_of_what_is_not_known_is_a_mask(tmp_path: Path, mask: str) -> None:
    assert _found(tmp_path, mask, "tf.reduce_sum(tf.boolean_mask(scores, mask[0])[-1])") == ["XLA201"]


@pytest.mark.parametrize("mask", ["tf.equal(labels, 1)", "tf.less(labels, 3)", "tf.math.logical_not(labels)"])
def test_how_many_are_meant_is_a_size_of_data(tmp_path: Path, mask: str) -> None:
    count = "tf.reduce_sum(tf.cast(mask, tf.int32))"
    assert _found(tmp_path, mask, f"tf.nn.top_k(scores, k={count})") == ["XLA205"]


@pytest.mark.parametrize(
    ("mask", "result"),
    [
        ("tf.equal(tf.shape(labels)[0], 1)", "tf.reduce_sum(tf.boolean_mask(scores, mask)[-1])"),
        ("tf.equal(labels, 1)", "tf.reduce_sum(tf.where(mask, scores, 0.0))"),
        ("labels", "tf.zeros([labels, 3])"),
        ("tf.less(0, labels)", "tf.zeros([labels, 3])"),
    ],
)
def test_a_size_of_which_nothing_is_known_may_be_a_number(tmp_path: Path, mask: str, result: str) -> None:
    assert _found(tmp_path, mask, result) == []


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ("n", []),
        ("(2, 2, 1, n)", []),
        ("[4, n]", []),
        ("[tf.minimum(n, 4), 2]", ["XLA205"]),
        ("[n, tf.shape(x)[1] - n]", ["XLA205"]),
    ],
)
def test_parts_are_counted_in_numbers(sizes: str, found: list[str], tmp_path: Path) -> None:
    """Of a function that nothing calls; TensorFlow raises for a tensor as their number."""
    text = (
        f"import tensorflow as tf\n\n@tf.function(jit_compile=True)\ndef f(x, n):\n    return tf.split(x, {sizes}, 1)\n"
    )
    (tmp_path / "parts.py").write_text(text, encoding="utf-8")
    assert [finding.code for finding in check([tmp_path], Settings()).findings] == found
