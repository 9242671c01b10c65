"""A TPU computes with 32 bits: it has no kernel for complex128, and is slow with float64.

## What it does
Reports calls that create a `tf.complex128` tensor (or `np.complex128`, `"complex128"`) in a function that
`TPUStrategy.run` compiles, or in the `call` or step of a model created in the scope of a TPU strategy. With the setting
`target = "tpu"`, reports them in all compiled code. Reports as well that a program for a TPU tells Keras to compute in
float64, by `set_floatx` or a policy for all layers, or by the `dtype` of dense, convolutional, recurrent and attention
layers (the first one, with the others beside it).
As information, reports the quotient of two tensors of int32 or int64 (`a / b`, `tf.divide`), which TensorFlow computes
in float64.

## What XLA does
Measured with the TPU compiler (TensorFlow 2.20): `tf.cast(x, tf.complex128)`, `tf.constant(1j, tf.complex128)` whether
used or not, `tf.zeros`, `tf.eye` and `tf.ones_like` of that dtype, and a function with such a tensor as its argument
all fail ("No registered 'Cast' OpKernel for XLA_TPU_JIT devices .. attributes didn't match"). With complex64 they
compile, and so does float64.

In the kernel tables, the CPU compiler (2.21) accepts complex128 for 301 type attributes, and the TPU compiler for none:
`xlalint facts Cast` shows both. The TPU lacks none of the CPU's operations.

A number of float64 becomes several of 32 bits. Measured with the compiler for a v5e, of `tf.nn.relu(tf.matmul(x, w))`
with matrices of 1024 rows and columns:

| | compiles in | takes | its gradient compiles in | takes |
| --- | --- | --- | --- | --- |
| float32 | 0.7 s | 12 MiB | 2 s | 17 MiB |
| float64 | 10 s | 20 MiB | 28 s | 0.1 GiB |

A true division of int32, int64, uint32 or uint64 is one of float64, also by a Python integer (TensorFlow 2.21); of
integers of 8 and 16 bits it is one of float32, and `keras.ops.divide` always is. A cast behind it changes nothing of
that. Measured with the same compiler, of matrices of 1024 rows and columns:

| int32 | operations on numbers | instructions | program | compiles in |
| --- | --- | --- | --- | --- |
| `tf.cast(a / b, tf.float32)` | 81 million | 100 | 480 kB | 2.2 s |
| `tf.cast(a, tf.float32) / tf.cast(b, tf.float32)` | 3 million | 6 | 166 kB | 0.5 s |

It estimates a fifth more cycles for the division alone (37,000 for 30,000), which waits for the memory mostly. What
computes on with the quotient computes in float64, too.

Not measured, for lack of a TPU: how long they run.

## Example
    @tf.function
    def train(batch):
        return strategy.run(lambda b: tf.abs(tf.cast(b, tf.complex128)), args=(batch,))

## Use instead
    tf.cast(b, tf.complex64)

## Not flagged
- Complex numbers and integers of unknown width, and quotients of single numbers.
- Code that no TPU strategy is seen to run, unless `target = "tpu"` is set.
- Programs that call `tf.config.set_soft_device_placement(True)`, which puts such operations on the host.

## Fix safety
`unsafe`: complex64 has half the digits. For quotients there is no fix: float32 counts exactly up to 16 million.

## References
- https://www.tensorflow.org/api_docs/python/tf/config/set_soft_device_placement
- https://docs.cloud.google.com/tpu/docs/tensorflow-ops
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from xlalint.analysis.domain.values import Static
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import DivideBy, Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.strategies import (
    FLOAT64,
    asks_for_complex128,
    computes_in,
    is_tpu,
    making_of,
    places_softly,
)
from xlalint.fixes import rewrite
from xlalint.fixes.names import Names
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import (
    ApiCall,
    Bad,
    Compiles,
    Draft,
    DraftNote,
    Effect,
    Good,
    Rule,
    Safety,
    Severity,
    Told,
    TpuOutcome,
)
from xlalint.syntax import nodes as cst

from ._names import names
from ._provenance import Provenance
from ._quotients import DIVISIONS, MADE, divided
from ._strategies import RUNNING, dtype_for_all, method_of, strategy_in, told_on_tpu

TPU: Final = """
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
NEEDED: Final = "it needs a TPU"
_WIDE: Final = "a TPU computes with 32 bits, and makes several such numbers of one of float64"
_NARROW: Final = "compute in float32, and cast where the digits are needed"
_NOTED: Final = 8  # further layers of a program that are named
_FLOAT64: Final = Static("float64")
CALLED_BY_KERAS: Final = ("call", "train_step", "test_step", "predict_step")
RUN: Final = """
@tf.function
def train(batch):
    return strategy.run(step, args=(batch,))
"""


# What is told a dtype and is heard of where there is no strategy, too.
MAKERS: Final = names(
    """
    keras.ops.arange keras.ops.array keras.ops.cast keras.ops.convert_to_tensor keras.ops.eye keras.ops.full
    keras.ops.ones keras.ops.ones_like keras.ops.zeros keras.ops.zeros_like
    tf.cast tf.constant tf.convert_to_tensor tf.eye tf.one_hot tf.ones tf.ones_like tf.saturate_cast tf.zeros
    tf.zeros_like tnp.array tnp.asarray tnp.eye tnp.full tnp.ones tnp.ones_like tnp.zeros tnp.zeros_like
    """
)


class TpuDtype(Rule):
    code = "XLA507"
    name = "tpu-dtype"
    handles = (ApiCall, DivideBy, Program)
    apis = MAKERS | DIVISIONS | MADE
    bad = (
        Bad(
            f"""{TPU}
def step(batch):
    return tf.abs(tf.signal.fft(tf.cast(batch, tf.complex128)))
{RUN}""",
            ["tf.cast(batch, tf.complex128)"],
            None,
            effect=Effect.TPU,
            help="tf.complex64",
            safety=Safety.UNSAFE,
            fixed=f"""{TPU}
def step(batch):
    return tf.abs(tf.signal.fft(tf.cast(batch, tf.complex64)))
{RUN}""",
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
import numpy as np

def turned(x):
    return x * tf.constant(1j, dtype=np.complex128) + tf.zeros([4], "complex128")

def step(batch):
    return turned(batch)
{RUN}""",
            ["tf.constant(1j, dtype=np.complex128)", 'tf.zeros([4], "complex128")'],
            None,
            effect=Effect.TPU,
            safety=Safety.UNSAFE,
            fixed=f"""{TPU}
import numpy as np

def turned(x):
    return x * tf.constant(1j, dtype=np.complex64) + tf.zeros([4], "complex64")

def step(batch):
    return turned(batch)
{RUN}""",
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
class Spectrum(tf.keras.Model):
    def call(self, x):
        return tf.abs(tf.cast(x, tf.complex128))

with strategy.scope():
    model = Spectrum()
    model.compile("sgd", "mse")
model.fit(tf.ones([8, 4]), tf.ones([8, 4]))
""",
            ["tf.cast(x, tf.complex128)"],
            None,
            effect=Effect.TPU,
            safety=Safety.UNSAFE,
            fixed=f"""{TPU}
class Spectrum(tf.keras.Model):
    def call(self, x):
        return tf.abs(tf.cast(x, tf.complex64))

with strategy.scope():
    model = Spectrum()
    model.compile("sgd", "mse")
model.fit(tf.ones([8, 4]), tf.ones([8, 4]))
""",
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
WIDE = tf.complex128

class Rotation(tf.keras.layers.Layer):
    def call(self, x):
        return tf.abs(tf.cast(x, WIDE))

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.rotation = Rotation()

    def call(self, x):
        return self.rotation(x)

with strategy.scope():
    model = Net()

@tf.function
def train(batch):
    return strategy.run(lambda x: model(x), args=(batch,))
""",
            ["tf.cast(x, WIDE)"],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.abs(tf.cast(x, tf.complex128))
""",
            ["tf.cast(x, tf.complex128)"],
            Compiles(),
            effect=Effect.TPU,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    return tf.abs(tf.cast(x, tf.complex64))
""",
            target="tpu",
        ),
        Bad(
            """
tf.keras.backend.set_floatx("float64")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
""",
            ['tf.keras.backend.set_floatx("float64")'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="float32",
            target="tpu",
            why=NEEDED,
        ),
        Bad(
            f"""{TPU}
tf.keras.mixed_precision.set_global_policy("float64")
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
""",
            ['tf.keras.mixed_precision.set_global_policy("float64")'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why=NEEDED,
        ),
        Bad(
            """
inputs = tf.keras.Input([1])
hidden = tf.keras.layers.Dense(8, activation="tanh", dtype=tf.float64)(inputs)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, dtype="float64")(hidden))
""",
            ['tf.keras.layers.Dense(8, activation="tanh", dtype=tf.float64)'],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="float32",
            target="tpu",
            why=NEEDED,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    hits = tf.cast(x > 0.0, tf.int32)
    return tf.cast(tf.cumsum(hits) / tf.range(1, 5), tf.float32) + tf.cast(tf.divide(hits, 3), tf.float32)
""",
            ["tf.cumsum(hits) / tf.range(1, 5)", "tf.divide(hits, 3)"],
            Compiles(),
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="tf.cast(a, tf.float32)",
            target="tpu",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    bytes = tf.cast(tf.abs(x), tf.uint8)
    hits = tf.reduce_sum(tf.cast(x > 0.0, tf.int32))
    share = tf.cast(hits / tf.size(x), tf.float32)
    return share + bytes / tf.cast(2, tf.uint8) + x / tf.cast(hits + 1, tf.float32)
""",
            target="tpu",
            why="integers of 8 bits, a single number, and floats",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    hits = tf.cast(x > 0.0, tf.int32)
    return hits / (hits + 1)
""",
            why="nobody says that a TPU is to run it",
        ),
        Good(
            """
inputs = tf.keras.Input([1], dtype="float64")
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tf.keras.layers.Softmax(dtype="float32")(inputs)))
""",
            None,
            target="tpu",
            why="Keras casts the input to what a layer computes in, which is float32",
        ),
        Good('tf.keras.backend.set_floatx("float64")\n', None, why="nobody says that a TPU is to run it"),
        Good(f'{TPU}\ntf.keras.backend.set_floatx("float32")\n', None, why="what a TPU computes in"),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.abs(tf.cast(x, tf.complex128))\n",
            Compiles(),
            why="the compiler of the CPU has these kernels",
        ),
        Good(
            f"{TPU}\ndef step(batch):\n    return tf.abs(tf.cast(batch, tf.complex64)) + tf.cast(1, tf.float64)\n{RUN}",
            None,
            why="a TPU has kernels for complex64 and for float64",
        ),
        Good(
            f"""{TPU}
tf.config.set_soft_device_placement(True)

def step(batch):
    return tf.abs(tf.cast(batch, tf.complex128))
{RUN}""",
            None,
            why="what has no kernel runs on the host",
        ),
        Good(
            f"""{TPU}
class Spectrum(tf.keras.Model):
    def call(self, x):
        return tf.abs(tf.cast(x, tf.complex128))

model = Spectrum()
model.compile("sgd", "mse")
model.fit(tf.ones([8, 4]), tf.ones([8, 4]))
""",
            None,
            why="a model outside the scope runs elsewhere",
        ),
        Good(
            f"""{TPU}
def prepared(row):
    return tf.abs(tf.cast(row, tf.complex128))

data = tf.data.Dataset.from_tensor_slices([1.0]).map(prepared)
print(tf.cast(1, tf.complex128))
""",
            None,
            why="the host runs the pipeline, and eager code",
        ),
    )

    def __init__(self) -> None:
        self._provenance = Provenance()

    def check(self, event: Event) -> Iterator[Draft]:
        if isinstance(event, ApiCall):
            self._provenance.remember(event)
        match event:
            case DivideBy(left=left, right=right, sign="/", location=Location(node=cst.BinaryOperation() as node)):
                yield from divided(self._provenance, event, (left, right), (node.left, node.right))
            case ApiCall(api=api, arguments={"x": left, "y": right}, argument_nodes=nodes) if api in DIVISIONS:
                yield from divided(self._provenance, event, (left, right), (nodes["x"], nodes["y"]))
            case Program(steps=steps) if not any(places_softly(step.api, step.arguments) for step in steps):
                models = {location for step in steps for location in _run_on_tpu(step)}
                yield from _in_float64(steps)
                for step in steps:
                    if asks_for_complex128(step.arguments, step.result) and _on_tpu(step, models):
                        yield _draft(step)
            case ApiCall(arguments=arguments, result=result) if asks_for_complex128(arguments, result):
                if event.context.kind is ContextKind.XLA and not event.context.in_replica:
                    yield replace(_draft(event), told=Told.FOR_TPU_ALONE)


def _in_float64(steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """Where Keras is told to compute in float64."""
    for step in steps:
        if dtype_for_all(step) == _FLOAT64:
            yield Draft(
                f"`{brief(step.node)}`: {_WIDE}",
                Effect.TPU,
                _NARROW,
                location=step.location,
                at_most=Severity.WARNING,
                told=told_on_tpu(steps),
            )
    layers = dict.fromkeys(step.location for step in steps if computes_in(FLOAT64, step.arguments, step.result))
    if layers:
        first, *others = layers
        yield Draft(
            f"`{brief(first.node)}`: {_WIDE}",
            Effect.TPU,
            _NARROW,
            location=first,
            at_most=Severity.WARNING,
            told=told_on_tpu(steps),
            notes=tuple(DraftNote(other, "this layer, too") for other in others[:_NOTED]),
        )


def _draft(call: SetupCall | ApiCall) -> Draft:
    return Draft(
        f"`{brief(call.node)}`: a TPU has no kernel for complex128, so it cannot compile code with this call",
        Effect.TPU,
        location=call.location,
        rewrite=partial(_narrower, call),
        on_tpu=TpuOutcome.FAILS,
    )


def _run_on_tpu(step: SetupCall) -> Iterable[Location]:
    """The names of the methods that a TPU strategy runs, of the model that a call trains."""
    made = making_of(step.owner) if step.owner is not None and method_of(step) in RUNNING else None
    strategy = strategy_in(made.scope) if made is not None else None
    if made is None or made.cls is None or not is_tpu(strategy or Static()):
        return ()
    methods = (made.cls.find(name) for name in CALLED_BY_KERAS)
    return [method.label for method in methods if method is not None]


def _on_tpu(step: SetupCall, models: set[Location]) -> bool:
    """Whether a TPU strategy runs the code around a call."""
    if step.context.kind is not ContextKind.XLA:
        return False
    scope, trail = step.context.scope, step.trail
    if scope is not None and scope.replica:
        strategy = strategy_in(scope)
        return strategy is not None and is_tpu(strategy)
    while trail is not None:
        if trail.location in models:
            return True
        trail = trail.parent
    return False


def _narrower(call: SetupCall | ApiCall, names: Names) -> rewrite.Rewrite | None:
    """The call with complex64, where complex128 is written in the call itself."""
    written = [node for node in call.argument_nodes.values() if _is_written(node)]
    if len(written) != 1:
        return None
    (node,) = written
    text = call.location.at(node).code.replace("complex128", "complex64")
    edits = (rewrite.replace(call.location.at(node), text),)
    return rewrite.Rewrite("Use `complex64`", edits, Safety.UNSAFE, "in precision: complex64 has half the digits")


def _is_written(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Attribute(attr=cst.Name(value="complex128")) | cst.SimpleString(value="'complex128'" | '"complex128"'):
            return True
        case _:
            return False
