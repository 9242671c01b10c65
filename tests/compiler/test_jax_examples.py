"""What the rules' examples claim of JAX, run in `jax.jit` under Keras's JAX backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.authoring import on_jax
from xlalint.authoring.examples import with_import
from xlalint.linter.rule import Bad, Good, Rule, all_rules

pytestmark = pytest.mark.compiler


def _examples(rule: type[Rule]) -> Iterator[tuple[str, int, Bad | Good]]:
    yield from (("bad", number, bad) for number, bad in enumerate(rule.bad))
    yield from (("good", number, good) for number, good in enumerate(rule.good))


CLAIMS: Final[dict[str, Bad | Good]] = {
    f"{rule.code} {kind} {number}": example
    for rule in all_rules()
    for kind, number, example in _examples(rule)
    if example.jax is not None
}


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, id=name, marks=claim(one.code, one.inputs, one.jax, getattr(one, "fixed", None)))
        for name, one in CLAIMS.items()
    ],
)
def test_jax_does_what_an_example_claims(example: Bad | Good) -> None:
    measured = on_jax.measure(with_import(example.code), tuple(example.inputs))
    assert example.jax is not None
    assert measured.matches(example.jax), measured
    if isinstance(example, Bad) and example.fixed is not None:
        assert on_jax.measure(with_import(example.fixed), tuple(example.inputs)).error is None


LACKING: Final = {
    "tf.autodiff.ForwardAccumulator(x, x)": "f32[4]",
    "tf.image.grayscale_to_rgb(x)": "f32[2, 8, 8, 1]",
    "tf.image.image_gradients(x)": "f32[2, 8, 8, 3]",
    "tf.image.sobel_edges(x)": "f32[2, 8, 8, 3]",
    "tf.image.total_variation(x)": "f32[2, 8, 8, 3]",
    "tf.linalg.tridiagonal_solve(x, tf.ones([4, 2]))": "f32[3, 4]",
}


@pytest.mark.parametrize(("call", "spec"), LACKING.items(), ids=LACKING)
def test_what_asks_for_attributes_that_jax_s_tensors_lack_fails_without_a_trace_as_well(call: str, spec: str) -> None:
    code = f"import keras\n\nclass L(keras.layers.Layer):\n    def call(self, x):\n        return {call}\n"
    failure = on_jax.measure(with_import(code), (spec,)).failure
    assert failure is not None
    assert failure.startswith("AttributeError")


@pytest.mark.parametrize(
    "call",
    [
        "ops.cond(ops.sum(x) > 0, assigned, lambda: x)",
        "ops.map(assigned, x)",
        "ops.scan(lambda c, row: (c, assigned(row)), 0.0, x)",
        "ops.fori_loop(0, 3, lambda i, c: assigned(c), x)",
        "ops.while_loop(lambda i, c: i < 3, lambda i, c: (i + 1, assigned(c)), (0, x))",
        "ops.switch(0, [assigned, lambda c: c], x)",
    ],
)
def test_assignments_in_functions_that_jax_traces_apart_fail_without_a_trace_around_them_as_well(call: str) -> None:
    code = f"""
from keras import ops

class L(keras.layers.Layer):
    def build(self, shape):
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        def assigned(row=x):
            self.seen.assign(ops.sum(row) * 0.0 + 1.0)
            return row

        return {call}
"""
    failure = on_jax.measure(with_import(f"import keras\n{code}"), ("f32[4]",)).failure
    assert failure is not None
    assert failure.startswith(("TracerArrayConversionError", "UnexpectedTracerError"))
