"""A model, its optimizer or its metrics are created outside the scope of the strategy that trains the model.

## What it does
Reports objects with variables that are created outside `strategy.scope()` but used by a `MirroredStrategy` or
`TPUStrategy`:

- a model that is compiled, fitted or called in the strategy's scope or step
- a model that another one has for an attribute which is created or compiled in the scope: a generator, a teacher
- the optimizer of a model that was created in the scope, also one that `compile` creates or the model's own step uses
- for Keras 2, the metrics passed to `compile`
- for a TPU, metrics that count in the strategy's step, variables that it assigns to, and a `tf.Module`

## What XLA does
A strategy keeps a copy of each variable on each of its devices, and only variables created in its scope get copies.
Measured with TensorFlow 2.21 on two CPU devices:

- A model from outside: Keras 3.15 raises an `AssertionError` without a message, Keras 2 "was not created in the
  distribution strategy scope".
- An optimizer with state (all but SGD without momentum) from outside, also by `model.compile("adam")` outside: Keras 3
  raises "Mixing different tf.distribute.Strategy objects". Keras 2 does so only if the optimizer belongs to another
  strategy.
- Model, optimizer and `fit` all outside: Keras 3 trains on one device, and the strategy has no effect.
- A model from outside as an attribute of one from inside: both raise "`colocate_vars_with` must only be passed a
  variable created in this tf.distribute.Strategy.scope()" where an optimizer trains it.
- A metric object from outside: Keras 2 raises "created inside a different distribution strategy scope". Keras 3 accepts
  it. In a step on a TPU, `update_state` of Keras 2 raises an error (its source).
- A variable from outside that a step assigns to: all replicas share it, and each sees what the others did.

Not measured with a `TPUStrategy`, for lack of a TPU; its documentation asks for the same. Where nothing says which
Keras runs the program, an optimizer outside the scope of a `TPUStrategy` is a warning, because Keras 2 takes it.

## Example
    model = build()
    with strategy.scope():
        model.compile("adam", "mse")

## Use instead
    with strategy.scope():
        model = build()
        model.compile("adam", "mse")

## Not flagged
- Models whose variables may be created later (no `Input`, a class of your own) if all of the training is in the scope.
- Optimizers and metrics that Keras accepts.
- A model that a condition makes in the scope or outside, where a call may get either.
- Objects created in functions whose callers do not show whether there is a scope.
- `OneDeviceStrategy`, and unknown strategies; where the target is a TPU, what code that is not seen returns is taken
  for the TPU's strategy where its `scope()` is entered, and in a file that does so or has it distribute a dataset.

## Fix safety
`unsafe`: the statement moves into the existing scope of its block, or gets a scope of its own if the lines in between
use the object. Code that uses the object without the strategy may change, and so may random numbers. The fix moves
nothing that a function creates, and nothing that is created in the scope of another strategy.

## References
- https://www.tensorflow.org/guide/distributed_training
- https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#scope
- https://www.tensorflow.org/guide/tpu
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import Event, ShareVariable
from xlalint.analysis.interpreter.setup_events import HoldModels, Program
from xlalint.linter.rule import Bad, Breaks, Draft, Effect, Good, Rule, Runs, Safety, Severity

from ._outside import about_counters, about_metrics, about_model, about_optimizer, about_parts, about_variable

DATA = """
import numpy as np

x, y = np.ones([8, 3], "float32"), np.ones([8, 1], "float32")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
"""
MODEL = "tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])"
OWN = "optimizers = [tf.keras.optimizers.SGD(), tf.keras.optimizers.Adam()]"
FIT = "model.fit(x, y, batch_size=4, verbose=0)"
STEP = """
@tf.function
def train(x, y):
    return strategy.run(step, args=(x, y))

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

train(tf.constant(x), tf.constant(y))
"""


def _made_outside(optimizer: str) -> Bad:
    """An optimizer with state that is made outside of the scope of its model, and built in one."""
    model = f"{DATA}\nwith strategy.scope():\n    model = {MODEL}\n"
    return Bad(
        f"""
{model}optimizer = {optimizer}
with strategy.scope():
    optimizer.build(model.trainable_variables)
{STEP}
""",
        [optimizer],
        Breaks("Mixing different tf.distribute.Strategy objects"),
        effect=Effect.FAILS,
        safety=Safety.UNSAFE,
        fixed=f"""
{model}with strategy.scope():
    optimizer = {optimizer}
    optimizer.build(model.trainable_variables)
{STEP}
""",
    )


def _trained(make: str) -> str:
    """A model whose own step has optimizers, which are created before it."""
    return f"""
{DATA}
class Trainer(tf.keras.Sequential):
    def compile(self, optimizers):
        super().compile()
        self.optimizers = optimizers
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self(data[0]) ** 2)
        self.optimizers[1].apply_gradients(zip(tape.gradient(loss, self.weights), self.weights))
        return {{"loss": loss}}

{make}
    model = Trainer([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile(optimizers)
    optimizers[1].build(model.trainable_variables)
{FIT}
"""


def _held(scope: str) -> str:
    """A model that holds another one, which is created with the strategy or without it."""
    return f"""
{DATA}
class Trainer(tf.keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, x):
        return self.inner(x)

{scope}
    inner = {MODEL}
with strategy.scope():
    model = Trainer(inner)
    model.compile("adam", "mse")
{FIT}
"""


class OutsideScope(Rule):
    code = "XLA502"
    name = "outside-scope"
    handles = (HoldModels, Program, ShareVariable)
    bad = (
        Bad(
            f"""
{DATA}
model = {MODEL}
with strategy.scope():
    model.compile("sgd", "mse")
{FIT}
""",
            [MODEL],
            Breaks("AssertionError"),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="with strategy.scope():",
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
with strategy.scope():
    model = {MODEL}
    model.compile("sgd", "mse")
{FIT}
""",
        ),
        Bad(
            f"""
{DATA}
def build():
    return {MODEL}

with strategy.scope():
    model = build()
model.compile("adam", "mse")
{FIT}
""",
            ['model.compile("adam", "mse")'],
            Breaks("Mixing different tf.distribute.Strategy objects"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
def build():
    return {MODEL}

with strategy.scope():
    model = build()
    model.compile("adam", "mse")
{FIT}
""",
        ),
        Bad(
            f"""
{DATA}
optimizer = tf.keras.optimizers.Adam(1e-3)
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer, "mse")
{FIT}
""",
            ["tf.keras.optimizers.Adam(1e-3)"],
            Breaks("Mixing different tf.distribute.Strategy objects"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
with strategy.scope():
    optimizer = tf.keras.optimizers.Adam(1e-3)
    model = {MODEL}
    model.compile(optimizer, "mse")
{FIT}
""",
        ),
        Bad(
            f"""
{DATA}
other = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with other.scope():
    optimizer = tf.keras.optimizers.Adam(1e-3)
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer=optimizer, loss="mse")
{FIT}
""",
            ["tf.keras.optimizers.Adam(1e-3)"],
            Breaks("Mixing different tf.distribute.Strategy objects"),
            effect=Effect.FAILS,
        ),
        Bad(
            f"""
{DATA}
model = {MODEL}
print(model.count_params())
with strategy.scope():
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
{STEP}
""",
            [MODEL],
            Breaks("must only be passed a variable created in this tf.distribute.Strategy.scope()"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=f"""
{DATA}
with strategy.scope():
    model = {MODEL}
print(model.count_params())
with strategy.scope():
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
{STEP}
""",
        ),
        *map(_made_outside, ("tf.keras.optimizers.Adam()", "tf.keras.optimizers.SGD(0.1, momentum=0.9)")),
        Bad(
            """
import tensorflow as tf

def connect():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)

def main(data):
    model = tf.keras.applications.ResNet50(weights=None)
    strategy = connect()
    with strategy.scope():
        model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data)
""",
            ["tf.keras.applications.ResNet50(weights=None)"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            safety=Safety.UNSAFE,
            fixed="""
import tensorflow as tf

def connect():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)

def main(data):
    strategy = connect()
    with strategy.scope():
        model = tf.keras.applications.ResNet50(weights=None)
        model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data)
""",
            why="it needs a TPU",
        ),
        Bad(
            f"""
import machines

strategy, devices = machines.detect()
with strategy.scope():
    model = {MODEL}
model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
model.fit(strategy.experimental_distribute_dataset(data))
""",
            ["tf.keras.optimizers.Adam()"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            safety=Safety.UNSAFE,
            fixed=f"""
import machines

strategy, devices = machines.detect()
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
model.fit(strategy.experimental_distribute_dataset(data))
""",
            why="it needs a TPU",
            target="tpu",
        ),
        Bad(
            f"""
{DATA}
model = {MODEL}
optimizer = tf.keras.optimizers.Adam()
with strategy.scope():
    model.compile(optimizer, "mse")
{FIT}
""",
            [MODEL, "tf.keras.optimizers.Adam()"],
            Runs(),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
            why="it trains on one device",
        ),
        Bad(
            _held("if True:"),
            [MODEL],
            Breaks("colocate_vars_with"),
            effect=Effect.FAILS,
            severity=Severity.WARNING,
        ),
        Bad(
            _trained(f"{OWN}\nwith strategy.scope():"),
            ["tf.keras.optimizers.Adam()"],
            Breaks("Mixing different tf.distribute.Strategy objects"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=_trained(f"with strategy.scope():\n    {OWN}"),
        ),
    )
    good = (
        Good(_held("with strategy.scope():"), Runs(), why="what the model holds is created in the scope"),
        Good(
            f"""
{DATA}
def build():
    made = {MODEL}
    made.compile(tf.keras.optimizers.Adam(), "mse", metrics=[tf.keras.metrics.MeanAbsoluteError()])
    return made

with strategy.scope():
    model = build()
{FIT}
""",
            Runs(),
        ),
        Good(
            f"""
{DATA}
optimizer = tf.keras.optimizers.SGD(0.1)
loss = tf.keras.losses.MeanSquaredError()
with strategy.scope():
    model = {MODEL}
model.compile(optimizer, loss, metrics=[tf.keras.metrics.MeanAbsoluteError()])
{FIT}
""",
            Runs(),
            why="plain SGD has no state, a loss has no variables, and Keras 3 takes the metric",
        ),
        Good(
            f"""
{DATA}
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

model = Net()
with strategy.scope():
    model.compile("sgd", "mse")
    {FIT}
""",
            None,
            why="its variables are made by the first step, which stands in the scope",
        ),
        Good(
            f"""
{DATA}
with strategy.scope():
    model = {MODEL}
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
{STEP}
""",
            Runs(),
        ),
        Good(
            f"""
{DATA}
model = {MODEL}
model.compile("adam", "mse")
{FIT}
with strategy.scope():
    model = {MODEL}
    model.compile("adam", "mse")
{FIT}
""",
            Runs(),
            why="the first model is trained without the strategy",
        ),
        Good(
            f"""
import machines

strategy, devices = machines.detect()
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
model.fit(strategy.experimental_distribute_dataset(data))
""",
            None,
            why="the optimizer is created in the scope",
            target="tpu",
        ),
        Good(
            f"""
import contextlib
{DATA}
@contextlib.contextmanager
def distributed(strategy):
    with strategy.scope():
        yield

with distributed(strategy), contextlib.ExitStack() as stack:
    model = {MODEL}
    model.compile("adam", "mse")
{FIT}
with contextlib.ExitStack() as stack:
    stack.enter_context(strategy.scope())
    model = {MODEL}
    model.compile("adam", "mse")
{FIT}
""",
            Runs(),
            why="a scope that is entered in another way",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                for step in steps:
                    yield from about_model(step, steps)
                    yield from about_optimizer(step, steps)
                    yield from about_metrics(step)
                    yield from about_counters(step)
            case ShareVariable():
                yield from about_variable(event)
            case HoldModels():
                yield from about_parts(event)
