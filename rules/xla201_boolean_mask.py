"""A boolean mask selects from a tensor, so the shape of the result depends on data.

## What it does
Reports `x[mask]` and calls such as `tf.boolean_mask(x, mask)` if the mask depends on the value of a tensor. If the
selection feeds an operation that XLA gets wrong, the finding names that operation and its line.

A tensor takes no item assignment: `x[mask] = value` raises TypeError during tracing.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. The selection compiles with a bounded dynamic shape, such as
`f32[<=6]`: a buffer of the maximum size, and the actual size beside it. What happens next depends on the operation that
uses the selection `m`:

- Right: sums, means, maxima, softmax, `tf.sort` and elementwise operations use the actual size.
- Wrong results: `m[-1]`, `m[-2:]` and `tf.roll` count from the end of the buffer. `tf.ones_like(m)`,
  `tf.linalg.diag(m)` and `tf.eye(tf.size(m))` have the size of the buffer. `tf.unique(m)` counts the padding.
  `tf.cumsum(m)` has a wrong size: sums of it differ, and returning it crashes the process.
  Of a matrix with a row and a column for each selected element, `tf.linalg.trace` counts the padding, and `tf.where`
  returns wrong indices or ends the process, as it does wherever another axis than the first is bounded.
- Compile errors: inverses, determinants, eigenvalues and Cholesky factors of such a matrix, `m[::2]`,
  `tf.squeeze(m)`, `tf.split(m, 2)`, `tf.reshape(m, [4])`, `tf.linspace(0.0, 1.0, tf.size(m))`.
- Gradients: `tf.sort(m)` and `tf.math.top_k(m, k)` fail. So does `m * w` if `w` has the static size that the selection
  really has. The gradient of `tf.concat([m, x], 0)` is wrong.

If one mask selects from two tensors that are then combined, as in `loss(outputs[mask], labels[mask])`, TensorFlow 2.21
compiles it and the result equals eager execution. TensorFlow 2.15 refuses it ("Fail to proof the equality of two
dimensions"). XLA folds a mask made of constants or shapes and gives the result a static shape; but not one that was
made before, as `self.mask = tf.constant(..)` in a constructor: the function captures it, and gets it as an argument.

## Example
    label_mask = labels >= 0
    masked_outputs = outputs[label_mask]
    masked_labels = labels[label_mask]
    loss = compute_loss(masked_outputs, masked_labels)
    mean_loss = tf.reduce_mean(loss)

## Use instead
    label_mask = tf.cast(labels >= 0, tf.float32)
    loss = compute_loss(outputs, labels)
    mean_loss = tf.reduce_sum(loss * label_mask) / tf.reduce_sum(label_mask)

The loss must return one number for each element. Masked labels must still be valid input for the loss (`tf.where(mask,
labels, 0)`). A reduction of the selection itself needs no weights:

    tf.reduce_sum(tf.where(mask, x, 0)) / tf.reduce_sum(tf.cast(mask, x.dtype))

## Not flagged
- Indices and slices (`x[i]`, `x[1:]`), and three-argument `tf.where`.
- Masks known at trace time: lists, NumPy arrays, constants of the function itself, comparisons of `tf.shape`.
- NumPy arrays on the host, and functions that `tf.data` maps.

## Fix safety
`safe` for reductions of the selection itself, if the mask is computed from the values: `any`, `all`, reductions of
integers, and counts that are compared or cast to floats. `tf.where` replaces the masked elements with neutral ones. If
nothing is selected, the result is that of eager execution.

`unsafe` for:

- Sums, means, products, deviations and `logsumexp` of floats. XLA adds in a different order, so the last digits may
  differ. NaN and infinity in masked elements reach neither the result nor the gradient.
- Maxima and minima of floats. If all selected elements are infinite, they share the gradient with the masked ones.
  XLA's own maximum ignores NaN.
- Means of values that may be integers.
- Everything that a loss or another function computes in between. It must return one number for each index, and a finite
  one where the mask is False, because the mask multiplies it.
- Rows that go through assignments, methods and helpers of the file before they are reduced, or scattered back to their
  places. All rows keep their places then, and helpers change with the function that calls them: they index one
  dimension more, or are passed the mask. Where a root, logarithm or quotient of the rest would spoil the gradient, a
  selected row stands in for it. No fix is offered if anything needs to know how many rows there are.

The first and the last selected element become a gather at the first and last index where the mask is True. A selection
that is not reduced is shown only, as `tf.where(mask, x, 0)`.

## References
- https://huggingface.co/docs/transformers/v4.37.2/en/tf_xla
- https://github.com/tensorflow/tensorflow/issues/119382
- https://github.com/tensorflow/tensorflow/issues/122885
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Tensor
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import ApiCall, Consume, Event, IndexWith
from xlalint.fixes.masks import selection
from xlalint.fixes.quoted import brief
from xlalint.fixes.selections import Selection
from xlalint.linter.rule import Bad, Compiles, Diverges, Draft, Effect, Fails, Good, Rule, Safety
from xlalint.syntax import nodes as cst

from ._bounded import NAMED, BoundedShapes, made_by
from ._jax import MASK, fails

# The parameters that hold the values and the mask.
SELECTIONS = {"tf.boolean_mask": ("tensor", "mask"), "tnp.compress": ("a", "condition")}
NO_ITEMS = "a tensor takes no item assignment, so this raises TypeError"
OF_NUMPY = "compute this mask with NumPy, or inside the function: XLA gets a tensor from outside as an argument"


class BooleanMask(Rule):
    code = "XLA201"
    name = "boolean-mask"
    handles = (IndexWith, ApiCall, Consume)
    apis = frozenset(SELECTIONS)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    x[x > 0] = 1.0
    return x
""",
            ["x[x > 0]"],
            None,
            effect=Effect.FAILS,
            help="tf.where(x > 0, VALUE, x)",
            why="eager execution raises TypeError as well",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(y_true, y_pred):
    scale = tf.reduce_max(y_pred)
    mask = y_true > 0.5
    y_true = tf.boolean_mask(y_true, mask)
    y_pred = tf.boolean_mask(y_pred, mask)
    loss = tf.square(y_true - y_pred)
    return tf.reduce_mean(loss) / scale
""",
            ["tf.boolean_mask(y_true, mask)", "tf.boolean_mask(y_pred, mask)"],
            Compiles(bounded=True),
            ("f32[4]", "f32[4]"),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(y_true, y_pred):
    scale = tf.reduce_max(y_pred)
    mask = tf.cast(y_true > 0.5, tf.float32)
    loss = tf.square(y_true - y_pred)
    return (tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)) / scale
""",
        ),
        Bad(
            """
label_mask = labels >= 0
masked_outputs = outputs[label_mask]
masked_labels = labels[label_mask]
loss = compute_loss(masked_outputs, masked_labels)
mean_loss = tf.reduce_mean(loss)
""",
            ["outputs[label_mask]", "labels[label_mask]"],
            None,
            effect=Effect.NAMED,
            why="a fragment: `labels` and `outputs` are not defined",
            safety=Safety.UNSAFE,
            fixed="""
label_mask = tf.cast(labels >= 0, tf.float32)
loss = compute_loss(outputs, labels)
mean_loss = tf.reduce_sum(loss * label_mask) / tf.reduce_sum(label_mask)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_mean(x[x > 0.0])
""",
            ["x[x > 0.0]"],
            Compiles(bounded=True),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.where(x > 0.0, x, 0)) / tf.reduce_sum(tf.cast(x > 0.0, x.dtype))
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    codes = tf.cast(x, tf.int32)
    number = tf.cast(tf.shape(x[x > 0.0])[0], tf.float32)
    return tf.reduce_sum(tf.boolean_mask(codes, codes > 1)), number
""",
            ["x[x > 0.0]", "tf.boolean_mask(codes, codes > 1)"],
            Compiles(bounded=True),
            effect=Effect.NAMED,
            safety=Safety.SAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    codes = tf.cast(x, tf.int32)
    number = tf.cast(tf.math.count_nonzero(x > 0.0, dtype=tf.int32), tf.float32)
    return tf.reduce_sum(tf.where(codes > 1, codes, 0)), number
""",
        ),
        Bad(
            """
from tensorflow import boolean_mask as bm

def positive(values):
    return bm(values, values > 0.0)

@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.cumsum(positive(x)))
""",
            ["bm(values, values > 0.0)"],
            Diverges(),
            effect=Effect.DIVERGES,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.threshold = self.add_weight(shape=shape[1:], initializer="zeros")

    def call(self, x):
        keep = x[0] > self.threshold
        kept = x[0][keep]
        return kept[-1]
""",
            ["x[0][keep]"],
            Diverges(),
            inputs=("f32[2, 6]",),
            effect=Effect.DIVERGES,
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.threshold = self.add_weight(shape=shape[1:], initializer="zeros")

    def call(self, x):
        keep = x[0] > self.threshold
        return tf.gather(x[0], tf.size(keep, tf.int64) - 1 - tf.argmax(tf.cast(tf.reverse(keep, [0]), tf.int32)))
""",
        ),
        Bad(
            """
def kernel(points):
    distances = tf.reduce_sum((points[:, None] - points[None]) ** 2, -1)
    return tf.exp(-distances)

@tf.function(jit_compile=True)
def f(x):
    kept = tf.boolean_mask(x, x[:, 0] > 0.0)
    return tf.linalg.trace(kernel(kept))
""",
            ["tf.boolean_mask(x, x[:, 0] > 0.0)"],
            Diverges(),
            inputs=("f32[6, 3]",),
            effect=Effect.DIVERGES,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    kept = tf.boolean_mask(x, x[:, 0] > 0.0)
    products = tf.matmul(kept, kept, transpose_b=True)
    return tf.linalg.inv(products)
""",
            ["tf.boolean_mask(x, x[:, 0] > 0.0)"],
            Fails("dynamic_size != nullptr"),
            inputs=("f32[6, 3]",),
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, labels):
    mask = labels > 1

    def count(values):
        return tf.reduce_sum(tf.ones_like(values[mask]))

    return count(x)
""",
            ["values[mask]"],
            Diverges(),
            inputs=("f32[6]", "i32[6]"),
            effect=Effect.DIVERGES,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x, labels):
    mask = labels > 1

    def count(values):
        values_2 = tf.ones_like(values)
        return tf.reduce_sum(tf.where(mask[(..., *[None] * (len(values_2.shape) - len(mask.shape)))], values_2, 0))

    return count(x)
""",
        ),
        Bad(
            """
def distances(true, found):
    return tf.reduce_mean(tf.abs(true[:, :2] - found[:, :2]), axis=1)

@tf.function(jit_compile=True)
def f(y_true, y_pred):
    valid = y_true[:, 2] > 0.0
    true, found = tf.boolean_mask(y_true, valid), tf.boolean_mask(y_pred, valid)
    return tf.reduce_sum(distances(true, found))
""",
            ["tf.boolean_mask(y_true, valid)", "tf.boolean_mask(y_pred, valid)"],
            Compiles(bounded=True),
            inputs=("f32[4, 3]", "f32[4, 3]"),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
def distances(true, found):
    return tf.reduce_mean(tf.abs(true[:, :2] - found[:, :2]), axis=1)

@tf.function(jit_compile=True)
def f(y_true, y_pred):
    valid = y_true[:, 2] > 0.0
    true, found = y_true, y_pred
    values = distances(true, found)
    return tf.reduce_sum(tf.where(valid[(..., *[None] * (len(values.shape) - len(valid.shape)))], values, 0))
""",
        ),
        Bad(
            """
def kept_rows(x, scores):
    rows = tf.boolean_mask(x, scores > 0.0)
    return tf.squeeze(rows[:, :1])

class L(tf.keras.layers.Layer):
    def call(self, x, scores):
        return kept_rows(x, scores)
""",
            ["tf.boolean_mask(x, scores > 0.0)"],
            Fails("Squeeze op does not support bounded dynamic dimensions"),
            inputs=("f32[6, 3]", "f32[6]"),
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
import tensorflow.experimental.numpy as tnp

@tf.function(jit_compile=True)
def f(x):
    kept = tnp.compress(x > 0.0, x)
    return kept[::2]
""",
            ["tnp.compress(x > 0.0, x)"],
            Fails("non-trival stride"),
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
import keras

@tf.function(jit_compile=True)
def f(x):
    if keras.backend.backend() == "torch":
        return x[x > 0.0]
    return x * 2.0
""",
            why="only TensorFlow's backend is compiled by XLA here",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    index = 2\n    return x[index] + x[1:3]\n"),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.reduce_sum(tf.where(x > 0.0, x, 0.0))\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.boolean_mask(x, [True, False, True, True]) + x[tf.range(tf.shape(x)[0]) < 3]
""",
            why="constant masks are folded",
        ),
        Good(
            """
import numpy as np

TABLE = np.arange(6.0, dtype="float32")

@tf.function(jit_compile=True)
def f(x):
    return x * tf.constant(TABLE[TABLE > 1.0])
""",
        ),
        Good(
            """
def positive(example):
    return tf.boolean_mask(example, example > 0.0)

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).map(positive)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.gather(x, tf.argsort(x))\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, labels):
    label_mask = tf.cast(labels >= 2, tf.float32)
    return tf.reduce_sum(x * label_mask) / tf.reduce_sum(label_mask)
""",
            inputs=("f32[4]", "i32[4]"),
        ),
    )

    def __init__(self) -> None:
        self._shapes = BoundedShapes()
        self._consumers: dict[Location, list[Consume]] = {}

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Consume(tensor=tensor):
                if tensor.bounded is not None:
                    self._consumers.setdefault(tensor.bounded.location, []).append(event)
                yield from self._shapes.consumed(event)
            case IndexWith(base=base, index=(index,), node=node, store=True):
                if as_tensor(base) and (mask := as_tensor(index, Dependence.CAPTURED)) and mask.is_mask:
                    what, code = f"assignment to `{brief(node)}`", event.location.unit.code
                    help = f"tf.where({code(node.slice[0])}, VALUE, {code(node.value)})"
                    yield Draft(f"{what}: {NO_ITEMS}", Effect.FAILS, help, jax=fails(what, NO_ITEMS))
            case IndexWith(base=base, index=(index,), node=node) if (
                mask := as_tensor(index, Dependence.CAPTURED)
            ) and mask.is_mask:
                match node.slice:
                    case [cst.SubscriptElement(cst.Index(mask_node))]:
                        yield from self._begin(Selection(event.location, node.value, mask_node, base, index))
            case ApiCall() if made_by(event) and SELECTIONS[event.api][1] in event.arguments:
                values, mask_name = SELECTIONS[event.api]
                arguments, nodes = event.arguments, event.argument_nodes
                shown = event.api == "tf.boolean_mask" and nodes.keys() == {values, mask_name}
                chosen = Selection(
                    event.location, nodes[values], nodes[mask_name], arguments.get(values), arguments[mask_name]
                )
                yield from self._begin(chosen, shown)

    def _begin(self, chosen: Selection, has_rewrite: bool = True) -> Iterator[Draft]:
        what = f"the shape of `{brief(chosen.location.node)}` depends on the values of the mask"
        consumers = self._consumers.setdefault(chosen.location, [])
        mask = chosen.mask_value
        help = OF_NUMPY if isinstance(mask, Tensor) and mask.dependence is Dependence.CAPTURED else None
        rewrite = selection(chosen, consumers) if has_rewrite and help is None else None
        jax = fails(what, MASK) if isinstance(chosen.location.node, cst.Subscript) else None
        yield from self._shapes.begin(chosen.location, f"{what}; {NAMED}", help, rewrite=rewrite, jax=jax)
