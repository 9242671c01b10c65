"""TensorFlow gets a tensor of JAX, which is traced and has no value.

## What it does
Reports calls of TensorFlow's functions with tensors, in code that Keras calls and that runs on JAX: a layer's `call`, a
loss, a metric, and what they call. Also steps of models that take what TensorFlow's trainer passes. `--backend`,
`KERAS_BACKEND`, `keras.config`, requirements and imports say what the code runs on.

## What XLA does
Nothing, for it gets no program. Measured with Keras 3.15 on JAX 0.10 and TensorFlow 2.21: TensorFlow converts its
arguments to tensors of its own by way of NumPy, and JAX's tracer raises `TracerArrayConversionError`. `tf.map_fn` and
`tf.while_loop` raise `TypeError`, and the gradient of a `tf.GradientTape` `AttributeError`. Before Keras compiles the
model, the same call may work, for arrays with values, and give a tensor of TensorFlow, which is a constant to JAX and
has no gradient. Of 730 functions and methods of TensorFlow that take a tensor, 686 raise `TracerArrayConversionError`
and 16 another error. The 28 that do not convert it work: `tf.nest`, `tf.is_tensor`, `tf.print`, `tf.get_static_value`,
`tf.group`, say.

JAX's tensors have no `get_shape` or `set_shape`, and their shapes, which are tuples, no `rank`, `ndims` or `as_list`:
`AttributeError`, traced or not.

JAX's trainer passes `train_step`, `test_step` and `predict_step` of a model the state before the data: a method that
takes the data alone raises `TypeError` in `fit`, `evaluate` and `predict`.

What stands behind such a call, or in such a method, has a warning, as JAX does not get there.

## Example
    import tensorflow as tf

    class Scale(keras.layers.Layer):
        def call(self, x):
            return x / tf.reduce_max(tf.abs(x))

## Use instead
    from keras import ops

    class Scale(keras.layers.Layer):
        def call(self, x):
            return x / ops.max(ops.abs(x))

## Not flagged
- Code under `if keras.config.backend() == "tensorflow":`, `isinstance(x, tf.Tensor)`, `tf.is_tensor(x)` or
  `tf.inside_function()`, which is False where JAX traces.
- `tf.data` pipelines and what they map, `tf.io`, callbacks: they run on the host.
- `tf.keras`, which is Keras 3 itself since TensorFlow 2.16.
- `def train_step(self, *args)`, which takes what either trainer passes.
- Constants of TensorFlow that Python values and shapes make.

## Fix safety
`unsafe`: `keras.ops` promotes mixed dtypes, and the mean of integers is a float there. A call whose function or
arguments have no equal in `keras.ops` has no fix.

## References
- https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerArrayConversionError
- https://keras.io/api/ops/
- https://keras.io/guides/custom_train_step_in_jax/
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.interpreter.asked_backends import TAKING
from xlalint.analysis.interpreter.events import Event, OwnStep, TensorflowAttribute, TensorflowCall
from xlalint.fixes.keras_ops import in_keras_ops
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Fails, Good, OnJax, Rule, Safety, Severity

from ._jax import ARRAY

# What asks a tensor for what JAX's have not, be they traced or not.
ASKING = (
    *("tf.GradientTape.gradient", "tf.GradientTape.jacobian", "tf.autodiff.ForwardAccumulator"),
    *("tf.image.grayscale_to_rgb", "tf.image.image_gradients", "tf.image.sobel_edges", "tf.image.total_variation"),
    "tf.linalg.tridiagonal_solve",
)
RAISES = {
    **dict.fromkeys(("tf.map_fn", "tf.type_spec_from_value", "tf.while_loop"), "this raises TypeError"),
    **dict.fromkeys(ASKING, "this raises AttributeError"),
    "tf.GradientTape.watch": "this raises ValueError",
}
BEFORE = "the code raises before it gets here"
WARNING = Severity.WARNING
ATTRIBUTE = "use `keras.ops.shape(x)` and `len(x.shape)`, which each backend has"
STEP = "override `compute_loss`, which each backend calls; or write `def train_step(self, state, data)` for JAX"
HELP = "use a function of keras.ops, which runs on each backend"


class TensorflowOnJax(Rule):
    code = "XLA412"
    name = "tensorflow-on-jax"
    traced = True
    handles = (OwnStep, TensorflowAttribute, TensorflowCall)
    bad = (
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return x / tf.reduce_max(tf.abs(x))
""",
            ["tf.reduce_max(tf.abs(x))", "tf.abs(x)"],
            Compiles(),
            effect=Effect.FAILS,
            backend="jax",
            jax=Fails("TracerArrayConversionError"),
            safety=Safety.UNSAFE,
            fixed="""
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return x / keras.ops.max(keras.ops.abs(x))
""",
        ),
        Bad(
            """
from keras.layers import Layer

class L(Layer):
    def call(self, x):
        return x * tf.cast(x > 0.5, tf.float32)
""",
            ["tf.cast(x > 0.5, tf.float32)"],
            Compiles(),
            effect=Effect.FAILS,
            backend="jax",
            jax=Fails("TracerArrayConversionError"),
            safety=Safety.UNSAFE,
            fixed="""
from keras.layers import Layer
from keras import ops

class L(Layer):
    def call(self, x):
        return x * ops.cast(x > 0.5, "float32")
""",
        ),
        Bad(
            """
import keras
from keras import ops

def loss(y_true, y_pred):
    error = tf.cast(ops.abs(y_true - y_pred), dtype="float32")
    return tf.reduce_mean(input_tensor=error, axis=-1)

class L(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return loss(y_true, y_pred)
""",
            ['tf.cast(ops.abs(y_true - y_pred), dtype="float32")', "tf.reduce_mean(input_tensor=error, axis=-1)"],
            None,
            why="a loss is called by a model",
            effect=Effect.FAILS,
            backend="jax",
            safety=Safety.UNSAFE,
            fixed="""
import keras
from keras import ops

def loss(y_true, y_pred):
    error = ops.cast(ops.abs(y_true - y_pred), dtype="float32")
    return ops.mean(x=error, axis=-1)

class L(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return loss(y_true, y_pred)
""",
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return tf.map_fn(lambda row: row * 2.0, x)
""",
            ["tf.map_fn(lambda row: row * 2.0, x)"],
            Compiles(),
            effect=Effect.FAILS,
            backend="jax",
            jax=Fails("TypeError"),
        ),
        Bad(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return tf.image.grayscale_to_rgb(x)
""",
            ["tf.image.grayscale_to_rgb(x)"],
            Compiles(),
            inputs=("f32[8, 8, 1]",),
            effect=Effect.FAILS,
            backend="jax",
        ),
        Bad(
            """
import keras
from keras import ops

class Net(keras.Model):
    def train_step(self, data):
        x, y = data
        return {"loss": ops.mean(ops.square(self(x) - y))}

class Masked(keras.Model):
    def predict_step(self, data):
        return self(data) * 2.0
""",
            ["train_step", "predict_step"],
            None,
            effect=Effect.FAILS,
            backend="jax",
            help="compute_loss",
            why="`fit` and `predict` raise TypeError; TensorFlow's trainer passes the data alone",
        ),
    )
    good = (
        Good(
            """
import keras

class Any(keras.Model):
    def train_step(self, *args, **kwargs):
        return super().train_step(*args, **kwargs)

class Own(keras.Model):
    def train_step(self, state, data):
        return super().train_step(state, data)

    def make(self, data):
        return data
""",
            None,
            why="steps that take what JAX's trainer passes",
        ),
        Good(
            """
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x):
        if keras.config.backend() == "tensorflow":
            return tf.reduce_sum(x)
        if isinstance(x, tf.Tensor):
            return tf.math.cumsum(x)
        [y] = tf.nest.map_structure(lambda part: part * 2.0, [x])
        tf.print(y)
        y = tf.IndexedSlices(y, [0, 1, 2, 3]).values
        return ops.sum(y) + float(tf.keras.backend.epsilon())
""",
            backend="jax",
            jax=Compiles(),
        ),
        Good(
            """
import keras

def doubled(example):
    return tf.cast(example, tf.float32) * 2.0

dataset = tf.data.Dataset.range(8).map(doubled).batch(4)
""",
            None,
            backend="jax",
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
import keras

class L(keras.layers.Layer):
    def call(self, x):
        return x / tf.reduce_max(tf.abs(x))
""",
            why="on TensorFlow",
        ),
        Good(
            """
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x):
        return ops.add(x, tf.cast(tf.range(4), tf.float32))
""",
            backend="jax",
            jax=Compiles(),
            why="a constant that TensorFlow makes of Python numbers",
        ),
        Good(
            """
import keras

class Largest(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        for weight in self.model.weights:
            print(tf.reduce_max(tf.abs(weight)))
""",
            None,
            backend="jax",
            why="callbacks run on the host",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case TensorflowCall(api=api, made=made) if not api.startswith(TAKING):
                behind = made or event.context.behind
                gets = "works on what another call of TensorFlow returns" if made else "gets a tensor"
                what = f"`{brief(event.location.node)}` {gets}"
                reason = BEFORE if behind else RAISES.get(api, ARRAY)
                jax = OnJax(Effect.FAILS, what, reason, WARNING if behind else None)
                rewrite = partial(in_keras_ops, event)
                yield Draft(what, Effect.FAILS, HELP, jax=jax, on_jax_alone=True, rewrite=rewrite)
            case OwnStep(name=name):
                what = f"`{name}` takes the data alone, as TensorFlow's trainer passes it"
                jax = OnJax(Effect.FAILS, what, "the trainer passes the state as well, so this raises TypeError")
                yield Draft(what, Effect.FAILS, STEP, jax=jax, on_jax_alone=True)
            case TensorflowAttribute(attribute=attribute, instead=instead):
                what = f"`.{attribute}` is there with TensorFlow alone"
                jax = OnJax(Effect.FAILS, what, BEFORE if event.context.behind else "this raises AttributeError")
                help = ATTRIBUTE if instead is None else f"write `{instead}`, which each backend has"
                yield Draft(what, Effect.FAILS, help, jax=jax, on_jax_alone=True)
