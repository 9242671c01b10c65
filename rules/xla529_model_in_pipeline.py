"""An input pipeline computes with a model, or takes gradients: the host does that, and XLA compiles nothing of it.

## What it does
Reports, for a TPU, what a function calls that `dataset.map` and its relatives run: models and layers that are known to
hold weights, and a `tf.GradientTape`, as in the attack of an adversarial training. Once for each function. It is
information, and a warning for a model that was created under a TPU strategy.

## What XLA does
XLA is not reached. `tf.data` traces the function by itself and runs it on the host. Measured with TensorFlow 2.21 and
Keras 3.15 on a CPU:

- A model in `map` and one that `fit` trains with `jit_compile=True`: one program is compiled, which has the operations
  of the second model alone.
- With a `MirroredStrategy` of two devices the pipeline computes whole batches, with the weights of the first replica,
  before they are cut into parts.
- Weights that change from step to step are read too early: the pipeline has made the next element before the step
  before it has run. With a variable that each step increases, the elements have seen 3, 3, 4, 5.

Not measured, for lack of a TPU: how long a TPU waits for its host, and what becomes of weights that a TPU strategy has
created, which are not on the host.

## Example
    dataset = dataset.map(lambda image, label: (encoder(image), label))
    model.fit(dataset)

## Use instead
    model = keras.Sequential([encoder, head])  # the step computes both
    model.fit(dataset)

If the result is the same in each epoch, compute it once and store it.

## Not flagged
- Layers without weights, such as `Resizing` and `RandomFlip`, models of these alone, and models that xlalint does not
  see put together.
- Models that a step, or `predict`, calls.

## Fix safety
Shown only: the model has to move into the step.

## References
- https://www.tensorflow.org/guide/data_performance
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import ComputeInPipeline
from xlalint.analysis.library.strategies import is_tpu, making_of
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

DATA: Final = """
import keras
import numpy as np

data = tf.data.Dataset.from_tensor_slices(np.ones([16, 3], "float32")).batch(8, drop_remainder=True)
encoder = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
"""
TPU: Final = """
import keras

strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver("local"))
with strategy.scope():
    encoder = keras.Sequential([keras.layers.Dense(2)])
"""
HOST: Final = "`tf.data` runs it on the host, and XLA compiles nothing of it"
WHY: Final = "it is about moving to a TPU"


class ModelInPipeline(Rule):
    code = "XLA529"
    name = "model-in-pipeline"
    handles = (ComputeInPipeline,)
    bad = (
        Bad(
            f"{DATA}\nmodel.fit(data.map(lambda x: (encoder(x), x[:, :1])), verbose=0)\n",
            ["encoder(x)"],
            Runs(1),
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="step",
            target="tpu",
        ),
        Bad(
            f"""{DATA}
def encoded(x):
    x = encoder(x)
    return encoder.layers[0](tf.pad(x, [[0, 0], [0, 1]])), x[:, :1]

model.fit(data.map(encoded, num_parallel_calls=2), verbose=0)
""",
            ["encoder(x)"],
            Runs(1),
            why="once for a function",
            target="tpu",
        ),
        Bad(
            f"{DATA}\nencoded = data.map(encoder)\nmodel.fit(tf.data.Dataset.zip((encoded, encoded)), verbose=0)\n",
            ["encoder"],
            Runs(1),
            target="tpu",
        ),
        Bad(
            f"""{DATA}
class Attack:
    def __init__(self, model):
        self.model = model

    def perturbed(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(self.model(x))
        return x + 0.1 * tf.sign(tape.gradient(loss, x))

attack = Attack(encoder)
model.fit(data.map(attack.perturbed).map(lambda x: (x[:, :2], x[:, :1])), verbose=0)
""",
            ["tf.GradientTape()"],
            Runs(1),
            target="tpu",
        ),
        Bad(
            """
import keras

class Embedded(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Embedding(8, 4)

    def call(self, tokens):
        return self.inner(tokens)

embed = Embedded()

def prepared(files):
    return tf.data.Dataset.from_tensor_slices(files).map(lambda row: embed(tf.strings.to_number(row, tf.int32)))
""",
            ["embed(tf.strings.to_number(row, tf.int32))"],
            None,
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"{TPU}\ndata = tf.data.Dataset.range(8).map(lambda n: encoder(tf.ones([1, 3])))\n",
            ["encoder(tf.ones([1, 3]))"],
            None,
            severity=Severity.WARNING,
            why="needs a TPU",
        ),
        Bad(
            """
import keras

backbone = keras.applications.MobileNetV2(include_top=False, pooling="avg")
data = tf.data.Dataset.range(8).map(lambda n: backbone(tf.ones([1, 224, 224, 3])))
""",
            ["backbone(tf.ones([1, 224, 224, 3]))"],
            None,
            why="needs weights from the network",
            target="tpu",
        ),
    )
    good = (
        Good(
            f"{DATA}\nmodel.fit(data.map(lambda x: (encoder(x), x[:, :1])), verbose=0)\n",
            Runs(1),
            why="no TPU is to run it",
        ),
        Good(
            f"""{DATA}
bright = keras.Sequential([keras.layers.Rescaling(2.0), keras.layers.GaussianNoise(0.1)])
ends = keras.Input([3])
scaled = keras.Model(ends, keras.layers.Rescaling(0.5)(ends))
prepared = data.map(lambda x: scaled(bright(x, training=True))).map(keras.layers.Rescaling(1.0))
model.fit(prepared.map(lambda x: (x[:, :2], x[:, :1])), verbose=0)
""",
            Runs(1),
            why="nothing here has weights",
            target="tpu",
        ),
        Good(
            f"""{DATA}
for x in data:
    encoder(x)
""",
            Runs(0),
            why="no pipeline computes it",
            target="tpu",
        ),
        Good(
            f"""{DATA}
class Cut(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.activation = keras.layers.ReLU()

    def call(self, x):
        return self.activation(x)[:, :2]

model.fit(data.map(Cut()).map(lambda x: (x, x[:, :1])), verbose=0)
""",
            Runs(1),
            why="a layer of one's own without weights",
            target="tpu",
        ),
        Good(
            f"""{DATA}
encoded = encoder.predict(data, verbose=0)
pairs = tf.data.Dataset.from_tensor_slices((encoded, encoded[:, :1])).batch(8, drop_remainder=True)
model.fit(pairs.map(lambda x, y: (x * 2.0, y)), verbose=0)
""",
            None,
            why="computed once, before the pipeline",
            target="tpu",
        ),
    )

    def __init__(self) -> None:
        self._seen: set[Location] = set()

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, ComputeInPipeline)
        where = _function_of(event.location)
        if where in self._seen:
            return
        self._seen.add(where)
        made = None if event.called is None else making_of(event.called)
        on_tpu = made is not None and made.scope is not None and is_tpu(made.scope.strategy)
        what = (
            "this takes gradients" if event.called is None else f"`{brief(event.location.node)}` computes with weights"
        )
        yield Draft(
            f"{what} in an input pipeline: {HOST}",
            Effect.TPU,
            "compute it in the step; what is the same in each epoch, once and for all",
            at_most=Severity.WARNING if on_tpu else Severity.INFO,
            told=Told.FOR_TPU,
        )


def _function_of(location: Location) -> Location:
    """The function that the pipeline runs, or where else it is told what to compute."""
    around = location.unit.around(location.node)
    return location.at(next((it for it in around if isinstance(it, cst.FunctionDef | cst.Lambda)), location.node))
