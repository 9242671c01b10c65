"""Host code makes a new model or optimizer between compiled steps, which go on with the one that tracing saw.

## What it does
Reports where host code gives a name or an attribute a new model or optimizer of Keras's, between two runs of a compiled
function that reads it: in a loop around the runs (one model for each fold), or between two of them (a model that is
loaded, an optimizer for the next phase). It also reports `model.optimizer = ..` between two calls of `fit`.

## What XLA does
A model or an optimizer that is no argument is a part of the trace, with its variables. A new one under the same name
has nothing traced again, and no error says so. Measured on a CPU with TensorFlow 2.21, Keras 3.15 and Keras 2 (tf_keras
2.21), with `jit_compile=True` and without:

| code, three iterations | eager execution | compiled |
| --- | --- | --- |
| `model = build()`, `optimizer = Adam()`, then `step(x, y)` | trains three models | trains the first one three times |
| the same with `self.model = build()` and a method | trains three models | trains the first one three times |
| `optimizer = SGD(0.01)` before another `step(x, y)` | takes it | keeps the one before |
| `model.optimizer = SGD(0.01)` before another `fit` | takes it | keeps the one before, until `compile` is called |

A batch of another shape has the step traced again, which takes what is there at that moment.

## Example
    @tf.function(jit_compile=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    for fold in range(5):
        model, optimizer = build(), keras.optimizers.Adam()
        for x, y in folds[fold]:
            step(x, y)

## Use instead
    def step_of(model, optimizer):
        @tf.function(jit_compile=True)
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return step

    for fold in range(5):
        model = build()
        step = step_of(model, keras.optimizers.Adam())
        for x, y in folds[fold]:
            step(x, y)

To start again from the same weights, keep the model and set them: `model.set_weights(start)`. For another learning rate
keep the optimizer: `optimizer.learning_rate = 0.01`.

## Not flagged
- Models and optimizers that are passed to the step: it is traced once for each.
- Loops and functions that make the step itself, and objects that are new in each iteration, with methods of their own.
- What is made before the first run, behind the last, on the other side of a condition, or of what it was
  (`model = wrap(model)`).
- Steps that nobody compiles, and JAX.

## Fix safety
Shown only: whether a new step or an argument is meant is for the author to say.

## References
- https://www.tensorflow.org/guide/function#changing_python_global_and_free_variables
- https://www.tensorflow.org/guide/function#depending_on_python_objects
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import RenewBetweenSteps
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity

_SETUP: Final = """
import keras
import tensorflow as tf

def build():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

def made(model):
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)
    return optimizer

x, y = tf.ones([8, 3]), tf.ones([8, 1])
model = build()
optimizer = made(model)
"""
_UPDATE: Final = """
def update(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - y) ** 2) / 8.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
_STEP: Final = f"""{_SETUP}{_UPDATE}
@tf.function(jit_compile=True)
def step(x, y):
    update(model, optimizer, x, y)
"""
_TRAINER: Final = f"""{_SETUP}{_UPDATE}
class Trainer:
    def __init__(self):
        self.model = model
        self.optimizer = optimizer

    @tf.function(jit_compile=True)
    def step(self, x, y):
        update(self.model, self.optimizer, x, y)

    def reset(self):
        self.model = build()
        self.optimizer = made(self.model)
"""


class RenewedObject(Rule):
    code = "XLA616"
    name = "renewed-object"
    handles = (RenewBetweenSteps,)
    traced = True
    bad = (
        Bad(
            f"""{_STEP}
for fold in range(3):
    model = build()
    optimizer = made(model)
    for _ in range(2):
        step(x, y)
""",
            ["model"],
            Runs(1),
            help="a new `tf.function`",
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_STEP}
def train(epochs):
    for _ in range(epochs):
        step(x, y)

train(1)
optimizer = made(model)
train(2)
""",
            ["optimizer"],
            Runs(1),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_TRAINER}
trainer = Trainer()
for fold in range(3):
    trainer.step(x, y)
    trainer.reset()
""",
            ["self.model"],
            Runs(1),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_TRAINER}
trainer = Trainer()
trainer.step(x, y)
trainer.model = build()
trainer.step(x, y)
""",
            ["trainer.model"],
            Runs(1),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_SETUP}
@tf.function(jit_compile=True)
def error(x, y):
    return tf.reduce_sum((model(x) - y) ** 2)

for fold in range(3):
    model = build()
    error(x, y)
""",
            ["model"],
            Runs(1),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{_SETUP}
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, verbose=0)
model.optimizer = keras.optimizers.SGD(0.01)
model.fit(x, y, verbose=0)
""",
            ["model.optimizer"],
            Runs(),
            help="compile",
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            f"""{_SETUP}{_UPDATE}
@tf.function(jit_compile=True)
def step(model, optimizer, x, y):
    update(model, optimizer, x, y)

for fold in range(3):
    model = build()
    optimizer = made(model)
    step(model, optimizer, x, y)
""",
            Runs(3),
            why="they are arguments",
        ),
        Good(
            f"""{_SETUP}{_UPDATE}
for fold in range(3):
    model = build()
    optimizer = made(model)

    @tf.function(jit_compile=True)
    def step(x, y):
        update(model, optimizer, x, y)

    step(x, y)
""",
            Runs(3),
            why="each iteration makes its step",
        ),
        Good(
            f"""{_STEP}
start = model.get_weights()
for fold in range(3):
    model.set_weights(start)
    optimizer.learning_rate = 0.1 / (fold + 1)
    step(x, y)
""",
            Runs(1),
            why="the same model and optimizer",
        ),
        Good(
            f"""{_STEP}
model = build()
optimizer = made(model)
for _ in range(3):
    step(x, y)
model = build()
model.predict(x, verbose=0)
""",
            Runs(1),
            why="before the first run, and behind the last",
        ),
        Good(
            f"""{_TRAINER}
for fold in range(3):
    trainer = Trainer()
    trainer.reset()
    trainer.step(x, y)
""",
            Runs(3),
            why="a new object has a step of its own",
        ),
        Good(
            f"""{_SETUP}{_UPDATE}
for fold in range(3):
    model = build()
    optimizer = made(model)
    update(model, optimizer, x, y)
""",
            Runs(0),
            why="nothing is compiled",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, RenewBetweenSteps)
        place = brief(event.location.node)
        new = "a new `tf.function` for each, or pass it to the step as an argument"
        yield Draft(
            f"`{place}` is new between compiled steps, which go on with the one that they were traced with",
            Effect.DIVERGES,
            "call `model.compile(..)` with it" if event.of_keras else new,
            notes=(DraftNote(event.trained, "runs what was traced before"),),
            at_most=Severity.WARNING,
        )
