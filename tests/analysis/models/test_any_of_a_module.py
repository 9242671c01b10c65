"""What a program asks a module or a class for by a name that nobody knows: an optimizer, a model, a function."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

OUTSIDE: Final = """\
import sys
import tensorflow as tf
from tensorflow.keras import applications

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
name = sys.argv[1]
model = {}
with strategy.scope():
    {}
model.fit(tf.ones([8, 224, 224, 3]), tf.ones([8, 1000]))
"""
STEP: Final = """\
import sys
import tensorflow as tf

optimizer = {}
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
for x in tf.data.Dataset.from_tensor_slices(tf.ones([8, 3])).batch(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
OWN: Final = """\
import sys
import tensorflow as tf

def masked(x):
    return tf.reduce_mean(x[x > 0])  # here

class Losses:
    mean_of_positive = staticmethod(masked)

    @staticmethod
    def squared(x):
        return tf.reduce_mean(x ** 2)

    @classmethod
    def largest(cls, x):
        return tf.reduce_mean(x[x > 1])  # and here

class Others:
    absolute = staticmethod(abs)

@tf.function(jit_compile=True)
def loss(x):
    return {}(x)
"""
ADAM: Final = 'model.compile("adam", "mse")'


def _told(folder: Path, program: str, target: str | None = None) -> set[tuple[str, int]]:
    (folder / "main.py").write_text(program, encoding="utf-8")
    return {(one.code, one.span.line) for one in check([folder], Settings(target=target, jobs=1)).findings}


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("getattr(tf.keras.applications, name)(weights=None)", True),
        ("getattr(applications, name, None)(weights=None)", True),
        ("tf.keras.applications.ResNet50(weights=None)", True),
        ("getattr(applications, name).build(weights=None)", False),
        ("getattr(tf.keras.utils, name)(weights=None)", False),
    ],
)
def test_any_application_is_a_model(made: str, found: bool, tmp_path: Path) -> None:
    assert (("XLA502", 7) in _told(tmp_path, OUTSIDE.format(made, ADAM))) == found


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("getattr(tf.keras.optimizers, sys.argv[1])(1e-3)", True),
        ("getattr(tf.keras.optimizers.legacy, sys.argv[1])(1e-3)", True),
        ("tf.keras.optimizers.get(sys.argv[1])", True),
        ("getattr(tf.keras.optimizers.schedules, sys.argv[1])(1e-3)", False),
    ],
)
def test_any_optimizer_takes_steps(made: str, found: bool, tmp_path: Path) -> None:
    assert (("XLA512", 9) in _told(tmp_path, STEP.format(made), "tpu")) == found


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("tf.keras.optimizers.get('adam')", True),
        ("tf.keras.optimizers.get('sgd')", False),
        ("tf.keras.optimizers.get(sys.argv[1])", False),
        ("getattr(tf.keras.optimizers, sys.argv[1])(1e-3)", False),
        ("getattr(tf.keras.optimizers, 'Adam')(1e-3)", True),
    ],
)
def test_an_optimizer_that_nobody_knows_may_have_no_state(made: str, found: bool, tmp_path: Path) -> None:
    program = OUTSIDE.format(f"{made}\noptimizer = model", "model = tf.keras.applications.ResNet50(weights=None)")
    program = program.replace("model.fit", 'model.compile(optimizer, "mse")\nmodel.fit')
    assert (("XLA502", 7) in _told(tmp_path, program)) == found


@pytest.mark.parametrize(
    ("function", "lines"),
    [
        ("getattr(Losses, sys.argv[1])", {5, 16}),
        ("getattr(Losses, f'{sys.argv[1]}_positive')", {5}),
        ("getattr(sys.modules[__name__], sys.argv[1])", {5}),
        ("eval('masked')", {5}),
        ("eval('ma{}'.format(sys.argv[1]))", {5}),
        ("eval(sys.argv[1])", set()),
        ("getattr(sys.modules['main'], sys.argv[1])", {5}),
        ("getattr(sys.modules['absl'], sys.argv[1])", set()),
        ("getattr(sys.modules[sys.argv[1]], sys.argv[1])", set()),
        ("getattr(Others, sys.argv[1])", set()),
    ],
)
def test_any_function_of_a_class(function: str, lines: set[int], tmp_path: Path) -> None:
    assert {line for code, line in _told(tmp_path, OWN.format(function)) if code == "XLA201"} == lines
