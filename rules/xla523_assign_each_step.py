"""A training loop assigns to variables one by one beside each step, each in an operation of its own.

## What it does
Reports a Python loop over variables that assigns to each of them (`a.assign(tau * b + (1 - tau) * a)`) in eager code,
if it runs beside each step of training: in the loop around the steps, in a function that is called there, or in a
callback that Keras calls at each batch. A step that runs line by line itself is XLA506: what it assigns to in its own
function is compiled with it, once it is, and other functions stay as they are.

## What XLA does
XLA compiles nothing of it: each operation runs by itself, and what it does has to wait for the step. Measured with
TensorFlow 2.21 and Keras 3.15 on a CPU, an average of two models with 20 variables each:

| the loop over the variables | operations that the host starts | time |
| --- | --- | --- |
| in Python | 80 | 38 ms |
| in Python, variables of a `MirroredStrategy` with two devices | 220 | - |
| in a function with `@tf.function` | 1 | 0.8 ms |
| with `@tf.function(jit_compile=True)` | 1 program | 1.5 ms |

Not measured, for lack of a TPU: each of the operations is a program of its own there.

## Example
    for batch in data:
        step(batch)
        for a, b in zip(target.variables, model.variables):
            a.assign(0.01 * b + 0.99 * a)

## Use instead
    @tf.function
    def follow():
        for a, b in zip(target.variables, model.variables):
            a.assign(0.01 * b + 0.99 * a)

    for batch in data:
        step(batch)
        follow()

Or do it in the step itself. For the average of a model's weights, `use_ema=True` of Keras's optimizers does that.

## Not flagged
- Loops in a function that is compiled, and assignments to single variables.
- What runs under a condition, such as at every hundredth step, or behind the loop, once an epoch.
- What the function of a step that runs line by line assigns to (XLA506), and `get_weights()` (XLA527).
- Information only: functions without a known caller.

## Fix safety
There is no fix: the variables have to exist before a function is made of it.

## References
- https://www.tensorflow.org/guide/function
- https://keras.io/api/optimizers/
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import AssignEachStep
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told

_MODELS: Final = """
import tensorflow as tf

def net():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

model, target = net(), net()
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(3)
"""
_STEP: Final = """
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - y + 0.1 * target(x)) ** 2) / 8.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
_COMPILED: Final = f"{_MODELS}\n@tf.function{_STEP}"
_FOLLOW: Final = """
def follow(target, model, tau):
    for a, b in zip(target.weights, model.weights):
        a.assign(tau * b + (1 - tau) * a)
"""
_ASSIGN: Final = "a.assign(tau * b + (1 - tau) * a)"


class AssignsEachStep(Rule):
    code = "XLA523"
    name = "assign-each-step"
    handles = (AssignEachStep,)
    bad = (
        Bad(
            f"""{_COMPILED}
tau = 0.01
for x, y in data:
    step(x, y)
    for a, b in zip(target.variables, model.variables):
        {_ASSIGN}
""",
            [_ASSIGN],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="@tf.function",
            target="tpu",
        ),
        Bad(
            f"""{_COMPILED}{_FOLLOW}
for x, y in data:
    step(x, y)
    follow(target, model, 0.01)
""",
            [_ASSIGN],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
            why="in a function that the loop calls",
        ),
        Bad(
            f"""{_MODELS}{_FOLLOW}
class Follow(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        follow(target, self.model, 0.01)

model.compile("sgd", "mse")
model.fit(data, callbacks=[Follow()], verbose=0)
""",
            [_ASSIGN],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
            why="at each batch",
        ),
        Bad(
            f"""{_MODELS}
class Agent:
    def __init__(self, tau):
        self.tau = tau

    @tf.function{_STEP.replace(chr(10), chr(10) + "    ").rstrip().replace("step(x", "step(self, x")}

    def follow(self):
        [a.assign(self.tau * b + (1 - self.tau) * a) for a, b in zip(target.weights, model.weights)]

    def learn(self, x, y):
        self.step(x, y)
        self.follow()

agent = Agent(0.01)
for x, y in data:
    agent.learn(x, y)
""",
            ["a.assign(self.tau * b + (1 - self.tau) * a)"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
            why="methods of an agent",
        ),
    )
    good = (
        Good(
            f"""{_COMPILED}{_FOLLOW}
for x, y in data:
    step(x, y)
    follow(target, model, 0.01)
""",
            Runs(),
            why="nobody asks for a TPU",
        ),
        Good(
            f"""{_COMPILED}
@tf.function{_FOLLOW}
for x, y in data:
    step(x, y)
    follow(target, model, tf.constant(0.01))
""",
            Runs(),
            target="tpu",
            why="it is compiled",
        ),
        Good(
            f"""{_COMPILED}{_FOLLOW}
for epoch in range(2):
    for number, (x, y) in enumerate(data):
        step(x, y)
        if number % 100 == 0:
            follow(target, model, 1.0)
    follow(target, model, 0.5)
""",
            Runs(),
            target="tpu",
            why="seldom",
        ),
        Good(
            f"""{_COMPILED}
seen = tf.Variable(0)
for x, y in data:
    step(x, y)
    seen.assign_add(1)
""",
            Runs(),
            target="tpu",
            why="a single variable",
        ),
        Good(
            f"""{_COMPILED}{_FOLLOW}
for epoch in range(2):
    follow(target, model, 1.0)
    for x, y in data:
        step(x, y)
""",
            Runs(),
            target="tpu",
            why="once an epoch",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case AssignEachStep(loop=loop, context=context):
                when = "Keras calls this at each batch" if loop is None else "this runs beside each step of training"
                yield Draft(
                    f"{when}, and assigns to one variable after the other: XLA compiles nothing of it, and each"
                    " operation runs by itself",
                    Effect.TPU,
                    "put the loop over the variables into a function with `@tf.function`, or into the step",
                    notes=() if loop is None else (DraftNote(loop, "the loop around the steps"),),
                    at_most=Severity.INFO if context.kind is ContextKind.OPEN and loop else Severity.WARNING,
                    told=Told.FOR_TPU,
                )
