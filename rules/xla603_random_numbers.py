"""A compiled function draws other random numbers than eager code, for the same seed.

## What it does
Reports random numbers with a fixed seed in compiled code (`tf.random.stateless_*`, `seed=` with a number), with the
severity `info`. Reports numbers drawn there by Python's `random` or NumPy, and reads of the clock (`time.time()`),
with the severity `warning`: both happen only once. So do draws in a function that `tf.data` maps over its elements.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. XLA uses another algorithm.

- For the same seed, `tf.random.stateless_uniform([3], [1, 2])` and `stateless_normal` return other numbers than eager
  execution, the same ones at each call. `seed=1` of `tf.random.uniform` and `keras.random.uniform` also gives other
  numbers.
- With `alg="philox"`, the stateless functions return equal numbers in both.
- `random.random()` and `np.random.uniform()` are drawn during tracing and are constants from then on. This also holds
  for a plain `tf.function`, and for `dataset.map`, `filter` and `flat_map`: all elements of all epochs get one number.

With Keras 3.15 on JAX 0.10:

- `keras.random.normal(shape)` without a seed raises ValueError ("[JAX RNG] When tracing a JAX function, you should only
  use seeded random ops").
- With a `SeedGenerator` of a module, `fit` and `predict` draw the same numbers at each step. In a `jax.jit` of your own
  it raises UnexpectedTracerError at its next use. Keras passes on the state of those generators alone that are
  attributes of a layer.
- A `SeedGenerator()` that `call` creates draws the same numbers at each call; with a seed, it does so eagerly, too.

## Example
    noise = tf.random.stateless_normal([8], seed=[1, 2])

## Use instead
    noise = tf.random.stateless_normal([8], seed=[1, 2], alg="philox")

On JAX: `self.seed = keras.random.SeedGenerator(1)` in `__init__`, and `seed=self.seed` in `call`.

## Not flagged
Random numbers without a seed (TensorFlow), seeds that are arguments, `alg="philox"`, code that XLA does not compile,
and what is not traced: generators, `tf.numpy_function`, and the `map` of other libraries.

## Fix safety
Shown only: it changes the numbers of the compiled function.

## References
- https://www.tensorflow.org/guide/random_numbers
- https://github.com/tensorflow/tensorflow/issues/121243
"""

from collections.abc import Iterator

from xlalint.analysis.domain.values import NONE, ApiObject, OneOf, Sequence, Static, Value
from xlalint.analysis.files.unit import Unit
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.analysis.interpreter.setup_events import DrawOnce
from xlalint.analysis.library.chance import DRAWN_ON_HOST
from xlalint.fixes.quoted import brief, one_line
from xlalint.linter.rule import Bad, Diverges, Draft, Effect, Fails, Good, OnJax, Rule, Severity
from xlalint.syntax import nodes as cst

from ._names import names

# Those that take the algorithm, and so can be told to draw the same numbers.
STATELESS = frozenset(
    ("tf.random.stateless_normal", "tf.random.stateless_truncated_normal", "tf.random.stateless_uniform")
)
SEEDED = STATELESS | names(
    """
    keras.random.categorical keras.random.normal keras.random.shuffle keras.random.truncated_normal
    keras.random.uniform tf.random.categorical tf.random.normal tf.random.stateless_categorical
    tf.random.truncated_normal tf.random.uniform
    """
)
GENERATOR = "keras.random.SeedGenerator"
# What Keras draws, each with a seed that may be left out.
OF_KERAS = names(
    """
    keras.random.beta keras.random.binomial keras.random.categorical keras.random.dropout keras.random.gamma
    keras.random.normal keras.random.randint keras.random.shuffle keras.random.truncated_normal keras.random.uniform
    """
)
# The clock, likewise.
CLOCKS = names(
    """
    time.time time.time_ns time.perf_counter time.perf_counter_ns time.monotonic time.process_time
    datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow
    """
)


class RandomNumbers(Rule):
    code = "XLA603"
    name = "random-numbers"
    handles = (ApiCall, DrawOnce)
    apis = SEEDED | DRAWN_ON_HOST | CLOCKS | OF_KERAS | {GENERATOR}
    bad = (
        Bad(
            """
import time

@tf.function(jit_compile=True)
def f(x):
    return x + float(time.perf_counter_ns() % 997)
""",
            ["time.perf_counter_ns()"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return x + tf.random.stateless_normal([4], seed=[1, 2])
""",
            ["tf.random.stateless_normal([4], seed=[1, 2])"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            help='tf.random.stateless_normal([4], seed=[1, 2], alg="philox")',
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        return x + tf.random.uniform(tf.shape(x), seed=7)
""",
            ["tf.random.uniform(tf.shape(x), seed=7)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
import numpy as np

generator = np.random.default_rng(1)

@tf.function(jit_compile=True)
def f(x):
    return x * generator.normal()
""",
            ["generator.normal()"],
            Diverges(),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
import random

@tf.function(jit_compile=True)
def f(x):
    return x * random.choice([float(scale) for scale in range(1000)])
""",
            ["random.choice([float(scale) for scale in range(1000)])"],
            Diverges(),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
import random

def scale():
    return random.uniform(1.0, 9.0)

@tf.function(jit_compile=True)
def f(x):
    return x * scale()
""",
            ["random.uniform(1.0, 9.0)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="tf.random.uniform",
        ),
        Bad(
            """
import numpy as np

class L(tf.keras.layers.Layer):
    def call(self, x):
        return x + np.random.normal(size=4)
""",
            ["np.random.normal(size=4)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return x + keras.random.normal([4], seed=7)
""",
            ["keras.random.normal([4], seed=7)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return x + keras.random.normal([4])
""",
            ["keras.random.normal([4])"],
            None,
            effect=Effect.FAILS,
            backend="jax",
            jax=Fails("[JAX RNG]"),
            help="SeedGenerator",
            why="on TensorFlow, it draws other numbers at each call",
        ),
        Bad(
            """
import keras

seed = keras.random.SeedGenerator(1)

class L(keras.layers.Layer):
    def call(self, x):
        return keras.random.dropout(x, 0.5, seed=seed)
""",
            ["keras.random.dropout(x, 0.5, seed=seed)"],
            None,
            effect=Effect.DIVERGES,
            backend="jax",
            help="SeedGenerator",
            why="the same numbers at each step, of `fit`, too",
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return x + keras.random.uniform([4], seed=keras.random.SeedGenerator())
""",
            ["keras.random.SeedGenerator()"],
            None,
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            backend="jax",
            why="the same numbers at each call",
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def __init__(self, seed=None):
        super().__init__()
        self.seed = keras.random.SeedGenerator(seed) if seed else None

    def call(self, x):
        return x + keras.random.uniform([4], seed=self.seed)
""",
            ["keras.random.uniform([4], seed=self.seed)"],
            None,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            backend="jax",
            help="SeedGenerator",
            why="without a seed there is no generator",
        ),
        Bad(
            """
import random

def turn(image):
    return tf.image.rot90(image, random.choice([0, 1, 2, 3]))

images = tf.data.Dataset.from_tensor_slices(tf.ones([8, 4, 4, 3])).map(turn)
""",
            ["random.choice([0, 1, 2, 3])"],
            None,
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="`tf.data` traces it, and nothing compiles it",
        ),
    )
    good = (
        Good(
            """
import keras

class L(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.seed = keras.random.SeedGenerator(1)

    def call(self, x):
        return x + keras.random.normal([4], seed=self.seed)
""",
            None,
            backend="jax",
            why="the layer holds the generator",
        ),
        Good(
            """
import keras

seed = keras.random.SeedGenerator(1)

def noise(shape, seed):
    return keras.random.normal(shape, seed=seed)

print(noise([4], seed), keras.random.normal([4]))
""",
            None,
            backend="jax",
            why="eager code of a script",
        ),
        Good(
            """
import time

@tf.function(jit_compile=True)
def step(x):
    return x * 2.0

begin = time.time()
step(tf.ones([4]))
print(time.time() - begin)
""",
            None,
            why="the clock around a compiled function",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return x + tf.random.stateless_normal([4], seed=[1, 2], alg="philox")
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return x + tf.random.uniform([4])
""",
            None,
            why="nobody expects these numbers to repeat",
        ),
        Good(
            """
import random

class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scale = random.uniform(1.0, 2.0)

    def call(self, x):
        return x * self.scale
""",
            why="drawn when the layer is made",
        ),
        Good(
            """
def augment(x):
    return x + tf.random.uniform([4], seed=7)

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).map(augment)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    generator = np.random.default_rng(1)
    return x * generator.normal(size=4).astype("float32")
""",
            why="each call of eager execution makes the generator with the same seed",
        ),
        Good("noise = tf.random.uniform([4], seed=7)\n", None, why="eager code of a script"),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case DrawOnce(node=node) if not _is_seeded_here(event):
                message = f"`{brief(node)}` is drawn once, when `tf.data` traces the function, for all elements"
                yield Draft(message, Effect.DIVERGES, DEVICE, at_most=Severity.WARNING)
            case ApiCall(api=api, node=node) if event.context.kind in _TRACED:
                code = brief(node)
                compiled = event.context.kind is ContextKind.XLA
                if compiled and (jax := _on_jax(event, code)) is not None:
                    yield Draft(jax.what, jax.effect or Effect.FAILS, HELD, jax=jax, on_jax_alone=True)
                if api in DRAWN_ON_HOST and not _is_seeded_here(event):
                    message = f"`{code}` is drawn once, during tracing, and is a constant from then on"
                    jax = OnJax(Effect.DIVERGES, f"`{code}`", TOO)
                    yield Draft(message, Effect.DIVERGES, DEVICE, at_most=Severity.WARNING, jax=jax)
                elif api in CLOCKS:
                    message = f"`{code}` reads the clock once, during tracing, and is a constant from then on"
                    jax = OnJax(Effect.DIVERGES, f"`{code}`", TOO)
                    yield Draft(message, Effect.DIVERGES, BEFORE, at_most=Severity.WARNING, jax=jax)
                elif compiled and api in SEEDED and _fixed(event):
                    message = f"`{code}`: with the same seed, a compiled function draws other numbers than eager code"
                    help = _philox(node) if api in STATELESS else OTHER
                    yield Draft(message, Effect.DIVERGES, help, at_most=Severity.INFO)


HELD = "make a keras.random.SeedGenerator in `__init__`, as an attribute of the layer, and pass it as the seed"
UNSEEDED = "this raises ValueError"
UNHELD = "`fit` and `predict` draw the same numbers at each step"
ALIKE = "it draws the same numbers at every call"
TOO = "it is a constant of the trace"
BEFORE = "read the clock outside the compiled function, or pass the time as a tensor"
DEVICE = "use tf.random.uniform or tf.random.normal, which draw at every call"
OTHER = 'tf.random.stateless_uniform(shape, seed=[1, 2], alg="philox") draws the same numbers in both'


def _on_jax(event: ApiCall, code: str) -> OnJax | None:
    """What JAX makes of a generator, or of what is drawn without one that a layer holds."""
    seed = event.arguments.get("seed", NONE)
    if event.api == GENERATOR and not event.node.args:
        return OnJax(Effect.DIVERGES, f"`{code}` is created during tracing", ALIKE, Severity.WARNING)
    if event.api not in OF_KERAS:
        return None
    if seed == NONE:
        return OnJax(Effect.FAILS, f"`{code}` has no seed", UNSEEDED)
    if isinstance(seed, OneOf) and NONE in seed.options and any(map(_is_generator, seed.options)):
        return OnJax(Effect.FAILS, f"`{code}` has no seed where no generator is made", UNSEEDED, Severity.WARNING)
    match seed, event.argument_nodes.get("seed"):
        case ApiObject(api=api), cst.Name() as node if api == GENERATOR and _is_global(event.location.unit, node):
            return OnJax(Effect.DIVERGES, f"no layer holds the generator of `{code}`", UNHELD)
    return None


def _is_generator(seed: Value) -> bool:
    return isinstance(seed, ApiObject) and seed.api == GENERATOR


def _is_seeded_here(event: ApiCall | DrawOnce) -> bool:
    """Whether a generator draws that the function makes with a seed: so does each call of eager execution."""
    match event.node.func:
        case cst.Attribute(value=cst.Call(args=[_, *_])):  # `np.random.RandomState(0).normal(..)`
            return True
        case cst.Attribute(value=cst.Name(value=name)):
            unit = event.location.unit
            around = {node for node in unit.around(event.node) if isinstance(node, cst.FunctionDef)}
            return any(
                isinstance(made.value, cst.Call) and made.value.args and not around.isdisjoint(unit.around(made))
                for made in unit.assignments.get(name, ())
            )
        case _:
            return False


def _is_global(unit: Unit, name: cst.Name) -> bool:
    """Whether a name is one that the module binds, and no function around its use."""
    if name.value not in unit.file.outline.assigned:
        return False
    functions = [node for node in unit.around(name) if isinstance(node, cst.FunctionDef)]
    bound = (inner for function in functions for inner in cst.within(function) if isinstance(inner, _BINDING))
    return not any(_bound_by(node) == name.value for node in bound)


def _bound_by(node: cst.CSTNode) -> str | None:
    match node:
        case cst.Param(name=cst.Name(value=name)) | cst.AssignTarget(target=cst.Name(value=name)):
            return name
        case _:
            return None


def _fixed(event: ApiCall) -> bool:
    """Whether the source fixes a seed, and leaves the algorithm open."""
    if event.arguments.get("alg") == PHILOX:
        return False
    match event.arguments.get("seed"):
        case Static(constant=int() | tuple() | list()):
            return True
        case Sequence(items=(_, *_) as items):
            return all(isinstance(item, Static) and isinstance(item.constant, int) for item in items)
        case _:
            return False


def _philox(call: cst.Call) -> str:
    """The call with the algorithm that both have."""
    others = [argument for argument in call.args if argument.keyword is None or argument.keyword.value != "alg"]
    written = [
        f"{argument.keyword.value}={one_line(argument.value)}" if argument.keyword else one_line(argument.value)
        for argument in others
    ]
    return f"{one_line(call.func)}({', '.join([*written, 'alg=' + QUOTED])})"


_BINDING = (cst.Param, cst.AssignTarget)
QUOTED = '"philox"'
PHILOX = Static("philox")
_TRACED = (ContextKind.XLA, ContextKind.GRAPH)
