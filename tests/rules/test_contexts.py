"""What `with` enters that a function returns, a variable holds or a program chooses: a scope, or a device."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.linter.rule import Severity
from xlalint.settings.config import Settings

MADE: Final = """
import contextlib
import sys
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
rows = tf.data.TFRecordDataset("gs://bucket/rows").map(lambda row: (tf.io.decode_raw(row, tf.float32), 1.0))
"""
TRAINED: Final = """
with {}:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(rows.batch(8))
"""
SCOPE: Final = "strategy.scope() if len(sys.argv) > 1 else tf.device('/GPU:0')"


def _told(program: str) -> set[tuple[str, Severity]]:
    return {(finding.code, finding.severity) for finding in lint_source(program, settings=Settings()).findings}


@pytest.mark.parametrize(
    ("start", "entered"),
    [
        ("", "strategy.scope()"),
        ("", SCOPE),
        (f"chosen = {SCOPE}", "chosen"),
        (f"def chosen():\n    return {SCOPE}\n", "chosen()"),
        (f"chosen = lambda: {SCOPE}", "chosen()"),
        (f"class Machine:\n    @property\n    def chosen(self):\n        return {SCOPE}\n", "Machine().chosen"),
        ("scopes = {'tpu': strategy.scope(), 'gpu': tf.device('/GPU:0')}", "scopes[sys.argv[1]]"),
        ("", "strategy.scope() if len(sys.argv) > 1 else tf.name_scope('plain')"),
        ("", "strategy.scope() if len(sys.argv) > 1 else contextlib.nullcontext()"),
    ],
)
def test_a_scope_that_a_program_may_enter(start: str, entered: str) -> None:
    """The last batch of a data set compiles the step again, on a TPU."""
    assert _told(MADE + start + TRAINED.format(entered)) == {("XLA302", Severity.WARNING)}


def test_a_scope_or_what_nobody_knows() -> None:
    choice = "strategy.scope() if len(sys.argv) > 1 else machines.place()"
    assert _told(MADE + "import machines" + TRAINED.format(choice)) == set()


@pytest.mark.parametrize(
    ("start", "entered", "idle"),
    [
        ("", "tf.device('TPU:0')", False),
        ("def place():\n    return tf.device('/device:TPU:0')\n", "place()", False),
        ("place = tf.device('TPU:0')", "place", False),
        ("@contextlib.contextmanager\ndef place():\n    with tf.device('TPU:0'):\n        yield\n", "place()", False),
        ("from tensorflow import device", "device('tpu:0')", False),
        ("", "tf.device(sys.argv[1])", False),
        ("", "tf.device('/job:cpu/device:TPU:0')", False),
        ("", "tf.device('/GPU:0')", False),
        ("", "tf.device('/device:CPU:0')", True),
        ("", "tf.device('/job:worker/cpu:0')", True),
        ("", "tf.device('CPU')", True),
        ("", "tf.device(None)", True),
        ("def place():\n    return tf.device('CPU:0')\n", "place()", True),
        (
            "class Place:\n    def device(self, name):\n        return contextlib.nullcontext()\n",
            "Place().device(1)",
            True,
        ),
        ("", "contextlib.nullcontext()", True),
    ],
)
def test_a_device_that_may_be_the_tpu(start: str, entered: str, idle: bool) -> None:
    told = {code for code, _ in _told(MADE + start + TRAINED.format(entered))}
    assert told == ({"XLA302", "XLA512"} if idle else {"XLA302"})


STEP: Final = """
with strategy.scope():
    inside = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])
    fast = tf.keras.optimizers.SGD()
    fast.build(inside.trainable_variables)

def step(model, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.ones([8, 4])))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

run = tf.function(step)
run(inside, fast)
"""
OUTSIDE: Final = """
outside = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])
run(outside, tf.keras.optimizers.SGD())
"""


@pytest.mark.parametrize(("entered", "found"), [("strategy.scope()", True), ("places.enter()", False)])
def test_a_step_in_the_scope_that_no_strategy_runs(entered: str, found: bool) -> None:
    program = MADE + STEP.replace("run(inside", f"import places\nwith {entered}:\n    run(inside")
    assert ("XLA512" in {code for code, _ in _told(program)}) == found


def test_a_step_that_one_of_two_callers_has_run_elsewhere() -> None:
    """It counts what all callers pass it: a program may choose by one flag what it makes, and which step it takes."""
    assert "XLA512" in {code for code, _ in _told(MADE + STEP)}
    for program in (MADE + STEP + OUTSIDE, MADE + STEP.replace("run(inside", f"{OUTSIDE}run(inside")):
        assert "XLA512" not in {code for code, _ in _told(program)}
