"""A model under a distribution strategy is compiled with `jit_compile=True`.

## What it does
Reports `model.compile(jit_compile=True)` if the model was created in the scope of a `TPUStrategy`, or of a
`MirroredStrategy` with several devices. Also reports a `tf.function(jit_compile=True)` that calls `strategy.run` of
one. Where the target is a TPU, `model.compile(jit_compile=True)` of a program without a strategy is reported once, as
information: the strategy that it needs there makes it one of these.

## What XLA does
Keras sets `jit_compile=True` on a function *around* `strategy.run`. The whole distributed step, with the copies of the
variables on all devices, would have to become one XLA program for one device.

- Measured with TensorFlow 2.21 and Keras 3.15 on two CPU devices: training fails at the first step ("Trying to access
  resource .. located in device"). So does your own compiled function around `strategy.run` of a step with variables.
  Keras 2 fails with the same error. With a single device it runs.
- `jit_compile="auto"`, the default of Keras 3, turns itself off under a strategy.
- Not measured with a TPU strategy, for lack of a TPU. A TPU strategy compiles everything that `strategy.run` runs, and
  the documentation of `tf.function` forbids `jit_compile=True` on code that runs across a TPU and its host.

## Example
    with strategy.scope():
        model = build()
        model.compile("adam", "mse", jit_compile=True)

## Use instead
    with strategy.scope():
        model = build()
        model.compile("adam", "mse")

To check that XLA accepts the model, train it once with `jit_compile=True` on a CPU or one GPU, without a strategy. Then
remove the argument.

## Not flagged
- Models without a strategy (unless the target is a TPU), `OneDeviceStrategy`, and a `MirroredStrategy` with one device.
- `jit_compile="auto"` and unknown values.
- A step with `tf.function(jit_compile=True)` inside `strategy.run`. TensorFlow's documentation recommends it for
  several GPUs.

## Fix safety
The fix removes the argument: a strategy decides what it compiles. It is `safe` if the program cannot run as it is: on a
TPU, or on several devices listed in the code. Otherwise it is `unsafe`, because with one device the program runs.

## References
- https://www.tensorflow.org/api_docs/python/tf/function
- https://www.tensorflow.org/xla/known_issues
- https://huggingface.co/docs/transformers/v4.49.0/en/perf_train_tpu_tf
- https://github.com/keras-team/tf-keras/issues/194
- https://github.com/keras-team/tf-keras/issues/385
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from xlalint.analysis.domain.values import ApiObject, Static
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.strategies import RUNS, is_tpu
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs, Safety, Severity, Told
from xlalint.syntax import nodes as cst

from ._arguments import without_argument
from ._strategies import (
    distributes,
    made_note,
    method_of,
    model_strategy,
    name_of,
    never_runs,
    shows_strategy,
    strategy_in,
)

DATA = """
import numpy as np

x, y = np.ones([8, 3], "float32"), np.ones([8, 1], "float32")
"""
MODEL = "tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])"


ASKED: Final = "jit_compile"
ONE_DEVICE: Final = "where there is one device: the model trains there, compiled by XLA"
COMPILED_STEP = """with strategy.scope():
    total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

def replica(x):
    total.assign_add(tf.reduce_sum(x))

@tf.function(jit_compile=True)
def step(x):
    strategy.run(replica, (x,))

step(tf.ones([3]))
"""


class JitCompileInStrategy(Rule):
    code = "XLA501"
    name = "jit-compile-in-strategy"
    handles = (Program, SetupCall)
    bad = (
        Bad(
            f"""
{DATA}
model = {MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, batch_size=8, verbose=0)
""",
            ['model.compile("sgd", "mse", jit_compile=True)'],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            target="tpu",
            why="it needs a TPU",
        ),
        Bad(
            f"""
import tensorflow as tf
{DATA}
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = {MODEL}
    model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, batch_size=4, verbose=0)
""",
            ['model.compile("sgd", "mse", jit_compile=True)'],
            Breaks("Trying to access resource"),
            effect=Effect.FAILS,
            safety=Safety.SAFE,
            fixed=f"""
import tensorflow as tf
{DATA}
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = {MODEL}
    model.compile("sgd", "mse")
model.fit(x, y, batch_size=4, verbose=0)
""",
        ),
        Bad(
            f"""
import tensorflow as tf
{DATA}
def build(jit):
    model = {MODEL}
    model.compile(jit_compile=jit, optimizer="sgd", loss="mse")
    return model

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = build(True)
model.fit(x, y, batch_size=4, verbose=0)
""",
            ['model.compile(jit_compile=jit, optimizer="sgd", loss="mse")'],
            Breaks("Trying to access resource"),
            effect=Effect.FAILS,
            help="jit_compile",
        ),
        Bad(
            """
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
    model.compile("adam", "sparse_categorical_crossentropy", jit_compile=True)
""",
            ['model.compile("adam", "sparse_categorical_crossentropy", jit_compile=True)'],
            None,
            effect=Effect.TPU,
            safety=Safety.SAFE,
            fixed="""
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
    model.compile("adam", "sparse_categorical_crossentropy")
""",
            why="it needs a TPU",
        ),
        Bad(
            """
import tensorflow as tf

class Trainer:
    def __init__(self, resolver):
        self.strategy = tf.distribute.experimental.TPUStrategy(resolver)
        with self.strategy.scope():
            self.model = Net()

    def start(self, data):
        self.model.compile(
            "adam",
            "mse",
            jit_compile=True,
        )
        self.model.fit(data)

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

def main(data):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    Trainer(resolver).start(data)
""",
            [
                """self.model.compile(
            "adam",
            "mse",
            jit_compile=True,
        )"""
            ],
            None,
            effect=Effect.TPU,
            safety=Safety.SAFE,
            fixed="""
import tensorflow as tf

class Trainer:
    def __init__(self, resolver):
        self.strategy = tf.distribute.experimental.TPUStrategy(resolver)
        with self.strategy.scope():
            self.model = Net()

    def start(self, data):
        self.model.compile(
            "adam",
            "mse",
        )
        self.model.fit(data)

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

def main(data):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    Trainer(resolver).start(data)
""",
            why="it needs a TPU",
        ),
        Bad(
            f"""
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
{COMPILED_STEP}""",
            ["tf.function(jit_compile=True)"],
            Breaks("Trying to access resource"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Trainer:
    def __init__(self):
        self.strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        with self.strategy.scope():
            self.scale = tf.Variable(2.0)
        self.step = tf.function(self._step, jit_compile=True)

    def _step(self, x):
        return self.strategy.run(self._replica, args=(x,))

    def _replica(self, x):
        return self.scale * x

Trainer().step(tf.ones([3]))
""",
            ["self.strategy.run(self._replica, args=(x,))"],
            Breaks("Trying to access resource"),
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            f"""
strategy = tf.distribute.MirroredStrategy(["CPU:0"])
{COMPILED_STEP}""",
            Runs(),
            why="one device",
        ),
        Good(
            f"""
{DATA}
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = {MODEL}
    model.compile("sgd", "mse")
model.fit(x, y, batch_size=4, verbose=0)
""",
            Runs(),
        ),
        Good(
            f"""
{DATA}
strategy = tf.distribute.MirroredStrategy(["CPU:0"])
with strategy.scope():
    model = {MODEL}
    model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, batch_size=4, verbose=0)
""",
            Runs(),
            why="one device",
        ),
        Good(
            f"""
{DATA}
with tf.distribute.OneDeviceStrategy("CPU:0").scope():
    model = {MODEL}
    model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, batch_size=4, verbose=0)
""",
            Runs(),
        ),
        Good(
            f"""
{DATA}
model = {MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, batch_size=4, verbose=0)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    second = {MODEL}
    second.compile("sgd", "mse", jit_compile="auto")
second.fit(x, y, batch_size=4, verbose=0)
""",
            Runs(),
            why="the model that is compiled so is not the strategy's",
        ),
        Good(
            """
import sys

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
    model.compile("sgd", "mse", jit_compile="--xla" in sys.argv)
""",
            None,
            why="what is not known is not claimed",
        ),
        Good(
            f"""
{DATA}
model = {MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(x, y, batch_size=8, verbose=0)
""",
            Runs(),
            why="no TPU is to train it",
        ),
        Good(
            f"""
{DATA}
model = {MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.predict(x, verbose=0)
""",
            None,
            why="nothing trains",
            target="tpu",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps, trains=True) if not any(map(shows_strategy, steps)):
                yield from _to_come(steps)
            case SetupCall(owner=ApiObject() as runner) if method_of(event) in RUNS:
                yield from _around_run(event, runner)
            case SetupCall(arguments={"jit_compile": Static(True)}) if method_of(event) == "compile":
                strategy = model_strategy(event) or strategy_in(event.context.scope)
                if strategy is None or "MultiWorker" in strategy.api:
                    return
                tpu = is_tpu(strategy)
                reason = (
                    "a TPU strategy compiles every step itself, and Keras would also compile the call of `strategy.run`"
                    if tpu
                    else "Keras compiles the call of `strategy.run`, so training fails with two devices"
                )
                yield Draft(
                    f"`jit_compile=True` on a model under `{name_of(strategy)}`: {reason}",
                    Effect.TPU if tpu else Effect.FAILS,
                    f"remove `jit_compile` from `{brief(event.node.func)}(..)`",
                    notes=made_note(strategy, "the strategy is created here"),
                    rewrite=partial(without_argument, event, "jit_compile", "" if never_runs(strategy) else ONE_DEVICE),
                )


def _to_come(steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """The models of a program that has no strategy yet, and needs one for a TPU."""
    compiled = [step for step in steps if method_of(step) == "compile" and step.arguments.get(ASKED) == Static(True)]
    for first in compiled[:1]:
        yield Draft(
            "`jit_compile=True` cannot stay where a TPU strategy comes: that compiles every step itself",
            Effect.TPU,
            f"remove `jit_compile` from `{brief(first.node.func)}(..)`",
            location=first.location,
            notes=tuple(DraftNote(other.location, "and here") for other in compiled[1:]),
            at_most=Severity.INFO,
            told=Told.FOR_TPU_ALONE,
        )


def _around_run(event: SetupCall, strategy: ApiObject) -> Iterator[Draft]:
    """A compiled function that calls `strategy.run`."""
    if event.context.kind is not ContextKind.XLA or not distributes(strategy) or "MultiWorker" in strategy.api:
        return
    if event.context.in_replica:
        return
    if event.context.eager:  # nobody asks for that but the target, and whoever moves there takes its strategy
        return
    tpu = is_tpu(strategy)
    reason = (
        "a TPU strategy compiles every step itself"
        if tpu
        else "it fails if the step has variables and there are two devices"
    )
    decorator = _decorator(event)
    yield Draft(
        f"`jit_compile=True` around `{brief(event.node.func)}` of `{name_of(strategy)}`: {reason}",
        Effect.TPU if tpu else Effect.FAILS,
        "remove `jit_compile=True`"
        if tpu
        else "compile the step inside: strategy.run(tf.function(step, jit_compile=True), ..)",
        location=decorator or event.location,
        notes=(
            *((DraftNote(event.location, "it runs here"),) if decorator is not None else ()),
            *made_note(strategy, "the strategy is created here"),
        ),
    )


def _decorator(event: SetupCall) -> Location | None:
    """The decorator that has the function around a call compiled."""
    for around in event.location.unit.around(event.location.node):
        if isinstance(around, cst.FunctionDef):
            for decorator in around.decorators:
                match decorator.decorator:
                    case cst.Call(args=args) as call if any(
                        given.keyword is not None and given.keyword.value in ("jit_compile", "experimental_compile")
                        for given in args
                    ):
                        return event.location.at(call)
    return None
