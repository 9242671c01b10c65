"""Python or NumPy reads the value of a tensor during tracing.

## What it does
Reports code that needs the value itself: `bool(t)`, `int(t)`, `float(t)`, `len(t)`, `t.numpy()`, `np.f(t)`,
`math.f(t)`, `f"{t:.2f}"`, `"%.2f" % t`, `tf.constant(t)`, `get_weights()`, a tensor that a NumPy array stores, and one
as the index of a list or an array. After three reads of one function the further ones are information.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. A tensor has no value during tracing, so the read fails:

- `.numpy()`, and `get_value` and `eval` of Keras's backend, raise `AttributeError`.
- NumPy functions, and stores in arrays of numbers, raise "Cannot convert a symbolic tf.Tensor", or `ValueError`.
- `bool` raises `OperatorNotAllowedInGraphError`.
- An index of a list and `tf.constant` raise `TypeError`.

Tensors computed from shapes fail in the same way. AutoGraph converts only `int`, `float` and `len`, to a cast or a
shape. These compile with AutoGraph and fail without it.

## Example
    scale = float(np.max(x))

## Use instead
    scale = tf.cast(tf.reduce_max(x), tf.float32)

## Not flagged
- `f"{t}"`, `"%s" % t`, `str(t)` and `print(t)`, which print the symbolic tensor; `np.shape(t)` and `np.ndim(t)`.
- Tensors as keys of dicts: no tensor has a hash, so that fails eagerly as well, on both backends.
- NumPy on constants, `get_value` of variables, `int(x.shape[0])`, eager code, and tensors that a constructor keeps.

## Fix safety
`safe` for sizes and ranks of a value that is certainly a tensor (`len(tf.shape(x))`, `int(tf.shape(x)[0])`, `len(x)`),
in a function that AutoGraph never converts (`autograph=False`). The static size is the same in eager execution, and in
a graph the original read fails.

Otherwise `unsafe`. If AutoGraph may convert the code, a dimension may be unknown. There is no fix if data decides the
size. All other rewrites return a tensor. A tensor does not mix with tensors of another dtype the way a Python number
does, and other NumPy or Python code may still have to read it. Those rewrites are shown only where that is certain: in
conditions, indices and text, and for NumPy functions that return another integer dtype.

## References
- https://www.tensorflow.org/guide/function#debugging
- https://www.tensorflow.org/guide/tf_numpy
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Tensor
from xlalint.analysis.interpreter.events import Event, HostRead
from xlalint.fixes.reads import host_read, read_in_graph
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Fails, Good, Rule, Safety, origin_note

from ._control import KERAS_3, READERS, of_a_tensor, unconverted
from ._jax import read
from ._programs import OBJECTS_IN_ARRAY, RATES, SCALED, STORED_IN_ARRAY, TAKEN_WEIGHTS

CONVERTED = frozenset(("int", "float", "len"))  # the builtins that AutoGraph rewrites
STATIC_READS = frozenset(("np.shape", "np.ndim", "np.isscalar"))  # they look at the static shape only
VARIABLE_READS = frozenset(("keras.backend.eval", "keras.backend.get_value"))  # they leave the graph for a variable
# Of a tensor that is not of the trace.
EAGER_READS = STATIC_READS | CONVERTED | VARIABLE_READS | {"bool", "complex", ".numpy"}


class HostReadOfTensor(Rule):
    code = "XLA106"
    name = "host-read"
    traced = True
    handles = (HostRead,)
    bad = (
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        return tf.constant(x, dtype=tf.float32) + 1.0
""",
            ["tf.constant(x, dtype=tf.float32)"],
            Fails("Expected float32"),
            effect=Effect.FAILS,
            help="tf.cast(x, tf.float32)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    least = tf.constant(tf.reduce_min(x))
    return x * least
""",
            ["tf.constant(tf.reduce_min(x))"],
            Fails("got a tensor instead"),
            effect=Effect.FAILS,
            help="tf.convert_to_tensor(tf.reduce_min(x))",
        ),
        Bad(
            RATES,
            ["RATES[tf.argmax(x)]"],
            Fails("list indices must be integers"),
            effect=Effect.FAILS,
            help="tf.gather",
            safety=Safety.UNSAFE,
            fixed=RATES.replace("RATES[tf.argmax(x)]", "tf.gather(tf.stack(RATES), tf.argmax(x))"),
        ),
        Bad(
            STORED_IN_ARRAY,
            ["states[:, n + 1] = states[:, n] + tf.reduce_sum(x)"],
            Fails("Cannot convert a symbolic tf.Tensor"),
            effect=Effect.FAILS,
        ),
        Bad(
            TAKEN_WEIGHTS,
            ["self.mixing.get_weights()"],
            Fails("numpy() is only available when eager execution is enabled"),
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            SCALED,
            ["float(tf.reduce_max(x))"],
            Fails("float() argument must be a string or a real number"),
            effect=Effect.FAILS,
            help="tf.cast(tf.reduce_max(x), tf.float32)",
            safety=Safety.UNSAFE,
            fixed=SCALED.replace("float(tf.reduce_max(x))", "tf.cast(tf.reduce_max(x), tf.float32)"),
        ),
        Bad(
            """
import numpy as np

def normalise(values):
    return values / np.sum(values, axis=0)

@tf.function(jit_compile=True)
def f(x):
    return normalise(tf.abs(x))
""",
            ["np.sum(values, axis=0)"],
            Fails("Cannot convert a symbolic tf.Tensor"),
            effect=Effect.FAILS,
            help="tf.reduce_sum(values, axis=0)",
            safety=Safety.UNSAFE,
            fixed="""
import numpy as np

def normalise(values):
    return values / tf.reduce_sum(values, axis=0)

@tf.function(jit_compile=True)
def f(x):
    return normalise(tf.abs(x))
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    peak = tf.reduce_max(x)
    read = lambda: peak.numpy()
    return x * read()
""",
            ["peak.numpy()"],
            Fails("'SymbolicTensor' object has no attribute 'numpy'"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    peak = tf.reduce_max(x)
    read = lambda: tf.stop_gradient(peak)
    return x * read()
""",
        ),
        Bad(
            """
from math import sqrt as root

@tf.function(jit_compile=True)
def f(x):
    return x * root(tf.abs(x[0]))
""",
            ["root(tf.abs(x[0]))"],
            Fails("must be real number, not SymbolicTensor"),
            effect=Effect.FAILS,
            help="tf.math.sqrt(tf.abs(x[0]))",
            safety=Safety.UNSAFE,
            fixed="""
from math import sqrt as root

@tf.function(jit_compile=True)
def f(x):
    return x * tf.math.sqrt(tf.abs(x[0]))
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n):
    branches = [x, x * 2.0, x * 3.0, x * 4.0]
    return branches[n]
""",
            ["branches[n]"],
            Fails("list indices must be integers or slices"),
            inputs=("f32[4]", "i32[]"),
            effect=Effect.FAILS,
            help="tf.gather(tf.stack(branches), n)",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x, n):
    branches = [x, x * 2.0, x * 3.0, x * 4.0]
    return tf.gather(tf.stack(branches), n)
""",
        ),
        Bad(
            """
class Schedule:
    def __init__(self):
        self.enabled = tf.Variable(True)

    def factor(self):
        return 2.0 if bool(self.enabled) else 1.0

SCHEDULE = Schedule()

@tf.function(jit_compile=True)
def f(x):
    return x * SCHEDULE.factor()
""",
            ["bool(self.enabled)"],
            Fails("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"),
            effect=Effect.FAILS,
            help="tf.cast(self.enabled, tf.bool)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n):
    return x * float(n)
""",
            ["float(n)"],
            Compiles(),
            inputs=("f32[4]", "i32[]"),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x, n):
    return x * tf.cast(n, tf.float32)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    names = f"loss {tf.reduce_sum(x):.2f}", "%s: %.3f" % ("a", x[0]), "{} {:.1f}".format("b", x[1])
    return x * 2.0
""",
            ["tf.reduce_sum(x)", '"%s: %.3f" % ("a", x[0])', '"{} {:.1f}".format("b", x[1])'],
            Fails("unsupported format string"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x: tf.Tensor):
    shape = (tf.shape(x)[0],) + (1,) * (len(tf.shape(x)) - 1)
    return x * tf.ones(shape) / (len(x) * int(tf.shape(x)[1]))
""",
            ["len(tf.shape(x))", "len(x)", "int(tf.shape(x)[1])"],
            Fails("len is not well defined for a symbolic Tensor"),
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
            safety=Safety.SAFE,
            fixed="""
@tf.function(jit_compile=True, autograph=False)
def f(x: tf.Tensor):
    shape = (tf.shape(x)[0],) + (1,) * (len(x.shape) - 1)
    return x * tf.ones(shape) / (x.shape[0] * x.shape[1])
""",
        ),
    )
    good = (
        Good(OBJECTS_IN_ARRAY, why="an array of objects holds tensors"),
        Good(
            """
class Net(tf.keras.Model):
    @property
    def dummy_inputs(self):
        return {"pixels": tf.constant(tf.random.uniform((2, 3)))}
""",
            None,
            why="no visible code traces it, and eager code can make a constant of a tensor",
        ),
        Good(
            """
LIMITS = tf.constant([1.0, 2.0, 3.0, 4.0])

@tf.function(jit_compile=True)
def f(x):
    return x + tf.constant(LIMITS) + tf.constant([1.0, 2.0])[0] + tf.constant(float(x.shape[0]))
""",
            why="of what was computed before the trace a constant can be made",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def loss(x):
    return tf.reduce_mean(x * x)

def verdict(x):
    value = float(loss(x))
    return "bad" if value > 1.0 else "good"

def log_all(parts):
    lines = []
    for part in parts:
        value = float(loss(part))
        if value > 1.0:
            lines.append(f"large: {value:.3f}")
    return lines

f = verdict
log_all([tf.ones([3])])
""",
            None,
            why="what a compiled function returned, read on the host",
        ),
        Good(
            """
class Boxes(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.boxes = []

    def update_state(self, boxes, scores):
        self.boxes.append(boxes.numpy())

    def result(self):
        return 0.0

def evaluate(model, dataset):
    metric = Boxes()
    for batch in dataset:
        metric.update_state(*model(batch))
    return metric.result()

evaluate(lambda batch: (batch, batch), [tf.ones([3])])
""",
            None,
            why="a metric that only eager code calls",
        ),
        Good(
            """
import os

class Encoder(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.everything = os.environ.get("EVERYTHING") == "1"
        self.more = os.environ.get("MORE") == "1"

    def call(self, inputs):
        first, second = inputs
        states = ()
        for _ in range(2):
            if self.everything:
                states = states + (first,)
            first = (first * second, second)[0]
        outputs = (first,)
        if self.everything:
            outputs = outputs + (states,)
        if self.more:
            outputs = outputs + (states,)
        return outputs

class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def call(self, x):
        last = self.encoder([x, x])[0]
        return tf.map_fn(lambda i: last[i], tf.range(2), fn_output_signature=tf.float32)
""",
        ),
        Good(
            """
import numpy as np

def scaled(x):
    result = tf.convert_to_tensor(x) * 2.0
    if isinstance(x, np.ndarray):
        return result.numpy()
    return result

@tf.function(jit_compile=True)
def f(x):
    return scaled(tf.abs(x))
""",
            why="a tensor is no NumPy array",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        print(f"tracing with {x}", str(x), "%s, %.1f" % (x, 2.0), "{} {:.1f}".format(x, 2.0))
        return x * float(x.shape[0]) * int(x.shape.rank) * float(len(x.shape))
""",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    return x * np.sqrt(2.0) * float(np.prod(x.shape)) * np.ones(4, "float32")
""",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    return x * float(np.shape(x)[0]) * float(np.ndim(x))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    parts = [x, x * 2.0]
    return parts[len(parts) - 1] * float(len(x))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return abs(x) * tf.cast(tf.argmax(x), tf.float32) ** 2
""",
        ),
        Good(
            """
class Output:
    def __init__(self, states):
        self.states = states

class L(tf.keras.layers.Layer):
    def call(self, x, encoded: tf.Tensor | None = None):
        if not isinstance(encoded, Output):
            encoded = Output(encoded[1] if len(encoded) > 1 else None)
        return x
""",
            None,
            why="code that tests for another class does not rely on the annotation",
        ),
        Good(
            """
import numpy as np

losses = tf.ones([4])
print(float(np.mean(losses)), losses.numpy().tolist(), len(losses))
""",
            None,
            why="eager code of a script",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case HostRead(value=value, reader=reader) if tensor := as_tensor(value, Dependence.STATIC):
                if outcome := _outcome(event, tensor):
                    effect, reason = outcome
                    spelled = f"{reader}()" if reader.startswith(".") else reader
                    what = f"{READERS.get(reader, f'`{spelled}` reads')} {of_a_tensor(tensor)}"
                    help = host_read(reader, event.location.node)
                    rewrite = partial(read_in_graph, event)
                    notes = origin_note(tensor.origin, event)
                    plain = reader in CONVERTED and not event.context.converted
                    message, jax = f"{what}: {reason}", read(reader, what, tensor)
                    yield Draft(message, effect, help, notes=notes, rewrite=rewrite, unconverted=plain, jax=jax)


def _outcome(event: HostRead, tensor: Tensor) -> tuple[Effect, str] | None:
    if event.reader in (EAGER_READS if tensor.eager else STATIC_READS):
        return None
    if event.reader in VARIABLE_READS and tensor.variable:
        return None
    if event.reader not in CONVERTED:
        return Effect.FAILS, "a tensor has no value during tracing, so tracing fails"
    if why := unconverted(event.context):
        return Effect.FAILS, f"{why}, so this raises TypeError"
    if event.reader == "len" or tensor.dependence < Dependence.VALUE:
        return None
    return Effect.NAMED, f"this compiles only because AutoGraph converts it to a cast; {KERAS_3}"
