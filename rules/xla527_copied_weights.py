"""A loop around a step copies all weights of a model to the host in each iteration.

## What it does
Reports `model.get_weights()`, of a layer too, in a loop on the host that trains, by a `tf.GradientTape`, a compiled
step or `model.train_on_batch`, if each of its iterations does so: averages of weights in NumPy, target networks that
`set_weights(..)` copies. A callback of Keras that does so at each batch (`on_train_batch_end`) is reported, too. There
is one finding for a loop, at the first call; notes name the others. Only programs for TPUs are meant.

## What XLA does
It compiles nothing of it, and the host waits for the step and for the copy of every weight. Measured with TensorFlow
2.21 and Keras 3.15 on a CPU, where nothing has to be copied from one device to another, with a model that has 20
variables of 2.6 MB together:

| in each iteration | operations that the host starts | time |
| --- | --- | --- |
| `model.get_weights()` | 40 | 2 ms |
| and an average of them in NumPy | 40 | 4 ms |
| `other.set_weights(model.get_weights())` | 60 | 12 ms |
| the average in a function with `@tf.function`, variable by variable | 1 | 3 ms |
| the copy in one | 1 | 0.4 ms |

## Example
    for x, y in data:
        step(x, y)
        average = [0.999 * a + 0.001 * w for a, w in zip(average, model.get_weights())]

## Use instead
    average = [tf.Variable(w) for w in model.trainable_variables]

    @tf.function
    def follow():
        for a, w in zip(average, model.trainable_variables):
            a.assign(0.999 * a + 0.001 * w)

    for x, y in data:
        step(x, y)
        follow()

Or do it in the step itself. For the average of a model's weights, `use_ema=True` of Keras's optimizers does that.

## Not flagged
- Copies under a condition, such as at every hundredth step, and behind the loop, once an epoch.
- `variable.numpy()` of single weights (XLA516), and `set_weights` of weights that the host has.
- Information only: functions without a known caller, loops that need the weights to go on, loops of tests, and loops
  that train nothing.

## Fix safety
There is no fix: the variables have to exist before a function is made of it.

## References
- https://www.tensorflow.org/guide/function
- https://keras.io/api/optimizers/
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import LoopOfSteps
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told
from xlalint.sources.testing import is_of_tests
from xlalint.syntax import nodes as cst

from ._host_loops import WEIGHTS, WHO, around, is_quiet
from ._loops_of_steps import COMPILED

_HELP = (
    "keep the copy, or the average, in variables, and assign to them in the step, or in a function with `@tf.function`;"
    " `use_ema=True` has Keras's optimizers average the weights"
)


class CopiedWeights(Rule):
    code = "XLA527"
    name = "copied-weights"
    handles = (LoopOfSteps,)
    bad = (
        Bad(
            f"""{COMPILED}
class Average:
    def __init__(self):
        self.weights = None

    def update(self, model):
        if self.weights is None:
            self.weights = model.get_weights()
        else:
            self.weights = [0.9 * old + 0.1 * new for old, new in zip(self.weights, model.get_weights())]

average = Average()
for x, y in data:
    step(x, y)
    average.update(model)
""",
            ["model.get_weights()"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{COMPILED}
import numpy as np

target = tf.keras.models.clone_model(model)
for number, (x, y) in enumerate(data):
    loss = step(x, y)
    target.set_weights([0.9 * old + 0.1 * new for old, new in zip(target.get_weights(), model.get_weights())])
    if number % 100 == 0:
        print(float(loss))
""",
            ["target.get_weights()"],
            Runs(),
            severity=Severity.WARNING,
            help="use_ema=True",
            target="tpu",
            why="one finding for both copies",
        ),
        Bad(
            f"""{COMPILED}
for x, y in data:
    step(x, y)
    for layer in model.layers:
        print(layer.name, layer.get_weights()[0].mean())
""",
            ["layer.get_weights()"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{COMPILED}
class Watch(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.last = self.model.get_weights()

model.compile("sgd", "mse")
model.fit(data, verbose=0, callbacks=[Watch()])
""",
            ["self.model.get_weights()"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
            why="Keras calls it at each batch",
        ),
        Bad(
            f"""{COMPILED}
def train(data):
    for x, y in data:
        step(x, y)
        print(model.get_weights()[0].mean())
""",
            ["model.get_weights()"],
            None,
            severity=Severity.INFO,
            target="tpu",
            why="nothing calls it",
        ),
    )
    good = (
        Good(
            f"""{COMPILED}
weights = model.get_weights()
for epoch in range(3):
    for number, (x, y) in enumerate(data):
        step(x, y)
        if number % 100 == 0:
            print(model.get_weights()[0].mean())
        model.set_weights(weights)
    weights = [0.9 * old + 0.1 * new for old, new in zip(weights, model.get_weights())]
""",
            Runs(),
            target="tpu",
            why="seldom, or once an epoch",
        ),
        Good(
            f"""{COMPILED}
weights = model.get_weights()
for x, y in data:
    model.set_weights(weights)
    step(x, y)
""",
            Runs(),
            target="tpu",
            why="the host has them",
        ),
        Good(
            f"""{COMPILED}
for x, y in data:
    step(x, y)
    values = [variable.value for variable in model.trainable_variables]
""",
            Runs(),
            target="tpu",
            why="tensors, which stay where they are",
        ),
        Good(
            f"""{COMPILED}
average = [tf.Variable(weight) for weight in model.trainable_variables]

@tf.function
def follow():
    for mean, weight in zip(average, model.trainable_variables):
        mean.assign(0.9 * mean + 0.1 * weight)

for x, y in data:
    step(x, y)
    follow()
print(model.get_weights()[0].mean())
""",
            Runs(),
            target="tpu",
            why="a compiled function keeps the average",
        ),
        Good(
            f"""{COMPILED}
for x, y in data:
    step(x, y)
    print(model.get_weights()[0].mean())
""",
            Runs(),
            why="nobody asks for a TPU",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case LoopOfSteps(reads=reads, by_keras=by_keras):
                places = [place for place, reader in reads if reader == WEIGHTS]
                quiet = is_quiet(event) or not event.trains or is_of_tests(event.location.path)
                if places:
                    yield Draft(
                        f"{WHO[by_keras]} copies all weights of `{_owner(places[0].node)}` to the host, and waits",
                        Effect.TPU,
                        _HELP,
                        location=places[0],
                        notes=(*(DraftNote(place, "these, too") for place in places[1:]), around(event)),
                        at_most=Severity.INFO if quiet else Severity.WARNING,
                        told=Told.FOR_TPU,
                    )


def _owner(call: cst.CSTNode) -> str:
    """Whose weights a call copies."""
    return brief(call.func.value if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) else call)
