"""A program trains without a TPU strategy, or beside the one that it creates: the TPU does nothing.

## What it does
Reports a `TPUStrategy` in a program that trains a model, where neither model nor optimizer is created in
`strategy.scope()`, and nothing is run by `strategy.run`. It also reports a step of your own that trains what was
created in the scope, but is called without `strategy.run`.

Where the target is a TPU, it says once, as information, that a program which trains has no strategy for one yet: that
is the first thing to write when the program moves.

## What XLA does
XLA is not asked. A strategy has no effect on what was created outside its scope, and no error says so. Measured with
TensorFlow 2.21 and Keras 3.15, on two CPU devices:

- Model, optimizer and training outside: `model.fit` and a step of your own run on one device, with plain variables.
- A step that is called without `strategy.run` runs once, not once for each device, also if its model and optimizer were
  created in the scope. An optimizer that is not built yet raises 'Need to be inside "with strategy.scope()"'.

Not measured, for lack of a TPU: TensorFlow's guide says that after the initialisation you place operations on a TPU by
a strategy or by `tf.device`. What neither of them places runs on the processor of the host. A
`MirroredStrategy` takes GPUs, or the processor where there are none (measured without one).

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
- Programs that only make the strategy, or do not train.
- Programs that name a device (`tf.device`), unless it is a CPU: that places operations without a strategy.
- A model from outside that is trained in the scope (XLA502).
- Programs without a strategy, if no TPU is the target, or if they pass what may be one to code that is not seen.

## Fix safety
Shown only: the model, its optimizer and `compile` have to move into the scope together.

## References
- https://www.tensorflow.org/guide/tpu
- https://www.tensorflow.org/guide/distributed_training
- https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.values import NONE, Static, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, Program, SetupCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.strategies import RUNS, is_strategy, is_tpu, making_of, passes_strategy
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Severity, Told
from xlalint.syntax import nodes as cst

from ._strategies import OF_GPUS, is_of_gpus, made_near, made_note, method_of, names_tpu, strategy_in

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
_TRAINS: Final = frozenset(("fit", "train_on_batch"))
_OPTIMIZES: Final = frozenset(("apply", "apply_gradients", "minimize"))
_SHOWN_BY: Final = ("builtins.", "logging.", "absl.logging.")
_DEVICE: Final = "tf.device"
_CPU: Final = re.compile(r"(?:^|/)(?:device:)?cpu(?::(?:\d+|\*))?$", re.IGNORECASE)
FIRST: Final = (
    "first `tf.tpu.experimental.initialize_tpu_system(resolver)` and `tf.distribute.TPUStrategy(resolver)`, then "
    "create model and optimizer in `with strategy.scope():`"
)


class IdleTpu(Rule):
    code = "XLA512"
    name = "idle-tpu"
    handles = (Program,)
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
strategy = tf.distribute.MirroredStrategy()
print(strategy)
with strategy.scope():
    model = {MODEL}
    model.compile("adam", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            ["tf.distribute.MirroredStrategy()"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
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
model = {MODEL}
print(model.predict(tf.ones([8, 3])))
""",
            None,
            why="nothing is trained",
            target="tpu",
        ),
        Good(
            f"""
with tf.device("TPU:0"):
    model = {MODEL}
    model.compile("adam", "mse")
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
""",
            None,
            why="it names a device",
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

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps, trains=True, taped=taped) if not any(map(names_tpu, steps)):
                yield from _none_made(steps, taped)
            case Program(steps=steps):
                made = [step for step in steps if is_strategy(step.result) and is_tpu(step.result)]
                if made and not any(map(_runs, steps)):
                    yield from _unused(made, steps)
                    yield from _called_plainly(steps)


def _none_made(steps: Sequence[SetupCall], taped: Location | None) -> Iterator[Draft]:
    """A program that trains on what TensorFlow takes by default, or by a strategy for other devices."""
    trained = next(filter(_trains, steps), None)
    if any(map(_may_place, steps)):
        return
    used = [step for step in steps if is_strategy(step.result) or (step.owner is not None and is_strategy(step.owner))]
    made = [step for step in used if step.api in OF_GPUS]
    if made and all(step in made or is_of_gpus(step.owner) for step in used):
        yield _to_move(made[0].location, f"a `{method_of(made[0])}` takes no TPU")
    elif used or any(step.context.scope for step in steps):
        return
    elif trained is not None:
        name = trained.node.func.attr if isinstance(trained.node.func, cst.Attribute) else trained.node
        yield _to_move(trained.location.at(name), "no strategy puts this on a TPU")
    elif taped is not None:
        yield _to_move(taped, "no strategy puts this on a TPU")


def _may_place(step: SetupCall) -> bool:
    """Whether a call names a device, or passes what may be a strategy to code that is not seen."""
    return _places(step) or (passes_strategy(step.arguments) and not _is_shown(step))


def _to_move(place: Location, message: str) -> Draft:
    """What a program needs first when it moves."""
    return Draft(
        f"{message}: it trains on the processor of the host",
        Effect.TPU,
        FIRST,
        location=place,
        at_most=Severity.INFO,
        told=Told.FOR_TPU_ALONE,
    )


def _runs(step: SetupCall) -> bool:
    """Whether a call has a strategy run something, or may: it passes the strategy to code that is not seen."""
    if step.owner is not None and is_strategy(step.owner):
        return method_of(step) != "scope"
    return passes_strategy(step.arguments) and not _is_shown(step)


def _is_shown(step: SetupCall) -> bool:
    """Whether a call shows what it is passed, and does nothing else with it."""
    return step.api.startswith(_SHOWN_BY)


def _unused(made: Sequence[SetupCall], steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """A strategy in whose scope nothing is made, of a program that trains."""
    if any(_uses_scope(step) or _places(step) for step in steps):
        return
    trained = next((step for step in steps if step.order > made[0].order and _trains_outside(step)), None)
    if trained is not None:
        yield Draft(
            "the TPU of this strategy does nothing: the model is created, and trained, outside its scope",
            Effect.TPU,
            "create model and optimizer in `with strategy.scope():`, and have `fit` or `strategy.run(step, ..)` train",
            location=made[0].location,
            notes=(DraftNote(trained.location, "this trains without the strategy"),),
        )


def _uses_scope(step: SetupCall) -> bool:
    """Whether a call stands in a scope, is of what was made in one, or enters one that makes anything."""
    made = None if step.owner is None else making_of(step.owner, step.location)
    if step.context.scope is not None or (made is not None and made.scope is not None):
        return True
    return method_of(step) == "scope" and _makes_something(step)


def _makes_something(step: SetupCall) -> bool:
    """Whether the block that a scope is entered for calls anything; where no block shows that, it may."""
    around = step.location.unit.around(step.node)
    block = next((node for node in around if isinstance(node, cst.With)), None)
    if block is None or not any(item.item is step.node for item in block.items):
        return True
    pending: list[cst.CSTNode] = [block.body]
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Call):
            return True
        if not isinstance(node, cst.FunctionDef | cst.Lambda):
            pending += node.children
    return False


def _trains_outside(step: SetupCall) -> bool:
    """Whether a call trains what is known to be made outside of any scope."""
    made = made_near(step)
    return made is not None and made.scope is None and _trains(step)


def _trains(step: SetupCall) -> bool:
    """Whether a call changes weights."""
    method = method_of(step)
    return method in _OPTIMIZES or (method in _TRAINS and kind_of(step.api.rpartition(".")[0]) == "model")


def _places(step: SetupCall) -> bool:
    """Whether a call names a device that may be a TPU, or a GPU."""
    name = step.arguments.get("device_name")
    is_cpu = isinstance(name, Static) and isinstance(name.constant, str) and _CPU.search(name.constant) is not None
    return step.api == _DEVICE and name != NONE and not is_cpu


def _called_plainly(steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """A step that trains what was made in a TPU strategy's scope, but that no strategy runs."""
    if any(method_of(step) in _TRAINS | RUNS for step in steps):
        return
    otherwise = {step.location for step in steps if _plain_under(step) is None}  # another caller has it run
    for step in steps:
        if step.location not in otherwise:
            yield Draft(
                "no strategy runs this step: it runs once, and not on each core of the TPU",
                Effect.TPU,
                "have a `tf.function` call `strategy.run(step, args=(..))`",
                location=step.location,
                notes=made_note(_plain_under(step), "the strategy is created here"),
            )


def _plain_under(step: SetupCall) -> Value | None:
    """The TPU strategy in whose scope that was made which a call trains outside of any."""
    made = made_near(step) if method_of(step) in _OPTIMIZES and step.context.scope is None else None
    strategy = strategy_in(made.scope) if made is not None else None
    return strategy if strategy is not None and is_tpu(strategy) else None
