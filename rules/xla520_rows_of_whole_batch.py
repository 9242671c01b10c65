"""A step makes as many rows as the whole batch has, where a strategy gives each replica a part of it.

## What it does
Reports tensors that a training step makes with a constant number of rows (`tf.random.normal([BATCH_SIZE, 100])`,
`tf.eye(BATCH_SIZE)`), or takes to have it (`tf.reshape(x, [BATCH_SIZE, 1])`, `range(BATCH_SIZE)`), if a dataset of the
program, or the arrays that `fit` is passed, are cut into batches of that number, or of one that goes by the same name:
in the steps of a strategy of several replicas, and in the layers and losses that `fit` calls there. Where the target is
a TPU, those that such a strategy will run are reported as information. So are recurrent layers that are `stateful`.

## What XLA does
XLA compiles the step of each replica, whose batch has fewer rows. Measured with TensorFlow 2.21 and Keras 3.15, a
`MirroredStrategy` on two CPU devices and batches of 8, of which each replica gets 4:

- `images + tf.random.normal([8, 3])` in the `train_step` of a model that `fit` trains: "ValueError: Dimensions must be
  equal, but are 4 and 8" with `drop_remainder=True`, and else "InvalidArgumentError: Graph execution error".
- A loss of `tf.ones([8, 1])` and of what the model makes of the batch: ValueError in `strategy.run`.
- `tf.reshape(model(x), [8, 1])`, `tf.ensure_shape`, `tf.unstack(x, 8)`, `tf.split(x, 8)`, and `x[i]` for each `i` of
  `range(8)`: ValueError. `tf.reshape(x, [8, -1])` compiles, and cuts each row in two.
- `tf.random.normal([8, 3])` that meets nothing of the batch, as what a generator is fed: each replica makes 8 rows. The
  step costs as if the batch of the generator were as many times larger as there are replicas.
- `LSTM(.., stateful=True)` of a model for batches of 8: ValueError in `fit` ("the batch size of the input sequences
  must be the same as the batch size of the initial state"). `Input(.., batch_size=8)` alone works.

## Example
    data = data.batch(BATCH_SIZE, drop_remainder=True)

    def train_step(self, images):
        noise = tf.random.normal([BATCH_SIZE, 100])

## Use instead
    def train_step(self, images):
        noise = tf.random.normal([tf.shape(images)[0], 100])

## Not flagged
- A number that is written as such, that a function is passed or reads from a shape, or that is divided by the number
  of replicas.
- Programs that cut other batches by a number which is not known, or that make the batches of each replica themselves
  (`distribute_datasets_from_function`).
- Functions that do not train: what draws samples makes as many as it wants.
- Programs whose strategy distributes no dataset: each replica gets what it is passed (XLA519).

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
from xlalint.analysis.library.made_rows import (
    batch_made,
    counts_rows,
    cuts_batches,
    first_of_shape,
    has_rows,
    keeps_state,
    rows_made,
    shape_of,
    size_of,
    takes_rows,
)
from xlalint.fixes.quoted import brief
from xlalint.fixes.written import written
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

from ._strategies import distributes, method_of

_OF_EACH_REPLICA: Final = "distribute_datasets_from_function"
_BY_KERAS: Final = frozenset(("fit", "evaluate"))  # the loops of Keras's, which call layers, losses and steps
_DISTRIBUTING: Final = _BY_KERAS | {"experimental_distribute_dataset"}  # what gives each replica a part of the batch
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
LAYER: Final = """
class Layer(tf.keras.layers.Layer):
    def call(self, images):
        {call}

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), Layer(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensor_slices((tf.ones([32, 3]), tf.ones([32, 1])))
model.fit(data.batch({size}, drop_remainder=True), verbose=0)
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
ARRAYS: Final = """
class Layer(tf.keras.layers.Layer):
    def call(self, images):
        return images + {noise}

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), Layer(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.ones([32, 3]).numpy(), tf.ones([32, 1]).numpy(), batch_size=BATCH_SIZE, verbose=0)
"""
STATEFUL: Final = """
with strategy.scope():
    inputs = tf.keras.Input(batch_shape=(8, 5, 3))
    model = tf.keras.Sequential([inputs, tf.keras.layers.{layer}, tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensor_slices((tf.ones([32, 5, 3]), tf.ones([32, 1])))
model.fit(data.batch(8, drop_remainder=True), verbose=0)
"""
READ: Final = """
import json
from types import SimpleNamespace

settings = SimpleNamespace(**json.loads('{"batch_size": 8}'))
"""
OWN_NOISE: Final = "tf.random.normal([settings.batch_size, 3])"
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
            severity=Severity.INFO,
            target="tpu",
        ),
        Bad(
            TWO + BATCH + STEP.format(noise="tf.reshape(images, (BATCH_SIZE, 3))", data=DATA.format(size="BATCH_SIZE")),
            ["tf.reshape(images, (BATCH_SIZE, 3))"],
            Breaks("Cannot reshape a tensor with 12 elements to shape [8,3]"),
            effect=Effect.TPU,
            severity=Severity.WARNING,
        ),
        Bad(
            TWO
            + BATCH
            + STEP.format(noise="tf.linalg.matmul(tf.eye(BATCH_SIZE), images)", data=DATA.format(size="BATCH_SIZE")),
            ["tf.eye(BATCH_SIZE)"],
            Breaks("Dimensions must be equal, but are 8 and 4"),
            effect=Effect.TPU,
            severity=Severity.WARNING,
        ),
        Bad(
            TWO
            + BATCH
            + STEP.format(
                noise="tf.stack([images[row] for row in range(BATCH_SIZE)])", data=DATA.format(size="BATCH_SIZE")
            ),
            ["range(BATCH_SIZE)"],
            Breaks("slice index 4 of dimension 0 out of bounds"),
            effect=Effect.TPU,
            severity=Severity.WARNING,
        ),
        Bad(
            TWO
            + "settings = {'batch_size': 8}\n"
            + LAYER.format(
                call="size = [settings['batch_size'], 3]\n        return images + tf.reduce_mean(tf.zeros(size))",
                size="settings['batch_size']",
            ),
            ["tf.zeros(size)"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why="a layer, in a step of Keras's; the number goes by a key, and the shape by a name",
        ),
        Bad(
            TWO + BATCH + ARRAYS.format(noise="tf.reduce_mean(tf.zeros([BATCH_SIZE, 3]))"),
            ["tf.zeros([BATCH_SIZE, 3])"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why="Keras cuts arrays into batches",
        ),
        Bad(
            READ + MODEL.format(noise=OWN_NOISE) + "model = Denoiser()\n" + FIT.format(size="settings.batch_size"),
            [OWN_NOISE],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.INFO,
            target="tpu",
            why="a number of a file, which goes by one name",
        ),
        Bad(
            TWO + STATEFUL.format(layer="LSTM(4, stateful=True)"),
            ["tf.keras.layers.LSTM(4, stateful=True)"],
            Breaks("the batch size of the input sequences must be the same as the batch size of the initial state"),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="stateful=False",
        ),
    )
    good = (
        Good(TWO + STATEFUL.format(layer="LSTM(4)"), Runs(), why="no state is kept from batch to batch"),
        Good(
            READ
            + MODEL.format(noise="tf.random.normal([images.shape[0], 3])")
            + "model = Denoiser()\n"
            + FIT.format(size="settings.batch_size"),
            Runs(),
            target="tpu",
            why="as many as the replica's part of the batch has, whose number Python knows",
        ),
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
            TWO
            + BATCH
            + LAYER.format(
                call="return tf.reshape(images, [BATCH_SIZE, 3])", size="BATCH_SIZE * strategy.num_replicas_in_sync"
            ),
            Runs(),
            why="each replica gets as many rows",
        ),
        Good(
            TWO + BATCH + LAYER.format(call="return tf.reshape(images, [-1, 3]) / BATCH_SIZE", size="BATCH_SIZE"),
            Runs(),
            why="a sum is divided by the size of the whole batch",
        ),
        Good(
            TWO
            + BATCH
            + STEP.format(noise="tf.reshape(images, (BATCH_SIZE, 3))", data=DATA.format(size="BATCH_SIZE")).replace(
                "strategy.experimental_distribute_dataset(data)", "data"
            ),
            None,
            why="each replica gets the whole batch",
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
        cut = [step for step in steps if cuts_batches(step.api, step.arguments)]
        distributed = any(distributes(step.result) for step in steps)
        if any(method_of(step) in _BY_KERAS for step in steps):
            yield from _states(steps, distributed=distributed)
        if distributed and (
            any(batch_made(step.api, step.arguments) is None for step in cut)
            or not any(method_of(step) in _DISTRIBUTING for step in steps)
        ):
            return
        of_keras = any(method_of(step) in _BY_KERAS for step in steps)
        alike: dict[object, list[tuple[SetupCall, SetupCall]]] = {}
        for step in steps:
            whole = next((batch for batch in cut if _is_as_large(step, batch)), None)
            if whole is not None and (_trains(step) or (of_keras and step.context.keras is not None)):
                function = step.location.unit.function_around(step.node)
                alike.setdefault((step.location.unit, function), []).append((step, whole))
        for found in alike.values():
            yield _draft(found, distributed=distributed)


def _draft(found: Sequence[tuple[SetupCall, SetupCall]], *, distributed: bool) -> Draft:
    """What is said of the rows that one function makes, or takes tensors to have."""
    (first, batch), *others = sorted(found, key=lambda each: not takes_rows(each[0].api))
    places = dict.fromkeys(step.location for step, _ in others if step.location != first.location)
    does = "is for" if takes_rows(first.api) else "counts" if counts_rows(first.api) else "makes"
    meets = (
        "where both meet it fails, and else each replica does the work of all"
        if does == "makes"
        else "it fails, or takes other values for a row"
    )
    return Draft(
        f"`{brief(first.node)}` {does} as many rows as the whole batch has, of which each replica of a strategy gets a"
        f" part: {meets}",
        Effect.TPU,
        "take the number from the batch: tf.shape(batch)[0]",
        location=first.location,
        notes=(
            DraftNote(batch.location, "the batches are as large"),
            *(DraftNote(place, "here, too") for place in places),
        ),
        at_most=Severity.WARNING if distributed else Severity.INFO,
        told=Told.ALWAYS if distributed else Told.FOR_TPU_ALONE,
    )


def _states(steps: Sequence[SetupCall], *, distributed: bool) -> Iterator[Draft]:
    """What is said of the first of the layers that keep a state for each row."""
    found = [step for step in steps if keeps_state(step.api, step.arguments)]
    for first in found[:1]:
        others = dict.fromkeys(each.location for each in found if each.location != first.location)
        yield Draft(
            f"`{brief(first.node)}` keeps a state for each row of the whole batch, of which each replica of a strategy"
            " gets a part: Keras raises ValueError",
            Effect.TPU,
            "stateful=False, with longer sequences",
            location=first.location,
            notes=tuple(DraftNote(place, "here, too") for place in others),
            at_most=Severity.WARNING if distributed else Severity.INFO,
            told=Told.ALWAYS if distributed else Told.FOR_TPU_ALONE,
        )


def _is_as_large(step: SetupCall, batch: SetupCall) -> bool:
    """Whether a call makes as many rows as batches have, by the same number of the program's, or one that goes by the
    same name and is set outside."""
    rows, size = rows_made(step.api, step.arguments), batch_made(batch.api, batch.arguments)
    if rows == 1 or rows != size or not has_rows(step.api, step.arguments):
        return False
    shape = shape_of(step.api, step.argument_nodes, step.arguments)
    first = None if shape is None else first_of_shape(written(step.location, shape))
    if rows is None and not _is_set_outside(step, first):
        return False
    names = _name_of(first), _name_of(size_of(batch.api, batch.argument_nodes))
    return None not in names and (names[0] == names[1] or (rows is not None and step.api.split(".")[-2] == "random"))


def _is_set_outside(step: SetupCall, rows: cst.BaseExpression | None) -> bool:
    """Whether a number is no name of the function that a call stands in, such as that of a batch which it is passed."""
    function = step.location.unit.function_around(step.node)
    match rows:
        case cst.Attribute() | cst.Subscript():
            return True
        case cst.Name(value=name) if function is not None:
            bound = (name for target in cst.targets_in(function) for name in cst.names_in(target))
            return name not in {*bound, *(each.name.value for each in function.params.params)}
        case _:
            return False


def _name_of(node: cst.BaseExpression | None) -> str | None:
    """The name by which a number goes, of a variable, an attribute or a key."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name.casefold()
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return str(key.evaluated_value).casefold()
        case _:
            return None


def _trains(step: SetupCall) -> bool:
    """Whether a training step leads to a call."""
    trail = step.trail
    while trail is not None and not trail.trains:
        trail = trail.parent
    return trail is not None
