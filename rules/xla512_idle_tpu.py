"""A program trains or predicts without a TPU strategy, or beside the one that it creates: the TPU does nothing.

## What it does
Reports a `TPUStrategy` in a program that trains a model or has one predict, where neither model nor optimizer is
created in `strategy.scope()`, and nothing is run by `strategy.run`. It also reports

- a step of your own that trains what was created in the scope, but is called without `strategy.run`, in the scope or
  outside;
- `predict` and `evaluate` outside the scope, of a model that is created outside as well, by code that creates one in
  the scope elsewhere: the program trains on the TPU, and predicts without.

Where the target is a TPU, it says once, as information, that a program which trains has no strategy for one yet: that
is the first thing to write when the program moves. A `MirroredStrategy` and a `OneDeviceStrategy` are none, nor is a
`tf.device` that names a GPU, whichever it is (`f"/gpu:{number}"`), or does so by default.

## What XLA does
XLA is not asked. A strategy has no effect on what was created outside its scope, and no error says so. Measured with
TensorFlow 2.21 and Keras 3.15, on two CPU devices:

- Model, optimizer and training outside: `model.fit` and a step of your own run on one device, with plain variables.
- A step that is called without `strategy.run` runs once, not once for each device, also if its model and optimizer were
  created in the scope. An optimizer that is not built yet raises 'Need to be inside "with strategy.scope()"'.
- The same step, called in the scope without `strategy.run`, raises "DistributedVariable.handle is not available outside
  the replica context", with Keras 2, too.
- `predict` and `evaluate` of a model from outside run on one device, unless they are called in the scope; those of a
  model from inside run on both.

Not measured, for lack of a TPU: TensorFlow's guide says that after the initialisation you place operations on a TPU by
a strategy or by `tf.device`. What neither of them places runs on the processor of the host. A
`MirroredStrategy` takes GPUs, or the processor where there are none (measured without one), as do
`OneDeviceStrategy("/gpu:0")` and `tf.device("/GPU:0")`. `fit` under `MirroredStrategy(["GPU:0", "GPU:1"])` does not
return where there are no GPUs (measured, TensorFlow 2.21).

## Example
    strategy = tf.distribute.TPUStrategy(resolver)
    model = build()
    model.compile("adam", "mse")
    model.fit(data)

## Use instead
    strategy = tf.distribute.TPUStrategy(resolver)
    with strategy.scope():
        model = build()
        model.compile("adam", "mse")
    model.fit(data)

## Not flagged
- A program that creates anything else in the scope of its strategy, or passes the strategy to code that is not seen.
- Programs that only make the strategy, or neither train nor predict.
- A model that a condition creates in the scope or outside.
- Programs that name a device (`tf.device`), unless it is a CPU, or a GPU where the target is a TPU: that places
  operations without a strategy.
- A model from outside that is trained in the scope (XLA502).
- Programs without a strategy, if no TPU is the target, if they only predict, or if they pass what may be a strategy to
  code that is not seen.

## Fix safety
Shown only: the model, its optimizer and `compile` have to move into the scope together.

## References
- https://www.tensorflow.org/guide/tpu
- https://www.tensorflow.org/guide/distributed_training
- https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, TakeGradients
from xlalint.analysis.library.strategies import is_strategy, is_tpu
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Severity

from ._idle import called_plainly, none_made, predicts_aside, runs, unused
from ._strategies import names_tpu

TPU: Final = """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(8)
"""
MODEL: Final = "tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])"
STEP: Final = """
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
MADE: Final = "tf.distribute.TPUStrategy(resolver)"
NEEDED: Final = "it needs a TPU"
BUILD: Final = f"""
def build():
    model = {MODEL}
    model.compile("adam", "mse")
    return model
"""
PREDICT: Final = """
def predict():
    model = build()
    model.load_weights("model.weights.h5")
    return model.predict(tf.ones([8, 3]))

predict()
"""
FIT: Final = """
with strategy.scope():
    model = build()
model.fit(data)
"""


class IdleTpu(Rule):
    code = "XLA512"
    name = "idle-tpu"
    handles = (Program, TakeGradients)
    bad = (
        Bad(
            f"""{TPU}
model = {MODEL}
model.compile("adam", "mse")
model.fit(data)
""",
            [MADE],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="strategy.scope()",
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
print("replicas:", strategy.num_replicas_in_sync, strategy)
model = {MODEL}
optimizer = tf.keras.optimizers.Adam()
with strategy.scope():
    model = model
{STEP.replace(chr(10), chr(10) + "    ")}
for x, y in data:
    step(x, y)
""",
            [MADE],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
with strategy.scope():
    model = {MODEL}
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
{STEP}
for x, y in data:
    step(x, y)
""",
            ["optimizer.apply_gradients(zip(gradients, model.trainable_variables))"],
            None,
            effect=Effect.TPU,
            help="strategy.run",
            why=NEEDED,
        ),
        Bad(
            f"""
def connect(name):
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return tf.distribute.TPUStrategy(resolver)
    except ValueError:
        return tf.distribute.get_strategy()

def main():
    strategy = connect("my-tpu")
    batch_size = 16 * strategy.num_replicas_in_sync
    data = tf.data.Dataset.from_tensors((tf.ones([3]), tf.ones([1]))).repeat().batch(batch_size)
    model = {MODEL}
    model.compile("adam", "mse")
    model.fit(data, steps_per_epoch=4)

main()
""",
            [MADE],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            f"""
model = {MODEL}
model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            ["fit"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="TPUStrategy",
            why="it is about moving to a TPU",
            target="tpu",
        ),
        Bad(
            f"""
def penalty(x):
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(x * x)
    return inner.gradient(y, x)

model = {MODEL}
optimizer = tf.keras.optimizers.Adam()
{STEP.replace("- y) ** 2)", "- y) ** 2) + tf.reduce_sum(penalty(x))")}
for x, y in tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))):
    step(x, y)
""",
            ["tf.GradientTape() as tape"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why="it is about moving to a TPU",
            target="tpu",
        ),
        Bad(
            f"""{TPU}
with strategy.scope():
    model = {MODEL}
    optimizer = tf.keras.optimizers.Adam()
{STEP}
with strategy.scope():
    for x, y in data:
        step(x, y)
""",
            ["optimizer.apply_gradients(zip(gradients, model.trainable_variables))"],
            None,
            effect=Effect.TPU,
            help="strategy.run",
            why=NEEDED,
        ),
        Bad(
            f"{TPU}{BUILD}{PREDICT}",
            [MADE],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="strategy.scope()",
            why=NEEDED,
        ),
        Bad(
            f"{TPU}{BUILD}{FIT}{PREDICT}",
            ["model.predict(tf.ones([8, 3]))"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="strategy.scope()",
            why=NEEDED,
        ),
        Bad(
            f"""
if len(tf.config.list_physical_devices("GPU")) > 1:
    strategy = tf.distribute.MirroredStrategy()
else:
    strategy = tf.distribute.OneDeviceStrategy("/gpu:0")
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1])))
{BUILD}{FIT}{PREDICT}""",
            ["tf.distribute.MirroredStrategy()", "model.predict(tf.ones([8, 3]))"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why="it is about moving to a TPU",
            target="tpu",
        ),
        Bad(
            f"""
strategy = tf.distribute.MirroredStrategy()
{BUILD}
with strategy.scope():
    model = build()
model.predict(tf.ones([8, 3]))
""",
            ["tf.distribute.MirroredStrategy()"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why="it is about moving to a TPU",
            target="tpu",
        ),
    )
    good = (
        Good(
            f"""{TPU}
with strategy.scope():
    model = {MODEL}
    model.compile("adam", "mse")
model.fit(data)
""",
            None,
        ),
        Good(
            f"""{TPU}{BUILD}{FIT}
other = build()
with strategy.scope():
    other.predict(tf.ones([8, 3]))
""",
            None,
            why="the strategy runs it: what XLA502 says of that",
        ),
        Good(
            f"""import sys
{TPU}{BUILD}
def choose():
    if len(sys.argv) > 1:
        with strategy.scope():
            return build()
    return build()

model = choose()
model.fit(data)
model.predict(tf.ones([8, 3]))
""",
            None,
            why="a switch decides",
        ),
        Good(
            f"""import sys
{TPU}{BUILD}
def train():
    with strategy.scope():
        model = build()
    model.fit(data)

def check():
    model = build()
    print(model.predict(tf.ones([8, 3])))

def main():
    if len(sys.argv) > 1:
        train()
        return
    check()

main()
""",
            None,
            why="a switch decides",
        ),
        Good(
            f"""
strategy = tf.distribute.OneDeviceStrategy("TPU:0")
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1])))
{BUILD}{FIT}""",
            None,
            why="it is on a TPU",
            target="tpu",
        ),
        Good(
            f"""{TPU}
with strategy.scope():
    model = {MODEL}
    optimizer = tf.keras.optimizers.Adam()
{STEP}
@tf.function
def train(x, y):
    strategy.run(step, args=(x, y))

for x, y in data:
    train(x, y)
""",
            None,
        ),
        Good(
            f"""{TPU}
from trainers import Trainer

teacher = {MODEL}
teacher.compile("adam", "mse")
teacher.fit(data)
Trainer(teacher, strategy=strategy).train(data)
""",
            None,
            why="other code gets the strategy",
        ),
        Good(
            f"""{TPU}
tf.distribute.experimental_set_strategy(strategy)
model = {MODEL}
model.compile("adam", "mse")
model.fit(data)
""",
            None,
            why="it is the strategy of all that follows",
        ),
        Good(
            f"""
import models
{TPU}
with strategy.scope():
    large = models.build()
small = {MODEL}
small.compile("adam", "mse")
small.fit(data)
""",
            None,
            why="something is created in the scope",
        ),
        Good(
            f"""{TPU}
with tf.device("TPU:0"):
    model = {MODEL}
    model.compile("adam", "mse")
    model.fit(data)
""",
            None,
            why="it names a device",
        ),
        Good(
            f"""{TPU}
model = {MODEL}
model.summary()
""",
            None,
            why="nothing is trained",
        ),
        Good(
            f"""
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
model = {MODEL}
model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            None,
            why="no TPU",
        ),
        Good(
            f"""
with tf.distribute.MirroredStrategy().scope():
    model = {MODEL}
""",
            None,
            why="nothing is trained or predicted",
            target="tpu",
        ),
        Good(
            f"""
model = {MODEL}
print(model.predict(tf.ones([8, 3])))
""",
            None,
            why="nothing is trained",
            target="tpu",
        ),
        Good(
            f"""
from machines import place

strategy = tf.distribute.get_strategy()
with place(strategy):
    model = {MODEL}
    model.compile("adam", "mse")
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            None,
            why="other code gets the strategy, and may have another one by then",
            target="tpu",
        ),
        Good(
            f"""
strategy = tf.distribute.get_strategy()
with strategy.scope():
    model = {MODEL}
    model.compile("adam", "mse")
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            None,
            why="whoever calls this decides on the strategy",
            target="tpu",
        ),
    )

    def __init__(self) -> None:
        self._run = set[Location]()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case TakeGradients(context=context):
                if context.kind is ContextKind.HOST:
                    self._run.add(event.location)
            case Program(steps=steps, trains=trains, taped=taped) if not any(map(names_tpu, steps)):
                yield from none_made(steps, taped, trains=trains, on_host=taped in self._run)
                yield from predicts_aside(steps)
            case Program(steps=steps):
                made = [step for step in steps if is_strategy(step.result) and is_tpu(step.result)]
                yield from predicts_aside(steps)
                if made and not any(map(runs, steps)):
                    yield from unused(made, steps)
                    yield from called_plainly(steps)
