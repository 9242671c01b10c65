"""Host code freezes or thaws weights between compiled steps, which train what they did while they were traced.

## What it does
Reports where `trainable` of a model or a layer of Keras's is set to another value

- between two calls of `fit`, `train_on_batch` or of a compiled step of your own that train the model, where the model
  is not compiled again in between,
- in a loop around such a call, on a condition about its iteration, or
- by a callback of Keras between epochs, on a condition about the epoch.

## What XLA does
Tracing decides which weights a step trains. Setting `trainable` later has nothing traced again. Measured on a CPU with
TensorFlow 2.21, Keras 3.15 and Keras 2 (tf_keras 2.21), with `jit_compile=True` and without:

| between two calls of `fit` | `run_eagerly=True`, Keras 3 | compiled, both Kerases |
| --- | --- | --- |
| `base.trainable = False` | `base` is no longer trained | `base` is trained on |
| `base.trainable = True` | an error: the optimizer has no variables for it | `base` stays as it was |
| `base.trainable = True` in `on_epoch_begin` | the same error | `base` stays as it was |
| either, then `model.compile(..)` | as it says | as it says |

A step of your own, `tf.function` around `tape.gradient(loss, model.trainable_variables)`, keeps its weights, too. A
batch of another size has the step traced again, which then takes what is set at that moment. In Keras 2, `compile`
decides, so that `run_eagerly=True` changes nothing there.

## Example
    base.trainable = False
    model.compile("adam", "mse")
    model.fit(data, epochs=5)
    base.trainable = True
    model.fit(data, epochs=20)

## Use instead
    base.trainable = False
    model.compile("adam", "mse")
    model.fit(data, epochs=5)
    base.trainable = True
    model.compile(keras.optimizers.Adam(1e-5), "mse")
    model.fit(data, epochs=20)

For a step of your own: build the optimizer with all of the weights first, then make one `tf.function` for each of the
two phases.

## Not flagged
- What is set before the first step, or to the value that it has.
- Loops that set it to the same each time, such as those that train a GAN by turns: each of its two steps keeps what it
  was while it was traced, which is what they mean.
- Models that are compiled again in between, also by a function that is called, and new steps.
- What is set of a layer that the trained model is not seen to be made of.
- Keras on JAX, which raises an error there.

## Fix safety
Shown only: a new `compile` needs an optimizer, with a learning rate of its own.

## References
- https://keras.io/guides/transfer_learning/
- https://www.tensorflow.org/guide/function#changing_python_global_and_free_variables
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import SetTrainable
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity

_SETUP: Final = """
import keras
import tensorflow as tf

x, y = tf.ones([8, 3]), tf.ones([8, 1])
base = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, name="features")])
"""
_MODEL: Final = f"""{_SETUP}
model = keras.Sequential([base, keras.layers.Dense(1)])
"""
_FROZEN: Final = f"""{_MODEL}
base.trainable = False
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, verbose=0)
"""
_STEP: Final = f"""{_MODEL}
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)

@tf.function(jit_compile=True)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - y) ** 2) / 8.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""


class LateTrainable(Rule):
    code = "XLA615"
    name = "late-trainable"
    handles = (SetTrainable,)
    traced = True
    bad = (
        Bad(
            f"""{_FROZEN}
base.trainable = True
model.fit(x, y, verbose=0)
""",
            ["base.trainable"],
            Runs(),
            help="compile",
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_FROZEN}
for layer in base.layers:
    layer.trainable = True
model.fit(x, y, verbose=0)
""",
            ["layer.trainable"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, verbose=0)
base.get_layer("features").trainable = False
model.fit(x, y, verbose=0)
""",
            ['base.get_layer("features").trainable'],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_SETUP}
inputs = keras.Input((3,))
base.trainable = False
model = keras.Model(inputs, keras.layers.Dense(1)(base(inputs, training=False)))
model.compile("sgd", "mse", jit_compile=True)

def train(model, epochs):
    model.fit(x, y, epochs=epochs, verbose=0)

def thaw(model):
    for layer in model.layers:
        layer.trainable = True

train(model, 1)
thaw(model)
train(model, 2)
""",
            ["layer.trainable"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_MODEL}
base.trainable = False
model.compile("sgd", "mse", jit_compile=True)
for epoch in range(4):
    model.fit(x, y, verbose=0)
    if epoch == 2:
        base.trainable = True
""",
            ["base.trainable"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_STEP}
for epoch in range(4):
    if epoch > 2:
        model.layers[0].trainable = False
    for _ in range(2):
        step(x, y)
""",
            ["model.layers[0].trainable"],
            Runs(1),
            help="tf.function",
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_STEP}
for _ in range(2):
    step(x, y)
base.trainable = False
for _ in range(2):
    step(x, y)
""",
            ["base.trainable"],
            Runs(1),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_MODEL}
base.trainable = False
model.compile("sgd", "mse", jit_compile=True)

class Thaw(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            base.trainable = True

model.fit(x, y, epochs=4, verbose=0, callbacks=[Thaw()])
""",
            ["base.trainable"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            f"""{_FROZEN}
base.trainable = True
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, verbose=0)
""",
            Runs(),
            why="it is compiled again",
        ),
        Good(
            f"""{_FROZEN}
def again(model):
    model.compile("sgd", "mse", jit_compile=True)

base.trainable = True
again(model)
model.fit(x, y, verbose=0)
""",
            Runs(),
            why="it is compiled again, by a function",
        ),
        Good(
            f"""{_MODEL}
model.compile("sgd", "mse", jit_compile=True)
base.trainable = False
model.fit(x, y, verbose=0)
model.fit(x, y, verbose=0)
model.trainable = False
model.evaluate(x, y, verbose=0)
""",
            Runs(),
            why="before the first step, and behind the last",
        ),
        Good(
            f"""{_MODEL}
other = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
other.compile("sgd", "mse", jit_compile=True)
other.fit(x, y, verbose=0)
base.trainable = False
other.fit(x, y, verbose=0)
""",
            Runs(),
            why="what is trained is not made of it",
        ),
        Good(
            f"""{_MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, verbose=0)
model.trainable = False
model.evaluate(x, y, verbose=0)
model.trainable = True
model.fit(x, y, verbose=0)
""",
            Runs(),
            why="the same as before at each step",
        ),
        Good(
            f"""{_SETUP}
judge = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
judge.compile("sgd", "mse", jit_compile=True)
maker = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
both = keras.Sequential([maker, judge])
both.compile("sgd", "mse", jit_compile=True)
for _ in range(3):
    judge.trainable = True
    judge.train_on_batch(x, y)
    judge.trainable = False
    both.train_on_batch(x, y)
""",
            Runs(),
            why="by turns: each step was traced as it is meant",
        ),
        Good(
            f"""{_STEP}
step(x, y)
base.trainable = False
step = tf.function(step.python_function, jit_compile=True)
step(x, y)
""",
            Runs(2),
            why="a new step",
        ),
        Good(
            f"""{_MODEL}
model.compile("sgd", "mse", run_eagerly=True)
model.fit(x, y, verbose=0)
base.trainable = False
model.fit(x, y, verbose=0)
""",
            Runs(),
            why="nothing is compiled",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, SetTrainable)
        place = brief(event.location.node)
        again = "call `model.compile(..)` after it" if event.by_keras else "make a new step after it: `tf.function(..)`"
        yield Draft(
            f"`{place}` is set between compiled steps, which go on with the weights that they were traced to train",
            Effect.DIVERGES,
            again,
            notes=() if event.trained is None else (DraftNote(event.trained, "trains what it did before"),),
            at_most=Severity.WARNING,
        )
