"""A variable is made while a function is traced.

## What it does
Flags `tf.Variable(..)` in a traced function where each trace makes a new one: bound to a local name or used at once,
or kept without asking whether there is one.

## What XLA does
Measured with TensorFlow 2.21 on CPU. Tracing fails, compiled or not ("tf.function only supports singleton
tf.Variables created on the first call"), also inside `tf.init_scope` and with a function as initial value. A variable
that is made at the first call only (`if self.v is None: self.v = tf.Variable(tf.zeros([4]))`) works, unless its initial
value depends on an argument: then compiling fails ("We failed to lift variable creations out of this tf.function").

## Example
    def call(self, x):
        scale = tf.Variable(1.0)
        return x * scale

## Use instead
    def build(self, input_shape):
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return x * self.scale

A value that only this call needs is a tensor: `scale = tf.constant(1.0)`.

## Not flagged
Variables made in `__init__` or `build`, at module level, under a condition, or behind a decorator of the project's own,
which may run a method once.

## Fix safety
Shown only: a variable needs another method to be made in, and nothing says whether it was to keep its value.

## References
- https://www.tensorflow.org/guide/function#creating_tfvariables
- https://github.com/tensorflow/tensorflow/issues/113170
"""

from collections.abc import Iterator

from xlalint.fixes.masked import brief, one_line, path_to
from xlalint.rule import Bad, Draft, Effect, Fails, Good, Rule
from xlalint.semantics.events import ApiCall, ContextKind, Event
from xlalint.semantics.files import Place
from xlalint.tree import nodes as cst

TRACED = frozenset((ContextKind.XLA, ContextKind.GRAPH))
SINGLETON = Fails("tf.function only supports singleton tf.Variables")


class VariableInside(Rule):
    code = "XLA409"
    name = "variable-inside"
    listens = (ApiCall,)
    apis = frozenset(("tf.Variable",))
    bad = (
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
    )
    good = (
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

    def __call__(self, x):
        if self.total is None:
            self.total = tf.Variable(tf.zeros([4]))
        return x + self.total

COUNTER = Counter()

@tf.function(jit_compile=True)
def f(x):
    return COUNTER(x)
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
@tf.function(jit_compile=True)
def f(x):
    total = tf.zeros([4])
    return total + x
""",
        ),
        Good("total = tf.Variable(tf.zeros([4]))\ntotal.assign_add(tf.ones([4]))\n", None, why="eager code"),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(node=node) if event.context.kind in TRACED and not _conditional(event):
                message = f"`{brief(node)}` makes a variable while the function is traced, and {EXISTING}"
                yield Draft(message, Effect.FAILS, OUTSIDE + _tensor(node))


EXISTING = "a traced function can only use variables that exist"
OUTSIDE = "make it in `__init__` or `build`"


def _tensor(call: cst.Call) -> str:
    """The initial value as a tensor, for what keeps no state."""
    match call.args:
        case [cst.Arg(value=cst.Lambda()), *_]:
            return ""
        case [cst.Arg(value=value, keyword=None | cst.Name("initial_value")), *_]:
            text = one_line(value)
            tensor = text if isinstance(value, cst.Call) else f"tf.convert_to_tensor({text})"
            return f"; or, where no state is kept: {tensor}"
        case _:
            return ""


def _conditional(event: ApiCall) -> bool:
    """Some condition around the call, or around a call that leads to it, may let it run once; a decorator may, too."""
    places, trail = [event.place], event.trail
    while trail is not None:
        if trail.wrapped:
            return True
        places.append(trail.place)
        trail = trail.parent
    return any(map(_under_condition, places))


def _under_condition(place: Place) -> bool:
    path = path_to(place.unit.tree, place.node)
    functions = [at for at, node in enumerate(path[:-1]) if isinstance(node, cst.FunctionDef)]
    inside = path[functions[-1] :] if functions else []
    return any(isinstance(node, cst.If | cst.IfExp | cst.BooleanOperation | cst.Try) for node in inside)
