"""This call compiles, but its gradient does not.

## What it does
Reports calls whose gradient XLA cannot compile, if the code takes a gradient through them, or Keras trains a layer or
model that calls them with what it computed before.

## What XLA does
Each call was measured; see `xlalint facts NAME`. With TensorFlow 2.21:

- The gradients of `tf.linalg.expm`, `tf.linalg.eigh_tridiagonal` and `tf.linalg.experimental.conjugate_gradient` fail
  ("XLA compilation requires a fixed tensor list size"), because they contain a loop without a bound.
- The gradient of `tf.quantization.quantize_and_dequantize_v2` has no kernel, nor has that of a resize by the nearest
  pixel (`tf.image.resize(x, size, method="nearest")`, `keras.ops.image.resize`, `keras.layers.Resizing`) but on a TPU.
  `keras.layers.UpSampling2D` repeats the pixels instead, which compiles; that of Keras 2 (tf_keras 2.21) resizes, and
  fails in a step that trains what is before it, but with `interpolation="bilinear"`. One finding stands for all such
  layers of a model; there is none in code for TPUs alone.
- The gradient of `tf.dynamic_partition` compiles for a CPU, for every value, but not for a TPU ("Reading input as
  constant from a dynamic tensor is not yet supported"). It is reported in code for TPUs.

Without a gradient, all these calls compile.

## Example
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.linalg.expm(a))
    gradient = tape.gradient(loss, weights)

## Use instead
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.linalg.expm(a))

in a plain `tf.function` around the compiled rest. Or use `tf.stop_gradient` if you do not need the gradient.

## Not flagged
Calls without a gradient through them, and calls whose gradient compiles.

## Fix safety
Shown only: you decide what to compile, and where no gradient is needed.

## References
- https://www.tensorflow.org/xla/known_issues
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import Tracing, Trained
from xlalint.analysis.interpreter.events import ApiCall, Event, HoldLayer
from xlalint.analysis.library.refusing_layers import ENLARGING, UNTRAINED
from xlalint.facts import tables, tpu
from xlalint.facts.kernels import lacking
from xlalint.facts.tables import Case
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import (
    Bad,
    Breaks,
    Draft,
    DraftNote,
    Effect,
    Fails,
    Good,
    Recompiles,
    Rule,
    Runs,
    Severity,
    Told,
    TpuOutcome,
)

from ._computed import is_behind_layers, is_computed
from ._gradients import GRADIENTS, LoopsUnderGradients, is_of_call, is_stopped, note_of, refused_on_tpu
from ._kernels import CALLED, case_of, fact_of, names_without_gradient

_NEAREST: Final = "ResizeNearestNeighborGrad"
_LAYER: Final = """
import keras

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Conv2D(3, 1)
        self.second = keras.layers.Conv2D(1, 1)
"""
_FIT: Final = """
net = Net()
net.compile("sgd", "mse", jit_compile=True)
net.fit(tf.ones([2, 4, 4, 3]), tf.ones([2, 1, 1, 1]), verbose=0)
"""


class GradientWithoutKernel(Rule):
    code = "XLA407"
    name = "gradient-without-kernel"
    handles = (ApiCall, HoldLayer)
    apis = names_without_gradient() | frozenset(tpu.refused_gradients()) | GRADIENTS | {f"{ENLARGING}{CALLED}"}
    bad = (
        Bad(
            """
import tf_keras as keras

inputs = keras.Input((8, 8, 3))
small = keras.layers.Conv2D(4, 3, 2)(inputs)
model = keras.Model(inputs, keras.layers.UpSampling2D(2)(small))
model.compile("sgd", "mse", jit_compile=True)
""",
            ["keras.layers.UpSampling2D(2)(small)"],
            None,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="bilinear",
            why="Keras 2 is a package of its own",
        ),
        Bad(
            """
import tf_keras as keras

def up(x):
    return keras.layers.UpSampling2D(2)(x)

inputs = keras.Input((8, 8, 3))
model = keras.Model(inputs, up(keras.layers.Conv2D(4, 3, 2)(inputs)))
model.compile("sgd", "mse", jit_compile=True)
""",
            ["keras.layers.UpSampling2D(2)(x)"],
            None,
            effect=Effect.FAILS,
            why="Keras 2 is a package of its own",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.linalg.expm(x))
    return tape.gradient(y, x)
""",
            ["tf.linalg.expm(x)"],
            Fails("fixed tensor list size"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def rotation(x):
    return tf.linalg.expm(x - tf.transpose(x))

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(rotation(x))
    return tape.gradient(loss, x)
""",
            ["tf.linalg.expm(x - tf.transpose(x))"],
            Fails("fixed tensor list size"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0))
    return tape.gradient(y, x)
""",
            ["tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0)"],
            Fails("QuantizeAndDequantizeV4Grad"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
from tensorflow import linalg

class Flow:
    def step(self, x):
        return linalg.expm(x)

FLOW = Flow()

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = FLOW.step(x)
    return t.gradient(y, x)
""",
            ["linalg.expm(x)"],
            Fails("fixed tensor list size"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        parts = tf.dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2)
        y = tf.reduce_sum(parts[0] * parts[0])
    return tape.gradient(y, x)
""",
            ["tf.dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2)"],
            Recompiles(),
            effect=Effect.TPU,
            target="tpu",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.image.resize(x, x.shape[1:3], method="nearest") ** 2)
    return tape.gradient(y, x)
""",
            ['tf.image.resize(x, x.shape[1:3], method="nearest")'],
            Fails("ResizeNearestNeighborGrad"),
            inputs=("f32[2, 4, 4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.image.resize(x, [8, 8], method="nearest") ** 2)
    return tape.gradient(y, x)
""",
            ['tf.image.resize(x, [8, 8], method="nearest")'],
            Fails("ResizeNearestNeighborGrad"),
            inputs=("f32[2, 4, 4, 3]",),
            effect=Effect.FAILS,
            severity=Severity.INFO,
            target="tpu",
            why="a TPU has the kernel",
        ),
        Bad(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(keras.layers.Resizing(8, 8, interpolation="nearest")(x) ** 2)
    return tape.gradient(y, x)
""",
            ['keras.layers.Resizing(8, 8, interpolation="nearest")(x)'],
            Fails("ResizeNearestNeighborGrad"),
            inputs=("f32[2, 4, 4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            f"""{_LAYER}
    def call(self, x):
        x = self.first(x)
        x = tf.image.resize(x, [8, 8], method="nearest")
        return self.second(x)
{_FIT}""",
            ['tf.image.resize(x, [8, 8], method="nearest")'],
            Breaks("ResizeNearestNeighborGrad"),
            effect=Effect.FAILS,
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            """
import keras

inputs = keras.Input((8, 8, 3))
small = keras.layers.Conv2D(4, 3, 2)(inputs)
model = keras.Model(inputs, keras.layers.UpSampling2D(2)(small))
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 8, 8, 3]), tf.ones([4, 6, 6, 4]), batch_size=2, verbose=0)
""",
            Runs(),
            why="Keras 3 repeats the pixels",
        ),
        Good(
            """
import tf_keras as keras

inputs = keras.Input((8, 8, 3))
small = keras.layers.Conv2D(4, 3, 2)(inputs)
model = keras.Model(inputs, keras.layers.UpSampling2D(2, interpolation="bilinear")(small))
model.compile("sgd", "mse", jit_compile=True)
""",
            None,
            why="this resize has a gradient",
        ),
        Good(
            """
import tf_keras as keras

def up(x):
    return keras.layers.UpSampling2D(2)(x)

inputs = keras.Input((8, 8, 3))
model = keras.Model(inputs, keras.layers.Conv2D(4, 3, 2)(up(inputs)))
model.compile("sgd", "mse", jit_compile=True)
""",
            None,
            why="nothing is trained before it",
        ),
        Good(
            """
import tf_keras as keras

inputs = keras.Input((8, 8, 3))
small = keras.layers.Conv2D(4, 3, 2)(inputs)
model = keras.Model(inputs, keras.layers.UpSampling2D(2)(small))
model.compile("sgd", "mse", jit_compile=True)
""",
            None,
            target="tpu",
            why="a TPU has the kernel",
        ),
        Good(
            f"""{_LAYER}
    def call(self, x):
        x = tf.image.resize(x, [8, 8], method="nearest")
        return self.second(self.first(x))
{_FIT}""",
            Runs(),
            why="the first that the model does, before anything that is trained",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, labels):
    with tf.GradientTape() as tape:
        tape.watch(x)
        labels = tf.image.resize(tf.cast(labels, tf.float32), [4, 4], method="nearest")
        y = tf.reduce_sum((x - labels) ** 2)
    return tape.gradient(y, x)
""",
            inputs=("f32[2, 4, 4, 3]", "i32[2, 8, 8, 3]"),
            why="no gradient is taken of labels",
        ),
        Good(
            f"""{_LAYER}
    def call(self, x):
        empty = tf.cast(tf.equal(tf.reduce_sum(x, -1, keepdims=True), 0.0), x.dtype)
        return self.second(self.first(x)) * tf.image.resize(empty, [4, 4], method="nearest")
{_FIT}""",
            Runs(),
            why="nor of a mask",
        ),
        Good(
            f"""{_LAYER}
    def call(self, x):
        first = self.first(x)
        mask = tf.stop_gradient(tf.image.resize(first, [4, 4], method="nearest"))
        return self.second(first + mask)
{_FIT}""",
            Runs(),
        ),
        Good(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        larger = keras.layers.UpSampling2D(2)(tf.image.resize(x, [8, 8]))
        y = tf.reduce_sum(larger ** 2)
    return tape.gradient(y, x) + tf.image.resize(x, [4, 4], method="nearest")
""",
            inputs=("f32[2, 4, 4, 3]",),
            why="repeated pixels, a bilinear resize, and a nearest one without a gradient",
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.linalg.expm(x)\n",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.linalg.inv(x + 9.0 * tf.eye(3)))
    return tape.gradient(y, x)
""",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    rotated = tf.linalg.expm(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    return tape.gradient(y, x) + rotated
""",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sort(x))
    return tape.gradient(y, x)
""",
        ),
        Good("gradient = tf.linalg.expm(tf.eye(3))\n", None, why="eager code of a script"),
    )

    def __init__(self) -> None:
        self._calls = LoopsUnderGradients[ApiCall]()
        self._first: dict[Location | None, Location] = {}  # of the layers of a model, by what Keras calls

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case HoldLayer(untrained=places):
                if behind := [place for place, is_behind in places if is_behind or is_behind_layers(place)]:
                    yield self._enlarging(*behind)
                return
            case ApiCall(arguments=arguments, trail=trail) if UNTRAINED in arguments:
                of_keras = is_of_call(event) and event.context.keras is Tracing.KERAS_2
                if of_keras and is_behind_layers(event.location, trail):
                    yield self._enlarging(self._first_of(event), event.location)
                return
            case ApiCall(api=api) if api in GRADIENTS:
                pairs = self._calls.gradient(event)
            case ApiCall() if self._fails(event):
                pairs = self._calls.loop(event)
                if self._is_trained(event):
                    yield replace(self._draft(event), at_most=Severity.WARNING)
            case _:
                return
        for call, gradient in pairs:
            if not self._resizes(call) or is_computed(call.location):
                yield self._draft(call, note_of(gradient))

    def _resizes(self, call: ApiCall) -> bool:
        """Whether it is a resize by the nearest pixel, which labels and masks see more often than what is trained."""
        case = self._case(call)
        return case is not None and _NEAREST in case.gradient_missing

    def _fails(self, event: ApiCall) -> bool:
        case = self._case(event)
        return case is not None and (case.gradient is tables.Gradient.FAILS or refused_on_tpu(case) is not None)

    def _is_trained(self, event: ApiCall) -> bool:
        """Whether Keras trains what a layer or model calls. Loops, whose gradient lacks no kernel, have rules of their
        own."""
        case = self._case(event)
        lacks = case is not None and bool(case.gradient_missing)
        return (
            lacks and event.context.trained is Trained.LAYER and not is_stopped(event) and is_computed(event.location)
        )

    def _case(self, call: ApiCall) -> Case | None:
        fact = fact_of(call, self.tensorflow)
        return case_of(fact, call.arguments) if fact is not None else None

    def _first_of(self, call: ApiCall) -> Location:
        """Where the first layer stands of those that the same method of Keras leads to."""
        trail = call.trail
        while trail is not None and trail.parent is not None:
            trail = trail.parent
        return self._first.setdefault(None if trail is None else trail.location, call.location)

    def _enlarging(self, location: Location, *others: Location) -> Draft:
        """Layers of Keras 2 that enlarge pictures, and are trained through."""
        why = f"Keras 2 resizes to the nearest pixel; {lacking((_NEAREST,), self.tensorflow)}"
        message = f"the gradient of `{brief(location.node)}` does not compile: {why}"
        notes = tuple(DraftNote(each, "so does this one") for each in dict.fromkeys(others) if each != location)
        draft = Draft(message, Effect.FAILS, BILINEAR, location, notes, on_tpu=TpuOutcome.OK)
        return replace(draft, told=Told.NOT_FOR_TPU_ALONE)

    def _draft(self, call: ApiCall, *notes: DraftNote) -> Draft:
        case = self._case(call)
        on_tpu = refused_on_tpu(case) if case is not None else None
        if on_tpu is not None:
            message = f"the TPU compiler refuses the gradient of `{brief(call.node)}`"
            draft = Draft(message, Effect.TPU, HELP, call.location, notes, on_tpu=on_tpu.outcome)
            return replace(draft, told=Told.FOR_TPU)
        missing = case.gradient_missing if case is not None else ()
        version = tables.nearest(self.tensorflow)
        reason = f": {lacking(missing, self.tensorflow)}" if missing else f" with TensorFlow {version}"
        message = f"the gradient of `{brief(call.node)}` does not compile{reason}"
        there = tpu.of_call(case.call) if case is not None else None
        on_its_own = there.gradient.outcome if there is not None and there.gradient is not None else None
        return Draft(message, Effect.FAILS, HELP, call.location, notes, on_tpu=on_its_own)


BILINEAR = 'interpolation="bilinear", or tf.repeat along both axes'
HELP = "compute this gradient in a plain tf.function around the compiled rest, or drop it with tf.stop_gradient"
