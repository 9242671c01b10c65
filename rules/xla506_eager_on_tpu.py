"""A step runs eagerly, so XLA compiles nothing of it, but a TPU runs only compiled programs.

## What it does
Reports `model.compile(run_eagerly=True)` of a model under a `TPUStrategy`, and `strategy.run(step)` in eager code if
`step` is a plain function or a model. In a program that asks for XLA, and with a target (`--target tpu`), also code
with a `tf.GradientTape` that no `tf.function` contains, whatever else the program compiles; as information where a
script runs it once. With a target, what it does is checked as if it were compiled.
A model's own `train_step` counts, too, if it needs more than the data, so that Keras cannot call it. A step that
nothing is seen to call is information where the program makes no `tf.function`.

Reports `tf.config.run_functions_eagerly(True)` that stays on, and `run_eagerly=True`, for a TPU, and where the same
program asks for `jit_compile=True`.

## What XLA does
A TPU runs only what XLA compiled. Measured with TensorFlow 2.21: `TPUStrategy.run` raises "TPUStrategy.run(fn, ...)
does not support pure eager execution" for a plain function that is called eagerly, and accepts a `tf.function`. With
`run_eagerly=True`, Keras 3.15 passes such a plain function to `strategy.run`. The whole program was not run, for lack
of a TPU. A `MirroredStrategy` trains eagerly (measured); if the target is a TPU, its `run` is judged as that of the
`TPUStrategy` that takes its place.

`tf.config.run_functions_eagerly(True)` and `run_eagerly=True` outweigh `jit_compile=True`: no function and no model is
compiled any more, also none that was compiled before. Then `TPUStrategy.run` in a `tf.function` raises, too. So does
`model.run_eagerly = True` behind `compile`, which sets it again, and before the first `fit`, which makes the step.

A step without `tf.function` compiles nothing: with three `Dense` layers and `Adam` it runs 219 operations one by one,
143 ms on a CPU; with `@tf.function(jit_compile=True)` it is one program and takes 1.1 ms (measured).

## Example
    for batch in data:
        strategy.run(step, args=(batch,))

## Use instead
    @tf.function
    def train(batch):
        return strategy.run(step, args=(batch,))

    for batch in data:
        train(batch)

## Not flagged
- `strategy.run` inside a `tf.function`, or of one.
- Functions without a known caller if the program has a `tf.function`, which may call them; methods that a library
  calls.
- `run_functions_eagerly(True)` under a condition, or before `run_functions_eagerly(False)`.
- Programs that turn eager execution off, what a program of TensorFlow 1 puts into the graph of its session, and other
  strategies. A session beside the model changes nothing: with `run_eagerly=True` Keras runs it line by line after a
  session, too, and fails inside of its block or without eager execution (measured, Keras 2 and 3).
- A `GradientTape` where nothing asks for XLA, in tests, in an input pipeline, or in code that `tf.function` runs, too;
  without a target also one in a program whose eager code has no optimizer take a step.

## Fix safety
`safe` for `run_eagerly=True`, which the fix removes: the program cannot run with it. There is no other fix.

## References
- https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy
- https://www.tensorflow.org/guide/tpu
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.setup_events import Program, RunEagerly, TakeGradients
from xlalint.linter.rule import Bad, Draft, Effect, Event, Good, Rule, Runs, Safety, Severity

from ._line_by_line import builds_graph, eager, switched, uncompiled_later

TPU: Final = """
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
TAPE: Final = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(3)
"""
STEP: Final = """\
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for x, y in data:
    step(x, y)
"""
MODEL: Final = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
"""
UNCALLED: Final = """
class Agent:
    def __init__(self, model):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam()

    def train(self, states, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(states) - targets))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
"""
NEEDED: Final = "it needs a TPU"
GRAPH_MODE: Final = frozenset(("tf.disable_eager_execution", "tf.disable_v2_behavior"))
SESSIONS: Final = frozenset(("tf.InteractiveSession", "tf.Session"))


class EagerOnTpu(Rule):
    code = "XLA506"
    name = "eager-on-tpu"
    handles = (Program, RunEagerly, TakeGradients)
    bad = (
        Bad(
            f"""{TPU}
with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
    model.compile("adam", "mse", run_eagerly=True)
""",
            ['model.compile("adam", "mse", run_eagerly=True)'],
            None,
            effect=Effect.TPU,
            safety=Safety.SAFE,
            fixed=f"""{TPU}
with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
    model.compile("adam", "mse")
""",
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
def step(batch):
    return batch * 2.0

for batch in tf.data.Dataset.range(8):
    strategy.run(step, args=(batch,))
""",
            ["strategy.run(step, args=(batch,))"],
            None,
            effect=Effect.TPU,
            help="tf.function",
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
class Trainer:
    def __init__(self, strategy):
        self.strategy = strategy

    def step(self, batch):
        return batch * 2.0

    def train(self, data):
        for batch in data:
            self.strategy.run(self.step, args=(batch,))

Trainer(strategy).train(tf.data.Dataset.range(8))
""",
            ["self.strategy.run(self.step, args=(batch,))"],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
strategy.run(lambda: tf.ones([2]))
""",
            ["strategy.run(lambda: tf.ones([2]))"],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            f"""{TAPE}
for x, y in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
            ["tf.GradientTape() as tape"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="tf.function",
            target="tpu",
            why="it runs",
        ),
        Bad(
            f"{TAPE}\n{STEP}",
            ["tf.GradientTape() as tape"],
            None,
            target="tpu",
            why="it runs",
        ),
        Bad(
            """
tf.config.run_functions_eagerly(True)

@tf.function(jit_compile=True)
def double(x):
    return x * 2.0

double(tf.ones([3]))
""",
            ["tf.config.run_functions_eagerly(True)"],
            Runs(0),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True, run_eagerly=True)
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)
""",
            ['model.compile("sgd", "mse", jit_compile=True, run_eagerly=True)'],
            Runs(0),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{MODEL}
def train():
    tf.config.experimental_run_functions_eagerly(True)
    model.compile("sgd", "mse")
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)

if __name__ == "__main__":
    train()
""",
            ["tf.config.experimental_run_functions_eagerly(True)"],
            Runs(0),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", run_eagerly=True)
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)
""",
            ['model.compile("sgd", "mse", run_eagerly=True)'],
            Runs(0),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{TAPE}
@tf.function(jit_compile=True)
def evaluate(x):
    return model(x)

{STEP}    evaluate(x)
""",
            ["tf.GradientTape() as tape"],
            Runs(1),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why="another function is compiled",
        ),
        Bad(
            f"""{MODEL}
def mean(numbers):
    with tf.compat.v1.Session() as session:
        return session.run(tf.reduce_mean(tf.constant(numbers)))
print(mean([1.0, 2.0]))
model.compile("sgd", "mse", jit_compile=True, run_eagerly=True)
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)
""",
            ['model.compile("sgd", "mse", jit_compile=True, run_eagerly=True)'],
            Runs(0),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
            why="the session is beside the model",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.run_eagerly = True
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), verbose=0)
""",
            ["model.run_eagerly = True"],
            Runs(0),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
        ),
        Bad(
            f"{UNCALLED}",
            ["tf.GradientTape() as tape"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            target="tpu",
            why="nothing calls it",
        ),
        Bad(
            """
strategy = tf.distribute.MirroredStrategy()
strategy.run(lambda: tf.ones([2]))
""",
            ["strategy.run(lambda: tf.ones([2]))"],
            None,
            effect=Effect.TPU,
            help="@tf.function",
            why="it is about moving to a TPU",
            target="tpu",
        ),
    )
    good = (
        Good(
            f"""{UNCALLED}
@tf.function
def evaluate(agent, x):
    return agent.model(x)
""",
            None,
            target="tpu",
            why="a `tf.function` may call the step",
        ),
        Good(
            """
import sys

if len(sys.argv) > 5:
    tf.config.run_functions_eagerly(True)

@tf.function(jit_compile=True)
def double(x):
    return x * 2.0

double(tf.ones([3]))
""",
            Runs(1),
            why="a switch decides",
        ),
        Good(
            f"""{TPU}
@tf.function
def train(batch):
    return strategy.run(lambda batch: batch * 2.0, args=(batch,))

train(tf.ones([8]))
""",
            None,
        ),
        Good(
            f"""{TPU}
@tf.function
def step(batch):
    return batch * 2.0

strategy.run(step, args=(tf.ones([8]),))
""",
            None,
        ),
        Good(
            f"""import sys
{TPU}
def train(batches, eagerly):
    def step(iterator):
        return strategy.run(lambda batch: batch * 2.0, args=(next(iterator),))

    if not eagerly:
        step = tf.function(step)

    def loop(iterator):
        for _ in range(8):
            step(iterator)

    loop(iter(batches))

train(tf.data.Dataset.range(8), "--debug" in sys.argv)
""",
            None,
            why="a switch turns the compilation off",
        ),
        Good(
            f"{TAPE}\n@tf.function\n{STEP}",
            Runs(),
            target="tpu",
        ),
        Good(
            f"""{TAPE}
def train(eagerly):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    if not eagerly:
        step = tf.function(step)
    for x, y in data:
        step(x, y)

train(False)
""",
            Runs(),
            target="tpu",
            why="a switch turns the compilation off",
        ),
        Good(
            f"""{TAPE}
@tf.function(jit_compile=True)
def evaluate(x):
    return model(x)

def saliency(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        best = tf.reduce_max(model(x), -1)
    return tape.gradient(best, x)

for x, _ in data:
    evaluate(x), saliency(x)
""",
            Runs(1),
            why="nothing trains",
        ),
        Good(
            """
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
strategy.run(lambda: tf.ones([2]))
""",
            Runs(),
        ),
        Good(
            """
strategy = tf.distribute.MirroredStrategy()
strategy.run(lambda: tf.ones([2]))
""",
            Runs(),
            why="no TPU is to run it",
        ),
        Good(
            f"""{TPU}
total = strategy.run(lambda: tf.ones([2]))
with tf.compat.v1.Session() as session:
    print(session.run(total))
""",
            None,
            why="version 1 builds a graph first",
        ),
        Good(
            f"""{TPU}
def train(batch):
    return strategy.run(lambda batch: batch * 2.0, args=(batch,))

train_step = tf.function(train)
train_step(tf.ones([8]))
""",
            None,
        ),
        Good(
            f"""{TPU}
model = tf.keras.applications.ResNet50(weights=None)
model.compile("adam", "mse", run_eagerly=True)
""",
            None,
            why="no strategy trains the model",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case TakeGradients(matters=False):
                return
            case TakeGradients(context=context, again=again) if context.kind is ContextKind.HOST:
                yield Draft(
                    "this step is in no `tf.function`: XLA compiles nothing of it, and each operation runs by itself",
                    Effect.TPU,
                    "put this step into a function with `@tf.function`",
                    at_most=Severity.WARNING if again else Severity.INFO,
                    loses_all=True,
                )
            case TakeGradients(context=context) if context.kind is ContextKind.OPEN:
                yield Draft(
                    "no `tf.function` here leads to this step: XLA compiles nothing of it, unless others compile it",
                    Effect.TPU,
                    "put this step into a function with `@tf.function`",
                    at_most=Severity.INFO,
                    uncompiled=True,
                    loses_all=True,
                )
            case RunEagerly(how=how):
                yield uncompiled_later(event, how)
            case Program(steps=steps) if not any(step.api in GRAPH_MODE for step in steps):
                sessions = [step for step in steps if step.api in SESSIONS]
                here = [step for step in steps if not builds_graph(step, sessions)] if sessions else steps
                for step in here:
                    yield from eager(step)
                yield from switched(here)
