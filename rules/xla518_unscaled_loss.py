"""A step under a strategy takes the gradient of the mean of its replica's part of the batch.

## What it does
Reports a mean of all elements of a tensor (`tf.reduce_mean`, `keras.ops.mean`, a quotient of two sums, of which one is
that of a mask), or the root, logarithm or power of one, in a step that `strategy.run` or Keras runs on several
replicas, if the gradient of it, or of its sum with others, is what an optimizer applies, clipped or as it is. Where the
target is a TPU, also, as information, in the step of a program that has no strategy yet.

Reports as well a loss that `compile` is passed, a function or a class of the program's own, if the model is created
under a strategy and the loss returns such a mean (Keras 3), or the sum of all elements (Keras 2). Where the version of
Keras is not known, and where the strategy is still to come, that is information.

## What XLA does
XLA compiles it as it stands: the strategy makes the difference. Each replica computes the loss of its own part of the
batch, and `apply_gradients` adds the gradients of all replicas up. Measured with TensorFlow 2.21 and Keras 3.15, a
`MirroredStrategy` on two CPU devices, one step of SGD with a global batch of 8:

| loss | step of the weights |
| --- | --- |
| one device: `tf.reduce_mean(l)` | 0.080 |
| two replicas: `tf.reduce_mean(l)` | 0.160 |
| two replicas: `tf.reduce_mean(l) / strategy.num_replicas_in_sync` | 0.080 |
| two replicas: `tf.nn.compute_average_loss(l, global_batch_size=8)` | 0.080 |
| two replicas: `keras.losses.MeanSquaredError()(y, x)` | 0.080 |

The same in a model's own `train_step`, which Keras runs, and of what is computed of a mean: with other data a step by
`tf.sqrt(tf.reduce_mean(l))` is 0.019 on one device and 0.039 on two replicas, one by its logarithm 0.010 and 0.020.

What `compile` is passed Keras scales only where it returns one loss for each example. Measured likewise with `fit`, of
losses that return one number, how long the steps of two replicas are, in steps of one device:

| loss | Keras 3.15 | Keras 2 (tf_keras 2.21) |
| --- | --- | --- |
| a function that returns `tf.reduce_mean(l)`, also in `losses.Loss.call` | 2 | 1 |
| `tf.reduce_sum(l)` likewise | 1 | 0.5 |
| `1 - tf.reduce_sum(a) / (tf.reduce_sum(b) + 1)` (dice) | about 2 | |
| `tf.reduce_mean(l, axis=-1)`, `tf.reduce_sum(l, axis=-1)`, Keras's own classes | 1 | 1 |

So with the 8 cores of a TPU, SGD takes steps that are 8 times as long. Adam divides by the size of the gradients, so
there the factor matters only where gradients are clipped or weights decay.

## Example
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(losses(model(x), y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    strategy.run(step, args=batch)

## Use instead
    loss = tf.nn.compute_average_loss(losses(model(x), y), global_batch_size=GLOBAL_BATCH)

Or divide the mean by `strategy.num_replicas_in_sync`. A loss for `compile` returns one number for each example:
`tf.reduce_mean(l, axis=-1)`.

## Not flagged
- Means that are divided, or weighted by what is not a number in the code, and sums that all replicas share.
- Objects of Keras's losses, which divide by the number of replicas themselves in Keras 3.
- Gradients that the step changes, or reduces itself, before they are applied.
- Strategies that are not known, and those of one device.
- Losses for `compile` that keep an axis, and that are divided by what is not a sum.

## Fix safety
There is no fix: the learning rate may have been found with the longer steps.

## References
- https://www.tensorflow.org/tutorials/distribute/custom_training
- https://www.tensorflow.org/api_docs/python/tf/nn/compute_average_loss
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.kinds import leaves, options
from xlalint.analysis.domain.values import (
    ApiObject,
    Class,
    Creation,
    Function,
    FunctionValue,
    Instance,
    Reduction,
    Tensor,
    Value,
)
from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.contexts import Context
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.analysis.interpreter.losses import ReturnLoss
from xlalint.analysis.interpreter.setup_events import HoldModels, Program, SetupCall
from xlalint.analysis.library.optimizers import OPTIMIZES
from xlalint.analysis.library.strategies import is_strategy
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

from ._applied import CLIPS, GRADIENT, AppliedGradients, steps_of_models, steps_to_come
from ._provenance import Provenance
from ._strategies import method_of, model_strategy, name_of, strategy_in

_MEAN: Final = "tf.nn.compute_average_loss(losses, global_batch_size=..), or / strategy.num_replicas_in_sync"
_EACH: Final = "return one loss for each example, `tf.reduce_mean(.., axis=-1)`: Keras averages these over the batch"
_SCOPE: Final = 'strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])'


def _program(loss: str, apply: str = "zip(gradients, model.trainable_variables)", n: int = 2) -> str:
    return f"""
{_SCOPE if n == 2 else 'strategy = tf.distribute.MirroredStrategy(["CPU:0"])'}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)

def loss_of(y, outputs):
    return tf.reduce_mean((outputs - y) ** 2)

@tf.function
def train(x, y):
    def step(x, y):
        with tf.GradientTape() as tape:
            outputs = model(x)
            loss = {loss}
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients({apply})
        return loss
    return strategy.run(step, args=(x, y))

data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(2)
for x, y in strategy.experimental_distribute_dataset(data):
    train(x, y)
"""


_ALONE: Final = """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for x, y in tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 3]))).repeat(2):
    train(x, y)
"""
MEAN: Final = "tf.reduce_mean((outputs - y) ** 2)"


def _compiled(loss: str, keras: str = "from tensorflow import keras", n: int = 2) -> str:
    return f"""
{keras}

{_SCOPE if n == 2 else 'strategy = tf.distribute.MirroredStrategy(["CPU:0"])'}
def loss_of(y, outputs):
    return {loss}

with strategy.scope():
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])
    model.compile("sgd", loss_of)
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=8, verbose=0)
"""


class UnscaledLoss(Rule):
    code = "XLA518"
    name = "unscaled-loss"
    handles = (ReturnLoss, ApiCall, HoldModels, Program)
    apis = frozenset((GRADIENT, *CLIPS))
    bad = (
        Bad(
            _program("tf.reduce_mean(tf.abs(outputs - y))"),
            ["tf.reduce_mean(tf.abs(outputs - y))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="/ strategy.num_replicas_in_sync",
        ),
        Bad(
            _program("0.5 * loss_of(y, outputs) + 0.01 * tf.add_n([tf.nn.l2_loss(w) for w in model.weights])"),
            [MEAN],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="in a function, with a weight, and with the decay of the weights",
        ),
        Bad(
            _program(
                "tf.reduce_mean(abs(outputs - y))", "zip(tf.clip_by_global_norm(gradients, 1.0)[0], model.weights)"
            ),
            ["tf.reduce_mean(abs(outputs - y))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="clipped only where they are large",
        ),
        Bad(
            _program(
                "tf.reduce_mean(abs(outputs - y))",
                "[(tf.clip_by_norm(g, 1.0), w) for g, w in zip(gradients, model.weights) if g is not None]",
            ),
            ["tf.reduce_mean(abs(outputs - y))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="each by itself",
        ),
        Bad(
            _program("tf.reduce_sum(abs(outputs - y)) / tf.maximum(tf.reduce_sum(tf.cast(y > 0, tf.float32)), 1.0)"),
            ["tf.reduce_sum(abs(outputs - y))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="by the sum of a mask",
        ),
        Bad(
            f"""{_SCOPE}
class Model(tf.keras.Sequential):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(data[0]) - data[1]) ** 2)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {{"loss": loss}}

with strategy.scope():
    model = Model([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=8, verbose=0)
""",
            ["tf.reduce_mean((self(data[0]) - data[1]) ** 2)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="a step of its own, which Keras runs",
        ),
        Bad(
            _program("tf.sqrt(loss_of(y, outputs) + 1.0) + (1.0 + loss_of(y, outputs)) ** 0.5"),
            [MEAN],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="the root of each replica's mean",
        ),
        Bad(
            _program("tf.multiply(0.5, tf.add(loss_of(y, outputs), tf.math.subtract(loss_of(y, outputs), 1.0)))"),
            [MEAN],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="arithmetic by name",
        ),
        Bad(
            _program("tf.add_n([loss_of(y, outputs), *[1e-3 * loss_of(y, y + 1.0) for _ in range(2)]])"),
            [MEAN],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="a sum of several losses",
        ),
        Bad(
            _ALONE,
            ["tf.reduce_mean((model(x) - y) ** 2)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="the strategy is still to come",
            target="tpu",
        ),
        Bad(
            _ALONE.replace("    optimizer.apply", "    def apply():\n        optimizer.apply").replace(
                "\n\nfor", "\n        return loss\n    tf.cond(loss < 9.0, apply, lambda: loss)\n\nfor"
            ),
            ["tf.reduce_mean((model(x) - y) ** 2)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="applied in a function inside, which reads the gradients of the one around it",
            target="tpu",
        ),
        Bad(
            _compiled("tf.reduce_mean((outputs - y) ** 2)"),
            ["tf.reduce_mean((outputs - y) ** 2)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            help="axis=-1",
            why="Keras 3 scales no single number, and nobody says which Keras runs this",
        ),
        Bad(
            _compiled("3.0 * tf.reduce_sum(tf.abs(outputs - y)) + 1.0", "import tf_keras as keras"),
            ["tf.reduce_sum(tf.abs(outputs - y))"],
            None,
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="Keras 2 is a package of its own",
        ),
    )
    good = (
        Good(_compiled("tf.reduce_mean((outputs - y) ** 2, axis=-1)"), Runs(), why="one loss for each example"),
        Good(_compiled("tf.reduce_mean((outputs - y) ** 2)", n=1), Runs(), why="one replica"),
        Good(
            _compiled("tf.reduce_mean((outputs - y) ** 2)", "import tf_keras as keras"),
            None,
            why="Keras 2 divides by the number of replicas",
        ),
        Good(
            _compiled("keras.losses.huber(y, outputs)"),
            Runs(),
        ),
        Good(
            _ALONE.replace("    optimizer.apply", "    def apply(gradients):\n        optimizer.apply").replace(
                "\n\nfor", "\n    apply([g / 8.0 for g in gradients])\n\nfor"
            ),
            Runs(),
            why="the inner function is passed others by the same name",
            target="tpu",
        ),
        Good(_ALONE, Runs(), why="nobody says that there will be several replicas"),
        Good(
            _ALONE.replace(
                "tf.reduce_mean((model(x) - y) ** 2)",
                'tf.keras.losses.MeanSquaredError(reduction="sum")(y, model(x)) / 8',
            ),
            Runs(),
            target="tpu",
        ),
        Good(_program("tf.sqrt(loss_of(y, outputs) + 1.0) / strategy.num_replicas_in_sync"), Runs()),
        Good(_program("tf.multiply(loss_of(y, outputs), 1.0 / strategy.num_replicas_in_sync)"), Runs()),
        Good(_program("tf.add_n([loss_of(y, outputs), 1.0]) / strategy.num_replicas_in_sync"), Runs()),
        Good(_program("tf.sqrt(tf.reduce_sum((outputs - y) ** 2))"), Runs(), why="the root of a sum"),
        Good(_program("loss_of(y, outputs) / strategy.num_replicas_in_sync"), Runs()),
        Good(_program("loss_of(y, outputs) * (1.0 / strategy.num_replicas_in_sync)"), Runs()),
        Good(
            _program("tf.nn.compute_average_loss(tf.reduce_sum((outputs - y) ** 2, -1), global_batch_size=8)"), Runs()
        ),
        Good(_program("tf.reduce_sum(tf.reduce_mean((outputs - y) ** 2, -1)) / 8"), Runs()),
        Good(
            _program(
                "tf.reduce_sum(abs(outputs - y)) / tf.distribute.get_replica_context().all_reduce('sum', y)[0, 0]"
            ),
            Runs(),
            why="by what all replicas have",
        ),
        Good(_program("tf.keras.losses.MeanSquaredError()(y, outputs)"), Runs(), why="Keras 3 divides"),
        Good(
            _program("loss_of(y, outputs)", "[(g / 2, w) for g, w in zip(gradients, model.trainable_variables)]"),
            Runs(),
            why="the gradients are divided",
        ),
        Good(_program("loss_of(y, outputs)", n=1), Runs(), why="one replica"),
    )

    def __init__(self) -> None:
        self._provenance = Provenance()
        self._models: list[tuple[Class, ApiObject | None]] = []  # that Keras runs, with their strategies
        self._gradients: dict[Location, tuple[Location, Context]] = {}  # of means: where these are taken, in which step
        self._losses: dict[Function, Reduction] = {}  # what losses return that Keras calls
        self._from = AppliedGradients(self._provenance, self._gradients.__contains__)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, arguments={"target": target}) if api == GRADIENT:
                for option in options(target):
                    if isinstance(option, Tensor) and option.reduction is not None and option.reduction.mean:
                        self._gradients[event.location] = option.reduction.location, event.context
            case ApiCall():
                self._provenance.remember(event)
            case HoldModels(cls=cls, made=Creation(scope=scope)):
                self._models.append((cls, strategy_in(scope)))
            case ReturnLoss(function=function, reduction=reduction):
                self._losses[function] = reduction
            case Program(steps=steps, taped=taped) if self._gradients or self._losses:
                to_come = not any(is_strategy(step.result) for step in steps)
                for step in steps:
                    if method_of(step) == "compile":
                        yield from self._passed(step, to_come=to_come)
                if taped is not None and to_come:
                    yield from self._to_come(taped)
                yield from self._trained()
                for step in steps:
                    if method_of(step) in OPTIMIZES and step.context.in_replica:
                        yield from self._applied(step.node, step.location.unit, strategy_in(step.context.scope))

    def _passed(self, step: SetupCall, *, to_come: bool) -> Iterator[Draft]:
        """The losses that `compile` is passed, if they return one number that Keras scales wrongly."""
        strategy = model_strategy(step)
        if strategy is None and not to_come:
            return
        for loss in leaves(step.arguments.get("loss", step.arguments.get("*1"))):
            function = _function_of(loss)
            reduction = None if function is None else self._losses.get(function)
            sure = step.keras_is_known or step.keras == 2
            if reduction is None or (sure and reduction.mean is (step.keras == 2)):
                continue
            what = "mean" if reduction.mean else "sum"
            who = f"`{name_of(strategy)}`" if strategy is not None else "a strategy"
            wrong = (
                "Keras 3 does not scale it, and the gradients of all replicas are added up: they are as many times too"
                " large as there are replicas"
                if reduction.mean
                else "Keras 2 divides it by the number of replicas: the gradients are as many times too small"
            )
            yield Draft(
                f"under {who} this loss returns the {what} over one replica's part of the batch; {wrong}",
                Effect.DIVERGES,
                _EACH,
                location=reduction.location,
                notes=(DraftNote(step.location, "the model is compiled with it here"),),
                at_most=Severity.WARNING if sure and strategy is not None else Severity.INFO,
                told=Told.ALWAYS if strategy is not None else Told.FOR_TPU_ALONE,
            )

    def _trained(self) -> Iterator[Draft]:
        """The steps of models that Keras runs as a strategy does."""
        for step, unit, strategy in steps_of_models(self._models, self._taken()):
            yield from self._applied(step, unit, strategy)

    def _applied(self, step: cst.Call, unit: Unit, strategy: ApiObject | None) -> Iterator[Draft]:
        """An optimizer's step in a strategy's, if it is by the gradient of a mean."""
        taken = None if strategy is None else self._from.taken(step, unit)
        if strategy is None or taken is None:
            return
        gradient, _ = taken
        mean, _ = self._gradients[gradient]
        yield Draft(
            f"this loss is the mean over one replica's part of the batch, and `{name_of(strategy)}` adds the gradients"
            " of all replicas up: they are as many times too large as there are replicas",
            Effect.DIVERGES,
            _MEAN,
            location=mean,
            notes=(
                DraftNote(gradient, "its gradient is taken here"),
                DraftNote(Location(unit, step), "and applied here"),
            ),
            at_most=Severity.WARNING,
        )

    def _to_come(self, taped: Location) -> Iterator[Draft]:
        """The steps of a program that has no strategy yet."""
        means: dict[Location, None] = {}
        for step, unit in steps_to_come(taped, self._taken()):
            taken = self._from.taken(step, unit)
            means |= {} if taken is None else {self._gradients[taken[0]][0]: None}
        if means:
            first, *others = means
            yield Draft(
                "this loss is the mean over the batch: under a strategy it is that of one replica's part, and the"
                " gradients of all replicas are added up: they are as many times too large as there are replicas",
                Effect.DIVERGES,
                _MEAN,
                location=first,
                notes=tuple(DraftNote(other, "this one, too") for other in others),
                at_most=Severity.INFO,
                told=Told.FOR_TPU_ALONE,
            )

    def _taken(self) -> Iterator[tuple[Location, Context]]:
        yield from ((place, context) for place, (_, context) in self._gradients.items())


def _function_of(loss: Value) -> Function | None:
    """The function of a loss: it, or the method of its class that Keras calls."""
    match loss:
        case FunctionValue(function=function):
            return function
        case Instance(cls=cls) if cls.is_keras("loss"):
            return cls.find("call")
        case _:
            return None
