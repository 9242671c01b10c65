"""A strategy runs a step with batches of a dataset that is not distributed: each replica gets all of the batch.

## What it does
Reports `strategy.run(step, args=..)` of several replicas, if what the step is passed is an element of a
`tf.data.Dataset` that went through no `experimental_distribute_dataset` or `distribute_datasets_from_function`.

## What XLA does
XLA compiles it as it stands: the strategy makes the difference. It passes each replica what it is passed itself, and
only values of a distributed dataset have a part for each replica. Measured with TensorFlow 2.21, a `MirroredStrategy`
on two CPU devices, one step of SGD with batches of 8 and a loss by `compute_average_loss(.., global_batch_size=8)`:

| the step is passed | rows of each replica | step of the weights |
| --- | --- | --- |
| a batch of the dataset | 8 | 0.080 |
| a batch of `strategy.experimental_distribute_dataset(dataset)` | 4 | 0.040 |

So the 8 cores of a TPU compute the same thing 8 times, and their gradients are added up: a step takes as long as on one
core, and is 8 times as large.

## Example
    for batch in dataset:
        strategy.run(step, args=(batch,))

## Use instead
    for batch in strategy.experimental_distribute_dataset(dataset):
        strategy.run(step, args=(batch,))

## Not flagged
- Information only: steps that do not train, which cost more and give the same results several times.
- Tensors that are computed, also of a batch: the code may have cut out the part of each replica.
- Datasets, strategies and steps that are not known, and strategies of one device.

## Fix safety
There is no fix: the learning rate may have been found with the longer steps.

## References
- https://www.tensorflow.org/tutorials/distribute/custom_training
- https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#experimental_distribute_dataset
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import ApiObject
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.pipelines import is_whole
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.optimizers import OPTIMIZES
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity
from xlalint.syntax import nodes as cst

from ._strategies import PASSED, distributes, made_note, method_of, name_of, passed_by, places_of

_RUN: Final = ("experimental_run_v2", "run")
_BODY: Final = """
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    optimizer = tf.keras.optimizers.SGD(0.01)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(tf.reduce_sum((model(x) - y) ** 2, -1), global_batch_size=8)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

dataset = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(2)
"""
_TWO: Final = f'strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])\n{_BODY}'
_ONE: Final = f'strategy = tf.distribute.MirroredStrategy(["CPU:0"])\n{_BODY}'
_TRAIN: Final = """
@tf.function
def train(x, y):
    return strategy.run(step, args=(x, y))
"""
_FROM_ITERATOR: Final = """
@tf.function
def train(iterator):
    return strategy.run(step, args=next(iterator))
"""
_TRAINER: Final = """
class Trainer:
    def __init__(self, data):
        self.data = data.map(lambda x, y: (x, y))

    @tf.function
    def train(self, batch):
        return strategy.run(step, kwargs={"x": batch[0], "y": batch[1]})

    def fit(self):
        for number, batch in enumerate(self.data):
            self.train(batch)

Trainer(dataset).fit()
"""


def _bad(code: str, place: str, why: str = "", severity: Severity = Severity.WARNING) -> Bad:
    return Bad(code, [place], Runs(), effect=Effect.DIVERGES, severity=severity, why=why)


class UndistributedBatch(Rule):
    code = "XLA519"
    name = "undistributed-batch"
    handles = (Program,)
    bad = (
        _bad(f"{_TWO}{_TRAIN}\nfor x, y in dataset:\n    train(x, y)\n", "x, y"),
        _bad(
            f"{_TWO}{_FROM_ITERATOR}\niterator = iter(dataset)\nfor _ in range(2):\n    train(iterator)\n",
            "next(iterator)",
        ),
        _bad(
            f"{_TWO}\n@tf.function\ndef epoch(data):\n    for batch in data:\n        strategy.run(step, args=batch)\n"
            "\nepoch(dataset)\n",
            "batch",
            why="a loop in the graph",
        ),
        _bad(
            f"{_TWO}{_TRAINER}",
            '{"x": batch[0], "y": batch[1]}',
            why="by name, in a class",
        ),
        _bad(
            f"{_TWO}\n@tf.function\ndef show(x):\n    return strategy.run(model, args=(x,))\n"
            "\nshow(next(iter(dataset))[0])\n",
            "x,",
            why="nothing is trained",
            severity=Severity.INFO,
        ),
    )
    good = (
        Good(
            f"{_TWO}{_TRAIN}\nfor x, y in strategy.experimental_distribute_dataset(dataset):\n    train(x, y)\n", Runs()
        ),
        Good(
            f"{_TWO}{_FROM_ITERATOR}\niterator = iter(strategy.experimental_distribute_dataset(dataset))\n"
            "train(iterator)\n",
            Runs(),
        ),
        Good(
            f"{_TWO}{_FROM_ITERATOR}\ndata = strategy.distribute_datasets_from_function(lambda context: dataset)\n"
            "train(iter(data))\n",
            Runs(),
            why="batches of each replica's size",
        ),
        Good(
            f"{_TWO}{_FROM_ITERATOR}\nimport inputs\n\n"
            "data = strategy.distribute_datasets_from_function(inputs.of_worker)\ntrain(iter(data))\n",
            None,
            why="the same of a function that is not seen",
        ),
        Good(
            f"""{_TWO}{_TRAIN}
def part(batch, context):
    size = len(batch) // context.num_replicas_in_sync
    return batch[context.replica_id_in_sync_group * size:][:size]

for x, y in dataset:
    parts = [
        strategy.experimental_distribute_values_from_function(lambda context: part(it, context)) for it in (x, y)
    ]
    train(*parts)
""",
            Runs(),
            why="parts that the code cuts out itself",
        ),
        Good(f"{_ONE}{_TRAIN}\nfor x, y in dataset:\n    train(x, y)\n", Runs(), why="one replica"),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        steps = event.steps if isinstance(event, Program) else ()
        trained = {place for step in steps if method_of(step) in OPTIMIZES for place in places_of(step)}
        for step in steps:
            match step.owner:
                case ApiObject() as strategy if method_of(step) in _RUN and distributes(strategy):
                    for name in PASSED:
                        if is_whole(step.arguments.get(name)):
                            given = passed_by(step.node, name)
                            yield _draft(step, strategy, given, step.location in trained)


def _draft(step: SetupCall, strategy: ApiObject, given: cst.BaseExpression, trains: bool) -> Draft:
    return Draft(
        f"`{brief(given)}` is a batch of a dataset that is not distributed: each replica of `{name_of(strategy)}`"
        " computes all of it",
        Effect.DIVERGES,
        "for batch in strategy.experimental_distribute_dataset(dataset): ..",
        location=step.location.at(given),
        notes=made_note(strategy, "the strategy is created here"),
        at_most=Severity.WARNING if trains else Severity.INFO,
    )
