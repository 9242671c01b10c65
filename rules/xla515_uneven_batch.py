"""A batch does not divide among the replicas of a strategy.

## What it does
Reports batches that `fit`, `evaluate` or a loop of your own distributes over the replicas of a `TPUStrategy`, or of a
`MirroredStrategy` with a list of devices: batches of one example, and with Keras 3 those of a number that does not
divide among the replicas. How many a TPU has is not known: no odd number divides among two, four or eight. Many have
eight (v2-8, v3-8, v5e-8), so batches of two, four and six are reported as well, for information, and with Keras 2 all
that are smaller than eight. Where the target is a TPU, all batches of a program that trains without a strategy are
reported once, as information, that eight do not divide.

## What XLA does
XLA is not asked. A strategy cuts each batch into as many parts as it has replicas. Measured with TensorFlow 2.21 on two
CPU devices:

- `fit`, `evaluate` and validation with Keras 3.15, for arrays as for datasets: if the first batch has parts of two
  sizes, InvalidArgumentError ("Inputs to operation AddN of type AddN must have the same size and shape") is raised
  before the first step. A smaller last batch does no harm, nor does `predict`.
- Batches of fewer examples than replicas with Keras 2: the other replicas get none and do nothing, in each step. A loss
  that takes a mean of its own (`tf.reduce_mean`), or a `train_step` that does, is reported as nan. Parts of two sizes
  work.
- A loop of your own over `experimental_distribute_dataset` gives the other replicas tensors with 0 rows, of which a
  mean is nan.
- With eight CPU devices batches of 2, 4 and 6 do the same in each of these ways, those of 8 and 16 do not. With
  Keras 2 so do those of 3.

Not measured with a `TPUStrategy`, for lack of a TPU.

## Example
    dataset = dataset.batch(1)
    with strategy.scope():
        model = build()
        model.compile("adam", "mse")
    model.fit(dataset)

## Use instead
    dataset = dataset.batch(1 * strategy.num_replicas_in_sync, drop_remainder=True)

## Not flagged
- Sizes that are not known, or that a setting decides (`--batch_size`).
- A `MirroredStrategy` of all devices of a machine, of which nobody knows how many there are. If the target is a TPU,
  what is said is of the `TPUStrategy` that takes its place.
- `predict`, and datasets of `distribute_datasets_from_function`, which makes the batch of each replica.

## Fix safety
Shown only: a larger batch trains differently, so the learning rate may have to change with it.

## References
- https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#experimental_distribute_dataset
- https://www.tensorflow.org/tutorials/distribute/input
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xlalint.analysis.domain.values import Setting, Static, Value
from xlalint.analysis.domain.varying_shapes import variations_of
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.made_rows import BATCHES, batch_made, number_of
from xlalint.analysis.library.strategies import is_tpu
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told

from ._pipelines import makes_images
from ._strategies import devices_of, distributes, is_of_gpus, method_of, model_strategy, name_of, shows_strategy

DATA = """
import numpy as np

x, y = np.ones([12, 3], "float32"), np.ones([12, 1], "float32")
data = tf.data.Dataset.from_tensor_slices((x, y))
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
"""
ALONE = """
import numpy as np

x, y = np.ones([16, 3], "float32"), np.ones([16, 1], "float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch({})
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""
ALL_DEVICES = DATA.replace('["CPU:0", "CPU:1"]', "")
LOOP = """
@tf.function
def train(batch):
    return strategy.run(tf.reduce_mean, args=(batch,))

for batch in strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch({})):
    train(batch)
"""
TPU = """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
SMALL = """
BATCH_SIZE = 4
images = tf.data.TFRecordDataset("images.tfrecord").map(tf.io.parse_tensor)
batches = images.batch({}, drop_remainder=True)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(batches)
"""
SMALL_LOOP = """
def step(batch):
    return tf.reduce_mean(batch)

@tf.function
def train(batch):
    return strategy.run(step, args=(batch,))

for batch in strategy.experimental_distribute_dataset(tf.data.Dataset.range(4096).batch({}, drop_remainder=True)):
    train(batch)
"""
UNEVEN = Breaks("Inputs to operation AddN of type AddN must have the same size and shape")
RAISES = "Keras 3 raises InvalidArgumentError before the first step"
IDLE = "all replicas but one get no examples and do nothing, and a mean over theirs is nan"
NO_ROWS = "some get no rows, and a mean over theirs is nan"
EIGHT = 8  # replicas that many TPUs have
DISTRIBUTES = "experimental_distribute_dataset"


class UnevenBatch(Rule):
    code = "XLA515"
    name = "uneven-batch"
    handles = (Program,)
    bad = (
        Bad(
            f"{DATA}\nmodel.fit(data.batch(1), verbose=0)\n",
            ["data.batch(1)"],
            UNEVEN,
            effect=Effect.FAILS,
            help="num_replicas_in_sync",
        ),
        Bad(
            f"{DATA}\nmodel.fit(data.shuffle(9).batch(3).prefetch(1), verbose=0)\n",
            ["data.shuffle(9).batch(3)"],
            UNEVEN,
            effect=Effect.FAILS,
            why="one replica gets two examples, the other one",
        ),
        Bad(
            f"{DATA}\nmodel.fit(x, y, batch_size=3, verbose=0)\n",
            ["model.fit(x, y, batch_size=3, verbose=0)"],
            UNEVEN,
            effect=Effect.FAILS,
        ),
        Bad(
            f"{DATA}\nmodel.fit(data.batch(4), validation_data=data.batch(3), verbose=0)\n",
            ["data.batch(3)"],
            UNEVEN,
            effect=Effect.FAILS,
        ),
        Bad(
            DATA.partition("with")[0] + LOOP.format(1),
            ["tf.data.Dataset.range(4).batch(1)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
images = tf.data.TFRecordDataset("images.tfrecord").map(tf.io.parse_tensor).batch(1)
paintings = tf.data.TFRecordDataset("paintings.tfrecord").map(tf.io.parse_tensor).batch(1)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.data.Dataset.zip((images, paintings)))
""",
            ['tf.data.TFRecordDataset("images.tfrecord").map(tf.io.parse_tensor).batch(1)'],
            None,
            severity=Severity.WARNING,
            why="needs a TPU",
        ),
        Bad(
            f"{TPU}{SMALL.format('BATCH_SIZE')}",
            ["images.batch(BATCH_SIZE, drop_remainder=True)"],
            None,
            effect=Effect.FAILS,
            severity=Severity.INFO,
            why="needs a TPU; one of eight has more replicas than a batch has examples",
        ),
        Bad(
            f"{TPU}{SMALL_LOOP.format(6)}",
            ["tf.data.Dataset.range(4096).batch(6, drop_remainder=True)"],
            None,
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="needs a TPU",
        ),
        Bad(
            """
data = tf.data.TFRecordDataset("images.tfrecord").map(tf.io.parse_tensor)
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(data.batch(1))
""",
            ["data.batch(1)"],
            None,
            severity=Severity.WARNING,
            why="it is about moving to a TPU",
            target="tpu",
        ),
        Bad(
            f"{ALONE.format(4)}\nmodel.fit(data, verbose=0)\n",
            ["4"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.INFO,
            why="the strategy is still to come",
            target="tpu",
        ),
    )
    good = (
        Good(f"{ALONE.format(4)}\nmodel.fit(data, verbose=0)\n", Runs(), why="no TPU is to train it"),
        Good(f"{ALONE.format(16)}\nmodel.fit(data, verbose=0)\n", Runs(), target="tpu"),
        Good(f"{ALONE.format(4)}\nmodel.predict(x, verbose=0)\n", Runs(), target="tpu", why="nothing trains"),
        Good(f"{TPU}{SMALL_LOOP.format(16)}", None, why="each of eight gets two"),
        Good(
            f"{TPU}{SMALL.format('BATCH_SIZE * strategy.num_replicas_in_sync')}",
            None,
            why="four examples for each, however many there are",
        ),
        Good(f"{DATA}\nmodel.fit(data.batch(6), validation_data=data.batch(2), verbose=0)\n", Runs()),
        Good(
            f"{DATA}\nmodel.fit(data.batch(1 * strategy.num_replicas_in_sync), verbose=0)\n",
            Runs(),
            why="one example for each",
        ),
        Good(
            f"{DATA}\nmodel.predict(data.map(lambda x, y: x).batch(1), verbose=0)\n",
            Runs(),
            why="Keras puts it together",
        ),
        Good(
            f"{DATA}\nmodel.fit(data.take(7).batch(4), verbose=0)\n",
            Runs(),
            why="the last batch, of three, is no matter",
        ),
        Good(DATA.partition("with")[0] + LOOP.format(3), Runs(), why="no part is empty"),
        Good(
            f"{ALL_DEVICES}\nmodel.fit(data.batch(1), verbose=0)\n",
            None,
            why="how many devices there are is not known",
        ),
        Good(
            f"{DATA.replace('strategy.scope()', 'tf.name_scope(str(1))')}\nmodel.fit(data.batch(1), verbose=0)\n",
            Runs(),
            why="no strategy trains it",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps, trains=trains):
                seen: set[Location] = set()
                for step in steps:
                    yield from _told(step, seen)
                if trains and not any(shows_strategy(step) for step in steps):
                    yield from _to_come(steps)


def _to_come(steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """The batches of a program that has no strategy yet, and needs one for a TPU."""
    sizes: dict[Location, tuple[int, str]] = {}
    for step in steps:
        if step.api in BATCHES:
            made = batch_made(step.api, step.arguments)
        else:
            sized = method_of(step) in ("fit", "evaluate") or makes_images(step)
            made = number_of(step.arguments.get("batch_size")) if sized else None
        place = step.location.at(step.argument_nodes.get("batch_size", step.node))  # what is said of the call stays
        match made:
            case int() as size if size % EIGHT:
                sizes[place] = size, ""
            case Setting(int() as size, name) if size % EIGHT:
                sizes[place] = size, f" (the default of {name})"
    if sizes:
        (first, (size, setting)), *others = sizes.items()
        yield Draft(
            f"batches of {size}{setting} do not divide among the replicas of a TPU that has eight",
            Effect.TPU,
            "a multiple of eight, or SIZE * strategy.num_replicas_in_sync",
            location=first,
            notes=tuple(DraftNote(other, f"batches of {more}") for other, (more, _) in others),
            at_most=Severity.INFO,
            told=Told.FOR_TPU_ALONE,
        )


def _told(step: SetupCall, seen: set[Location]) -> Iterator[Draft]:
    method = method_of(step)
    if method == DISTRIBUTES:
        strategy = step.owner if step.owner is not None and distributes(step.owner) else None
    else:
        strategy = model_strategy(step) if method in ("fit", "evaluate") else None
    if strategy is None:
        return
    for size, location in _sizes(step):
        draft = _draft(step, strategy, size, location, own=method == DISTRIBUTES)
        if draft is not None and location not in seen:
            seen.add(location)
            yield replace(draft, told=Told.FOR_TPU_ALONE) if is_of_gpus(strategy) else draft


def _sizes(step: SetupCall) -> Iterator[tuple[int, Location]]:
    """The sizes of the batches that a call is passed, or makes of arrays, each with the place that says so."""
    match step.arguments.get("batch_size"):
        case Static(int() as size, setting=None):
            yield size, step.location
    for name in ("x", "dataset", "validation_data", "*0"):
        for each in variations_of(step.arguments.get(name)):
            if each.kind == "batch" and each.axis == 0:
                yield int(each.detail), each.location


def _draft(step: SetupCall, strategy: Value, size: int, location: Location, *, own: bool) -> Draft | None:
    devices, tpu = devices_of(strategy), is_tpu(strategy) or is_of_gpus(strategy)
    few = tpu and not devices and size < EIGHT and (own or size % 2 == 0 or step.keras == 2)
    fits = size % (devices or 2) == 0 or (own and size > 1)
    if not few and (fits or not (devices > 1 or tpu)):
        return None
    what = f"batches of {size} do not divide among the replicas of `{name_of(strategy)}`"
    if is_of_gpus(strategy):
        what = f"batches of {size} do not divide among the replicas of the `TPUStrategy` that a TPU needs here"
    if few and size > 1:
        return _few(step, what, size, location, own=own)
    effect, most = Effect.FAILS, Severity.ERROR if devices and step.keras_is_known else Severity.WARNING
    if own or (step.keras == 2 and size == 1):
        what, effect, most = f"{what}: {IDLE}", Effect.DIVERGES, Severity.WARNING
    elif step.keras == 2:
        return None
    else:
        what = f"{what}: {RAISES}"
        if not step.keras_is_known:
            what += f"; with Keras 2, {IDLE}" if size == 1 else "; Keras 2 takes them"
            most = Severity.WARNING if size == 1 else Severity.INFO
    return _distributed(step, what, effect, size, location, most)


def _few(step: SetupCall, what: str, size: int, location: Location, *, own: bool) -> Draft | None:
    """Batches that are smaller than a TPU of eight has replicas."""
    diverges = own or step.keras == 2
    what = f"{what}, where it has eight: {NO_ROWS if diverges else RAISES}"
    if not diverges and not step.keras_is_known:
        what += f"; with Keras 2, {NO_ROWS}"
    return _distributed(step, what, Effect.DIVERGES if diverges else Effect.FAILS, size, location, Severity.INFO)


def _distributed(step: SetupCall, what: str, effect: Effect, size: int, location: Location, most: Severity) -> Draft:
    notes = () if location == step.location else (DraftNote(step.location, "the strategy distributes them here"),)
    help = f"batches of {size} * strategy.num_replicas_in_sync"
    return Draft(what, effect, help, location=location, notes=notes, at_most=most)
