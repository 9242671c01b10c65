"""A layer that only a GPU computes, by cuDNN, in code that XLA compiles.

## What it does
Reports `CuDNNLSTM` and `CuDNNGRU` of Keras 2 (`tf.compat.v1.keras.layers`), alone or inside of `Bidirectional`, in the
code of a model, layer or function that XLA compiles, and in a model that is put together of them.

## What XLA does
Measured with Keras 2 (tf_keras) and TensorFlow 2.21 on a CPU: these layers call the operation `CudnnRNNV3`, which has
kernels for GPUs alone.

- XLA: "No registered 'CudnnRNNV3' OpKernel", on each device. XLA's table for a TPU lacks it, too.
- Without XLA, on a machine without a GPU: "Could not find device for node: CudnnRNNV3 .. All kernels registered for op
  CudnnRNNV3: device='GPU'".

`LSTM` and `GRU` compile on a CPU and on a TPU. Their weights differ in form: `CuDNNLSTM` has two vectors of biases.
Keras 3 has no such layers.

## Example
    model.add(Bidirectional(CuDNNLSTM(64, return_sequences=True)))

## Use instead
    model.add(Bidirectional(LSTM(64, return_sequences=True)))

For weights that a `CuDNNGRU` has learned, take `GRU(.., reset_after=True)`.

## Not flagged
Programs that XLA does not compile: there a GPU runs the layers.

## Fix safety
There is no fix: a model that is loaded has weights of the other form.

## References
- https://www.tensorflow.org/api_docs/python/tf/compat/v1/keras/layers/CuDNNLSTM
- https://www.tensorflow.org/api_docs/python/tf/keras/layers/LSTM
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import Static
from xlalint.analysis.domain.varying_shapes import LAYER, variations_of
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event, HoldLayer
from xlalint.analysis.library.refusing_layers import GPU_LAYERS
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Severity, Told

from ._kernels import CALLED

WRAPPERS: Final = ("keras.layers.Bidirectional", "keras.layers.TimeDistributed")
MODELS: Final = ("keras.Model", "keras.Sequential")
WHY: Final = "Keras 3 has no such layer"
HEAD: Final = """
import tensorflow as tf
from tensorflow.keras.layers import Bidirectional, CuDNNGRU, CuDNNLSTM, Dense, Input, LSTM
"""
TRAIN: Final = """
model.compile("sgd", "mse")
model.fit(tf.ones([8, 4, 3]), tf.ones([8, 1]))
"""


class GpuOnlyLayer(Rule):
    code = "XLA415"
    name = "gpu-only-layer"
    handles = (ApiCall, HoldLayer)
    lacks_kernel = True
    apis = frozenset(f"{layer}{CALLED}" for layer in (*GPU_LAYERS, *WRAPPERS, *MODELS))
    bad = (
        Bad(
            f"""{HEAD}
model = tf.keras.Sequential([Input([4, 3]), Bidirectional(CuDNNLSTM(8, return_sequences=True)), CuDNNGRU(8), Dense(1)])
{TRAIN}""",
            ["Bidirectional(CuDNNLSTM(8, return_sequences=True))", "CuDNNGRU(8)"],
            None,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="LSTM",
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{HEAD}
model = tf.keras.Sequential()
model.add(Input([4, 3]))
model.add(tf.compat.v1.keras.layers.CuDNNLSTM(8))
model.add(Dense(1))
{TRAIN}""",
            ["tf.compat.v1.keras.layers.CuDNNLSTM(8)"],
            None,
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{HEAD}
def build(units):
    inputs = Input([4, 3])
    x = CuDNNGRU(units)(inputs)
    return tf.keras.Model(inputs, Dense(1)(x))

model = build(8)
{TRAIN}""",
            ["CuDNNGRU(units)(inputs)"],
            None,
            help="GRU",
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{HEAD}
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = Bidirectional(CuDNNLSTM(8))

    def call(self, x):
        return self.rnn(x)
""",
            ["self.rnn(x)"],
            None,
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{HEAD}
rnn = CuDNNLSTM(8)

@tf.function(jit_compile=True)
def f(x):
    return rnn(x)
""",
            ["rnn(x)"],
            None,
            severity=Severity.ERROR,
            why=WHY,
        ),
    )
    good = (
        Good(
            f"""{HEAD}
model = tf.keras.Sequential([Input([4, 3]), Bidirectional(CuDNNLSTM(8, return_sequences=True)), CuDNNGRU(8), Dense(1)])
{TRAIN}""",
            None,
            why="a GPU runs it, without XLA",
        ),
        Good(
            f"""{HEAD}
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = Bidirectional(CuDNNLSTM(8))

    def call(self, x):
        return self.rnn(x)
""",
            None,
            why="a GPU runs it, without XLA",
        ),
        Good(
            """
layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(8))

@tf.function(jit_compile=True)
def f(x):
    return layer(x)
""",
            inputs=("f32[2, 4, 3]",),
        ),
        Good(
            """
class CuDNNLSTM(tf.keras.layers.Layer):
    def call(self, x):
        return x * 2.0

@tf.function(jit_compile=True)
def f(x):
    return CuDNNLSTM()(x)
""",
            why="another class of that name",
        ),
        Good(
            f"""{HEAD}
model = tf.keras.Sequential([Input([4, 3]), LSTM(8), Dense(1)])
{TRAIN}""",
            None,
            why="a TPU runs it",
            target="tpu",
        ),
        Good(
            f"""{HEAD}
layer = CuDNNLSTM(8)
print(layer.units)
""",
            None,
            why="it is only created",
            target="tpu",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case HoldLayer(api=layer) if layer in GPU_LAYERS:
                yield _lacking(layer, Told.ALWAYS)
            case ApiCall(arguments={"gpu_alone": Static(str() as layer)}) if event.context.kind is ContextKind.XLA:
                yield _lacking(layer, _told(event))
            case ApiCall(arguments=arguments, result=result) if event.context.kind is ContextKind.XLA:
                before = {each for value in arguments.values() for each in variations_of(value)}
                for each in variations_of(result):
                    if each.kind == LAYER and each.detail in GPU_LAYERS and each not in before:
                        yield _lacking(each.detail, _told(event))


def _told(event: Event) -> Told:
    """Keras 2, which has these layers, compiles no model on a GPU but one that it is told to compile."""
    return Told.FOR_TPU if event.context.by_keras else Told.ALWAYS


def _lacking(layer: str, told: Told) -> Draft:
    name = layer.rpartition(".")[2]
    other = name.removeprefix("CuDNN")
    why = f"only a GPU runs `{name}`: XLA has no kernel for `CudnnRNNV3`, and neither has a TPU"
    return Draft(why, Effect.FAILS, f"use `{other}`, which compiles on each device", told=told)
