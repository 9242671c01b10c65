"""A Keras layer declares that XLA cannot compile it.

## What it does
Reports calls of layers with `supports_jit = False` in the compiled code of a layer, model or function, and such layers
that a compiled model is put together of or holds: string and integer lookups, `TextVectorization`, hashing, and the
random image layers that rotate, crop or zoom. Also `LSTM` and `GRU` in code for Keras 3 that may run on a GPU.

## What XLA does
Measured with Keras 3.15 and TensorFlow 2.21 on a CPU.

- If a model contains such a layer, `jit_compile="auto"` silently turns XLA off for the whole model. `jit_compile=True`
  does so with a warning ("Model doesn't support `jit_compile=True`"). It does not matter whether the layer is called,
  nor how the model holds it: in a model that its constructor is passed, in a list, in a dict. Every other layer becomes
  slower. Where nothing in a program asks for XLA, the finding has the severity `info`.
- A TPU runs nothing without XLA. The message names the operations of the layer that have no kernel there, if any.
- In a `tf.function(jit_compile=True)`, the lookups, hashing and most random image layers fail ("No registered
  'LookupTableFindV2' OpKernel"). `xlalint facts NAME` shows which ones.
- On a GPU (measured with Keras 3.15 on an NVIDIA H100) the same holds for `LSTM` and `GRU` with the arguments that
  cuDNN takes, which are the defaults: the whole model runs without XLA, also where the layer is inside `Bidirectional`.
  In a `tf.function(jit_compile=True)` they fail ("No registered 'CudnnRNNV3' OpKernel"). With `use_cudnn=False` they
  compile, as do `unroll=True`, another activation, `use_bias=False`, `GRU(reset_after=False)` and `RNN(LSTMCell(..))`.
  On a CPU and a TPU they all compile.

## Example
    def call(self, tokens):
        return self.embed(self.lookup(tokens))

## Use instead
    dataset = dataset.map(lambda tokens, label: (lookup(tokens), label))

For an LSTM or a GRU, measure which is faster: cuDNN's kernel for this layer, or XLA for the whole model:

    self.rnn = keras.layers.LSTM(64, use_cudnn=False)

## Not flagged
Such a layer in the input pipeline, in eager code, or in a model that is built but not called by compiled code.

## Fix safety
Shown only: the layer has to move to the input pipeline. Whether XLA or cuDNN is faster for a model is not known.

## References
- https://keras.io/api/models/model_training_apis/
- https://github.com/keras-team/tf-keras/issues/418
"""

from collections.abc import Iterator

from xlalint.analysis.domain.varying_shapes import LAYER, variations_of
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import Context, ContextKind, Tracing
from xlalint.analysis.interpreter.events import ApiCall, Event, HoldLayer
from xlalint.analysis.library.refusing_layers import CUDNN, ENLARGING
from xlalint.facts import tables
from xlalint.facts.kernels import lacking, listed, missing_of
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Recompiles, Rule, Told

from ._kernels import CALLED, NOT_READY

RECURRENT = ("keras.layers.LSTM", "keras.layers.GRU", "keras.layers.Bidirectional", "keras.layers.TimeDistributed")
MODELS = ("keras.Model", "keras.Sequential")  # what other models hold as one layer


class LayerNotReady(Rule):
    code = "XLA408"
    name = "layer-not-ready"
    handles = (ApiCall, HoldLayer)
    apis = frozenset(f"{layer}{CALLED}" for layer in (*NOT_READY, *MODELS, *RECURRENT))
    bad = (
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.lookup = tf.keras.layers.IntegerLookup(vocabulary=[1, 2])

    def call(self, ids):
        return self.lookup(ids)
""",
            ["self.lookup(ids)"],
            Fails("LookupTableFindV2"),
            inputs=("i64[3]",),
            effect=Effect.NAMED,
            help="dataset.map",
        ),
        Bad(
            """
import keras

class M(keras.Model):
    def __init__(self):
        super().__init__()
        self.zoom = keras.layers.RandomZoom(0.2)
        self.dense = keras.layers.Dense(3)

    def call(self, images, training=False):
        return self.dense(self.zoom(images, training=training))
""",
            ["self.zoom(images, training=training)"],
            None,
            effect=Effect.NAMED,
            why="the model runs, without XLA",
        ),
        Bad(
            """
HASHING = tf.keras.layers.Hashing(4)

def hashed(ids):
    return HASHING(ids)

@tf.function(jit_compile=True)
def f(ids):
    return hashed(ids)
""",
            ["HASHING(ids)"],
            Fails("AsString"),
            inputs=("i64[3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.zoom = tf.keras.layers.RandomZoom(0.2)

    def call(self, images):
        return self.zoom(images, training=True)

LAYER = L()

@tf.function(jit_compile=True)
def f(images):
    return LAYER(images)
""",
            ["self.zoom(images, training=True)"],
            Fails("ImageProjectiveTransformV3"),
            inputs=("f32[1, 4, 4, 3]",),
            effect=Effect.FAILS,
            why="the call is reached from a function that is compiled, whatever Keras says",
        ),
        Bad(
            """
CROP = tf.keras.layers.RandomCrop(2, 2)

@tf.function(jit_compile=True)
def f(images):
    return 0.0 * CROP(images, training=True)
""",
            ["CROP(images, training=True)"],
            Recompiles(),
            inputs=("f32[1, 4, 4, 3]",),
            effect=Effect.NAMED,
        ),
        Bad(
            """
from tensorflow.keras import layers

class L(layers.Layer):
    def __init__(self):
        super().__init__()
        self.turn = layers.RandomRotation(0.1)

    def call(self, images):
        return self.turn(images, training=True)
""",
            ["self.turn(images, training=True)"],
            Fails("ImageProjectiveTransformV3"),
            inputs=("f32[1, 4, 4, 3]",),
            effect=Effect.NAMED,
        ),
        Bad(
            """
import keras
from keras import layers

model = keras.Sequential([keras.Input((8, 8, 3)), layers.RandomZoom(0.1), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse", jit_compile=True)
model.fit(tf.zeros((4, 8, 8, 3)), tf.zeros((4, 1)), batch_size=4, verbose=0)
""",
            ["layers.RandomZoom(0.1)"],
            None,
            effect=Effect.NAMED,
            why="Keras warns, and trains without XLA",
        ),
        Bad(
            """
import keras
from keras import layers

augment = keras.Sequential([layers.RandomFlip(), layers.RandomRotation(0.1)])

def build():
    model = keras.Sequential()
    model.add(keras.Input((8, 8, 3)))
    model.add(augment)
    model.add(layers.Flatten())
    model.compile("adam", "mse", jit_compile=True)
    return model

build()
""",
            ["layers.RandomRotation(0.1)"],
            None,
            effect=Effect.NAMED,
            why="Keras warns, and trains without XLA",
        ),
        Bad(
            """
import keras
from keras import layers

def build():
    inputs = keras.Input((8, 8, 3))
    turned = layers.RandomRotation(0.1)(layers.Rescaling(1 / 255.0)(inputs))
    return keras.Model(inputs, layers.Dense(1)(layers.Flatten()(turned)))

model = build()
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.zeros((4, 8, 8, 3)), tf.zeros((4, 1)), batch_size=4, verbose=0)
""",
            ["layers.RandomRotation(0.1)(layers.Rescaling(1 / 255.0)(inputs))"],
            None,
            effect=Effect.NAMED,
            why="Keras warns, and trains without XLA",
        ),
        Bad(
            """
import keras
from keras import layers

class M(keras.Model):
    def __init__(self):
        super().__init__()
        self.augment = keras.Sequential([layers.RandomFlip(), layers.RandomZoom(0.2)])
        self.dense = keras.layers.Dense(3)

    def train_step(self, images):
        return {"loss": keras.ops.mean(self(self.augment(images, training=True)))}

    def call(self, images):
        return self.dense(images)
""",
            ["layers.RandomZoom(0.2)"],
            None,
            effect=Effect.NAMED,
            why="the model runs, without XLA",
        ),
        Bad(
            """
AUGMENT = tf.keras.Sequential([tf.keras.layers.RandomZoom(0.2)])

@tf.function(jit_compile=True)
def f(images):
    return AUGMENT(images, training=True)
""",
            ["tf.keras.layers.RandomZoom(0.2)"],
            Fails("ImageProjectiveTransformV3"),
            inputs=("f32[1, 4, 4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

RNN = keras.layers.Bidirectional(keras.layers.GRU(3))

@tf.function(jit_compile=True)
def f(x):
    return RNN(x)
""",
            ["RNN(x)"],
            None,
            effect=Effect.FAILS,
            why="on a GPU (measured)",
            help="use_cudnn=False",
        ),
        Bad(
            """
import keras
from keras import layers

model = keras.Sequential([keras.Input((4, 3)), layers.LSTM(3), layers.Dense(1)])
model.compile("adam", "mse", jit_compile=True)
""",
            ["layers.LSTM(3)"],
            None,
            effect=Effect.NAMED,
            why="on a GPU Keras warns, and trains without XLA (measured)",
        ),
        Bad(
            """
import keras
from keras import layers

inputs = keras.Input((4, 3))
outputs = layers.Dense(1)(layers.Bidirectional(layers.LSTM(3))(inputs))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse", jit_compile=True)
""",
            ["layers.Bidirectional(layers.LSTM(3))(inputs)"],
            None,
            effect=Effect.NAMED,
            why="on a GPU Keras warns, and trains without XLA (measured)",
        ),
    )
    good = (
        Good(
            """
import keras

RNN = keras.layers.LSTM(3, use_cudnn=False)

@tf.function(jit_compile=True)
def f(x):
    return RNN(x)
""",
            inputs=("f32[2, 4, 3]",),
            why="XLA compiles it on a GPU, too (measured)",
        ),
        Good(
            """
import keras

class L(keras.layers.Layer):
    def __init__(self, activation):
        super().__init__()
        self.rnn = keras.layers.GRU(3, activation=activation)
        self.other = keras.layers.RNN(keras.layers.LSTMCell(3))

    def call(self, x):
        return self.rnn(x) + self.other(x)
""",
            None,
            why="the activation decides, and it is not known; cells are never run by cuDNN",
        ),
        Good(
            """
import keras

model = keras.Sequential([keras.Input((4, 3)), keras.layers.LSTM(3), keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=True)
""",
            None,
            target="tpu",
            why="a TPU has no cuDNN",
        ),
        Good(
            """
import keras
from keras import layers

augment = keras.Sequential([layers.RandomRotation(0.1)])
inputs = keras.Input((8, 8, 3))
model = keras.Model(inputs, layers.Dense(1)(layers.Flatten()(inputs)))
model.compile("sgd", "mse", jit_compile=True)
model.fit(augment(tf.zeros((4, 8, 8, 3))), tf.zeros((4, 1)), batch_size=4, verbose=0)
""",
            None,
            why="it runs eagerly, before the model",
        ),
        Good(
            """
import keras
from keras import layers

augment = keras.Sequential([layers.RandomRotation(0.1)])
model = keras.Sequential([keras.Input((8, 8, 3)), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse", jit_compile=True)
dataset = tf.data.Dataset.from_tensor_slices((tf.zeros((4, 8, 8, 3)), tf.zeros((4, 1)))).batch(4)
model.fit(dataset.map(lambda x, y: (augment(x), y)), verbose=0)
""",
            None,
            why="it is in the input pipeline",
        ),
        Good(
            """
LOOKUP = tf.keras.layers.IntegerLookup(vocabulary=[1, 2])
dataset = tf.data.Dataset.from_tensors(tf.constant([1, 2])).map(lambda ids: LOOKUP(ids))
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.flip = tf.keras.layers.RandomFlip()

    def call(self, images):
        return self.flip(images, training=False)
""",
            inputs=("f32[1, 4, 4, 3]",),
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)
""",
            inputs=("f32[2, 3]",),
        ),
        Good(
            """
inputs = tf.keras.Input([1], dtype="string")
outputs = tf.keras.layers.StringLookup(vocabulary=["a"])(inputs)
model = tf.keras.Model(inputs, outputs)
""",
            None,
            why="only built",
        ),
        Good(
            """
class Lookup:
    def __call__(self, ids):
        return ids + 1

LOOKUP = Lookup()

@tf.function(jit_compile=True)
def f(ids):
    return LOOKUP(ids)
""",
            inputs=("i32[3]",),
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case HoldLayer(cudnn=True):
                yield _off(event.location, OFF_ON_GPU, USE_CUDNN, Told.FOR_GPU)
            case ApiCall(api=api, result=result) if event.context.kind is ContextKind.XLA:
                name, called = api.removesuffix(CALLED), [(api.removesuffix(CALLED), event.location)]
                if name in RECURRENT and CUDNN not in event.arguments:
                    called = []
                elif name in MODELS:
                    before = {each for value in event.arguments.values() for each in variations_of(value)}
                    inside = (each for each in variations_of(result) if each.kind == LAYER and each not in before)
                    called = [(each.detail, each.location) for each in inside]
                for layer, location in called:
                    yield from self._called(layer, location, event.context)
            case HoldLayer(api=api, location=location) if api in NOT_READY:
                fact = tables.api(api, self.tensorflow)
                if fact is None or fact.refused or not fact.cases:
                    yield _off(location, self._why(api))

    def _called(self, layer: str, location: Location, context: Context) -> Iterator[Draft]:
        if layer not in NOT_READY:
            if layer != ENLARGING and context.keras is not Tracing.KERAS_2:
                yield _on_gpu(location, context.by_keras)
            return
        version = self.tensorflow or (KERAS_2 if context.keras is Tracing.KERAS_2 else None)
        fact = tables.api(layer, version)
        plain = fact.plain if fact is not None else None
        fails = plain is not None and plain.outcome is tables.Outcome.FAILS
        refused = fact is None or fact.refused or not fact.cases
        if plain is not None and fails and not (refused and context.by_keras):
            missing = missing_of(plain)
            why = lacking(missing, version) if missing else plain.detail
            yield Draft(f"`{brief(location.node)}`: {why}", Effect.FAILS, HELP, location)
        elif refused:
            yield _off(location, self._why(layer))

    def _why(self, layer: str) -> str:
        """What Keras does with a model that has the layer, and what a TPU can do without XLA."""
        fact = tables.api(layer, self.tensorflow)
        missing = missing_of(fact.plain) if fact is not None and fact.plain is not None else ()
        facts = {op: tables.op(op, self.tensorflow) for op in missing}
        ops = [f"`{op}`" for op, known in facts.items() if known is not None and "tpu" in known.lacking()]
        said = f"`{layer.rpartition('.')[2]}` {OFF}"
        return f"{said}; a TPU runs nothing without it, and has no kernel for {listed(ops)}" if ops else said


def _on_gpu(location: Location, by_keras: bool) -> Draft:
    """What becomes on a GPU of a layer that cuDNN runs there."""
    if by_keras:
        return _off(location, OFF_ON_GPU, USE_CUDNN, Told.FOR_GPU)
    why = (
        f"`{brief(location.node)}`: on a GPU, Keras 3 has cuDNN run this layer, and XLA has no kernel for `CudnnRNNV3`"
    )
    return Draft(why, Effect.FAILS, USE_CUDNN, location, told=Told.FOR_GPU)


def _off(location: Location, why: str, help: str | None = None, told: Told = Told.ALWAYS) -> Draft:
    message = f"`{brief(location.node)}`: {why}"
    return Draft(message, Effect.NAMED, help or HELP, location, loses_xla=True, told=told)


KERAS_2 = "2.15"  # the last TensorFlow that brings it
OFF_ON_GPU = "on a GPU, Keras 3 has cuDNN run this layer, and runs the whole model without XLA"
USE_CUDNN = "pass use_cudnn=False, if XLA is faster for the whole model than cuDNN is for this layer"
OFF = "sets `supports_jit = False`, so Keras runs the whole model without XLA"
HELP = "apply it in dataset.map, which runs on the host, and feed its results to the model"
