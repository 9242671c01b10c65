"""Random programs in which selected rows go through helpers and methods before they are reduced or put back."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from .trial import FINITE, Input, Program, function

_STEPS: Final = (
    "({a}) * 2.0 - ({b})",
    "tf.abs({a})",
    "tf.sqrt(tf.abs({a}))",
    "tf.math.log(tf.abs({a}) + 1.0)",
    "tf.where({a} > 0.0, {a}, -({b}))",
    "helper({a}, {b})",
    "{a} / tf.reduce_max({b}, axis=-1, keepdims=True)",
    "tf.concat([{a}, {b}], axis=-1)[:, 1:4]",
    "tf.tanh({a})[:, :3] + 1.0",
    "tf.stack([{a}[:, 0], {b}[:, 1], {a}[:, 2]], axis=-1)",
)
_HELPERS: Final = (
    "def helper(one, other):\n    return tf.maximum(one, other) * one[:, :1]\n",
    "def helper(one, other):\n    left, rest = tf.split(one, [1, 2], axis=-1)\n    return left * other + rest[:, :1]\n",
    "def helper(one, other):\n    return one - tf.reduce_mean(one)\n",
    "def helper(one, other):\n    return one * tf.expand_dims(tf.norm(other + 5.0, axis=1), -1)\n",
)
_ENDS: Final = (
    "tf.reduce_sum({a})",
    "tf.reduce_mean({a})",
    "tf.reduce_max(tf.sqrt(tf.abs({a})))",
    "tf.reduce_sum(tf.keras.losses.huber({a}, {b}))",
    "tf.reduce_sum({a}, axis=0)",
    "tf.reduce_mean(tf.reduce_sum({a}, axis=1))",
    "tf.scatter_nd(places, {a}, x.shape)",
    "tf.tensor_scatter_nd_update(x, places, {a})",
    "tf.reduce_sum({a}) / tf.cast(tf.maximum(tf.shape(places)[0], 1), tf.float32)",
    "tf.reduce_sum(tf.boolean_mask({a}, {b}[:, 0] > 0.5))",
)


@st.composite
def flows(draw: st.DrawFn) -> Program:
    """Rows at the places of a condition of one dimension or two, a few steps, and an end."""
    shape = draw(st.sampled_from(((5, 3), (2, 4, 3))))
    condition = draw(st.sampled_from(("keep > 0", "tf.equal(keep, 1)", "tf.logical_not(keep < 1)")))
    lines = [f"x, y = tf.reshape(x, {list(shape)}), tf.reshape(y, {list(shape)})"]
    lines += [f"keep = tf.reshape(keep, {list(shape[:-1])})", f"places = tf.where({condition})"]
    lines.append("a, b = tf.gather_nd(x, places), tf.gather_nd(y, places)")
    for _ in range(draw(st.integers(1, 3))):
        name, other = draw(st.sampled_from((("a", "b"), ("b", "a"))))
        lines.append(f"{name} = {draw(st.sampled_from(_STEPS)).format(a=name, b=other)}")
    lines.append(f"return {draw(st.sampled_from(_ENDS)).format(a='a', b='b')}")
    code = function("x: tf.Tensor, y: tf.Tensor, keep: tf.Tensor", *lines) + "\n\n" + draw(st.sampled_from(_HELPERS))
    inputs = (Input("float32", shape), Input("float32", shape), Input("int32", shape[:-1], 0, 2))
    return Program(code, inputs, "XLA203", kinds=FINITE)
