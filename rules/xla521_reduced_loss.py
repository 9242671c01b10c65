"""A step calls a loss of Keras that reduces by itself, which Keras 2 refuses under a distribution strategy.

## What it does
Reports objects of a Keras loss (`tf.keras.losses.MeanSquaredError()`) that are made without `reduction`, or with
`"auto"` or `"sum_over_batch_size"`, and that code under a strategy calls by itself, if Keras 2 runs the program: in a
step that `strategy.run` is passed, in the scope, and in what Keras runs: a model's own `train_step`, the `call` of a
layer, a loss or a metric. One finding for each loss, where it is made, with notes where it is called. In layers, losses
and metrics of a program that has models without a strategy, too, that is information. So it is where the version of
Keras is not known, and where the target is a TPU and the program has no strategy yet.

## What XLA does
The step never comes to XLA: it fails during tracing. Measured with TensorFlow 2.21, Keras 3.15 and tf_keras 2.21, a
`MirroredStrategy` of two CPU devices, and a `OneDeviceStrategy`:

| reduction | Keras 2 | Keras 3 |
| --- | --- | --- |
| the default, `"auto"`, `"sum_over_batch_size"` | `ValueError` | divides by the number of replicas |
| `"sum"`, `"none"` | works | works |

The error says "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction". The
same for classes that derive from `tf.keras.losses.Loss`, for objects made in the scope or outside of it, for calls in
the scope itself (`model.add_loss(loss_of(..))`), and for those in the `call` of a layer, in another loss or in a
function for a metric that `fit` runs. What `compile` is passed, Keras reduces as it has to, and `self.compiled_loss`
does; the same object called as `self.loss(..)` in `train_step` fails. Keras 3 has no `"auto"`, and does not divide
under a `OneDeviceStrategy`.

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
- Losses that `compile` is passed, and nobody else calls.
- Calls outside of the scope, on the host.
- Programs that Keras 3 is known to run.

## Fix safety
There is no fix: what the values are divided by is for the program to say.

## References
- https://www.tensorflow.org/tutorials/distribute/custom_training
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import ApiObject, Creation, Scope
from xlalint.analysis.interpreter.contexts import Context
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import HoldModels, Program, SetupCall
from xlalint.analysis.library.keras_classes import kind_of
from xlalint.analysis.library.strategies import is_strategy, making_of
from xlalint.analysis.program.definitions import all_methods
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told

from ._strategies import RUNNING, method_of, name_of

_HELP: Final = 'reduction="none", and tf.nn.compute_average_loss(losses, global_batch_size=..)'
_RAISES: Final = "Keras 2 raises ValueError"
_NO_RUN: Final = "Keras 2 is a package of its own"
_DEFAULT: Final = "tf.distribute.Strategy"
# Losses of TensorFlow Addons that reduce nothing unless they are told to.
_UNREDUCED: Final = frozenset(
    f"tensorflow_addons.losses.{name}"
    for name in (
        *("LiftedStructLoss", "NpairsLoss", "NpairsMultilabelLoss", "SigmoidFocalCrossEntropy"),
        *("TripletHardLoss", "TripletSemiHardLoss", "WeightedKappaLoss"),
    )
)


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
            ["keras.losses.MeanSquaredError()"],
            None,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            help="compute_average_loss",
            why=_NO_RUN,
        ),
        Bad(
            _program("keras.losses.MeanSquaredError()", "from tensorflow import keras"),
            ["keras.losses.MeanSquaredError()"],
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
            ["keras.losses.MeanSquaredError()"],
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
            ["tf.keras.losses.MeanSquaredError()"],
            Runs(),
            severity=Severity.INFO,
            target="tpu",
            why="in a loss that Keras calls",
        ),
        Bad(
            _program("keras.losses.MeanSquaredError(keras.losses.Reduction.SUM_OVER_BATCH_SIZE)"),
            ["keras.losses.MeanSquaredError(keras.losses.Reduction.SUM_OVER_BATCH_SIZE)"],
            None,
            severity=Severity.WARNING,
            why=_NO_RUN,
        ),
        Bad(
            _program("keras.losses.Huber()").replace("MirroredStrategy()", 'OneDeviceStrategy("CPU:0")'),
            ["keras.losses.Huber()"],
            None,
            severity=Severity.WARNING,
            why="one device: a strategy all the same",
        ),
        Bad(
            """
import tf_keras as keras

class Distance(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return abs(y_true - y_pred)

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def test_step(self, data):
        x, y = data
        return {"loss": self.loss(y, self(x))}

with tf.distribute.MirroredStrategy().scope():
    net = Net()
    net.compile("sgd", Distance())
net.evaluate(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
""",
            ["Distance()"],
            None,
            severity=Severity.WARNING,
            why="Keras reduces in `compiled_loss` alone",
        ),
        Bad(
            """
import tf_keras as keras

loss_of = keras.losses.MeanAbsoluteError()

class Sparse(keras.layers.Layer):
    def call(self, x):
        self.add_loss(loss_of(tf.zeros_like(x), x))
        return x

def distance(y_true, y_pred):
    return loss_of(y_true, y_pred) + mean(y_true, y_pred)

mean = keras.losses.MeanSquaredError()
with tf.distribute.MirroredStrategy().scope():
    model = keras.Sequential([keras.layers.Dense(1), Sparse()])
    model.compile("sgd", distance)
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
""",
            ["keras.losses.MeanAbsoluteError()", "keras.losses.MeanSquaredError()"],
            None,
            severity=Severity.WARNING,
            why="one finding for each loss, however often it is called",
        ),
        Bad(
            """
import tf_keras as keras

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    x = keras.Input([3])
    codes = keras.layers.Dense(3)(x)
    model = keras.Model(x, codes)
    model.add_loss(keras.losses.MeanSquaredError()(x, codes))
""",
            ["keras.losses.MeanSquaredError()"],
            None,
            severity=Severity.WARNING,
            why="in the scope",
        ),
        Bad(
            _own_loss('name="wasserstein"'),
            ["Wasserstein()"],
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
            ["tf.keras.losses.MeanSquaredError()"],
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
        Good(
            """
loss_of = tf.keras.losses.MeanSquaredError()
with tf.distribute.MirroredStrategy().scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
loss_of(tf.ones([8, 1]), model(tf.ones([8, 3])))
""",
            Runs(),
            why="behind the scope",
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
            case HoldModels(made=Creation(scope=scope)) if _refuses(scope):
                self._models.append(event)
            case Program(steps=steps, taped=taped):
                calls = [step for step in steps if _reduces(step)]
                if not any(is_strategy(step.result) for step in steps):
                    called = [call for call in calls if taped is not None or call.context.by_keras]
                    yield from (_to_come(call) for call in called)
                    return
                under = [_refuses(made.scope) for step in steps if (made := _model_made(step)) is not None]
                own = {method.node for model in self._models for method in all_methods(model.cls)}
                for call in calls:
                    who = _who(call.context)
                    if who is not None:
                        yield _told(call, who, sure=call.keras == 2)
                    elif call.context.by_keras and (self._models or any(under)):
                        inside = all(under) or call.location.unit.function_around(call.node) in own
                        yield _told(call, "Keras runs code under a strategy", sure=inside and call.keras == 2)


def _who(context: Context) -> str | None:
    """What runs code under a strategy, if it is one whose steps Keras 2 refuses to reduce in."""
    if context.scope is None or not _refuses(context.scope):
        return None
    strategy = name_of(context.scope.strategy)
    return f"`{strategy}` runs a step" if context.in_replica else f"code in the scope of `{strategy}` runs"


def _refuses(scope: Scope | None) -> bool:
    """Whether it is the scope of a strategy, also of one for a single device, but not of the default one (measured)."""
    match scope:
        case Scope(strategy=ApiObject(api=api) as strategy):
            return is_strategy(strategy) and api != _DEFAULT
        case _:
            return False


def _model_made(step: SetupCall) -> Creation | None:
    """Where the model was made that Keras compiles or runs by a call."""
    runs = method_of(step) == "compile" or method_of(step) in RUNNING
    return making_of(step.owner) if runs and step.owner is not None else None


def _reduces(step: SetupCall) -> bool:
    """Whether an object of a loss is called that was made to reduce by itself, or without saying how it does."""
    match step.owner:
        case ApiObject(api=api, payload=None):
            by_itself = kind_of(api) == "loss" and api not in _UNREDUCED
            return by_itself and (step.keras == 2 or not step.keras_is_known)
        case _:
            return False


def _told(call: SetupCall, who: str, *, sure: bool) -> Draft:
    return _draft(
        call,
        f"{who} that calls this loss, which reduces by itself: {_RAISES}{_doubt(call)}",
        Severity.WARNING if sure else Severity.INFO,
    )


def _to_come(call: SetupCall) -> Draft:
    """A loss of a program that has no strategy yet."""
    what = f"this loss reduces by itself, and is called: under a strategy {_RAISES}{_doubt(call)}"
    return _draft(call, what, Severity.INFO, Told.FOR_TPU_ALONE)


def _doubt(call: SetupCall) -> str:
    return "" if call.keras == 2 else "; Keras 3 divides by the number of replicas"


def _draft(call: SetupCall, message: str, at_most: Severity, told: Told = Told.ALWAYS) -> Draft:
    """One finding for each loss, where it is made, with notes where it is called."""
    made = making_of(call.owner) if call.owner is not None else None
    return Draft(
        message,
        Effect.FAILS,
        _HELP,
        location=call.location if made is None else made.location,
        notes=() if made is None else (DraftNote(call.location, "it is called here"),),
        at_most=at_most,
        told=told,
    )
