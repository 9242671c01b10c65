"""Host code sets a number of an optimizer or a layer between steps; the compiled step keeps what it was while tracing.

## What it does
Reports where a loop on the host that runs compiled steps, or Keras's `fit`, or a callback of Keras between batches or
epochs sets a number of an object of Keras's to another value: `beta_1`, `beta_2`, `rho`, `momentum`, `epsilon`,
`weight_decay`, `clipnorm`, `clipvalue`, `global_clipnorm` and `loss_scale_factor` of optimizers; `rate`, `stddev`,
`momentum`, `epsilon`, `negative_slope`, `max_value`, `scale` and `offset` of layers.

## What XLA does
Measured with TensorFlow 2.21, Keras 3.15 and Keras 2 (tf_keras 2.21) on a CPU, for each of 11 optimizers and 16 layers:
all of these are plain attributes. Compiled code that has read one has it as a constant, and setting it changes nothing
and has nothing traced again, with `tf.function`, with `jit_compile=True` and in `fit`.

| between two steps | eager execution | compiled |
| --- | --- | --- |
| `optimizer.learning_rate = ..` | takes the new value | takes the new value: Keras keeps it in a variable |
| `optimizer.beta_1 = ..`, `optimizer.clipnorm = ..` | takes it | keeps the old one |
| the same in `on_epoch_begin` of a callback, under `fit` | | keeps the old one |
| the same between two calls of `fit` | | keeps the old one, until `compile` is called again |
| `dropout.rate = ..`, `normalization.momentum = ..` | takes it | keeps the old one |

A `tf.Variable` in place of `beta_1`, `beta_2`, `epsilon`, `rho` and `weight_decay` of an optimizer works, in both
Kerases: compiled steps read what is assigned to it. For `momentum` and `clipnorm` Keras 3 asks whether they are set, so
that tracing fails.

The optimizers of TensorFlow before 2.11, `keras.optimizers.legacy` later, keep `beta_1`, `beta_2`, `rho`, `momentum`
and `decay` in variables.

## Example
    for number, (x, y) in enumerate(data):
        step(x, y)
        optimizer.beta_2 = schedule(number)

## Use instead
    optimizer.beta_2 = tf.Variable(0.9, trainable=False)  # before the first step
    for number, (x, y) in enumerate(data):
        step(x, y)
        optimizer.beta_2.assign(schedule(number))

## Not flagged
- `learning_rate`, and what stands in variables.
- Numbers that are set before the loop, or to the same value each time.
- Loops that make the objects, define the step or compile the model themselves.
- With Keras 2, those that older optimizers keep in variables.
- Attributes of classes of the program, which are XLA609's.

## Fix safety
Shown only: the variable has to stand there before the first step is traced.

## References
- https://www.tensorflow.org/guide/function#changing_python_global_and_free_variables
- https://keras.io/api/optimizers/
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import SetBetweenSteps
from xlalint.analysis.library.kept_numbers import MAY_BE_VARIABLES
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity
from xlalint.syntax import nodes as cst

_SETUP: Final = """
import keras
import tensorflow as tf

model = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.1)
optimizer.build(model.trainable_variables)
x, y = tf.ones([8, 3]), tf.ones([8, 1])
"""
_STEP: Final = f"""{_SETUP}
@tf.function(jit_compile=True)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - y) ** 2) / 8.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
_FIT: Final = f"""{_SETUP}
model.compile(optimizer, "mse", jit_compile=True)
"""
_TRACE_AGAIN: Final = "have it traced again: call `model.compile(..)`, or make a new `tf.function`"


class KeptSetting(Rule):
    code = "XLA610"
    name = "kept-setting"
    handles = (SetBetweenSteps,)
    traced = True
    bad = (
        Bad(
            f"""{_STEP}
for number in range(3):
    step(x, y)
    optimizer.beta_2 = 0.9 + number / 100
""",
            ["optimizer.beta_2"],
            Runs(1),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="optimizer.beta_2.assign(..)",
        ),
        Bad(
            f"""{_STEP}
for epoch in range(3):
    if epoch == 2:
        optimizer.clipnorm = 0.1
    for _ in range(4):
        step(x, y)
""",
            ["optimizer.clipnorm"],
            Runs(1),
            severity=Severity.WARNING,
            help="traced again",
        ),
        Bad(
            f"""{_FIT}
for epoch in range(3):
    model.layers[0].rate = 0.1 * epoch + 0.1
    model.fit(x, y, verbose=0)
""",
            ["model.layers[0].rate"],
            Runs(),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_FIT}
class Decay(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        optimizer.weight_decay = 0.1 / (epoch + 1)

model.fit(x, y, epochs=3, verbose=0, callbacks=[Decay()])
""",
            ["optimizer.weight_decay"],
            Runs(),
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            f"""{_STEP}
for number in range(3):
    step(x, y)
    optimizer.learning_rate = 0.1 / (number + 1)
""",
            Runs(1),
            why="Keras keeps it in a variable",
        ),
        Good(
            f"""{_STEP}
optimizer.beta_2 = tf.Variable(0.9, trainable=False)
for number in range(3):
    step(x, y)
    optimizer.beta_2.assign(0.9 + number / 100)
""",
            Runs(1),
            why="a variable in its place",
        ),
        Good(
            f"""{_STEP}
optimizer.beta_2 = 0.99
for number in range(3):
    optimizer.clipnorm = 1.0
    if number == 0:
        optimizer.epsilon = 1e-6
    step(x, y)
""",
            Runs(1),
            why="before the first step, or the same each time",
        ),
        Good(
            f"""{_FIT}
for epoch in range(3):
    optimizer.beta_1 = 0.9 - 0.1 * epoch
    model.compile(optimizer, "mse", jit_compile=True)
    model.fit(x, y, verbose=0)
""",
            Runs(),
            why="the model is compiled again",
        ),
        Good(
            f"""{_SETUP}
for number in range(3):
    made = keras.optimizers.Adam(0.1)
    made.beta_1 = 0.9 - 0.1 * number
    model.compile(made, "mse", jit_compile=True)
    model.fit(x, y, verbose=0)
""",
            Runs(),
            why="the loop makes the optimizer",
        ),
        Good(
            f"""{_SETUP}
model.compile(optimizer, "mse", run_eagerly=True)
for epoch in range(3):
    optimizer.beta_1 = 0.9 - 0.1 * epoch
    model.fit(x, y, verbose=0)
""",
            Runs(),
            why="nothing is compiled",
        ),
        Good(
            f"""{_STEP}
for number in range(3):
    step(x, y)
rates = []
for number in range(3):
    optimizer.beta_1 = 0.9 - 0.1 * number
    rates.append(optimizer.beta_1)
""",
            Runs(1),
            why="no step runs between",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, SetBetweenSteps)
        node = event.location.node
        assert isinstance(node, cst.Attribute)
        place = brief(node)
        by_variable = f"`{place} = tf.Variable(.., trainable=False)` before the first step, then `{place}.assign(..)`"
        yield Draft(
            f"`{place}` is set between compiled steps, which keep what it was while they were traced",
            Effect.DIVERGES,
            by_variable if node.attr.value in MAY_BE_VARIABLES else _TRACE_AGAIN,
            notes=() if event.loop is None else (DraftNote(event.loop, "the loop around the steps"),),
            at_most=Severity.WARNING,
        )
