"""Compiled code uses a variable of 32-bit integers, which no GPU holds.

## What it does
Reports variables with the dtype int32 (also that of `tf.Variable(0)`, whose dtype nobody says) which code that XLA
compiles reads or assigns: a counter of steps, a position in a ring buffer, the state of a metric.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on an NVIDIA H100. TensorFlow keeps int32 variables in the host's memory,
also under `tf.device("/GPU:0")`. A compiled function that uses one fails at its first call ("Trying to access resource
.. located in device .. CPU:0 from device .. GPU:0"), whether it takes it from outside, from `self` or as an argument.
All other dtypes compile: int8, int16, int64, the unsigned ones, bool and floats.

Keras 3 compiles by default where it finds a GPU. So `fit` fails there for every model with such a variable
(`add_weight(dtype="int32")`, `keras.Variable(0, dtype="int32")`, `tf.Variable(0)`), and works on a CPU.

A plain `tf.function` works everywhere. A CPU and a TPU have no such split.

## Example
    self.seen = tf.Variable(0)

    @tf.function(jit_compile=True)
    def step(self, x):
        self.seen.assign_add(1)

## Use instead
    self.seen = tf.Variable(0, dtype=tf.int64)

Where the value alone matters, pass it as a tensor: `step(x, self.seen.read_value())`.

## Not flagged
- Variables that only eager code or a plain `tf.function` uses, and variables of which the dtype is not known.
- Code for a CPU or a TPU alone (`--target cpu`, `--target tpu`, a strategy for TPUs).
- Where nothing says that a GPU runs it, the finding is a warning. With `--target gpu` it is an error.

## Fix safety
None is offered: what is computed with the variable would meet int64, and would need a cast.

## References
- https://www.tensorflow.org/xla/known_issues#tfvariable_on_a_different_device
- https://github.com/tensorflow/tensorflow/issues/53192
- https://github.com/tensorflow/tensorflow/issues/61458
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import Event, ReadInt32
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Told

USED = """
SEEN = tf.Variable(0)

@tf.function(jit_compile=True)
def f(x):
    return x * tf.cast(SEEN, tf.float32)
"""
WHY = "it runs on a CPU; on a GPU it fails (measured on an H100)"


class Int32Variable(Rule):
    code = "XLA413"
    name = "int32-variable"
    handles = (ReadInt32,)
    bad = (
        Bad(
            """
SEEN = tf.Variable(0)

@tf.function(jit_compile=True)
def f(x):
    SEEN.assign_add(1)
    return x * tf.cast(SEEN, tf.float32)
""",
            ["tf.Variable(0)"],
            None,
            effect=Effect.FAILS,
            why=WHY,
            help="dtype=tf.int64",
        ),
        Bad(
            """
class Counter(tf.Module):
    def __init__(self):
        self.seen = tf.Variable(0, trainable=False, dtype=tf.int32)

    @tf.function(jit_compile=True)
    def step(self, x):
        return self._scaled(x)

    def _scaled(self, x):
        return x * tf.cast(self.seen, tf.float32)
""",
            ["tf.Variable(0, trainable=False, dtype=tf.int32)"],
            None,
            effect=Effect.FAILS,
            why=WHY,
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def build(self, shape):
        self.seen = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False)

    def call(self, x):
        self.seen.assign_add(1)
        return x * keras.ops.cast(self.seen, "float32")
""",
            ['self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False)'],
            None,
            effect=Effect.FAILS,
            why=WHY,
        ),
        Bad(
            """
POSITIONS = tf.Variable([0, 1], trainable=False)

@tf.function(jit_compile=True)
def f(x):
    return tf.gather(x, POSITIONS)
""",
            ["tf.Variable([0, 1], trainable=False)"],
            None,
            effect=Effect.FAILS,
            target="gpu",
            why=WHY,
        ),
    )
    good = (
        Good(
            """
SEEN = tf.Variable(0, dtype=tf.int64)

@tf.function(jit_compile=True)
def f(x):
    SEEN.assign_add(1)
    return x * tf.cast(SEEN, tf.float32)
""",
            None,
            why="a GPU holds it (measured)",
        ),
        Good(
            """
SCALE = tf.Variable(1.0)

@tf.function(jit_compile=True)
def f(x):
    return x * SCALE
"""
        ),
        Good(
            """
SEEN = tf.Variable(0)

@tf.function
def counted(x):
    SEEN.assign_add(1)
    return x

@tf.function(jit_compile=True)
def f(x):
    return x * 2.0
"""
        ),
        Good(
            """
SEEN = tf.Variable(3)

@tf.function(jit_compile=True)
def f(x, n):
    return x * tf.cast(n, tf.float32)

f(tf.ones([4]), SEEN.read_value())
""",
            None,
            why="the value is read eagerly, and is a tensor where it is compiled",
        ),
        Good(
            USED,
            target="tpu",
        ),
        Good(
            USED,
            target="cpu",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        if isinstance(event, ReadInt32) and event.context.kind is ContextKind.XLA:
            made = brief(event.created.node)
            message = (
                f"`{made}` creates an int32 variable, which TensorFlow keeps in the host's memory: code that is "
                "compiled for a GPU cannot use it"
            )
            note = DraftNote(event.location, "compiled code uses it here")
            help = "give it dtype=tf.int64, or pass its value to the compiled function as a tensor"
            yield Draft(message, Effect.FAILS, help, event.created, (note,), told=Told.FOR_GPU)
