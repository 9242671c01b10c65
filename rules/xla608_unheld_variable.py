"""A variable that no layer holds keeps its value on JAX: the trainer carries the state of the model alone.

## What it does
Reports `VARIABLE.assign(..)`, `assign_add` and `assign_sub` in code that Keras calls, of a `keras.Variable` of the
module that no layer or model has as an attribute, where JAX may run it.

## What XLA does
Measured with Keras 3.15 on TensorFlow 2.21 and JAX 0.10, on a CPU, `fit` with two batches.

| in `call` | TensorFlow | JAX |
| --- | --- | --- |
| `SEEN.assign_add(1.0)` of a variable of the module | it is 2 | it is 0, and nothing is raised |
| `self.seen.assign_add(1.0)` of one that the layer holds | it is 2 | it is 2 |

Keras's trainer for JAX passes the values of the model's variables to the compiled step, and puts what the step returns
back into them. It does not know of other variables: the step computes the new value, and nobody keeps it.

## Example
    SEEN = keras.Variable(0.0, trainable=False)

    class Counted(keras.layers.Layer):
        def call(self, x):
            SEEN.assign_add(1.0)
            return x

## Use instead
    class Counted(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)

        def call(self, x):
            self.seen.assign_add(1.0)
            return x

## Not flagged
- Variables that an attribute is made of, in the same file: the object holds them.
- Code that calls the layer itself, eagerly, and TensorFlow alone.

## Fix safety
Shown only: which object is to hold the state is for you to say.

## References
- https://keras.io/guides/writing_a_custom_training_loop_in_jax/
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import AssignUnheld, Event
from xlalint.linter.rule import Bad, Draft, Effect, Good, OnJax, Rule

HELP = "make it an attribute of the layer: self.add_weight(shape=(), initializer='zeros', trainable=False)"
COUNTED = """
import keras

SEEN = keras.Variable(0.0, trainable=False)

class L(keras.layers.Layer):
    def call(self, x):
        SEEN.assign_add(1.0)
        return x
"""


class UnheldVariable(Rule):
    code = "XLA608"
    name = "unheld-variable"
    handles = (AssignUnheld,)
    bad = (
        Bad(
            COUNTED,
            ["SEEN.assign_add(1.0)"],
            None,
            effect=Effect.DIVERGES,
            backend="jax",
            help="add_weight",
            why="nothing is raised; the page of the two trainers has it, on both backends",
        ),
        Bad(
            """
import keras
from keras import ops

mean = keras.Variable(0.0, trainable=False)

def follow(x):
    mean.assign(0.9 * mean + 0.1 * ops.mean(x))
    return x - mean

class L(keras.layers.Layer):
    def call(self, x):
        return follow(x)
""",
            ["mean.assign(0.9 * mean + 0.1 * ops.mean(x))"],
            None,
            effect=Effect.DIVERGES,
            backend="jax",
            why="nothing is raised; the page of the two trainers has it, on both backends",
        ),
        Bad(
            """
import keras

STEPS = keras.Variable(0.0, trainable=False)

class Net(keras.Model):
    def call(self, x):
        return x

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        STEPS.assign_sub(1.0)
        return super().compute_loss(x, y, y_pred, sample_weight, training)
""",
            ["STEPS.assign_sub(1.0)"],
            None,
            effect=Effect.DIVERGES,
            backend="jax",
            why="nothing is raised; the page of the two trainers has it, on both backends",
        ),
        Bad(
            """
import keras
from keras import ops

SCALE = keras.Variable(1.0, trainable=False)

class Scaled(keras.losses.Loss):
    def call(self, y_true, y_pred):
        error = ops.mean(ops.square(y_true - y_pred), axis=-1)
        SCALE.assign(ops.mean(error))
        return error / ops.stop_gradient(SCALE + 1.0)
""",
            ["SCALE.assign(ops.mean(error))"],
            None,
            effect=Effect.DIVERGES,
            backend="jax",
            why="nothing is raised; a loss holds no variables of its own either",
        ),
    )
    good = (
        Good(
            """
import keras

class L(keras.layers.Layer):
    def build(self, shape):
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        self.seen.assign_add(1.0)
        return x
""",
            None,
            backend="jax",
            why="the layer holds it",
        ),
        Good(
            """
import keras

SEEN = keras.Variable(0.0, trainable=False)

class L(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.seen = SEEN

    def call(self, x):
        SEEN.assign_add(1.0)
        return x
""",
            None,
            backend="jax",
            why="the layer holds it, under another name",
        ),
        Good(
            COUNTED,
            None,
            why="TensorFlow's graph changes the variable itself",
        ),
        Good(
            """
import keras

SCALE = keras.Variable(2.0, trainable=False)

class L(keras.layers.Layer):
    def call(self, x):
        return x * SCALE
""",
            None,
            backend="jax",
            why="it is read alone",
        ),
        Good(
            """
import keras

epoch = keras.Variable(0.0, trainable=False)

class Counting(keras.callbacks.Callback):
    def on_epoch_end(self, number, logs=None):
        epoch.assign_add(1.0)
""",
            None,
            backend="jax",
            why="callbacks run eagerly",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case AssignUnheld(target=target):
                what = f"no layer holds `{target}`, which is assigned here"
                kept = "it keeps its value: the trainer carries the variables of the model alone"
                jax = OnJax(Effect.DIVERGES, what, kept)
                yield Draft(what, Effect.DIVERGES, HELP, jax=jax, on_jax_alone=True)
