"""The gradient of a `tf.while_loop` without `maximum_iterations` does not compile.

## What it does
Reports a `tf.while_loop` over floating-point values without `maximum_iterations` under a gradient (`tf.GradientTape`,
`tf.gradients`), and in what Keras trains: in a loss, if the loop follows the predictions; in the `call` of a layer or
model, if it runs a layer or reads a weight of the object itself; and in a `Lambda` layer, as information. XLA102
reports the same for a `while` statement. Also reports `tf.scan`, `tf.map_fn`, `tf.foldl`, `tf.foldr` and bounded loops
in a branch of `tf.cond`, `tf.case` or `tf.switch_case`, if the gradient is taken outside of it, and
`tfa.text.crf_log_likelihood`, which has such branches.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. The loop itself compiles once. Its gradient fails with "XLA compilation requires
a fixed tensor list size": without a bound on the iterations, the intermediate values have no static size. With
`maximum_iterations` the gradient compiles; if the bound is the value of a tensor, once for every value. A gradient that
needs no intermediate values (`a + 1.0` in the body) compiles without a bound. So does a loop whose result goes through
a comparison, `tf.argmax`, `tf.round`, `tf.zeros_like` or a cast to integers only; through `tf.sign` it fails. `fit` of
a model that is compiled with `jit_compile=True` (Keras 3.15) fails alike, for a loop in the loss and for one in a layer
that is trained.

The gradient of any loop in a branch fails, with a bound or without, also where the condition is known: "No registered
'FakeParam' OpKernel". The branch without the loop has to hand on values of its iterations that it does not have. If the
gradient is taken within the branch, it compiles.

## Example
    y = tf.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: (a * a,), (x,))[0]
    gradient = tape.gradient(y, x)

## Use instead
    y = tf.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: (a * a,), (x,), maximum_iterations=20)[0]

Or wrap a loop that is not trained in `tf.stop_gradient`.

## Not flagged
- Loops without a gradient, loops over integers and booleans, `back_prop=False`, and results in `tf.stop_gradient`.
- Loops whose results are only compared, made integers or used for positions: no gradient goes through these.
- Loops in a loss that read the labels alone.
- `tf.scan`, `tf.map_fn` and `tf.foldl` in no branch, whose length is static.

## Fix safety
Shown only: a bound that is too low ends the loop early.

## References
- https://www.tensorflow.org/xla/known_issues
- https://www.tensorflow.org/api_docs/python/tf/while_loop
"""

from collections.abc import Iterator, Mapping

from xlalint.analysis.domain.values import NONE, Sequence, Static, Value
from xlalint.analysis.interpreter.contexts import Trained
from xlalint.analysis.interpreter.events import Event
from xlalint.linter.rule import ApiCall, Bad, Breaks, Draft, DraftNote, Effect, Fails, Good, Rule, Runs, Severity
from xlalint.syntax import nodes as cst

from ._flows import reaches_gradient
from ._gradients import (
    GRADIENTS,
    LoopsUnderGradients,
    branch_between,
    has_floats,
    is_stopped,
    note_of,
    runs_weights,
)
from ._programs import GRADIENT_IN_BRANCH, LOOP_IN_BRANCH

LOOP = "tf.while_loop"
NO_LIST_SIZE = Fails("XLA compilation requires a fixed tensor list size")
MESSAGE = (
    f"gradient through `{LOOP}` without `maximum_iterations`: XLA needs a bound on the iterations, so compiling fails"
)
TRAINED = f"training takes the {MESSAGE}"
FIT = """
import tensorflow as tf

def rows(true, pred):
    count = tf.shape(pred)[0]
    kept = tf.TensorArray(tf.float32, count)
    return tf.reduce_mean({loop}[1].stack()) + tf.reduce_mean(pred)

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2)])
model.compile("sgd", rows, jit_compile=True)
model.fit(tf.ones([8, 3]), tf.ones([8, 2]), batch_size=4, verbose=0)
"""
LOOP_OF = "tf.while_loop(lambda b, kept: b < count, lambda b, kept: (b + 1, kept.write(b, {row})), (0, kept))"
OF_PREDICTIONS = LOOP_OF.format(row="tf.reduce_sum(tf.abs(true[b] - pred[b]))")
OF_LABELS = LOOP_OF.format(row="tf.reduce_sum(true[b])")
CELL = """
def shrunk(cell, x):
    return tf.while_loop(lambda a: tf.reduce_sum(a * a) > 1.0, lambda a: (cell(a) / 2.0,), (x,))[0]

class Shrink(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.cell = tf.keras.layers.Dense(3, activation="tanh")

    def build(self, shape):
        self.cell.build(shape)

    def call(self, x):
        return shrunk(self.cell, x)

model = tf.keras.Sequential([tf.keras.Input([3]), Shrink(), tf.keras.layers.Dense(2)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([8, 3]), tf.ones([8, 2]), batch_size=4, verbose=0)
"""
LAYER = """
import tensorflow as tf

class Shrunk(tf.keras.layers.Layer):
    def build(self, shape):
        self.share = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return tf.while_loop(lambda a: tf.reduce_sum(a * a) > 1.0, lambda a: (a * a * self.share / 2.0,), (x,))[0]

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2), Shrunk()])
model.compile("sgd", "mse", jit_compile=True)
model.{run}
"""
EAGER = """
import tensorflow as tf

weight = tf.Variable(2.0)
optimizer = tf.keras.optimizers.SGD()
optimizer.build([weight])

def train(x):
    {before}
    with tf.GradientTape() as tape:
        y = {inside}[0]
        loss = tf.reduce_sum(y * weight)
    optimizer.apply_gradients(zip(tape.gradient(loss, [weight]), [weight]))

for number in range(20):
    train(tf.fill([4], number + 2.0))
"""
NEAREST = """
def nearest(boxes, true):
    return {loop}[1]

@tf.function(jit_compile=True)
def f(boxes, true):
    with tf.GradientTape() as tape:
        tape.watch(boxes)
        best = nearest(boxes, true)
        {used}
        loss = tf.reduce_sum(boxes * best[:, tf.newaxis])
    return tape.gradient(loss, boxes)
"""
OVER_BOXES = """tf.while_loop(
        lambda i, best: i < tf.shape(true)[0],
        lambda i, best: (i + 1, tf.maximum(best, tf.reduce_sum(boxes * true[i], -1))),
        (0, tf.zeros(tf.shape(boxes)[:1])),
    )"""
SQUARED = "tf.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: (a * a + tf.abs(weight) + 1.0,), (x,))"
CRF = ("tensorflow_addons.text.crf_log_likelihood", "tensorflow_addons.text.crf.crf_log_likelihood")
OF_STATIC_LENGTH = frozenset(("tf.foldl", "tf.foldr", "tf.map_fn", "tf.scan"))
NO_KERNEL = "XLA has no kernel for what the other branch hands on instead (FakeParam), so compiling fails"
IN_BRANCH = f"the gradient goes through a loop in a branch of a conditional: {NO_KERNEL}"
OF_CRF = f"the gradient goes through the loops that `crf_log_likelihood` has in branches: {NO_KERNEL}"
OUT_OF_BRANCH = "choose with Python, or run the loop in any case and choose between results with tf.where(..)"
OTHER_CRF = "compute it without tf.cond: take the forward recursion for all lengths, with a mask"
HELP = "pass maximum_iterations=LIMIT, a Python number that is always enough, or use tf.stop_gradient(..)"


class WhileLoopGradient(Rule):
    code = "XLA109"
    name = "while-loop-gradient"
    handles = (ApiCall,)
    apis = GRADIENTS | OF_STATIC_LENGTH | {LOOP, *CRF}
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,))[0]
    return tape.gradient(y, x)
""",
            ["tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
            help="maximum_iterations=LIMIT",
        ),
        Bad(
            """
from tensorflow import while_loop

def power(t, steps):
    return while_loop(lambda i, a: i < steps, lambda i, a: (i + 1, a * a), (0, t))[1]

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(power(x, 3))
    return tape.gradient(loss, x)
""",
            ["while_loop(lambda i, a: i < steps, lambda i, a: (i + 1, a * a), (0, t))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Solver:
    def __init__(self):
        self.condition = lambda a: tf.reduce_max(tf.abs(a)) > 0.1

    def solve(self, t):
        (t,) = tf.while_loop(self.condition, lambda a: (a * tf.sigmoid(a) * 0.5,), [t])
        return t

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Solver().solve(x)
    return tape.gradient(y, x)
""",
            ["tf.while_loop(self.condition, lambda a: (a * tf.sigmoid(a) * 0.5,), [t])"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        grow = lambda a: (a * tf.exp(a),)
        y = tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, grow, loop_vars=(x,))[0]
    return tape.gradient(y, x)
""",
            ["tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, grow, loop_vars=(x,))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
        ),
        Bad(
            NEAREST.format(loop=OVER_BOXES, used="best = tf.sign(best - 0.5)"),
            [OVER_BOXES],
            NO_LIST_SIZE,
            inputs=("f32[5, 4]", "f32[3, 4]"),
            effect=Effect.FAILS,
            why="TensorFlow has a gradient of `tf.sign`, of zeros",
        ),
        Bad(
            FIT.format(loop=OF_PREDICTIONS),
            [OF_PREDICTIONS],
            Breaks("fixed tensor list size"),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            why="`fit` takes the gradient",
        ),
        Bad(
            LAYER.format(run="fit(tf.ones([8, 3]), tf.ones([8, 2]), batch_size=4, verbose=0)"),
            ["tf.while_loop(lambda a: tf.reduce_sum(a * a) > 1.0, lambda a: (a * a * self.share / 2.0,), (x,))"],
            Breaks("fixed tensor list size"),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            why="the weight is trained",
        ),
        Bad(
            CELL,
            ["tf.while_loop(lambda a: tf.reduce_sum(a * a) > 1.0, lambda a: (cell(a) / 2.0,), (x,))"],
            Breaks("fixed tensor list size"),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            why="the loop runs a layer that its function is passed",
        ),
        Bad(
            EAGER.format(before="", inside=SQUARED),
            [SQUARED],
            Runs(),
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            target="tpu",
            why="eager code works; for a TPU the step has to be compiled",
        ),
        Bad(
            LOOP_IN_BRANCH,
            ["tf.scan(lambda a, row: a * row, x)"],
            Fails("No registered 'FakeParam' OpKernel"),
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(GRADIENT_IN_BRANCH, inputs=("f32[4, 3]",), why="the branch takes the gradient itself"),
        Good(
            NEAREST.format(loop=OVER_BOXES, used="best = tf.cast(best < 0.5, tf.float32)"),
            inputs=("f32[5, 4]", "f32[3, 4]"),
            why="no gradient goes through a comparison",
        ),
        Good(
            NEAREST.format(loop=OVER_BOXES, used="best = tf.gather(boxes, tf.argmax(best))[:1]"),
            inputs=("f32[5, 4]", "f32[3, 4]"),
            why="nor through a position",
        ),
        Good(
            EAGER.format(before=f"x = {SQUARED}[0]", inside="[x]"),
            Runs(),
            target="tpu",
            why="the tape does not record the loop",
        ),
        Good(
            EAGER.format(before="", inside=SQUARED),
            Runs(),
            why="eager code, which nobody compiles",
        ),
        Good(
            FIT.format(loop=OF_LABELS),
            Runs(),
            why="nothing in the loop follows the predictions",
        ),
        Good(
            FIT.replace("{loop}[1].stack()", "tf.stop_gradient({loop}[1].stack())").format(loop=OF_PREDICTIONS),
            Runs(),
            why="the gradient ends before the loop",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        return tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,))[0]
""",
        ),
        Good(
            """
def settled(t):
    return tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (t,))[0]

@tf.function(jit_compile=True)
def f(x):
    start = tf.stop_gradient(settled(x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * start
    return tape.gradient(y, x)
""",
            why="the tape does not record the loop",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(
            lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,), maximum_iterations=20
        )[0]
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        count = tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (tf.constant(0),))[0]
        y = x * tf.cast(count, tf.float32)
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.scan(lambda a, row: a * row, x)
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.foldl(lambda a, row: a * row, x) + tf.reduce_sum(tf.map_fn(lambda row: row * row, x))
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: (a * 1.5,), (x,))[0]
print(tape.gradient(y, x))
""",
            None,
            why="eager code of a script",
        ),
    )

    def __init__(self) -> None:
        self._pairs = LoopsUnderGradients[ApiCall]()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if api in GRADIENTS:
                found = self._pairs.gradient(event)
            case ApiCall(api=api, arguments=arguments) if api != LOOP or not _is_open(arguments):
                if not has_floats(event.result) or is_stopped(event):
                    return
                if not reaches_gradient(event.location, event.trail):
                    return
                if (severity := _by_keras(event)) is not None and branch_between(event, None) is not None:
                    yield Draft(IN_BRANCH, Effect.FAILS, OUT_OF_BRANCH, at_most=severity)
                found = self._pairs.loop(event)
            case ApiCall(arguments=arguments):
                if arguments.get("back_prop") == Static(False) or not has_floats(arguments.get("loop_vars", NONE)):
                    return
                if is_stopped(event) or not reaches_gradient(event.location, event.trail, _apart(event)):
                    return
                if (severity := _by_keras(event)) is not None:
                    yield Draft(TRAINED, Effect.FAILS, HELP, at_most=severity)
                found = self._pairs.loop(event)
            case _:
                return
        for loop, gradient in found:
            if loop.api in CRF:
                yield Draft(OF_CRF, Effect.FAILS, OTHER_CRF, loop.location, (note_of(gradient),))
            elif loop.api == LOOP and _is_open(loop.arguments):
                yield Draft(MESSAGE, Effect.FAILS, HELP, loop.location, (note_of(gradient),))
            elif (branch := branch_between(loop, gradient)) is not None:
                notes = (DraftNote(branch, "the conditional"), note_of(gradient))
                yield Draft(IN_BRANCH, Effect.FAILS, OUT_OF_BRANCH, loop.location, notes)


def _is_open(arguments: Mapping[str, Value]) -> bool:
    """Whether a loop has no bound on its iterations."""
    return arguments.get("maximum_iterations", NONE) == NONE


def _apart(loop: ApiCall) -> frozenset[int]:
    """Where no floating-point values stand in what a loop returns."""
    match loop.arguments.get("loop_vars"):
        case Sequence(items=tuple(items)):
            return frozenset(at for at, item in enumerate(items) if not has_floats(item))
        case _:
            return frozenset()


def _by_keras(loop: ApiCall) -> Severity | None:
    """How grave it is where Keras takes the gradient; None where it takes none of the loop."""
    match loop.context.trained:
        case Trained.LAYER:
            return Severity.ERROR if runs_weights(loop) else None
        case Trained.FUNCTION:
            return Severity.INFO  # the model may not be trained, nor what stands before it
        case Trained.LOSS if loop.trail is None or loop.trail.parent is not None:
            return Severity.WARNING  # in a function that the loss calls, perhaps with the labels alone
        case Trained.LOSS:
            return Severity.ERROR if _follows_predictions(loop) else None
        case None:
            return None


def _follows_predictions(loop: ApiCall) -> bool:
    """Whether a loop in a loss reads anything that is made of the predictions, the second of its arguments."""
    function = next(
        node for node in loop.location.unit.around(loop.node) if isinstance(node, cst.FunctionDef | cst.Lambda)
    )
    names = [parameter.name.value for parameter in function.params.params]
    made = set(names[names[0] == "self" :][1:2])
    before: set[str] = set()
    while made != before:
        before = set(made)
        for node in cst.within(function):
            match node:
                case cst.Assign(targets=targets, value=value) if _reads(value, made):
                    made |= {one.value for target in targets for one in cst.within(target) if isinstance(one, cst.Name)}
                case cst.AugAssign(target=cst.Name(value=name), value=value) if _reads(value, made):
                    made.add(name)
                case cst.FunctionDef(name=cst.Name(value=name), body=body) if _reads(body, made):
                    made.add(name)
    return _reads(loop.node, made)


def _reads(node: cst.CSTNode, names: set[str]) -> bool:
    """Whether a gradient may go through names that stand in the node: none goes through shapes and types."""
    match node:
        case cst.Name(value=name):
            return name in names
        case cst.Attribute(attr=cst.Name(value="dtype" | "shape")):
            return False
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="int_shape" | "rank" | "shape" | "size"))):
            return False
        case _:
            return any(_reads(child, names) for child in node.children)
