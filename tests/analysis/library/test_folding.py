"""What XLA folds while it compiles, and what it does not: the table is what the compiler shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Final

import pytest

from xlalint.analysis.library import folding
from xlalint.analysis.library.result_tables import words

# By name, a call on `x` of four rows of three.
NOT_FOLDED: Final = {
    "tf.matmul": "tf.matmul(x, x, transpose_a=True)",
    "tf.einsum": 'tf.einsum("ij,ik->jk", x, x)',
    "tf.tensordot": "tf.tensordot(x, x, [[0], [0]])",
    "tf.linalg.matvec": "tf.linalg.matvec(x, x[0])",
    "tf.cumsum": "tf.cumsum(x)",
    "tf.math.cumprod": "tf.math.cumprod(x)",
    "tf.math.cumulative_logsumexp": "tf.math.cumulative_logsumexp(x)",
    "tf.nn.conv1d": 'tf.nn.conv1d(x[None], tf.ones([1, 3, 3]), 1, "SAME")',
    "tf.nn.conv2d": 'tf.nn.conv2d(x[None, ..., None], tf.ones([1, 1, 1, 1]), 1, "SAME")',
    "tf.nn.max_pool1d": 'tf.nn.max_pool1d(x[None], 2, 1, "SAME")',
    "tf.nn.avg_pool1d": 'tf.nn.avg_pool1d(x[None], 2, 1, "SAME")',
    "tf.nn.max_pool2d": 'tf.nn.max_pool2d(x[None, ..., None], 2, 1, "SAME")',
    "tf.scatter_nd": "tf.scatter_nd([[0]], x[0, :1], [5])",
    "tf.tensor_scatter_nd_update": "tf.tensor_scatter_nd_update(x, [[0, 0]], [9.])",
    "tf.math.unsorted_segment_sum": "tf.math.unsorted_segment_sum(x, [0, 0, 1, 1], 2)",
    "tf.linalg.inv": "tf.linalg.inv(tf.eye(3)+0*x[:3])",
    "tf.linalg.cholesky": "tf.linalg.cholesky(tf.eye(3)+0*x[:3])",
    "tf.linalg.qr": "tf.linalg.qr(x).q",
    "tf.linalg.svd": "tf.linalg.svd(x)[0]",
    "tf.signal.fft": "tf.signal.fft(tf.cast(x, tf.complex64))",
    "tf.image.resize": "tf.image.resize(x[..., None], [2, 2])",
    "tf.searchsorted": "tf.searchsorted(tf.sort(x), x)",
    "tf.math.bincount": "tf.math.bincount(tf.cast(x, tf.int32), minlength=4, maxlength=4)",
    "tf.sin": "tf.math.sin(x)",
    "tf.math.lgamma": "tf.math.lgamma(x+1)",
    "tf.nn.dropout": "tf.nn.dropout(x, .5)",
    "keras.ops.dot": "keras.ops.dot(x, x[:3])",
    "tf.nn.depthwise_conv2d": 'tf.nn.depthwise_conv2d(x[None, ..., None], tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "SAME")',
    "tf.linalg.expm": "tf.linalg.expm(tf.eye(3)*x[0, 0])",
    "tf.image.rgb_to_grayscale": "tf.image.rgb_to_grayscale(x[None])",
    "tf.image.random_flip_left_right": "tf.image.random_flip_left_right(x[..., None])",
    "tf.nn.local_response_normalization": "tf.nn.local_response_normalization(x[None, ..., None])",
    "tf.math.confusion_matrix": "tf.math.confusion_matrix(tf.cast(x[0]*0, tf.int32), tf.cast(x[0]*0, tf.int32), 2)",
    "tf.math.igamma": "tf.math.igamma(x+1, x+1)",
    "tf.math.digamma": "tf.math.digamma(x)",
    "tf.math.betainc": "tf.math.betainc(x+1, x+1, x*0+.5)",
    "tf.cos": "tf.cos(x)",
    "tf.tan": "tf.tan(x)",
    "tf.math.polygamma": "tf.math.polygamma(x+1, x+1)",
    "tf.math.igammac": "tf.math.igammac(x+1, x+1)",
    "tf.math.lbeta": "tf.math.lbeta(x+1)",
    "tf.nn.conv3d": 'tf.nn.conv3d(x[None, :, :, None, None], tf.ones([1, 1, 1, 1, 1]), [1]*5, "SAME")',
    "tf.nn.conv2d_transpose": "tf.nn.conv2d_transpose(x[None, ..., None], tf.ones([1, 1, 1, 1]), [1, 4, 3, 1], 1)",
    "tf.nn.avg_pool2d": 'tf.nn.avg_pool2d(x[None, ..., None], 2, 1, "SAME")',
    "tf.nn.max_pool": 'tf.nn.max_pool(x[None], 2, 1, "SAME")',
    "tf.nn.pool": 'tf.nn.pool(x[None], [2], "MAX", padding="SAME")',
    "tf.signal.rfft": "tf.signal.rfft(x)",
    "tf.signal.stft": "tf.signal.stft(x[:, 0], 2, 1)",
    "tf.signal.dct": "tf.signal.dct(x)",
    "tf.linalg.solve": "tf.linalg.solve(tf.eye(3)+0*x[:3], x[:3])",
    "tf.linalg.eigh": "tf.linalg.eigh(tf.eye(3)+0*x[:3])[0]",
    "tf.linalg.triangular_solve": "tf.linalg.triangular_solve(tf.eye(3), x[:3])",
    "tf.linalg.pinv": "tf.linalg.pinv(x)",
    "tf.linalg.lstsq": "tf.linalg.lstsq(x, x)",
    "tf.linalg.logdet": "tf.linalg.logdet(tf.eye(3)+0*x[:3])",
    "tf.math.unsorted_segment_max": "tf.math.unsorted_segment_max(x, [0, 0, 1, 1], 2)",
    "tf.math.unsorted_segment_mean": "tf.math.unsorted_segment_mean(x, [0, 0, 1, 1], 2)",
    "tf.tensor_scatter_nd_add": "tf.tensor_scatter_nd_add(x, [[0, 0]], [9.])",
    "tf.tensor_scatter_nd_max": "tf.tensor_scatter_nd_max(x, [[0, 0]], [9.])",
    "tf.image.rot90": "tf.image.rot90(x[..., None])",
    "tf.image.sobel_edges": "tf.image.sobel_edges(x[None, ..., None])",
    "tf.image.hsv_to_rgb": "tf.image.hsv_to_rgb(x[None])",
    "tf.image.extract_patches": 'tf.image.extract_patches(x[None, ..., None], [1, 2, 2, 1], [1]*4, [1]*4, "SAME")',
    "tf.math.nextafter": "tf.math.nextafter(x, x)",
    "tf.bitcast": "tf.bitcast(x, tf.int32)",
    "keras.ops.conv": "keras.ops.conv(x[None], tf.ones([1, 3, 3]))",
    "keras.ops.scatter_update": "keras.ops.scatter_update(x, [[0, 0]], [9.])",
    "keras.ops.vdot": "keras.ops.vdot(x[0], x[0])",
    "keras.ops.correlate": "keras.ops.correlate(x[0], x[0])",
    "tf.raw_ops.MatMul": "tf.raw_ops.MatMul(a=x, b=x, transpose_a=True)",
    "tf.nn.separable_conv2d": 'tf.nn.separable_conv2d(x[None, ..., None], *[tf.ones([1] * 4)] * 2, [1] * 4, "SAME")',
    "tf.nn.atrous_conv2d": 'tf.nn.atrous_conv2d(x[None, ..., None], tf.ones([1, 1, 1, 1]), 1, "SAME")',
    "tf.nn.convolution": "tf.nn.convolution(x[None], tf.ones([1, 3, 3]))",
    "tf.nn.max_pool3d": 'tf.nn.max_pool3d(x[None, :, :, None, None], 1, 1, "SAME")',
}
FOLDED: Final = {
    "tf.sort": "tf.sort(x)",
    "tf.math.top_k": "tf.math.top_k(x, 2).values",
    "tf.nn.softmax": "tf.nn.softmax(x)",
    "tf.gather": "tf.gather(x, [0, 1])",
    "tf.norm": "tf.norm(x)",
    "tf.transpose": "tf.transpose(x)",
    "tf.concat": "tf.concat([x, x], 0)",
    "tf.reduce_mean": "tf.reduce_mean(x)",
    "tf.argmax": "tf.argmax(x, 1)",
    "tf.exp": "tf.exp(x)",
    "tf.tanh": "tf.tanh(x)",
    "tf.clip_by_value": "tf.clip_by_value(x, 0.0, 1.0)",
    "tf.one_hot": "tf.one_hot(tf.cast(x, tf.int32), 3)",
    "tf.vectorized_map": "tf.vectorized_map(lambda row: row * 2.0, x)",
    "tf.linspace": "tf.linspace(x[0, 0], x[0, 1], 3)",
    "keras.ops.searchsorted": "keras.ops.searchsorted(x[0], x[1])",
    "tf.nn.l2_loss": "tf.nn.l2_loss(x)",
    "tf.linalg.diag_part": "tf.linalg.diag_part(x)",
}
# Asks of each expression whether a size that is made of it compiles; says for each what is wrong, or nothing.
PROGRAM: Final = """
import json
import sys

import keras
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

x = tf.constant([[1.0, 2.0, 0.5], [0.2, 0.1, 0.3], [0.4, 0.2, 0.1], [0.3, 0.2, 0.6]])


def answered(expression):
    @tf.function(jit_compile=True)
    def size_of(x):
        made = tf.nest.flatten(eval(expression, {**globals(), "x": x}))[0]
        if made.dtype.is_complex:
            made = tf.math.real(made)
        size = tf.maximum(tf.cast(tf.reduce_max(tf.cast(made, tf.float32)), tf.int32), 1)
        return tf.reduce_sum(tf.zeros([size]))

    try:
        size_of(x)
    except Exception as error:
        return "compile-time constant" if "compile-time constant" in str(error) else str(error)
    return ""


print(json.dumps([answered(expression) for expression in json.load(sys.stdin)]))
"""


def answers(expressions: list[str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(expressions),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_table_is_what_was_asked() -> None:
    assert not any(map(folding.is_folded, NOT_FOLDED))
    assert all(map(folding.is_folded, FOLDED))
    asked = {name.rpartition(".")[2] for name in NOT_FOLDED}
    assert {name.rpartition(".")[2] for name in folding.NAMES} | folding.WORDS == asked


def test_words_are_of_every_numeric_namespace() -> None:
    assert [folding.is_folded(name) for name in ("keras.ops.cumsum", "tf.cumsum", "tf.signal.cumsum")] == [
        False,
        False,
        True,
    ]
    assert words("a b") == {"a", "b"}


@pytest.mark.compiler
def test_the_compiler_does_not_fold_them() -> None:
    found = answers(list(NOT_FOLDED.values()))
    assert dict(zip(NOT_FOLDED, found, strict=True)) == dict.fromkeys(NOT_FOLDED, "compile-time constant")


@pytest.mark.compiler
def test_the_compiler_folds_the_others() -> None:
    assert dict(zip(FOLDED, answers(list(FOLDED.values())), strict=True)) == dict.fromkeys(FOLDED, "")
