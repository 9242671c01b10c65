"""A loop around a step reads values of tensors in each iteration, and waits for the device each time.

## What it does
Reports a loop on the host that trains, by a `tf.GradientTape`, a compiled step or `model.train_on_batch`, or that calls
a compiled function for each of its elements, if each of its iterations reads values: `loss.numpy()`, `float(loss)`,
`"%.2f" % loss`, f-strings, `print(loss)`, `if loss > best`, `np.mean(loss)`, `array[i] = loss`,
`int(checkpoint.step)`, `logging.info("%s", loss)`, `bar.set_postfix(loss=loss)` of tqdm, `tf.print`,
`tf.summary.scalar("loss", loss, step=n)`, `plt.plot(t)`, and what Keras returns: `train_on_batch`, `predict`. So
does text of an object whose `__str__` reads them, such as a meter.
There is one finding for a loop; notes name the places. Only programs for TPUs are meant.
A callback of Keras that does so at each batch (`on_train_batch_end`) is reported, too.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. In eager code all of these work. Once the step is compiled:

- `.numpy()`, `"%.2f" % t`, `"{:.2f}".format(t)`, `f"{t:.2f}"`, `format(t, ".2f")`, NumPy functions, `get_weights()` and
  `int(checkpoint.step)` fail, so they have to move behind the step.
- `tf.print` has no kernel (XLA403).
- `print(t)`, `"%s" % t`, `f"{t}"` and `str(t)` show the symbolic tensor, and only while tracing.
- `float(t)` and `if t > 1` compile, because AutoGraph converts them.

`tf.summary.scalar` copies its value to the host's processor, where the writer is: in a graph the `Identity` of the
value and `WriteSummary` stand on `CPU:0`. Without a writer, or where `tf.summary.record_if` says no, nothing is copied.

Counted on a CPU, `tf.summary.scalar(..)` starts 4 operations in 0.3 ms, `tf.summary.histogram(..)` of one weight 79 in
8 ms, and of 20 weights 1071 in 332 ms.

Matplotlib, seaborn, pandas and `sklearn.metrics` make arrays of tensors; OpenCV and `PIL.Image.fromarray` refuse them.

`train_on_batch` and `test_on_batch` return Python numbers, `predict` and `predict_on_batch` NumPy arrays. None of them
traces again for a size that it has met. Of a model with two small `Dense` layers on a CPU, a call of `predict` takes
50 ms, one of `predict_on_batch` 0.6 ms, and one of a `tf.function` that calls the model 0.4 ms: `predict` builds a
pipeline each time.

`fit` itself makes numbers of the logs, counted over 50 steps on TensorFlow: Keras 3.15 in each step, whatever `verbose`
and the callbacks are; with `steps_per_execution=10` in each tenth. Keras 2 (tf_keras 2.21) does so in each step if
`verbose` is 1, as by default, or a callback has `on_train_batch_begin` or `on_train_batch_end`, even one that reads no
logs; with `verbose=2` or 0 and no such callback once an epoch. `TensorBoard(update_freq="batch")` adds no reads to
these, and `ModelCheckpoint(save_freq=10)` those of the weights that it saves.

Not measured, for lack of a TPU: the host passes steps to a device without waiting for their results. A read waits for
the step that computes the value, so the device has nothing to do until the host has passed it the next one.

## Example
    for x, y in data:
        loss = step(x, y)
        print(f"loss: {loss:.3f}")

## Use instead
    for number, (x, y) in enumerate(data):
        loss = step(x, y)
        if number % 100 == 0:
            print(f"loss: {loss:.3f}")

## Not flagged
- Reads under a condition, such as every hundredth iteration, and reads behind the loop, once an epoch. A condition
  that always holds counts for none: `if number % log_every == 0` where `log_every` is 1, by default at least.
- Summaries in `with tf.summary.record_if(..)`, which says how often they are written.
- A compiled function that loops over many steps itself.
- `model.get_weights()` (XLA527), and loops over the rows of a tensor (XLA526).
- Information only: loops that need the value to go on, such as an
  agent that acts in its environment, functions without a known caller, loops that write nothing but summaries other
  than histograms, which the program may record less often, and loops that train nothing and do more with what they read
  than to print it: they may collect results. An evaluation that runs time and again, and makes nothing but sums or
  means of it, is a warning, and so is what each iteration reads anew and only the last one leaves.
- `predict_on_batch` and `test_on_batch` alone, where each result is kept: `predict` takes them together.
- Lengths and shapes, which are known without the device, and the `logs` of callbacks, which Keras reads anyway: only
  `compile(steps_per_execution=100)` makes it do so less often.
- `Progbar.update(number, [("loss", loss)])` of Keras, which shows what it is passed at most 20 times a second
  (measured), and `logging.debug`, which is mostly off.

## Fix safety
There is no fix: how often a value is needed is for the program to say.

## References
- https://www.tensorflow.org/guide/tpu
- https://www.tensorflow.org/guide/function
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import LoopOfSteps
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity, Told

from ._host_loops import (
    READ_APART,
    WHO,
    SameReads,
    asks_keras,
    counted,
    is_quiet,
    is_shown,
    only_writes,
    read_notes,
    usual_notes,
)
from ._loops_of_steps import COMPILED, SETUP, STEP

PAIR: Final = """
import numpy as np
import tensorflow as tf

generator = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
critic = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
critic.compile("sgd", "mse")
"""
_SELDOM: Final = "read them every N-th iteration, or once behind the loop; a Keras metric sums up on the device"
_INSTEAD: Final = "call the models in a step with `@tf.function`, which returns tensors, and read those seldom"


class ReadEachStep(Rule):
    code = "XLA516"
    name = "read-each-step"
    handles = (LoopOfSteps,)
    bad = (
        Bad(
            f"""{COMPILED}
losses = []
for x, y in data:
    losses.append(step(x, y).numpy())
""",
            ["data"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{SETUP}
best = tf.Variable(1e9)
for number, (x, y) in enumerate(data):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if loss < best:
        best.assign(loss)
    print("%d: %.3f" % (number, loss))
""",
            ["enumerate(data)"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{SETUP}{STEP}
def log(name, value):
    print(f"{{name}}: {{value:.2f}}")

def train(epochs):
    for epoch in range(epochs):
        batches = iter(data)
        while (batch := next(batches, None)) is not None:
            log("loss", step(*batch))

train(2)
""",
            ["(batch := next(batches, None)) is not None"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{COMPILED}
writer = tf.summary.create_file_writer("logs")
for number, (x, y) in enumerate(data):
    with writer.as_default():
        tf.summary.write("loss", step(x, y), step=number)
""",
            ["enumerate(data)"],
            Runs(),
            severity=Severity.INFO,
            target="tpu",
            why="a summary alone",
        ),
        Bad(
            f"""{SETUP}
for x, y in data:
    with tf.GradientTape() as tape:
        made = model(x)
        if tf.reduce_any(tf.math.is_nan(made)):
            continue
        loss = tf.reduce_mean((made - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
            ["data"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{PAIR}
for number in range(20):
    made = generator.predict(np.ones([8, 2]), verbose=0)
    critic.train_on_batch(made, np.zeros([8, 1]))
""",
            ["range(20)"],
            Runs(),
            help="@tf.function",
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""import logging
import numpy as np
{COMPILED}
losses, saved = np.zeros(3), tf.train.Checkpoint(step=tf.Variable(0), model=model)
for number, (x, y) in enumerate(data):
    losses[number] = step(x, y)
    if int(saved.step) % 10 == 0:
        logging.info("%d: %s", number, losses)
    saved.step.assign_add(1)
""",
            ["enumerate(data)"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{COMPILED}
for x, y in data:
    step(x, y)
    print(model.predict(x, verbose=0)[0])
""",
            ["data"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{SETUP}{STEP}
class Environment:
    def step(self, action):
        return [[action, 1.0, 2.0]], action > 9

def play(environment):
    state, done = [[0.0, 0.0, 0.0]], False
    for _ in range(20):
        action = float(model(tf.constant(state))[0, 0])
        state, done = environment.step(action)
        step(tf.constant(state, tf.float32), tf.ones([1, 1]))
        if done:
            break

play(Environment())
""",
            ["range(20)"],
            Runs(),
            severity=Severity.INFO,
            target="tpu",
        ),
        Bad(
            f"""import argparse
{COMPILED}
parser = argparse.ArgumentParser()
parser.add_argument("--log-every", type=int, default=1)
options, _ = parser.parse_known_args()
for number, (x, y) in enumerate(data):
    loss = step(x, y)
    if (number + 1) % options.log_every:
        continue
    print(float(loss))
""",
            ["enumerate(data)"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""from dataclasses import dataclass
{COMPILED}
@dataclass
class Options:
    log_every: int = 1
    quiet: bool = False

def train(options: Options):
    for number, (x, y) in enumerate(data):
        loss = step(x, y)
        if not (options.quiet or number % options.log_every):
            print(float(loss))

train(Options())
""",
            ["enumerate(data)"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{COMPILED}
for x, y in data:
    step(x, y)
    for variable in model.trainable_variables:
        print(variable.name, variable.numpy().mean())
""",
            ["data"],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
            why="the loop goes through weights, not through data",
        ),
    )
    good = (
        Good(
            f"""{COMPILED}
for x, y in data:
    print(f"{{step(x, y):.3f}}")
""",
            Runs(),
            why="nobody asks for a TPU",
        ),
        Good(
            f"""{COMPILED}
mean = tf.keras.metrics.Mean()
for epoch in range(3):
    for number, (x, y) in enumerate(data):
        loss = step(x, y)
        mean.update_state(loss)
        if number % 100 == 0:
            print(f"{{loss:.3f}}")
    print(f"{{mean.result():.3f}}", float(loss))
""",
            Runs(),
            target="tpu",
        ),
        Good(
            f"""{COMPILED}
for number, (x, y) in enumerate(data):
    step(x, y)
    if number % 100 == 0:
        print(model.predict(x, verbose=0)[0])
""",
            Runs(),
            target="tpu",
        ),
        Good(
            f"""{COMPILED}
writer = tf.summary.create_file_writer("logs")
for number, (x, y) in enumerate(data):
    loss = step(x, y)
    with writer.as_default(), tf.summary.record_if(number % 100 == 0):
        tf.summary.write("loss", loss, step=number)
    if number % 100 == 0:
        with writer.as_default():
            tf.summary.write("seldom", loss, step=number)
""",
            Runs(),
            target="tpu",
            why="one summary in a hundred iterations",
        ),
        Good(
            f"""{SETUP}
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
        if tf.math.is_nan(loss):
            loss = tf.zeros_like(loss)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for x, y in data:
    step(x, y)
""",
            Runs(),
            target="tpu",
            why="the graph holds the condition",
        ),
        Good(
            f"""{COMPILED}
progress = tf.keras.utils.Progbar(30, verbose=0)
for number, (x, y) in enumerate(data):
    progress.update(number, [("loss", step(x, y))])
""",
            Runs(),
            target="tpu",
            why="shown at most 20 times a second",
        ),
        Good(
            f"""{PAIR}
for epoch in range(20):
    critic.fit(np.ones([64, 3]), np.zeros([64, 1]), verbose=0)
    generator.predict(np.ones([8, 2]), verbose=0)
""",
            Runs(),
            target="tpu",
            why="`fit` trains for an epoch",
        ),
        Good(
            f"""{COMPILED}
for number, (x, y) in enumerate(data):
    loss = step(x, y)
    if number % 100:
        continue
    print(float(loss))
""",
            Runs(),
            target="tpu",
            why="all but each hundredth iteration leave it out",
        ),
        Good(
            f"""import argparse
{COMPILED}
parser = argparse.ArgumentParser()
parser.add_argument("--log-every", type=int, default=100)
parser.add_argument("--verbose", action="store_true")
options, _ = parser.parse_known_args()
for number, (x, y) in enumerate(data):
    loss = step(x, y)
    if number % options.log_every == 0 or options.verbose:
        print(float(loss))
""",
            Runs(),
            target="tpu",
            why="seldom by default",
        ),
        Good(
            f"""{COMPILED}
first = True
for x, y in data:
    loss = step(x, y)
    if first:
        print(float(loss))
        first = False
""",
            Runs(),
            target="tpu",
            why="once",
        ),
        Good(
            f"""{SETUP}{STEP}
@tf.function
def epoch(batches):
    total = 0.0
    for x, y in batches:
        total += step(x, y)
    return total

for _ in range(3):
    print(float(epoch(data)))
""",
            Runs(),
            target="tpu",
            why="a call trains for an epoch",
        ),
        Good(
            f"""{COMPILED}
example = tf.ones([1, 3]), tf.ones([1, 1])
for epoch in range(3):
    for x, y in data:
        step(x, y)
    print(float(step(*example)))
""",
            Runs(),
            target="tpu",
            why="once an epoch",
        ),
        Good(
            f"""{COMPILED}
for x, y in data:
    step(x, y)
    print(len(x), x.shape, x.shape[0] / 8)
""",
            Runs(),
            target="tpu",
        ),
    )

    def __init__(self) -> None:
        self._same = SameReads()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case LoopOfSteps(needed=needed, usual=usual, by_keras=by_keras):
                reads = tuple(read for read in event.reads if read[1] not in READ_APART)
                worth = event.trains or event.to_sum or is_shown(reads)
                quiet = is_quiet(event) or only_writes(reads) or not worth
                why = ", which it needs to go on" if needed else ""
                draft = Draft(
                    f"{WHO[by_keras]} reads {counted(reads)} on the host{why}: it waits for the device at every step",
                    Effect.TPU,
                    _INSTEAD if asks_keras(reads) else _SELDOM,
                    notes=(*read_notes(reads), *usual_notes(usual)),
                    at_most=Severity.INFO if quiet else Severity.WARNING,
                    told=Told.FOR_TPU,
                )
                if reads:
                    yield self._same.once(event.location, reads, draft)
