"""A step calls a loss of Keras that reduces by itself, which Keras 2 refuses under a distribution strategy.

## What it does
Reports calls of an object of a Keras loss (`tf.keras.losses.MeanSquaredError()`) that was made without `reduction`, in
a step of the program's own that a strategy runs, or in a model's own `train_step` or `call` under a strategy, if Keras
2 runs the program. In layers and losses of the program's own, whose model the linter does not see, that is information.
Where the version of Keras is not known, and where the target is a TPU and the program has no strategy yet, that is
information.

## What XLA does
The step never comes to XLA: it fails during tracing. Measured with TensorFlow 2.21, Keras 3.15 and tf_keras 2.21, a
`MirroredStrategy` of two CPU devices, and a `OneDeviceStrategy`:

| reduction | Keras 2 | Keras 3 |
| --- | --- | --- |
| the default, `"sum_over_batch_size"` | `ValueError` | divides by the number of replicas |
| `"sum"`, `"none"` | works | works |

The error says "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction". The
same for classes that derive from `tf.keras.losses.Loss`, for objects made in the scope or outside of it, for calls in
the scope itself, and for those in the `call` of a layer (`self.add_loss(..)`) or of another loss that `fit` runs. What
`compile` is passed, Keras reduces as it has to.

## Example
    loss_of = tf.keras.losses.MeanSquaredError()

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))

    strategy.run(step, args=batch)

## Use instead
    loss_of = tf.keras.losses.MeanSquaredError(reduction="none")
    ..
            losses = loss_of(y, model(x))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)

## Not flagged
- Losses that are told how to reduce, and classes of the program's own that may be.
- Functions such as `tf.keras.losses.mse`, which reduce nothing.
- Losses that `compile` is passed.
- Programs that Keras 3 is known to run.

## Fix safety
There is no fix: what the values are divided by is for the program to say.

## References
- https://www.tensorflow.org/tutorials/distribute/custom_training
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.values import ApiObject, Creation
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import HoldModels, Program, SetupCall
from xlalint.analysis.library.keras_classes import kind_of
from xlalint.analysis.library.strategies import is_strategy
from xlalint.analysis.program.definitions import all_methods
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told

from ._strategies import name_of, strategy_in

_HELP: Final = 'reduction="none", and tf.nn.compute_average_loss(losses, global_batch_size=..)'
_RAISES: Final = "Keras 2 raises ValueError"
_NO_RUN: Final = "Keras 2 is a package of its own"


def _program(loss: str, keras: str = "import tf_keras as keras", strategy: str = "MirroredStrategy") -> str:
    return f"""
{keras}

strategy = tf.distribute.{strategy}()
loss_of = {loss}
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.build([None, 3])
    optimizer = keras.optimizers.SGD(0.01)

@tf.function
def train(x, y):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loss_of(y, model(x)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss
    return strategy.run(step, args=(x, y))

data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(2)
for x, y in strategy.experimental_distribute_dataset(data):
    train(x, y)
"""


def _own_loss(passed_on: str, given: str = "") -> str:
    return f"""
class Wasserstein(tf.keras.losses.Loss):
    def __init__(self, **kwargs):
        super().__init__({passed_on})

    def call(self, y_true, y_pred):
        return y_true * y_pred

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)
        self.loss_of = Wasserstein({given})

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.loss_of(y, self(x))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {{"loss": tf.reduce_mean(loss)}}

net = Net()
net.compile("sgd")
net.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
"""


class ReducedLoss(Rule):
    code = "XLA521"
    name = "reduced-loss"
    handles = (SetupCall, HoldModels, Program)
    bad = (
        Bad(
            _program("keras.losses.MeanSquaredError()"),
            ["loss_of(y, model(x))"],
            None,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            help="compute_average_loss",
            why=_NO_RUN,
        ),
        Bad(
            _program("keras.losses.MeanSquaredError()", "from tensorflow import keras"),
            ["loss_of(y, model(x))"],
            Runs(),
            effect=Effect.FAILS,
            severity=Severity.INFO,
            why="Keras 3 divides, and nobody says which Keras runs this",
        ),
        Bad(
            """
import tf_keras as keras

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.loss_of = keras.losses.MeanSquaredError()

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.loss_of(y, self(x))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}

with tf.distribute.MirroredStrategy().scope():
    net = Net()
    net.compile("sgd")
net.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
""",
            ["self.loss_of(y, self(x))"],
            None,
            severity=Severity.WARNING,
            why=_NO_RUN,
        ),
        Bad(
            """
class Halved(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        return 0.5 * tf.keras.losses.MeanSquaredError()(y_true, y_pred)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", Halved())
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
""",
            ["tf.keras.losses.MeanSquaredError()(y_true, y_pred)"],
            Runs(),
            severity=Severity.INFO,
            target="tpu",
            why="in a loss that Keras calls",
        ),
        Bad(
            _own_loss('name="wasserstein"'),
            ["self.loss_of(y, self(x))"],
            Runs(),
            severity=Severity.INFO,
            target="tpu",
            why="a class of one's own is reduced as Keras's are",
        ),
        Bad(
            """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)
loss_of = tf.keras.losses.MeanSquaredError()

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

optimizer.build(model.trainable_variables)
for x, y in tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(2):
    step(x, y)
""",
            ["loss_of(y, model(x))"],
            Runs(),
            severity=Severity.INFO,
            target="tpu",
            why="the strategy is still to come",
        ),
    )
    good = (
        Good(
            _program('keras.losses.MeanSquaredError(reduction="none")', "from tensorflow import keras"),
            Runs(),
            why="the step reduces",
        ),
        Good(_program("keras.losses.huber", "from tensorflow import keras"), Runs(), why="a function"),
        Good(
            _program('keras.losses.MeanSquaredError(reduction="sum")', "from tensorflow import keras"),
            Runs(),
            why="what all replicas add up to is the sum over the batch",
        ),
        Good(
            """
loss_of = tf.keras.losses.MeanSquaredError()
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)

@tf.function(jit_compile=True)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

step(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            Runs(),
            why="no strategy runs this, and none is to come",
        ),
        Good(_own_loss('reduction="none"'), Runs(), target="tpu", why="the constructor says how"),
        Good(_own_loss("**kwargs", 'reduction="none"'), Runs(), target="tpu", why="who makes it says how"),
        Good(
            """
import tf_keras as keras

with tf.distribute.MirroredStrategy().scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", keras.losses.MeanSquaredError())
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
""",
            None,
            why="Keras reduces as it has to",
        ),
    )

    def __init__(self) -> None:
        self._models: list[HoldModels] = []

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case HoldModels(made=Creation(scope=scope)) if strategy_in(scope) is not None:
                self._models.append(event)
            case Program(steps=steps, taped=taped):
                calls = [step for step in steps if _reduces(step)]
                if not any(is_strategy(step.result) for step in steps):
                    yield from _to_come([call for call in calls if taped is not None or call.context.by_keras])
                own = {method.node for model in self._models for method in all_methods(model.cls)}
                for call in calls:
                    strategy = strategy_in(call.context.scope)
                    if strategy is not None and call.context.in_replica:
                        yield from _told(call, f"`{name_of(strategy)}` runs this step", sure=call.keras == 2)
                    elif call.context.by_keras and self._models:
                        inside = call.location.unit.function_around(call.node) in own
                        yield from _told(call, "Keras runs this under a strategy", sure=inside and call.keras == 2)


def _reduces(step: SetupCall) -> bool:
    """Whether an object of a loss is called that was made without saying how it reduces."""
    match step.owner:
        case ApiObject(api=api, payload=None):
            return kind_of(api) == "loss" and (step.keras == 2 or not step.keras_is_known)
        case _:
            return False


def _told(call: SetupCall, who: str, *, sure: bool) -> Iterator[Draft]:
    doubt = "" if sure else "; Keras 3 divides by the number of replicas"
    yield Draft(
        f"{who}, and this loss reduces by itself: {_RAISES}{doubt}",
        Effect.FAILS,
        _HELP,
        location=call.location,
        notes=_made([call]),
        at_most=Severity.WARNING if sure else Severity.INFO,
    )


def _to_come(calls: Sequence[SetupCall]) -> Iterator[Draft]:
    """The losses of a program that has no strategy yet."""
    for call in calls[:1]:
        others = dict.fromkeys(other.location for other in calls if other.location != call.location)
        yield Draft(
            f"this loss reduces by itself: under a strategy {_RAISES}, and Keras 3 divides by the number of replicas",
            Effect.FAILS,
            _HELP,
            location=call.location,
            notes=(*_made(calls), *(DraftNote(other, "this one, too") for other in others)),
            at_most=Severity.INFO,
            told=Told.FOR_TPU_ALONE,
        )


def _made(calls: Iterable[SetupCall]) -> tuple[DraftNote, ...]:
    """Where the losses are made."""
    made = (call.owner.made for call in calls if isinstance(call.owner, ApiObject) and call.owner.made is not None)
    return tuple(DraftNote(place, "made here") for place in dict.fromkeys(creation.location for creation in made))
