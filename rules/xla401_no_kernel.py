"""XLA has no kernel for this call.

## What it does
Reports calls of TensorFlow and Keras that use an operation without an XLA kernel, in the TensorFlow version that runs
the code (`tensorflow = "2.15"`; default: the newest version that the nearest requirements allow). Also the operations
of a library that the program loads by `tf.load_op_library`, as a warning.

## What XLA does
Compiling fails: "Detected unsupported operations when trying to compile graph .. No registered 'Lu' OpKernel for
XLA_CPU_JIT devices".

Each call of the public API was compiled with TensorFlow 2.21 and older versions on a CPU. The kernels for GPU and TPU
come from what the packages register. `xlalint facts NAME` prints what is known about a call, and `xlalint facts
--unsupported` lists the calls without a kernel.

An operation of one's own, in C++ with a kernel for the CPU, was built and loaded: compiling fails in the same way ("No
registered 'Doubled' OpKernel for XLA_CPU_JIT"). Only a kernel that the library registers for XLA itself would change
that. `keras.backend.ctc_batch_cost` uses `CTCLoss`, and fails; `tf.nn.ctc_loss` of dense labels compiles.

Keras does not warn: `jit_compile="auto"` checks its layers, not their operations. A model with such a call in a custom
layer runs on a machine without a GPU, where Keras does not compile, and fails on one with a GPU.

## Example
    lower_upper, pivots = tf.linalg.lu(a)

## Use instead
    solution = tf.linalg.solve(a, b)

The finding names a replacement if one is known. Each replacement was proven on the compiler.

## Not flagged
Eager code and functions that `tf.data` maps, calls with arguments that were not measured, and calls that have a kernel
in the version that runs the code. If nothing is seen to compile the code, including a plain `tf.function`, the severity
is `info`; so it is where a TPU alone compiles it and the program calls `tf.config.set_soft_device_placement(True)`:
the host then runs what a TPU has no kernel for.

## Fix safety
- `safe`: sums and products of integer segments whose ids are literals, in order and without gaps.
- `unsafe`: the same for floats (-0.0 becomes 0.0), and maxima, minima and means of segments. Also Bessel functions in
  their scaled form, norms, histograms, indices of a matrix, and shuffling; each fix says where it differs. If data
  decides the segments, their number is that of the rows that they are added to, or of the elements if each element gets
  the result of its segment. Otherwise the fix computes the number, and XLA recompiles for each; with a bound
  (`--bound ids=64`, `# xlalint: bound(64)`), it keeps as many rows as the bound says (see XLA205).
- Shown only: replacements that are right for symmetric or positive definite matrices only.

Other replacements are named, with their restrictions. A call that does not spell out all its arguments keeps them.

## References
- https://www.tensorflow.org/xla/known_issues
- https://github.com/tensorflow/tensorflow/issues/126007
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.analysis.library.raw_ops import LOADED
from xlalint.facts.kernels import about, lacking, missing_of
from xlalint.fixes.quoted import brief
from xlalint.fixes.replacements import replacement
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Rule, Safety, Severity

from ._kernels import case_of, fact_of, help_for, names_lacking, raw_missing, told_of, worst

# Calls that no table has, since they refuse the arguments that are tried: what they need, and what to write instead.
OPS = {"keras.backend.ctc_batch_cost": ("CTCLoss", "tf.nn.ctc_loss(labels, logits, label_length, logit_length)")}


class NoKernel(Rule):
    code = "XLA401"
    name = "no-kernel"
    lacks_kernel = True
    handles = (ApiCall,)
    apis = names_lacking("XLA401") | OPS.keys()
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    labels, length = tf.ones([2, 3], tf.int32), tf.ones([2, 1], tf.int32)
    return tf.keras.backend.ctc_batch_cost(labels, tf.nn.softmax(x), 6 * length, 3 * length)
""",
            ["tf.keras.backend.ctc_batch_cost(labels, tf.nn.softmax(x), 6 * length, 3 * length)"],
            Fails("CTCLoss"),
            ("f32[2, 6, 5]",),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="tf.nn.ctc_loss",
        ),
        Bad(
            """
sampling = tf.load_op_library("sampling.so")

class L(tf.keras.layers.Layer):
    def call(self, x):
        return sampling.farthest_points(x, count=16)
""",
            ["sampling.farthest_points(x, count=16)"],
            None,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            why="there is no such library",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.raw_ops.CTCGreedyDecoder(inputs=x, sequence_length=[1])
""",
            ["tf.raw_ops.CTCGreedyDecoder(inputs=x, sequence_length=[1])"],
            Fails("CTCGreedyDecoder"),
            ("f32[2, 1, 3]",),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.linalg.lu(x)[0]
""",
            ["tf.linalg.lu(x)"],
            Fails("No registered 'Lu' OpKernel"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
            help="tf.linalg.solve(a, b)",
        ),
        Bad(
            """
def pooled(values, owners):
    return tf.math.segment_sum(values, owners)

class L(tf.keras.layers.Layer):
    def call(self, x):
        return pooled(x, tf.constant([0, 0, 1, 1]))
""",
            ["tf.math.segment_sum(values, owners)"],
            Fails("SegmentSum"),
            effect=Effect.FAILS,
            help="tf.math.unsorted_segment_sum",
            safety=Safety.UNSAFE,
            fixed="""
def pooled(values, owners):
    return tf.math.unsorted_segment_sum(values, owners, tf.reduce_max(owners) + 1)

class L(tf.keras.layers.Layer):
    def call(self, x):
        return pooled(x, tf.constant([0, 0, 1, 1]))
""",
        ),
        Bad(
            """
def softmax(x, owners):
    highest = tf.math.segment_max(x, owners)
    x = tf.exp(x - tf.gather(highest, owners))
    return x / tf.gather(tf.math.segment_sum(x, owners), owners)

@tf.function(jit_compile=True)
def f(x):
    return softmax(x, tf.constant([0, 0, 1, 2]))
""",
            ["tf.math.segment_max(x, owners)", "tf.math.segment_sum(x, owners)"],
            Fails("Segment"),
            ("f32[4, 2]",),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
def softmax(x, owners):
    highest = tf.math.unsorted_segment_max(x, owners, tf.shape(owners)[0])
    x = tf.exp(x - tf.gather(highest, owners))
    return x / tf.gather(tf.math.unsorted_segment_sum(x, owners, tf.shape(owners)[0]), owners)

@tf.function(jit_compile=True)
def f(x):
    return softmax(x, tf.constant([0, 0, 1, 2]))
""",
        ),
        Bad(
            """
ENDS = tf.constant([[0, 1], [0, 2], [1, 3], [3, 0]])

@tf.function(jit_compile=True)
def f(atoms, messages):
    messages = messages * tf.gather(tf.matmul(atoms, tf.ones([3, 3])), ENDS[:, 1])
    return atoms + tf.math.segment_sum(messages, ENDS[:, 0])
""",
            ["tf.math.segment_sum(messages, ENDS[:, 0])"],
            Fails("SegmentSum"),
            ("f32[4, 3]", "f32[4, 3]"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
ENDS = tf.constant([[0, 1], [0, 2], [1, 3], [3, 0]])

@tf.function(jit_compile=True)
def f(atoms, messages):
    messages = messages * tf.gather(tf.matmul(atoms, tf.ones([3, 3])), ENDS[:, 1])
    owners = ENDS[:, 0]
    return atoms + tf.math.unsorted_segment_sum(messages, owners, tf.shape(atoms)[0])
""",
        ),
        Bad(
            """
OWNERS = [0, 0, 1, 1]

@tf.function(jit_compile=True)
def f(x):
    n = tf.cast(x, tf.int32)
    return tf.math.segment_sum(n, OWNERS) * tf.math.segment_prod(data=n, segment_ids=tf.constant([0, 1, 1, 1]))
""",
            ["tf.math.segment_sum(n, OWNERS)", "tf.math.segment_prod(data=n, segment_ids=tf.constant([0, 1, 1, 1]))"],
            Fails("Segment"),
            effect=Effect.FAILS,
            safety=Safety.SAFE,
            fixed="""
OWNERS = [0, 0, 1, 1]

@tf.function(jit_compile=True)
def f(x):
    n = tf.cast(x, tf.int32)
    return tf.math.unsorted_segment_sum(n, OWNERS, 2) * tf.math.unsorted_segment_prod(n, tf.constant([0, 1, 1, 1]), 2)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return 1.0 + tf.math.bessel_i0(x) * tf.cast(tf.histogram_fixed_width(x, [-1.0, 1.0], 4), tf.float32)
""",
            ["tf.math.bessel_i0(x)", "tf.histogram_fixed_width(x, [-1.0, 1.0], 4)"],
            Fails("No registered"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    return 1.0 + (tf.math.bessel_i0e(x) * tf.exp(tf.abs(x))) * tf.cast(tf.reduce_sum(tf.one_hot(tf.reshape(tf.histogram_fixed_width_bins(x, [-1.0, 1.0], 4), [-1]), 4, dtype=tf.int32), 0), tf.float32)
""",  # noqa: E501
        ),
        Bad(
            """
from tensorflow.image import crop_and_resize as crop

@tf.function(jit_compile=True)
def f(images):
    cut = lambda: crop(images, [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2])
    return cut()
""",
            ["crop(images, [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2])"],
            Fails("CropAndResize"),
            inputs=("f32[1, 4, 4, 2]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Noise:
    def __init__(self):
        self.draw = tf.random.gamma

    def sample(self):
        return self.draw([4], 1.0)

NOISE = Noise()

@tf.function(jit_compile=True)
def f(x):
    return x + NOISE.sample()
""",
            ["self.draw([4], 1.0)"],
            Fails("RandomGamma"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    return keras.ops.lu_factor(x)[0]
""",
            ["keras.ops.lu_factor(x)"],
            Fails("Lu"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
            help="keras.ops.qr",
        ),
        Bad(
            """
def factors(x: tf.Tensor):
    return tf.linalg.lu(x)
""",
            ["tf.linalg.lu(x)"],
            None,
            effect=Effect.FAILS,
            severity=Severity.INFO,
            why="nothing is seen to compile it",
        ),
    )
    good = (
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.raw_ops.Cumsum(x=x, axis=0)\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.math.unsorted_segment_sum(x, [0, 0, 1, 1], 2)
""",
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.linalg.qr(x)[1]\n",
            inputs=("f32[3, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.image.resize(x, [8, 8])
""",
            inputs=("f32[1, 4, 4, 2]",),
        ),
        Good(
            """
def crop(image):
    return tf.image.crop_and_resize(image[None], [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2])

dataset = tf.data.Dataset.from_tensors(tf.ones([4, 4, 3])).map(crop)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())

def summed(x):
    x = tf.raw_ops.AllToAll(
        input=x, group_assignment=[[0, 1]], concat_dimension=0, split_dimension=0, split_count=2
    )
    return tf.reduce_sum(x, axis=0)

@tf.function
def step(x):
    return strategy.run(summed, args=(x,))
""",
            None,
            why="a TPU has a kernel",
            target="tpu",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.sort(tf.random.shuffle(tf.range(tf.shape(x)[0])))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    labels, length = tf.ones([2, 3], tf.int32), tf.ones([2], tf.int32)
    return tf.nn.ctc_loss(labels, x, 3 * length, 6 * length, logits_time_major=False)
""",
            inputs=("f32[2, 6, 5]",),
        ),
        Good(
            """
sampling = tf.load_op_library("sampling.so")

dataset = tf.data.Dataset.from_tensors(tf.ones([64, 3])).map(lambda x: sampling.farthest_points(x, count=16))
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
def lu(x):
    return x * 2.0

@tf.function(jit_compile=True)
def f(x):
    return lu(x)
""",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        if tf.executing_eagerly():
            x = tf.linalg.lu(x)[0]
        return x
""",
            None,
            why="a compiled function is not executed eagerly",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if api.startswith(f"{LOADED}."):
                message = f"`{brief(event.node)}` is an operation of a library that the program loads: {NO_KERNEL}"
                yield Draft(message, Effect.FAILS, at_most=min(Severity.WARNING, worst(event)))
            case ApiCall(api=api) if api in OPS:
                op, instead = OPS[api]
                message = f"`{brief(event.node)}`: {lacking((op,), self.tensorflow)}"
                yield Draft(message, Effect.FAILS, instead, at_most=worst(event))
            case ApiCall() if missing := raw_missing(event, self.code, self.tensorflow):
                message = f"`{brief(event.node)}`: {lacking(missing, self.tensorflow)}"
                yield Draft(message, Effect.FAILS, at_most=worst(event), told=told_of(missing, self.tensorflow))
            case ApiCall(arguments=arguments) if fact := fact_of(event, self.tensorflow):
                case = case_of(fact, arguments)
                if case is not None and about(missing := missing_of(case), self.code):
                    message = f"`{brief(event.node)}`: {lacking(missing, self.tensorflow)}"
                    rewrite = partial(replacement, event)
                    yield Draft(
                        message,
                        Effect.FAILS,
                        help_for(fact, case),
                        at_most=worst(event),
                        rewrite=rewrite,
                        told=told_of(missing, self.tensorflow),
                    )


NO_KERNEL = "XLA has a kernel for it only if that library registers one"
