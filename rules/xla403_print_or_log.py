"""A compiled function prints, writes a summary, or reads the time.

## What it does
Reports `tf.print`, `tf.summary.*`, `tf.timestamp` and other logging operations in code that XLA compiles.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: compiling fails.

- `tf.print`: "No registered 'StringFormat' OpKernel".
- `tf.timestamp`: "Timestamp".
- A summary: "WriteSummary", if there is a default writer. Without a writer, a summary creates no operation.

Python's `print` compiles. It prints once, during tracing.

## Example
    tf.print("loss", loss)

## Use instead
    return loss  # and print it where the compiled function is called

## Not flagged
Code that XLA does not compile, branches under `tf.executing_eagerly()`, Python's `print` and `logging`.

## Fix safety
`unsafe`: a call that is a statement moves under `if tf.executing_eagerly():`. Eager execution prints as before, but a
`tf.function` without XLA no longer prints. There is no fix in a TensorFlow 1 file, whose sessions run graphs. To see a
value from compiled code, return it.

## References
- https://github.com/tensorflow/tensorflow/issues/52944
- https://github.com/tensorflow/tensorflow/issues/39798
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.analysis.library.raw_ops import PREFIX
from xlalint.facts.kernels import lacking
from xlalint.fixes.guards import eagerly_only
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import RAW_OPS, Bad, Draft, Effect, Fails, Good, Rule, Safety, Severity

from ._kernels import raw_missing
from ._names import names

OPS = {
    "tf.Print": "Print",
    "tf.compat.v1.summary.audio": "AudioSummaryV2",
    "tf.compat.v1.summary.histogram": "HistogramSummary",
    "tf.compat.v1.summary.image": "ImageSummary",
    "tf.compat.v1.summary.scalar": "ScalarSummary",
    "tf.compat.v1.summary.text": "TensorSummaryV2",
    "tf.print": "StringFormat",
    "tf.summary.tensor_summary": "TensorSummaryV2",
    "tf.timestamp": "Timestamp",
}
SUMMARIES = names(
    "tf.summary.audio tf.summary.histogram tf.summary.image tf.summary.scalar tf.summary.text tf.summary.write"
)


class PrintOrLog(Rule):
    code = "XLA403"
    name = "print-or-log"
    lacks_kernel = True
    handles = (ApiCall,)
    apis = SUMMARIES | OPS.keys() | {RAW_OPS}
    bad = (
        Bad(
            "@tf.function(jit_compile=True)\ndef f(x):\n    tf.raw_ops.PrintV2(input='seen')\n    return x\n",
            ["tf.raw_ops.PrintV2(input='seen')"],
            Fails("PrintV2"),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    tf.print("sum", tf.reduce_sum(x))
    return x
""",
            ['tf.print("sum", tf.reduce_sum(x))'],
            Fails("No registered 'StringFormat' OpKernel"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    if tf.executing_eagerly():
        tf.print("sum", tf.reduce_sum(x))
    return x
""",
        ),
        Bad(
            """
def report(values):
    tf.print(values, summarize=3)

class L(tf.keras.layers.Layer):
    def call(self, x):
        report(x)
        return x
""",
            ["tf.print(values, summarize=3)"],
            Fails("StringFormat"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
def report(values):
    if tf.executing_eagerly():
        tf.print(values, summarize=3)

class L(tf.keras.layers.Layer):
    def call(self, x):
        report(x)
        return x
""",
        ),
        Bad(
            """
class Clock:
    def now(self):
        return tf.timestamp()

CLOCK = Clock()

@tf.function(jit_compile=True)
def f(x):
    return x + tf.cast(CLOCK.now(), tf.float32) * 0.0
""",
            ["tf.timestamp()"],
            Fails("Timestamp"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import tensorflow.compat.v1 as tf1

@tf.function(jit_compile=True)
def f(x):
    tf1.summary.scalar("sum", tf.reduce_sum(x))
    return x
""",
            ['tf1.summary.scalar("sum", tf.reduce_sum(x))'],
            Fails("No registered 'ScalarSummary' OpKernel"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
import tensorflow.compat.v1 as tf1

@tf.function(jit_compile=True)
def f(x):
    if tf.executing_eagerly():
        tf1.summary.scalar("sum", tf.reduce_sum(x))
    return x
""",
        ),
        Bad(
            """
from tensorflow import summary

class M(tf.keras.Model):
    def train_step(self, data):
        loss = tf.reduce_mean(data)
        summary.scalar("loss", loss)
        return {"loss": loss}
""",
            ['summary.scalar("loss", loss)'],
            None,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            why="summaries need TensorBoard and a writer",
            safety=Safety.UNSAFE,
            fixed="""
from tensorflow import summary

class M(tf.keras.Model):
    def train_step(self, data):
        loss = tf.reduce_mean(data)
        if tf.executing_eagerly():
            summary.scalar("loss", loss)
        return {"loss": loss}
""",
        ),
    )
    good = (
        Good(
            """
import logging

logger = logging.getLogger(__name__)

@tf.function(jit_compile=True)
def f(x):
    if logger.isEnabledFor(logging.DEBUG):
        tf.print(x)
    return x * 2.0
""",
            why="what is said for debugging is off where nobody says otherwise",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    print("tracing", x)
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.executing_eagerly():
        tf.print(x)
    return x
""",
        ),
        Good(
            """
@tf.function
def f(x):
    tf.print(x)
    return x
""",
            None,
            why="a plain `tf.function` prints",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def step(x):
    return x * 2.0

def train(x):
    y = step(x)
    tf.print(y)
    tf.summary.scalar("sum", tf.reduce_sum(y), step=0)
""",
            None,
            why="outside the compiled function",
        ),
        Good(
            """
import logging

class L(tf.keras.layers.Layer):
    def call(self, x):
        logging.info("called with %s", x)
        return x
""",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, node=node) if event.context.kind is ContextKind.XLA:
                if api.startswith(PREFIX):
                    missing = raw_missing(event, self.code, self.tensorflow)
                    if missing:
                        yield Draft(f"`{brief(node)}`: {lacking(missing, self.tensorflow)}", Effect.FAILS, HELP)
                    return
                if api in SUMMARIES:
                    reason = f"with a default writer, {lacking(['WriteSummary'], self.tensorflow)}"
                else:
                    reason = lacking([OPS[api]], self.tensorflow)
                most = Severity.WARNING if api in SUMMARIES else Severity.ERROR
                rewrite = partial(eagerly_only, event)
                yield Draft(f"`{brief(node)}`: {reason}", Effect.FAILS, HELP, at_most=most, rewrite=rewrite)


HELP = "return the value, and print or log it where the compiled function is called"
