"""A function that is called in more ways than it is executed for is followed all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

# Each call passes an object of another class, so that each is another pattern of arguments.
CALLS: Final = 120
HEAD: Final = """\
import tensorflow as tf


def scaled(x, settings):
    if tf.reduce_sum(x) > 10.0:
        return x / 2.0
    return x
"""
SETTINGS: Final = "\n\nclass S{number}:\n    rate = 0.1\n"
IN_GRAPH: Final = "\n\n@tf.function\ndef f{number}(x):\n    return scaled(x, S{number}())\n"
COMPILED: Final = "\n\n@tf.function(jit_compile=True, autograph=False)\ndef compiled(x):\n    return scaled(x, None)\n"
ON_HOST: Final = """

def begin(step, settings):
    return step(tf.ones([4]))


def train(step, settings):
    return begin(step, settings)


def plain(x):
    return x + 1.0


@tf.function(jit_compile=True, autograph=False)
def compiled(x):
    return scaled(x, None)


"""


def _each(text: str) -> str:
    return "".join(text.format(number=number) for number in range(CALLS))


@pytest.mark.parametrize(
    "text",
    [
        # What compiles it comes behind all that only runs it in a graph.
        HEAD + _each(SETTINGS + IN_GRAPH) + COMPILED,
        # The host passes the compiled function through helpers that are passed many other things before.
        HEAD + ON_HOST + _each(SETTINGS + "\n\ntrain(plain, S{number}())\n") + "train(compiled, None)\n",
    ],
    ids=["in a graph", "on the host"],
)
def test_what_is_called_behind_many_others_is_still_reached(tmp_path: Path, text: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(text)
    found = [
        (finding.code, finding.severity.name.lower())
        for finding in check([file], Settings(exposure="certain")).findings
    ]
    assert found == [("XLA101", "error")]


FACTORY: Final = """\
import numpy as np
import tensorflow as tf


def batches(settings):
    return tf.data.Dataset.from_tensor_slices(np.ones((70, 4), "float32")).batch(32)


@tf.function(jit_compile=True)
def compiled(x):
    return x * 2.0
"""


def test_what_a_factory_returns_behind_many_other_calls_is_known(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    calls = _each(SETTINGS + "\n\nbatches(S{number}())\n")
    file.write_text(FACTORY + calls + "for x in batches(None):\n    compiled(x)\n")
    assert [finding.code for finding in check([file], Settings()).findings] == ["XLA302"]


SCOPED: Final = """\
import numpy as np
import tensorflow as tf

x, y = np.ones([8, 3], "float32"), np.ones([8, 1], "float32")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def note(settings):
    print(settings)
"""
OUTSIDE: Final = """
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
note(None)
optimizer = tf.keras.optimizers.Adam()
with strategy.scope():
    optimizer.build(model.trainable_variables)


@tf.function
def train(x, y):
    return strategy.run(step, args=(x, y))


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


train(tf.constant(x), tf.constant(y))
"""


def test_a_call_in_the_scope_of_a_strategy_leads_nobody_else_into_it(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    calls = _each(SETTINGS + "\n\nwith strategy.scope():\n    note(S{number}())\n")
    file.write_text(SCOPED + calls + OUTSIDE)
    assert {finding.code for finding in check([file], Settings(exposure="certain")).findings} == {"XLA502"}
