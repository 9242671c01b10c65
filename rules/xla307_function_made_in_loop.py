"""Each loop iteration or call creates a compiled function, which XLA compiles again.

## What it does
Reports `tf.function(jit_compile=True)` inside a Python loop, as a decorator or a call, and a loop that has a function
of the program create one: `step = make_step(model)`. Also reports a function that creates a compiled function, or has a
factory create it, and calls it, if a loop calls that function. With a target, a plain `tf.function` counts as well,
since the target compiles it. Reports a Keras model of layers that another model has, if each iteration or call creates
it and asks it to predict.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: the compiled code belongs to the function object that `tf.function` returns.
Four iterations cost four compilations, even for the same Python function and the same shapes.

Measured with Keras 3.15: Keras compiles the steps of each model. `keras.Model(model.inputs, layer.output)` that each of
four calls creates and predicts with costs four compilations, although its layers are the same. Created once, it costs
one.

Measured with JAX 0.10.2: the compiled code belongs to the Python function. `jax.jit(f)` in a loop compiles once if `f`
is a function of a module, and in each iteration if it is a lambda, a function that the loop defines, a bound method, or
what `functools.partial`, `jax.grad` or `jax.vmap` return. The same holds for what host code passes to `jax.lax.scan`,
`fori_loop`, `while_loop`, `cond` and `map`, and to their namesakes in `keras.ops`.

## Example
    for batch in dataset:
        step = tf.function(train_step, jit_compile=True)
        step(batch)

## Use instead
    step = tf.function(train_step, jit_compile=True)
    for batch in dataset:
        step(batch)

## Not flagged
- A function that is created once and called in a loop.
- A function created under a condition, as caches do, and a factory that is called once.
- A function that a loop, or a caller, creates together with a model or an optimizer, of which each needs its own.
- A function that creates its step and then loops over batches, if it is called once; if it creates a model as well, in
  each trial of a search, that is XLA314.

## Fix safety
Shown only: the variables that the function captures have to become arguments.

## References
- https://www.tensorflow.org/guide/function#depending_on_python_objects
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import CallOwnCompiled, Event, MakeCompiled
from xlalint.linter.rule import Bad, Draft, Effect, Good, OnJax, Rule, Runs, Severity

HELP = "create it once before the loop, and pass what changes as an argument"


MODEL = """
import keras
import numpy as np

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
"""


class FunctionMadeInLoop(Rule):
    code = "XLA307"
    name = "function-made-in-loop"
    handles = (MakeCompiled, CallOwnCompiled)
    bad = (
        Bad(
            """
def double(x):
    return x * 2.0

for i in range(4):
    tf.function(double, jit_compile=True)(tf.ones([3]))
""",
            ["tf.function(double, jit_compile=True)"],
            Runs(4),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
        ),
        Bad(
            """
def train(steps):
    for i in range(steps):
        @tf.function(jit_compile=True)
        def double(x):
            return x * 2.0

        double(tf.ones([3]))

train(4)
""",
            ["tf.function(jit_compile=True)"],
            Runs(4),
        ),
        Bad(
            """
for i in range(4):
    @tf.function(jit_compile=True)
    def double(x):
        return x * 2.0

    double(tf.ones([3]))
""",
            ["tf.function(jit_compile=True)"],
            Runs(4),
        ),
        Bad(
            """
def predict(x):
    @tf.function(jit_compile=True)
    def double(x):
        return x * 2.0

    return double(x)

for i in range(4):
    predict(tf.ones([3]))
""",
            ["double"],
            Runs(4),
            severity=Severity.WARNING,
        ),
        Bad(
            """
def predict(x):
    return tf.function(lambda y: y * 2.0, jit_compile=True)(x)

def main():
    while True:
        if tf.reduce_sum(predict(tf.ones([3]))) > 0.0:
            break

main()
""",
            ["tf.function(lambda y: y * 2.0, jit_compile=True)"],
            Runs(1),
            why="the loop ends after its first round here",
        ),
        Bad(
            """
def make():
    @tf.function(jit_compile=True)
    def step(x):
        return x * 2.0

    return step

def epoch(batches):
    step = make()
    for x in batches:
        step(x)

for _ in range(4):
    epoch([tf.ones([3]), tf.zeros([3])])
""",
            ["make()"],
            Runs(4),
            severity=Severity.WARNING,
            why="a factory that each epoch calls",
        ),
        Bad(
            """
def make(scale):
    @tf.function(jit_compile=True)
    def step(x):
        return x * scale

    return step

def evaluate(x):
    step = make(2.0)
    return step(x)

for _ in range(4):
    evaluate(tf.ones([3]))
""",
            ["make(2.0)"],
            Runs(4),
            severity=Severity.WARNING,
            why="a factory of which each evaluation calls the result once",
        ),
        Bad(
            f"""{MODEL}
def evaluate(net, x):
    apply = tf.function(net, jit_compile=True)
    return apply(x)

for _ in range(4):
    evaluate(model, tf.ones([2, 4]))
""",
            ["tf.function(net, jit_compile=True)"],
            Runs(4),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{MODEL}
def features(x):
    part = keras.Model(model.inputs, model.layers[0].output)
    part.compile(jit_compile=True)
    return part.predict(x, verbose=0)

for _ in range(4):
    features(np.ones((8, 4), "float32"))
""",
            ["keras.Model(model.inputs, model.layers[0].output)"],
            Runs(4),
            severity=Severity.WARNING,
            why="of the same layers, but each model has its own steps",
        ),
        Bad(
            f"""{MODEL}
for layer in model.layers:
    part = keras.Model(inputs=model.inputs, outputs=layer.output)
    part.compile(jit_compile=True)
    part.predict(np.ones((8, 4), "float32"), verbose=0)
""",
            ["keras.Model(inputs=model.inputs, outputs=layer.output)"],
            Runs(2),
        ),
        Bad(
            """
import keras

def make_step(model, scale):
    @tf.function(jit_compile=True)
    def step(x):
        return model(x) * scale

    return step

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
for epoch in range(4):
    step = make_step(model, 2.0)
    for _ in range(2):
        step(tf.ones([2, 3]))
""",
            ["make_step(model, 2.0)"],
            Runs(4),
            why="a factory that a loop calls, for the same model",
        ),
    )
    good = (
        Good(
            """
class Doubler:
    def __init__(self):
        self.run = None

    def __call__(self, x):
        if self.run is None:
            self.run = tf.function(lambda y: y * 2.0, jit_compile=True)
        return self.run(x)

double = Doubler()
for i in range(4):
    double(tf.ones([3]))
""",
            Runs(),
            why="the first call alone creates it",
        ),
        Good(
            """
import functools

@functools.lru_cache
def make():
    return tf.function(lambda x: x * 2.0, jit_compile=True)

for i in range(4):
    make()(tf.ones([3]))
""",
            Runs(),
            why="Python keeps what the factory returns",
        ),
        Good(
            f"""{MODEL}
part = keras.Model(model.inputs, model.layers[0].output)
part.compile(jit_compile=True)

def features(x):
    return part.predict(x, verbose=0)

for _ in range(4):
    features(np.ones((8, 4), "float32"))
""",
            Runs(1),
            why="created once",
        ),
        Good(
            """
for rate in (0.1, 0.2):
    optimizer = tf.keras.optimizers.SGD(rate)

    @tf.function(jit_compile=True)
    def step(x):
        return x * 2.0

    for _ in range(3):
        step(tf.ones([3]))
""",
            Runs(2),
            why="one for each optimizer",
        ),
        Good(
            """
def kernels(scales):
    made = {}
    for name, scale in scales.items():
        made[name] = tf.function(lambda x, s=scale: x * s, jit_compile=True)
    return made

def steps(count):
    made = []
    for number in range(count):
        made.append(tf.function(lambda x, n=number: x * float(n), jit_compile=True))
    return made

for step in (*kernels({"a": 1.0, "b": 2.0}).values(), *steps(2)):
    step(tf.ones([3]))
    step(tf.zeros([3]))
""",
            Runs(4),
            why="a table that keeps each of them",
        ),
        Good(
            """
def double(x):
    return x * 2.0

step = tf.function(double, jit_compile=True)
for i in range(4):
    step(tf.ones([3]))
""",
            Runs(1),
        ),
        Good(
            """
steps = {}

def double(x):
    return x * 2.0

for name in "abab":
    if name not in steps:
        steps[name] = tf.function(double, jit_compile=True)
    steps[name](tf.ones([3]))
""",
            Runs(2),
            why="a cache",
        ),
        Good(
            """
def train(batches):
    @tf.function(jit_compile=True)
    def step(x):
        return x * 2.0

    for batch in batches:
        step(batch)

train([tf.ones([3]), tf.zeros([3])])
""",
            Runs(1),
        ),
        Good(
            """
import keras

def fold(batches):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

    @tf.function(jit_compile=True)
    def step(x):
        return tf.reduce_sum(model(x))

    for x in batches:
        step(x)

for _ in range(2):
    fold([tf.ones([4, 3]), tf.zeros([4, 3])])
""",
            Runs(2),
            why="each function is for another model",
        ),
        Good(
            """
import keras

def build():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

def train(model, batches):
    @tf.function(jit_compile=True)
    def step(x):
        return tf.reduce_sum(model(x))

    for x in batches:
        step(x)

def fold(batches):
    model = build()
    train(model, batches)

for _ in range(2):
    model = build()
    train(model, [tf.ones([4, 3]), tf.zeros([4, 3])])
for _ in range(2):
    fold([tf.ones([4, 3]), tf.zeros([4, 3])])
""",
            Runs(4),
            why="each function is for another model, which the loop or its caller makes",
        ),
        Good(
            """
def double(x):
    return x * 2.0

def make():
    step = tf.function(double, jit_compile=True)
    step(tf.ones([3]))
    return step

step = make()
for _ in range(4):
    step(tf.ones([3]))
""",
            Runs(1),
            why="it is handed on as well",
        ),
        Good(
            """
def make_step(factor):
    @tf.function(jit_compile=True)
    def step(x):
        return x * factor

    return step

step = make_step(2.0)
for i in range(4):
    step(tf.ones([3]))
""",
            Runs(1),
            why="a factory",
        ),
        Good(
            """
for i in range(4):
    @tf.function
    def double(x):
        return x * 2.0

    double(tf.ones([3]))
""",
            Runs(0),
            why="traced again, which XLA does not see",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case CallOwnCompiled(again=True, model="part"):
                what = "each iteration or call creates this model of layers that another one has"
                help = "create the model once, before the loop, and only call `predict` in it"
                yield Draft(f"{what}: XLA compiles its prediction again", Effect.RECOMPILES, help)
                return
            case MakeCompiled(in_loop=True):
                where = "each loop iteration"
            case CallOwnCompiled(again=True, model=""):
                where = "each call of the enclosing function, which a loop calls,"
            case _:
                return
        what = f"{where} creates a new function"
        jax = OnJax(Effect.RECOMPILES, what, "it is compiled again")
        yield Draft(f"{what}, so XLA recompiles", Effect.RECOMPILES, HELP, jax=jax)
