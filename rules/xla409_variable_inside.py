"""A traced function creates a variable.

## What it does
Reports `tf.Variable(..)` in a traced function if each trace creates a new one: it is bound to a local name, used at
once, or stored without a check whether it exists. Also reports Keras layers with weights or random numbers, metrics,
optimizers, whole models of `keras.applications`, layers of TensorFlow Addons, and layers and metrics of the project
that add weights, if they are created there, because they create variables.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. Tracing fails, with and without XLA ("tf.function only supports singleton
tf.Variables created on the first call"), also inside `tf.init_scope` and with a function as the initial value.

A variable created at the first call only (`if self.v is None: self.v = tf.Variable(tf.zeros([4]))`) works, unless its
initial value depends on an argument. Then compiling fails ("We failed to lift variable creations out of this
tf.function").

The same holds for 128 classes of Keras 3.15, each created and called inside a function. In Keras 2 it does not hold for
those that draw random numbers. Layers without weights, such as `Flatten`, may be created anywhere. It holds, too, for
layers and metrics of a program that call `add_weight`. If they only hold such layers, Keras 2 fails as well, and Keras
3 draws other weights in each trace (XLA606).

Keras 3.15 on JAX 0.10 raises nothing where `call` creates a layer and calls it, and the result is silently wrong: the
model does not have the weights, so `fit` leaves them alone, and each trace (`fit`, `predict`, another batch size) draws
other ones. A `Dropout` draws the same mask in each step.

## Example
    def call(self, x):
        scale = tf.Variable(1.0)
        return x * scale

## Use instead
    def build(self, input_shape):
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return x * self.scale

For a value that only this call needs, use a tensor: `scale = tf.constant(1.0)`.

## Not flagged
- Variables created in `__init__`, in `build` or at module level.
- Variables created under a condition that may hold once. A condition that compares a setting with a number or a text,
  or tests `training`, does not count, nor does one each of whose sides creates variables.
- Variables created behind a decorator of the project, which may run a method once.

## Fix safety
Shown only: the variable has to move to another method, and the code does not show whether it should keep its value.

## References
- https://www.tensorflow.org/guide/function#creating_tfvariables
- https://github.com/tensorflow/tensorflow/issues/113170
"""

from collections.abc import Iterator

from xlalint.analysis.domain.values import Static
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event, MakeWeights
from xlalint.analysis.library.keras_classes import APPLICATIONS, METRICS, OPTIMIZERS, RANDOM, WEIGHTED, WEIGHTED_ADDONS
from xlalint.facts import tables
from xlalint.fixes.quoted import brief, one_line
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, OnJax, Rule, Severity
from xlalint.syntax import nodes as cst

from ._weights import OUTSIDE, UNTRAINED, is_conditional, is_named

OF_KERAS = frozenset(
    f"keras.{module}.{name}"
    for module, found in (("layers", WEIGHTED | RANDOM), ("metrics", METRICS), ("optimizers", OPTIMIZERS))
    for name in found
)
MODELS = frozenset(f"keras.applications.{name}" for name in APPLICATIONS)  # functions, which build whole models
TRACED = frozenset((ContextKind.XLA, ContextKind.GRAPH))
SINGLETON = Fails("tf.function only supports singleton tf.Variables")


class VariableInside(Rule):
    code = "XLA409"
    name = "variable-inside"
    handles = (ApiCall, MakeWeights)
    apis = frozenset(("tf.Variable",)) | OF_KERAS | MODELS | WEIGHTED_ADDONS
    bad = (
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, momentum=0.9):
        super().__init__()
        self.momentum = momentum

    def call(self, x):
        if self.momentum > 0:
            average = tf.Variable(0.0)
            x = x + average
        return x
""",
            ["tf.Variable(0.0)"],
            Fails("singleton tf.Variables"),
            why="a condition that is the same in each call",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep

    def call(self, x):
        if self.deep:
            return tf.keras.layers.Dense(4)(x)
        else:
            return tf.keras.layers.Dense(8)(x)
""",
            ["tf.keras.layers.Dense(4)", "tf.keras.layers.Dense(8)"],
            SINGLETON,
            inputs=("f32[4, 3]",),
            why="each side of the condition creates a layer",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    kind = "dense"

    def call(self, x):
        if self.kind == "dense":
            return tf.keras.layers.Dense(4)(x)
""",
            ["tf.keras.layers.Dense(4)"],
            SINGLETON,
            inputs=("f32[4, 3]",),
            why="a setting that is a text",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.Variable(tf.zeros([4]))
    return total + x
""",
            ["tf.Variable(tf.zeros([4]))"],
            SINGLETON,
            effect=Effect.FAILS,
            help="tf.zeros([4])",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        scale = tf.Variable(2.0)
        return x * scale
""",
            ["tf.Variable(2.0)"],
            SINGLETON,
            effect=Effect.FAILS,
            help="tf.convert_to_tensor(2.0)",
        ),
        Bad(
            """
def noise():
    return tf.Variable(tf.ones([4]), trainable=False)

@tf.function(jit_compile=True)
def f(x):
    return x + noise()
""",
            ["tf.Variable(tf.ones([4]), trainable=False)"],
            SINGLETON,
            effect=Effect.FAILS,
        ),
        Bad(
            """
from tensorflow import Variable

@tf.function(jit_compile=True)
def f(x):
    with tf.init_scope():
        state = Variable(lambda: tf.zeros([4]))
    return x + state
""",
            ["Variable(lambda: tf.zeros([4]))"],
            SINGLETON,
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return keras.layers.Dropout(0.5)(keras.layers.Dense(2)(x))
""",
            ["keras.layers.Dropout(0.5)", "keras.layers.Dense(2)"],
            SINGLETON,
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
            help="__init__",
        ),
        Bad(
            """
from tensorflow.keras import metrics

@tf.function(jit_compile=True)
def f(x):
    seen = metrics.Mean()
    seen.update_state(x)
    return seen.result()
""",
            ["metrics.Mean()"],
            SINGLETON,
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

class Scale(keras.layers.Layer):
    def build(self, shape):
        self.factor = self.add_weight(shape=(shape[-1],))

    def call(self, x):
        return x * self.factor

class L(keras.layers.Layer):
    def call(self, x):
        return Scale()(x)
""",
            ["Scale()"],
            SINGLETON,
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
            why="a layer of the project has weights as well",
        ),
        Bad(
            """
class Offset(tf.Module):
    def __init__(self):
        self.total = tf.Variable(1.0)

    def __call__(self, x):
        return x + self.total

@tf.function(jit_compile=True)
def f(x):
    return Offset()(x)
""",
            ["tf.Variable(1.0)"],
            SINGLETON,
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, deep=True):
        super().__init__()
        self.deep, self.kind, self.inner, self.outer = deep, "new", None, None

    def call(self, x):
        if self.inner is None:
            if self.deep:
                self.inner = tf.keras.layers.Dense(4)
            else:
                self.inner = tf.keras.layers.Dense(8)
        if self.kind == "new":
            self.outer = tf.keras.layers.Dense(4)
            self.kind = "old"
        return self.outer(self.inner(x))
""",
            inputs=("f32[4, 3]",),
            why="created at the first call only",
        ),
        Good(
            """
class Passes:
    def setup(self, x):
        self.scale = tf.Variable(tf.ones([4]))

    def forward(self, x):
        return x * 2.0

    def backward(self, x):
        return x / 2.0

    def run(self, x, back):
        name = "backward" if back else "forward"
        return getattr(self, name)(x)

passes = Passes()

@tf.function(jit_compile=True)
def f(x, back=len(__name__) > 3):
    return passes.run(x, back)
""",
            why="a method by one of two names",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def call(self, x):
        if self.calls < 1:
            self.average = tf.Variable(0.0)
            self.calls += 1
        return x + self.average
""",
            None,
            why="a count of its own lets it happen once",
        ),
        Good(
            """
TOTAL = tf.Variable(tf.zeros([4]))

@tf.function(jit_compile=True)
def f(x):
    return TOTAL + x
""",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.scale = tf.Variable(2.0)

    def call(self, x):
        return x * self.scale
""",
        ),
        Good(
            """
class Counter(tf.Module):
    def __init__(self):
        self.total = None

    def create(self):
        return tf.Variable(tf.zeros([4]))

    def __call__(self, x):
        if self.total is None:
            self.total = self.create()
        return x + self.total

COUNTER = Counter()

@tf.function(jit_compile=True)
def f(x):
    return COUNTER(x)
""",
        ),
        Good(
            """
def once(method):
    def run(self):
        if not self.done:
            self.done = True
            method(self)
    return run

class Counter(tf.Module):
    def __init__(self):
        self.done = False

    @once
    def create(self):
        self.total = tf.Variable(tf.zeros([4]))

    def __call__(self, x):
        self.create()
        return x + self.total

COUNTER = Counter()

@tf.function(jit_compile=True)
def f(x):
    return COUNTER(x)
""",
        ),
        Good(
            """
import keras

class Scale(keras.layers.Layer):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def call(self, x):
        return x * self.factor

class L(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.head = keras.layers.Dense(2)

    def call(self, x):
        return Scale(2.0)(self.head(x))
""",
            inputs=("f32[4, 3]",),
            why="a layer without weights may be made anywhere",
        ),
        Good("total = tf.Variable(tf.zeros([4]))\ntotal.assign_add(tf.ones([4]))\n", None, why="eager code"),
        Good(
            """
import keras

class L(keras.layers.Layer):
    def build(self, shape):
        self.inner = keras.layers.Dense(2)

    def call(self, x):
        return keras.layers.Dropout(0.0)(keras.layers.Flatten()(self.inner(x)))
""",
            inputs=("f32[4, 3]",),
        ),
        Good(
            """
import keras

def block(x):
    return keras.layers.Dense(2)(x)

inputs = keras.Input([3])
model = keras.Model(inputs, block(inputs))
""",
            None,
            why="the layers of a functional model are made as it is built",
        ),
        Good(
            """
import keras

def instance(given):
    return given if isinstance(given, keras.layers.Layer) else given(2)

class L(keras.layers.Layer):
    def __init__(self, inner=keras.layers.Dense):
        super().__init__()
        self.inner = instance(inner)

    def call(self, x):
        return self.inner(x)
""",
            inputs=("f32[4, 3]",),
            why="what may be a class may be a layer as well",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        if event.context.kind not in TRACED or is_conditional(event):
            return
        match event:
            case ApiCall(api="tf.Variable", node=node):
                message = f"`{brief(node)}` creates a variable during tracing, but {EXISTING}"
                yield Draft(message, Effect.FAILS, OUTSIDE + _tensor(node))
            case ApiCall(api=api, node=node) if is_named(event) and self._makes_variables(event):
                sure = api.rpartition(".")[2] not in RANDOM or isinstance(event.arguments.get("rate"), Static)
                most = Severity.ERROR if sure else Severity.WARNING
                message = f"`{brief(node)}` creates variables during tracing, but {EXISTING}"
                yield Draft(message, Effect.FAILS, OUTSIDE, at_most=most, jax=_on_jax(event))
            case MakeWeights(name=name, maker=maker, keras=keras) if (maker or keras == 2) and is_named(event):
                where = f"`{name}.{maker}`" if maker else f"a layer that `{name}` holds"
                message = (
                    f"`{brief(event.location.node)}` creates variables during tracing (in {where}), but {EXISTING}"
                )
                yield Draft(message, Effect.FAILS, OUTSIDE)

    def _makes_variables(self, made: ApiCall) -> bool:
        """Whether this release of Keras has it make variables."""
        if made.api.rpartition(".")[2] not in RANDOM:
            return True
        is_keras_3 = tables.numbers(self.tensorflow or tables.nearest(None)) >= KERAS_3
        return is_keras_3 and made.arguments.get("rate") not in (Static(0), Static(0.0))


def _on_jax(made: ApiCall) -> OnJax | None:
    """A layer that each trace creates anew."""
    if not made.api.startswith("keras.layers."):
        return None
    drawn = made.api.rpartition(".")[2] in RANDOM
    what = f"`{brief(made.node)}` is created in a traced function"
    return OnJax(Effect.DIVERGES, what, "each call draws the same numbers" if drawn else UNTRAINED)


KERAS_3 = (2, 16)  # the first TensorFlow that comes with it
EXISTING = "a traced function can only use existing variables"


def _tensor(call: cst.Call) -> str:
    """The initial value as a tensor, for what keeps no state."""
    match call.args:
        case [cst.Arg(value=cst.Lambda()), *_]:
            return ""
        case [cst.Arg(value=value, keyword=None | cst.Name("initial_value")), *_]:
            text = one_line(value)
            tensor = text if isinstance(value, cst.Call) else f"tf.convert_to_tensor({text})"
            return f"; or, if it keeps no state: {tensor}"
        case _:
            return ""
