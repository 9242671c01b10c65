"""What the rules' examples claim of JAX, run in `jax.jit` under Keras's JAX backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest

from xlalint.authoring import on_jax
from xlalint.authoring.examples import with_import
from xlalint.facts.equal_names import EQUAL
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


@pytest.mark.parametrize("named", CLAIMS)
def test_jax_does_what_an_example_claims(named: str) -> None:
    example = CLAIMS[named]
    measured = on_jax.measure(with_import(example.code), tuple(example.inputs))
    assert example.jax is not None
    assert measured.matches(example.jax), measured
    if isinstance(example, Bad) and example.fixed is not None:
        assert on_jax.measure(with_import(example.fixed), tuple(example.inputs)).error is None


# What each function is called with, beside two arrays of floats, x and y, and a mask, m.
CALLS: Final = {
    **dict.fromkeys(EQUAL, "x"),
    **dict.fromkeys(
        (
            *("tf.add", "tf.divide", "tf.equal", "tf.greater", "tf.greater_equal", "tf.less", "tf.less_equal"),
            *("tf.maximum", "tf.minimum", "tf.multiply", "tf.not_equal", "tf.subtract", "tf.matmul", "tf.pow"),
        ),
        "x, y",
    ),
    **dict.fromkeys(("tf.logical_and", "tf.logical_or"), "m, m"),
    **dict.fromkeys(("tf.logical_not", "tf.reduce_all", "tf.reduce_any"), "m"),
    "tf.cast": 'x, "int32"',
    "tf.clip_by_value": "x, 0.5, 1.0",
    "tf.concat": "[x, y], 0",
    "tf.cond": "m[0, 0], lambda: x, lambda: y",
    "tf.expand_dims": "x, 1",
    "tf.reshape": "x, (9,)",
    "tf.squeeze": "x[None]",
    "tf.stack": "[x, y]",
    "tf.where": "m, x, y",
}
PROGRAM: Final = """
import json, sys
import numpy as np, keras
import tensorflow as tf
from keras import ops
rng = np.random.default_rng(1)
x, y = (rng.uniform(0.1, 2.0, (3, 3)).astype("float32") for _ in range(2))
m = x > 1.0
calls, wrong = json.loads(sys.argv[1]), {}
for name, (other, given) in calls.items():
    first = np.asarray(eval(f"{name}({given})"))
    second = ops.convert_to_numpy(eval(f"ops.{other}({given})"))
    if first.dtype != second.dtype or first.shape != second.shape or not np.allclose(first, second, atol=1e-5):
        wrong[name] = f"{first.dtype}{first.shape} {second.dtype}{second.shape}"
print(json.dumps(wrong))
"""


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_equal_names_compute_the_same(backend: str) -> None:
    calls = {name: (other, CALLS[name]) for name, (other, _) in EQUAL.items()}
    environment = os.environ | {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", PROGRAM, json.dumps(calls)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1]) == {}
