"""A `tf.function` around `call` creates weights during tracing and keeps their initial values.

## What it does
Reports a `call` of a Keras 3 layer or model that is a `tf.function` itself (`@tf.function def call`), and a method with
`@tf.function` that `call` uses, if the object contains layers that nothing has built. Also reports a layer or model of
the project that traced code creates, if it holds layers with weights.

## What XLA does
Measured with Keras 3.15 and TensorFlow 2.21 on a CPU. Keras builds a class without `build` by a first trace of `call`,
and layers that a `build` creates and does not build, as it traces `call`. The layers create their weights in that
trace, and the `tf.function` keeps the initial values: assigning or loading weights later changes nothing, gradients are
None, and training ends with "No gradients provided for any variable", or trains everything else. In code that XLA
compiles, the initial values may even be other random numbers. Keras 2 reads the weights correctly.

## Example
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(4)

        @tf.function
        def call(self, x):
            return self.dense(x)

## Use instead
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(4)

        def call(self, x):
            return self.dense(x)

Keras compiles `call` as part of the model's steps. If you need the decorator, build the layers first:

    def build(self, input_shape):
        self.dense.build(input_shape)

## Not flagged
Classes whose `build` builds the layers that they hold, layers that `__init__` builds, weights that `__init__` creates,
functional models, a decorated `train_step`, a `tf.function` around a whole model, and code for Keras 2. If the project
does not show its Keras version, the severity is `warning`. If other code builds the model with `model.build(shape)`,
the finding is wrong.

## Fix safety
Shown only: without the decorator AutoGraph no longer converts `call`, because Keras 3 traces it without AutoGraph.

## References
- https://www.tensorflow.org/guide/function#creating_tfvariables
- https://github.com/tensorflow/tensorflow/issues/118314
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import BuildTraced, Event, MakeWeights
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Diverges, Draft, Effect, Good, Rule, Severity

from ._weights import OUTSIDE, UNTRAINED, is_conditional, is_named

HOLDS_A_LAYER = """
import keras

class L(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)
"""
TRAINED = """
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 4]), verbose=0)
"""
UNTRAINABLE = Breaks("No gradients provided for any variable")


class FrozenWeights(Rule):
    code = "XLA606"
    name = "frozen-weights"
    handles = (BuildTraced, MakeWeights)
    bad = (
        Bad(
            """
import keras

class Head(keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.dense = keras.layers.Dense(size)

    def call(self, x):
        return self.dense(x)

@tf.function(jit_compile=True)
def f(x):
    return Head(2)(x)
""",
            ["Head(2)"],
            Diverges(),
            inputs=("f32[4, 3]",),
            effect=Effect.DIVERGES,
            help="__init__",
            why="Keras 3 builds what an object holds outside of the trace that creates it, so nothing fails",
        ),
        Bad(
            """
import keras

class Mixture(keras.layers.Layer):
    def build(self, shape):
        self.experts = [keras.layers.Dense(4) for _ in range(2)]
        super().build(shape)

    @tf.function
    def call(self, x):
        return self.experts[0](x) + self.experts[1](x)

inputs = keras.Input((4,))
mixture = Mixture()
model = keras.Model(inputs, mixture(inputs))
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 4]), verbose=0)
""",
            ["call"],
            UNTRAINABLE,
            effect=Effect.DIVERGES,
        ),
        Bad(
            f"""{HOLDS_A_LAYER}
    @tf.function
    def call(self, x):
        return self.dense(x)

model = L()
{TRAINED}
""",
            ["call"],
            UNTRAINABLE,
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="tf.function",
        ),
        Bad(
            f"""
import keras

class Encoder(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = [keras.layers.Dense(4) for _ in range(2)]

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return x

class L(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    @tf.function(reduce_retracing=True)
    def call(self, x, training=False):
        return self.encoder(x)

model = L()
{TRAINED}
""",
            ["call"],
            UNTRAINABLE,
            effect=Effect.DIVERGES,
        ),
        Bad(
            f"""{HOLDS_A_LAYER}
    def call(self, x):
        return tf.nn.relu(self.encode(x))

    @tf.function
    def encode(self, x):
        return self.dense(x)

model = L()
{TRAINED}
""",
            ["encode"],
            UNTRAINABLE,
            effect=Effect.DIVERGES,
        ),
        Bad(
            f"""
import keras

class Scale(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="random_normal")

    def call(self, x):
        return x * self.scale

class L(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scaled = Scale()

    @tf.function(jit_compile=True)
    def call(self, x):
        return self.scaled(x)

model = keras.Sequential([keras.Input([4]), L()])
{TRAINED}
""",
            ["call"],
            UNTRAINABLE,
            effect=Effect.DIVERGES,
        ),
        Bad(
            f"""
import keras

class Cell(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm = keras.layers.Dense(4)

    @tf.function
    def call(self, x):
        return self.norm(x)

class L(keras.Model):
    def __init__(self):
        super().__init__()
        self.cell = Cell()

    def call(self, x):
        return self.cell(x)

model = L()
{TRAINED}
""",
            ["call"],
            UNTRAINABLE,
            effect=Effect.DIVERGES,
            why="the layer inside is the one that is decorated",
        ),
    )
    good = (
        Good(
            f"""{HOLDS_A_LAYER}
    def call(self, x):
        return self.dense(x)
""",
            inputs=("f32[3, 5]",),
        ),
        Good(
            f"""{HOLDS_A_LAYER}
    def build(self, shape):
        self.dense.build(shape)

    @tf.function
    def call(self, x):
        return self.dense(x)
""",
            inputs=("f32[3, 5]",),
        ),
        Good(
            f"""{HOLDS_A_LAYER}        self.dense.build((None, 5))

    @tf.function
    def call(self, x):
        return self.dense(x)
""",
            inputs=("f32[3, 5]",),
        ),
        Good(
            """
import keras

class L(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="random_normal")

    @tf.function
    def call(self, x):
        return x * self.scale
""",
            inputs=("f32[3, 5]",),
        ),
        Good(
            """
import keras

class L(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.add_weight(shape=(5,), initializer="random_normal")
        self.flatten = keras.layers.Flatten()

    @tf.function
    def call(self, x):
        return self.flatten(x * self.scale)
""",
            inputs=("f32[3, 5]",),
        ),
        Good(
            f"""{HOLDS_A_LAYER}
    @tf.function
    def call(self, x, training=None, **options):
        return self.dense(x)

model = L()
{TRAINED}
""",
            inputs=("f32[4, 4]",),
            why="Keras passes the first trace an empty `options`, so that later calls are traced for themselves",
        ),
        Good(
            """
import keras

dense = keras.layers.Dense(4)

@tf.function(jit_compile=True)
def f(x):
    return dense(x)
""",
            inputs=("f32[3, 5]",),
            why="a layer that is called in a function has its weights created outside of the trace",
        ),
        Good(
            """
import tf_keras as keras

class L(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    @tf.function
    def call(self, x):
        return self.dense(x)
""",
            None,
            why="Keras 2",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case BuildTraced(name=name, layer=layer, keras_is_known=known):
                message = (
                    f"Keras 3 creates the weights of `self.{layer}` while it traces `{name}`; this `tf.function` keeps "
                    "their initial values, so training or loading weights does not change its result"
                    f"{'' if known else ' (Keras 2 reads the weights)'}"
                )
                most = Severity.ERROR if known else Severity.WARNING
                yield Draft(message, Effect.DIVERGES, HELP, at_most=most, keras_3=not known)
            case MakeWeights(maker="", keras=3, location=location) if is_named(event) and not is_conditional(event):
                made = f"`{brief(location.node)}` is created in a traced function"
                yield Draft(f"{made}: {UNTRAINED}", Effect.DIVERGES, OUTSIDE)


HELP = "remove the `tf.function`, because Keras compiles `call` with the model; or build the layers in `build`"
