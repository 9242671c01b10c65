"""What `keras.ops` is said to compute as TensorFlow does, run on both backends, line by line and compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.facts.equal_names import EQUAL, EXACT

pytestmark = pytest.mark.compiler

# What each function is called with, beside two arrays, x and y, and a mask, m.
CALLS: Final = {
    **dict.fromkeys(EQUAL, "x"),
    **dict.fromkeys(
        (
            *("tf.add", "tf.divide", "tf.equal", "tf.greater", "tf.greater_equal", "tf.less", "tf.less_equal"),
            *("tf.maximum", "tf.minimum", "tf.multiply", "tf.not_equal", "tf.subtract", "tf.matmul", "tf.pow"),
            "tf.math.divide_no_nan",
        ),
        "x, y",
    ),
    **dict.fromkeys(("tf.logical_and", "tf.logical_or"), "m, m"),
    **dict.fromkeys(("tf.logical_not", "tf.reduce_all", "tf.reduce_any"), "m"),
    "tf.cast": 'x, "int32"',
    "tf.clip_by_value": "x, 0.5, 1.0",
    "tf.concat": "[x, y], 0",
    "tf.cond": "m[0, 0], lambda: x, lambda: y",
    "tf.cumsum": "x, axis=0",
    "tf.expand_dims": "x, 1",
    "tf.gather": "x, [2, 0], axis=0",
    "tf.range": "1, 7, 2",
    "tf.reshape": "x, (9,)",
    "tf.squeeze": "x[None]",
    "tf.stack": "[x, y]",
    "tf.unstack": "x, num=3",
    "tf.where": "m, x, y",
    "tf.while_loop": "lambda i, z: i < 3, lambda i, z: (i + 1, z + y), (0, x), maximum_iterations=2",
}
PROGRAM: Final = """
import json, sys
import numpy as np, keras
import tensorflow as tf
from keras import ops
rng = np.random.default_rng(1)
calls, dtypes, wrong = json.loads(sys.argv[1]), json.loads(sys.argv[2]), {}

def compiled(function):
    if keras.backend.backend() == "jax":
        import jax
        return jax.jit(function)
    return tf.function(function, jit_compile=True)

def result(function, given, x, y, m):
    made = eval(f"{function}({given})", {"tf": tf, "ops": ops, "x": x, "y": y, "m": m})
    return made if isinstance(made, (list, tuple)) else [made]

def told(results, convert):
    return [(keras.backend.standardize_dtype(one.dtype), np.asarray(convert(one, "float32"))) for one in results]

for dtype in dtypes:
    numbers = [rng.uniform(0.1, 2.9, (3, 3)).astype("float32") for _ in range(2)]
    nearly = {"atol": 1e-5, "rtol": 1e-5 if dtype == "float32" else 1e-2}
    ours = [tf.cast(one, dtype) for one in numbers]
    theirs = [ops.cast(one, dtype) for one in numbers]
    for name, (other, given) in calls.items():
        first = told(result(name, given, *ours, ours[0] > ours[1]), tf.cast)
        run = lambda x, y: result(f"ops.{other}", given, x, y, x > y)
        for how in (run, compiled(run)):
            second = told(how(*theirs), lambda one, to: ops.convert_to_numpy(ops.cast(one, to)))
            if len(first) != len(second) or any(
                one != another or a.shape != b.shape or not np.allclose(a, b, **nearly)
                for (one, a), (another, b) in zip(first, second)
            ):
                wrong[f"{name} {dtype}"] = f"{first} {second}"
print(json.dumps(wrong))
"""


ASKED: Final = {
    "floats": ({name: (EQUAL[name][0], CALLS[name]) for name in EQUAL}, ("float32",)),
    "every dtype": (
        {name: (EQUAL[name][0], CALLS[name]) for name in sorted(EXACT)},
        ("bfloat16", "float16", "int32", "uint8"),
    ),
}


@pytest.mark.parametrize(
    ("backend", "calls", "dtypes"),
    [
        pytest.param(backend, *asked, id=f"{name}-{backend}", marks=claim(PROGRAM, backend, asked, sampled=False))
        for name, asked in ASKED.items()
        for backend in ("tensorflow", "jax")
    ],
)
def test_equal_names_compute_the_same(backend: str, calls: dict[str, tuple[str, str]], dtypes: tuple[str, ...]) -> None:
    environment = os.environ | {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", PROGRAM, json.dumps(calls), json.dumps(dtypes)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1]) == {}
