"""Programs that enter the scope of a strategy in other ways than by `with strategy.scope():`."""

from __future__ import annotations

from typing import Final

from .tpu import MIRRORED, Program

DISTRIBUTED: Final = """
class Distributed:
    def __init__(self, strategy):
        self.scope = strategy.scope()

    def __enter__(self):
        self.scope.__enter__()

    def __exit__(self, *error):
        self.scope.__exit__(*error)
"""

WITH_MISTAKES: Final[dict[str, Program]] = {
    "a scope or nothing, around half of it": """\
import contextlib
import sys
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy() if "--many" in sys.argv else None
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
with strategy.scope() if strategy else contextlib.nullcontext():
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope that a context manager of the program enters": f"""{MIRRORED}
import contextlib

@contextlib.contextmanager
def distributed(strategy):
    if strategy is None:
        yield
    else:
        with strategy.scope():
            yield

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
with distributed(strategy):
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope that an object enters, around half of it": f"""{MIRRORED}{DISTRIBUTED}
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
with Distributed(strategy):
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope that a function enters for its caller": f"""{MIRRORED}
def begin():
    strategy.scope().__enter__()

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])  # finds XLA502
begin()
model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
}

CLEAN: Final[dict[str, Program]] = {
    "a scope that an object enters": f"""{MIRRORED}{DISTRIBUTED}
with Distributed(strategy):
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a scope or nothing": """\
import contextlib
import sys
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy() if "--many" in sys.argv else None
with strategy.scope() if strategy else contextlib.nullcontext():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=not strategy)
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
    "a timer around what is created, a scope that a function enters for its caller": f"""{MIRRORED}
import contextlib
import time

@contextlib.contextmanager
def timed():
    start = time.time()
    yield
    print(time.time() - start)

def begin():
    strategy.scope().__enter__()

begin()
with timed():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
}
