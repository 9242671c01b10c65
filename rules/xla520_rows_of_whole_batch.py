"""A step makes as many rows as the whole batch has, where a strategy gives each replica a part of it.

## What it does
Reports tensors that a training step makes with a constant number of rows (`tf.random.normal([BATCH_SIZE, 100])`), if a
dataset of the program is cut into batches of that number: in the steps of a strategy of several replicas, and, where
the target is a TPU, in the steps that such a strategy will run.

## What XLA does
XLA compiles the step of each replica, whose batch has fewer rows. Measured with TensorFlow 2.21 and Keras 3.15, a
`MirroredStrategy` on two CPU devices and batches of 8, of which each replica gets 4:

- `images + tf.random.normal([8, 3])` in the `train_step` of a model that `fit` trains: "ValueError: Dimensions must be
  equal, but are 4 and 8" with `drop_remainder=True`, and else "InvalidArgumentError: Graph execution error".
- A loss of `tf.ones([8, 1])` and of what the model makes of the batch: ValueError in `strategy.run`.
- `tf.random.normal([8, 3])` that meets nothing of the batch, as what a generator is fed: each replica makes 8 rows. The
  step costs as if the batch of the generator were as many times larger as there are replicas.

## Example
    data = data.batch(BATCH_SIZE, drop_remainder=True)

    def train_step(self, images):
        noise = tf.random.normal([BATCH_SIZE, 100])

## Use instead
    def train_step(self, images):
        noise = tf.random.normal([tf.shape(images)[0], 100])

## Not flagged
- A number that is written as such, or that nobody knows, or is divided by the number of replicas.
- Programs that cut other batches by a number which is not known, or that make the batches of each replica themselves
  (`distribute_datasets_from_function`).
- Functions that do not train: what draws samples makes as many as it wants.

## Fix safety
There is no fix: which tensor tells the rows is for the author to say.

## References
- https://www.tensorflow.org/tutorials/distribute/custom_training
- https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#experimental_distribute_dataset
"""

from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.made_rows import BATCHES, batch_made, first_of_shape, rows_made, size_of
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

from ._strategies import distributes, method_of

_OF_EACH_REPLICA: Final = "distribute_datasets_from_function"
TWO: Final = 'strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])\n'
BATCH: Final = "BATCH_SIZE = 8\n"
MODEL: Final = """
class Denoiser(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, images):
        return self.dense(images)

    def train_step(self, images):
        noise = {noise}
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(images + noise) - noise) ** 2)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {{"loss": loss}}

"""
FIT: Final = """
model.compile("sgd")
model.fit(tf.data.Dataset.from_tensor_slices(tf.ones([32, 3])).batch({size}, drop_remainder=True))
"""
NOISE: Final = "tf.random.normal([BATCH_SIZE, 3])"
MADE: Final = "with strategy.scope():\n    model = Denoiser()\n"
STEP: Final = """
with strategy.scope():
    generator = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(3)])
    optimizer = tf.keras.optimizers.SGD(0.01)

def step(images):
    noise = {noise}
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(generator(noise) ** 2) + 0.0 * tf.reduce_mean(images)
    gradients = tape.gradient(loss, generator.trainable_variables)
    optimizer.apply_gradients(zip(gradients, generator.trainable_variables))

@tf.function
def train(images):
    strategy.run(step, args=(images,))

{data}
for images in strategy.experimental_distribute_dataset(data):
    train(images)
"""
DATA: Final = "data = tf.data.Dataset.from_tensor_slices(tf.ones([32, 3])).batch({size}, drop_remainder=True)"


class RowsOfWholeBatch(Rule):
    code = "XLA520"
    name = "rows-of-whole-batch"
    handles = (Program,)
    bad = (
        Bad(
            TWO + BATCH + STEP.format(noise=f"images + {NOISE}", data=DATA.format(size="BATCH_SIZE")),
            [NOISE],
            Breaks("Dimensions must be equal, but are 4 and 8"),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="tf.shape(batch)[0]",
        ),
        Bad(
            TWO + BATCH + STEP.format(noise="tf.ones([BATCH_SIZE, 3])", data=DATA.format(size="BATCH_SIZE")),
            ["tf.ones([BATCH_SIZE, 3])"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
        ),
        Bad(
            BATCH + MODEL.format(noise=NOISE) + "model = Denoiser()\n" + FIT.format(size="BATCH_SIZE"),
            [NOISE],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            TWO + BATCH + STEP.format(noise=NOISE, data=DATA.format(size="BATCH_SIZE")),
            [NOISE],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            TWO
            + BATCH
            + MODEL.format(noise="tf.random.normal([tf.shape(images)[0], 3])")
            + MADE
            + FIT.format(size="BATCH_SIZE"),
            Runs(),
            why="as many rows as the replica's part of the batch has",
        ),
        Good(
            TWO + BATCH + STEP.format(noise=NOISE, data=DATA.format(size="BATCH_SIZE * strategy.num_replicas_in_sync")),
            Runs(),
            why="each replica gets as many rows",
        ),
        Good(
            TWO
            + BATCH
            + STEP.format(
                noise="tf.random.normal([BATCH_SIZE // strategy.num_replicas_in_sync, 3])",
                data=DATA.format(size="BATCH_SIZE"),
            ),
            Runs(),
            why="each replica makes its part",
        ),
        Good(
            BATCH + MODEL.format(noise=NOISE) + "model = Denoiser()\n" + FIT.format(size="BATCH_SIZE"),
            Runs(),
            why="nobody says that several replicas are to train it",
        ),
        Good(
            TWO + BATCH + STEP.format(noise="tf.ones([8, 3])", data=DATA.format(size="BATCH_SIZE")),
            Runs(),
            why="another eight, as far as anybody sees",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        steps = event.steps if isinstance(event, Program) else ()
        if any(method_of(step) == _OF_EACH_REPLICA for step in steps):
            return
        cut = [step for step in steps if step.api in BATCHES]
        distributed = any(distributes(step.result) for step in steps)
        if distributed and any(batch_made(step.api, step.arguments) is None for step in cut):
            return
        alike: dict[object, list[tuple[SetupCall, SetupCall]]] = {}
        for step in steps:
            whole = next((batch for batch in cut if _is_as_large(step, batch)), None)
            if whole is not None and _trains(step):
                function = step.location.unit.function_around(step.node)
                alike.setdefault((step.location.unit, function), []).append((step, whole))
        for found in alike.values():
            yield _draft(found, Told.ALWAYS if distributed else Told.FOR_TPU_ALONE)


def _draft(found: Sequence[tuple[SetupCall, SetupCall]], told: Told) -> Draft:
    """What is said of the tensors that one function makes."""
    (first, batch), *others = found
    places = dict.fromkeys(step.location for step, _ in others if step.location != first.location)
    return Draft(
        f"`{brief(first.node)}` makes as many rows as the whole batch has, of which each replica of a strategy gets a"
        " part: where both meet it fails, and else each replica does the work of all",
        Effect.TPU,
        "take the number from the batch: tf.shape(batch)[0]",
        location=first.location,
        notes=(
            DraftNote(batch.location, "the batches are as large"),
            *(DraftNote(place, "here, too") for place in places),
        ),
        at_most=Severity.WARNING,
        told=told,
    )


def _is_as_large(step: SetupCall, batch: SetupCall) -> bool:
    """Whether a call makes as many rows as a dataset's batches have, by the same number of the program's."""
    rows = rows_made(step.api, step.arguments)
    if rows in (None, 1) or rows != batch_made(batch.api, batch.arguments):
        return False
    names = _name_of(first_of_shape(step.argument_nodes)), _name_of(size_of(batch.api, batch.argument_nodes))
    return None not in names and (names[0] == names[1] or step.api.split(".")[-2] == "random")


def _name_of(node: cst.BaseExpression | None) -> str | None:
    """The name by which a number goes, of a variable or an attribute."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name.casefold()
        case _:
            return None


def _trains(step: SetupCall) -> bool:
    """Whether a training step leads to a call."""
    trail = step.trail
    while trail is not None and not trail.trains:
        trail = trail.parent
    return trail is not None
