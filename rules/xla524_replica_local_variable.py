"""Each replica of a strategy assigns data of its own to its copy of a variable, and the copies no longer agree.

## What it does
Reports `assign`, `assign_add` and `assign_sub` of variables that are created without `aggregation`, in a step that
`strategy.run` or Keras runs on several replicas, if the value depends on the replica's part of the batch, or on random
numbers: moving averages and codebooks in a layer's `call`, sums in a metric's `tf.Variable`, thresholds. As
information, where the target is a TPU, also in what trains a program that has no strategy yet.

## What XLA does
XLA compiles it as it stands: the strategy makes the difference. It keeps a copy of the variable on each device, and
nothing is raised when each replica assigns another value to its own. Measured with TensorFlow 2.21, Keras 3.15 and
tf_keras 2.21, a `MirroredStrategy` on two CPU devices, one batch of 8 in `fit`, half of it ones and half threes, and
`self.mean.assign(0.9 * self.mean + 0.1 * tf.reduce_mean(x))` in the `call` of a layer, which leaves 0.2 on one device:

| created by | the copies | read, and in a checkpoint |
| --- | --- | --- |
| `tf.Variable`, `add_weight`, `keras.Variable` | 0.1 and 0.3 | 0.1, that of the first replica |
| `tf.Variable`, `add_weight` of Keras 2: `aggregation=tf.VariableAggregation.MEAN` | 0.2 and 0.2 | 0.2 |
| `add_weight` of Keras 3: `aggregation="mean"` | 0.2 and 0.2 | 0.2 |
| `ONLY_FIRST_REPLICA`, `"only_first_replica"` likewise | 0.1 and 0.1 | 0.1 |

Keras 3 takes the words alone, and Keras 2 TensorFlow's constants alone: each raises `ValueError` of the others.

A metric that adds up 4 ones and 4 threes: `tf.Variable(0.0)` holds 4 and 12, and the result is 4; the metric's own
`add_weight` reads as 16. A variable with `synchronization=tf.VariableSynchronization.ON_READ` and
`aggregation=tf.VariableAggregation.SUM` reads as the sum of its copies. Copies differ likewise where `strategy.run`
runs the step, and in a model's `train_step`. Keras 3's `BatchNormalization` keeps copies that differ, too; that of
Keras 2 reads as their mean.

So what a model computes of such a variable is another thing on each replica, and what is saved has seen one of them,
an eighth of the data with the 8 cores of a TPU. Not measured with a TPU, for lack of one; the variables of its strategy
assign each replica's value, too, where there is no aggregation (their source).

## Example
    class Quantizer(tf.keras.layers.Layer):
        def build(self, shape):
            self.counts = self.add_weight(shape=[64], initializer="zeros", trainable=False)

        def call(self, x):
            codes = self.nearest(x)
            self.counts.assign(0.99 * self.counts + 0.01 * tf.reduce_sum(codes, 0))

## Use instead
    self.counts = self.add_weight(shape=[64], .., aggregation="mean")

In Keras 2, and of a `tf.Variable`, `aggregation=tf.VariableAggregation.MEAN`. The sum instead of the mean where
replicas count with `assign_add`. Or have all replicas assign the same:

    counts = tf.distribute.get_replica_context().all_reduce("SUM", tf.reduce_sum(codes, 0))

## Not flagged
- Values that all replicas have alike: constants, shapes, what is computed of variables alone (moving averages of
  weights), and what `all_reduce` or `merge_call` brings together.
- Variables that are created with an `aggregation` or a `synchronization`, the `add_weight` of metrics, and what
  optimizers keep.
- Layers and metrics of Keras's own.
- Strategies that are not known, and those of one device.

## Fix safety
There is no fix: whether the replicas' values are to be averaged or added up is for the author to say.

## References
- https://www.tensorflow.org/api_docs/python/tf/VariableAggregation
- https://www.tensorflow.org/guide/distributed_training
"""

from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.values import ApiObject
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.replica_assignments import AssignOwnData
from xlalint.analysis.interpreter.setup_events import Program
from xlalint.analysis.library.keras_classes import kind_of
from xlalint.analysis.library.strategies import TRAINING, is_strategy
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

from ._strategies import method_of, model_strategy, name_of, strategy_in

_OF_TENSORFLOW: Final = "aggregation=tf.VariableAggregation.MEAN (SUM for what replicas add up)"
_OF_KERAS_3: Final = 'aggregation="mean" ("sum" for what replicas add up)'
_REDUCED: Final = 'or tf.distribute.get_replica_context().all_reduce("MEAN", value)'
_MAKERS: Final = frozenset(("tf.Variable", "keras.Variable", "keras.backend.variable"))
_ADDS: Final = frozenset(("add_weight", "add_variable"))
# Arguments by which a strategy is told how to keep the copies of a variable alike, and what says nothing of it.
_TOLD: Final = frozenset(("aggregation", "synchronization"))
_UNTOLD: Final = frozenset(("NONE", "none", "AUTO", "auto", "ON_WRITE", "on_write"))
_SCOPE: Final = 'strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])'
_DATA: Final = "tf.concat([tf.ones([4, 3]), 3.0 * tf.ones([4, 3])], 0)"


def _program(update: str, made: str = "tf.Variable(0.0, trainable=False)", n: int = 2, copies: int = 1) -> str:
    return f"""
{_SCOPE if n == 2 else 'strategy = tf.distribute.MirroredStrategy(["CPU:0"])'}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)
    mean = {made}

def follow(variable, value):
    variable.assign_sub(0.1 * (variable - value))

@tf.function
def train(x):
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.reduce_sum(model(x) ** 2, -1), global_batch_size=8)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        {update}
    strategy.run(step, args=(x,))

data = tf.data.Dataset.from_tensors({_DATA}).unbatch().batch(8)
for x in strategy.experimental_distribute_dataset(data):
    train(x)
assert len({{float(tf.reduce_sum(copy)) for copy in mean.values}}) == {copies}
"""


_LAYER: Final = """
class Follow(tf.keras.layers.Layer):
    def build(self, shape):
        self.mean = {made}

    def call(self, x, training=None):
        if training:
            {update}
        return x - self.mean

{scope}    model = tf.keras.Sequential([tf.keras.Input([3]), Follow(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit({data}, tf.ones([8, 1]), batch_size=8, shuffle=False, verbose=0)
"""
_WEIGHT: Final = 'self.add_weight(name="mean", shape=[3], initializer="zeros", trainable=False)'
_FOLLOWS: Final = "self.mean.assign(0.9 * self.mean + 0.1 * tf.reduce_mean(x, 0))"


def _layer(
    made: str = _WEIGHT, update: str = _FOLLOWS, scope: str = f"{_SCOPE}\nwith strategy.scope():\n", copies: int = 0
) -> str:
    left = f"assert len({{float(copy[0]) for copy in model.layers[0].mean.value.values}}) == {copies}\n"
    return _LAYER.format(made=made, update=update, scope=scope, data=_DATA) + (left if copies else "")


def _metric(made: str, total: float) -> str:
    return f"""
class Sum(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="total")
        self.sum = {made}

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.sum.assign_add(tf.reduce_sum(y_true))

    def result(self):
        return tf.convert_to_tensor(self.sum)

{_SCOPE}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=[Sum()])
history = model.fit(tf.ones([8, 3]), {_DATA}[:, :1], batch_size=8, shuffle=False, verbose=0).history
assert history["total"] == [{total}]
"""


class ReplicaLocalVariable(Rule):
    code = "XLA524"
    name = "replica-local-variable"
    handles = (AssignOwnData, Program)
    bad = (
        Bad(
            _program("mean.assign(0.9 * mean + 0.1 * tf.reduce_mean(x))", copies=2),
            ["mean.assign(0.9 * mean + 0.1 * tf.reduce_mean(x))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="aggregation=tf.VariableAggregation.MEAN",
        ),
        Bad(
            _program("follow(mean, tf.reduce_mean(x))", copies=2),
            ["variable.assign_sub(0.1 * (variable - value))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="in a function",
        ),
        Bad(
            _program("mean.assign(tf.random.uniform([]))", copies=2),
            ["mean.assign(tf.random.uniform([]))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="each replica draws numbers of its own",
        ),
        Bad(
            _program("mean.assign_add(loss)", "tf.Variable(0.0, aggregation=tf.VariableAggregation.NONE)", copies=2),
            ["mean.assign_add(loss)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="the default, in words",
        ),
        Bad(
            _layer(copies=2),
            [_FOLLOWS],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help='aggregation="mean"',
            why="a layer that Keras calls",
        ),
        Bad(
            _metric("tf.Variable(0.0)", 4.0),
            ["self.sum.assign_add(tf.reduce_sum(y_true))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="the result is what the first replica has added up",
        ),
        Bad(
            f"""{_SCOPE}
class Model(tf.keras.Sequential):
    def __init__(self, layers):
        super().__init__(layers)
        self.seen = tf.Variable(0.0)

    def train_step(self, data):
        self.seen.assign_add(tf.reduce_sum(data[0]))
        return super().train_step(data)

with strategy.scope():
    model = Model([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit({_DATA}, tf.ones([8, 1]), batch_size=8, shuffle=False, verbose=0)
assert [float(copy) for copy in model.seen.values] == [12.0, 36.0]
""",
            ["self.seen.assign_add(tf.reduce_sum(data[0]))"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="a step of its own, which Keras runs",
        ),
        Bad(
            _layer(scope="if True:\n"),
            [_FOLLOWS],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="the strategy is still to come",
            target="tpu",
        ),
    )
    good = (
        Good(_layer(scope="if True:\n"), Runs(), why="nobody says that there will be several replicas"),
        Good(
            _layer(_WEIGHT.replace("False)", 'False, aggregation="mean")'), copies=1),
            Runs(),
            why="the strategy assigns the mean",
        ),
        Good(
            _program("mean.assign(loss)", "tf.Variable(0.0, trainable=False, aggregation=tf.VariableAggregation.MEAN)"),
            Runs(),
            why="likewise",
        ),
        Good(
            _program(
                "mean.assign_add(tf.reduce_sum(x))",
                "tf.Variable(0.0, trainable=False, synchronization=tf.VariableSynchronization.ON_READ,"
                " aggregation=tf.VariableAggregation.SUM)",
                copies=2,
            ),
            Runs(),
            why="who reads it gets the sum",
        ),
        Good(_program("mean.assign_add(1.0)"), Runs(), why="all replicas count alike"),
        Good(
            _program("follow(mean, tf.norm(model.trainable_variables[0]))"),
            Runs(),
            why="of weights, which are the same on all replicas",
        ),
        Good(
            _program('follow(mean, tf.distribute.get_replica_context().all_reduce("MEAN", tf.reduce_mean(x)))'),
            None,  # a process runs no second group of this kind; tests of their own do, each in one of its own
            why="all replicas assign the same",
        ),
        Good(
            _program(
                "tf.distribute.get_replica_context().merge_call(\n"
                '            lambda s, value: mean.assign(s.reduce("MEAN", value, axis=None)), args=(loss,))'
            ),
            Runs(),
            why="likewise, of what all replicas have",
        ),
        Good(
            _program("mean.assign(loss)", n=1).replace(" for copy in mean.values", " for copy in [mean]"),
            Runs(),
            why="one replica",
        ),
        Good(_metric('self.add_weight(name="sum", initializer="zeros")', 16.0), Runs(), why="a metric's own"),
        Good(
            _layer(
                'self.add_weight(name="u", shape=[1, 3], trainable=False)\n'
                '        self.kernel = self.add_weight(name="kernel", shape=[3, 3])',
                "self.mean.assign(tf.math.l2_normalize(tf.matmul(self.mean, self.kernel)))",
            ),
            Runs(),
            why="of weights alone, as for a spectral norm",
        ),
    )

    def __init__(self) -> None:
        self._assigned: list[AssignOwnData] = []

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case AssignOwnData() if _has_own_copies(event):
                self._assigned.append(event)
            case Program(steps=steps, trains=trains, files=files):
                assigned = [one for one in self._assigned if one.location.path in files]
                under = [model_strategy(step) for step in steps if method_of(step) in TRAINING]
                of_all = under[0] if under and None not in under else None
                for one in assigned:
                    strategy = _strategy_of(one, of_all)
                    if strategy is not None and not one.outside:
                        yield _told(one, strategy)
                if trains and of_all is None and not any(is_strategy(step.result) for step in steps):
                    yield from _to_come([one for one in assigned if _is_run_by_keras(one) or _is_of_own_step(one)])


def _strategy_of(event: AssignOwnData, of_all: ApiObject | None) -> ApiObject | None:
    """The strategy that runs the code on its replicas; `of_all`: that of all models which Keras trains."""
    if event.context.in_replica:
        return strategy_in(event.context.scope)
    return of_all if _is_run_by_keras(event) else None


def _has_own_copies(event: AssignOwnData) -> bool:
    """Whether each replica keeps what it assigns to the variable, by what it was created with."""
    owner, _, method = event.maker.rpartition(".")
    if event.maker not in _MAKERS and not (method in _ADDS and kind_of(owner) in ("layer", "model")):
        return False
    created = event.created.node
    return isinstance(created, cst.Call) and not any(map(_tells, created.args))


def _tells(argument: cst.Arg) -> bool:
    """Whether an argument says, or may say, how the copies are kept alike."""
    if argument.star == "**":
        return True
    if argument.keyword is None or argument.keyword.value not in _TOLD:
        return False
    match argument.value:
        case cst.Attribute(attr=cst.Name(value=told)):
            return told not in _UNTOLD
        case cst.SimpleString(evaluated_value=str() as told):
            return told not in _UNTOLD
        case _:
            return True


def _is_run_by_keras(event: AssignOwnData) -> bool:
    """Whether Keras runs the code when it trains."""
    context = event.context
    return context.by_keras and not (context.unused or context.inferred or context.aside or context.direct)


def _is_of_own_step(event: AssignOwnData) -> bool:
    """Whether a step of the program's own leads to the code, which trains."""
    trail = event.trail
    while trail is not None and not trail.trains:
        trail = trail.parent
    return trail is not None and not (event.context.by_keras or event.context.in_replica)


def _told(event: AssignOwnData, strategy: ApiObject) -> Draft:
    return Draft(
        f"each replica of `{name_of(strategy)}` assigns data of its own to its copy of `{event.target}`, and the copies"
        " no longer agree: what is read or saved is the first replica's",
        Effect.DIVERGES,
        _help(event),
        location=event.location,
        notes=_notes(event),
        at_most=Severity.WARNING,
    )


def _to_come(events: Sequence[AssignOwnData]) -> Iterator[Draft]:
    """The assignments of a program that has no strategy yet."""
    first = next(iter(events), None)
    if first is None:
        return
    others: dict[Location, None] = dict.fromkeys(one.location for one in events if one.location != first.location)
    yield Draft(
        f"under a strategy, each replica assigns data of its own to its copy of `{first.target}`, and the copies no"
        " longer agree: what is read or saved is the first replica's",
        Effect.DIVERGES,
        _help(first),
        location=first.location,
        notes=(*_notes(first), *(DraftNote(other, "here, too") for other in others)),
        at_most=Severity.INFO,
        told=Told.FOR_TPU_ALONE,
    )


def _notes(event: AssignOwnData) -> tuple[DraftNote, ...]:
    return (DraftNote(event.created, "it is created here, without `aggregation`"),)


def _help(event: AssignOwnData) -> str:
    """What to create a variable with: Keras 3 takes words, TensorFlow and Keras 2 its constants, and neither the other
    (measured)."""
    if event.maker == "keras.Variable":
        return f"create the variable with {_OF_KERAS_3}, {_REDUCED}"
    if event.maker.rpartition(".")[2] in _ADDS:
        return f"create it with {_OF_KERAS_3} in Keras 3, tf.VariableAggregation.MEAN in Keras 2, {_REDUCED}"
    return f"create the variable with {_OF_TENSORFLOW}, {_REDUCED}"
