"""An unknown dimension in a signature stops retracing, not recompilation.

## What it does
Reports `reduce_retracing=True` (formerly `experimental_relax_shapes`) together with `jit_compile=True`. With the
severity `info`, reports an `input_signature` with `None` in a shape there, and `keras.Input(shape=(None,))` of a model
compiled with `jit_compile=True`.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: six input shapes cost six compilations, whether the function is plain, has
`input_signature=[tf.TensorSpec([None])]`, or has `reduce_retracing=True`. TensorFlow's advice against retracing saves
traces. XLA still compiles each trace for every shape. Only fixed lengths help: padding, or buckets.

## Example
    @tf.function(jit_compile=True, reduce_retracing=True)
    def step(batch): ...

## Use instead
    @tf.function(jit_compile=True)
    def step(batch): ...  # with batches padded to one length, or to a few

## Not flagged
The same settings without `jit_compile=True`, and signatures whose dimensions are numbers.

## Fix safety
Shown only: the data has to change.

## References
- https://www.tensorflow.org/guide/function#controlling_retracing
- https://www.tensorflow.org/xla/known_issues
"""

from collections.abc import Iterator
from dataclasses import replace

from xlalint.analysis.domain.values import Static
from xlalint.analysis.interpreter.events import Event, FeedCompiled, MakeCompiled
from xlalint.analysis.library.padded_shapes import fixed_shapes
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Recompiles, Rule, Runs, Severity

from ._feeds import fed, varying

RETRACING = ("reduce_retracing", "experimental_relax_shapes")
PAD = "pad the data to one length, or to the boundaries of a few buckets"


class OpenDimension(Rule):
    code = "XLA305"
    name = "open-dimension"
    handles = (MakeCompiled, FeedCompiled)
    bad = (
        Bad(
            "@tf.function(jit_compile=True, reduce_retracing=True)\ndef f(x):\n    return x * 2.0\n",
            ["tf.function(jit_compile=True, reduce_retracing=True)"],
            Recompiles(per="shape"),
            inputs=("f32[2..7]",),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="pad",
        ),
        Bad(
            "def g(x):\n    return x * 2.0\n\nf = tf.function(g, jit_compile=True, experimental_relax_shapes=True)\n",
            ["tf.function(g, jit_compile=True, experimental_relax_shapes=True)"],
            None,
            why="today's TensorFlow does not know this argument any more",
        ),
        Bad(
            """
@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 4], tf.float32)])
def f(x):
    return x * 2.0
""",
            ["tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 4], tf.float32)])"],
            Recompiles(per="shape"),
            inputs=("f32[2..7, 4]",),
            severity=Severity.INFO,
        ),
        Bad(
            """
import keras

inputs = keras.Input(shape=(None,), dtype="int32")
model = keras.Model(inputs, keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(8, 4)(inputs)))
model.compile("sgd", "mse", jit_compile=True)
for length in (3, 4, 5):
    model.train_on_batch(tf.ones([2, length], tf.int32), tf.ones([2, 4]))
""",
            ['keras.Input(shape=(None,), dtype="int32")'],
            Runs(3),
            severity=Severity.INFO,
        ),
        Bad(
            """
import keras

first, second = keras.Input(shape=(None, 4)), keras.Input(shape=(None, 4))
pooled = [keras.layers.GlobalAveragePooling1D()(each) for each in (first, second)]
model = keras.Model([first, second], keras.layers.Add()(pooled))
model.compile("sgd", "mse", jit_compile=True)
for length in (3, 4, 5):
    rows = tf.ones([2, length, 4])
    model.train_on_batch([rows, rows], tf.ones([2, 4]))
""",
            ["keras.Input(shape=(None, 4))"],
            Runs(3),
            severity=Severity.INFO,
            why="said once of a model",
        ),
    )
    good = (
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return x * 2.0\n",
            Recompiles(per="shape"),
            inputs=("f32[2..7]",),
            why="nothing here says that the shapes differ",
        ),
        Good(
            """
@tf.function(reduce_retracing=True)
def g(x):
    return x * 2.0

for n in range(3):
    g(tf.ones([n]))
""",
            Runs(0),
            why="not compiled by XLA",
        ),
        Good(
            """
@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([3, 4], tf.float32), tf.TensorSpec([], tf.int32)])
def f(x, n):
    return x * tf.cast(n, tf.float32)
""",
            inputs=("f32[3, 4]", "i32[]"),
        ),
        Good("@tf.function(jit_compile=True, reduce_retracing=False)\ndef f(x):\n    return x * 2.0\n"),
        Good(
            """
import keras

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
model.compile("sgd", "mse", jit_compile=True)
for _ in range(3):
    model.train_on_batch(tf.ones([2, 4]), tf.ones([2, 1]))
""",
            Runs(1),
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case MakeCompiled(arguments=arguments):
                for name in RETRACING:
                    if arguments.get(name) == Static(True):
                        message = (
                            f"`{name}=True` stops retracing, not recompilation: XLA still compiles for every shape"
                        )
                        yield Draft(message, Effect.RECOMPILES, PAD)
                        return
                signature = arguments.get("input_signature")
                if signature is not None and fixed_shapes(signature) is False:
                    message = (
                        "an unknown dimension in `input_signature` stops retracing: XLA still compiles for every shape"
                    )
                    yield Draft(message, Effect.RECOMPILES, PAD, at_most=Severity.INFO)
            case FeedCompiled():
                found = list(varying(event, "undeclared"))
                for variation in found[:1]:  # of one model
                    message = "the model has an unknown dimension: XLA compiles the step for every length"
                    draft = fed(event, variation, message, PAD, likely=True)
                    others = (DraftNote(other.location, "this one is unknown, too") for other in found[1:])
                    yield replace(draft, notes=(*draft.notes, *others))
