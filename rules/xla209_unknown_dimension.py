"""A dimension that is known at run time alone is None while tracing, where eager execution has a number.

## What it does
Reports what uses a dimension of a bounded dynamic shape (`tf.where(c).shape[0]`) as a number: arithmetic, comparisons,
`range`, `int`, `max`, shapes of new tensors, slices. Likewise a dimension that an `input_signature` leaves open, and
the number of rows of a batch that a graph takes of a dataset itself, where the last batch may have fewer.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. Tracing fails, so a plain `tf.function` fails as well. Here `m` is `x[x > 0]`:

| code | eager execution | traced |
| --- | --- | --- |
| `n = m.shape[0]`, `m.shape.as_list()[0]`, `m.get_shape()[0]` | a Python number | None |
| `n - 1`, `x / n`, `n > 0`, `range(n)`, `int(n)`, `max(n, 1)`, `math.sqrt(n)`, `np.arange(n)` | works | `TypeError` |
| `tf.zeros([n, 3])`, `tf.zeros(m.shape)`, `tf.cast(n, tf.float32)` | works | `TypeError`, `ValueError` |
| `tf.reshape(m, [n, 1])`, `tf.tile(x, [n])`, `tf.one_hot(i, n)` | works | `TypeError`, `ValueError` |
| `n == 0` | the answer | always False |
| `x[:n]`, `x[n]` | `n` elements, one element | **all of `x`**, `x[None]` |
| `tf.shape(m)[0]`, `len(m)` under AutoGraph | the number | the number, as a tensor |

`tf.shape(m)[0]` compiles in `tf.zeros([n, 3])`, `tf.range`, `tf.reshape`, `tf.tile`, in arithmetic and in comparisons,
with equal results. A size that must be a compile-time constant (`tf.one_hot(i, n)`) still fails.

The same errors where `tf.reshape(x, [x.shape[0], 6])` and the like use a dimension that is open, with
`jit_compile=True` or without. What `x.shape[0]` is of batches of 4 without `drop_remainder=True`:

| how a batch comes to the code | `x.shape[0]` |
| --- | --- |
| `for x in data: step(x)` in Python, and of a dataset that a strategy distributes | 4, and a trace for the last one |
| `for x in data` or `next(iterator)` in a `tf.function`, and what is called with `x` there | None |
| `strategy.run(step, args=(next(iterator),))` in a `tf.function` | None |
| a parameter with `tf.TensorSpec([None, 2, 3])` in the `input_signature` | None |

It is None even if all batches are full, as the type of the elements says nothing of how many there are.

## Example
    kept = tf.boolean_mask(scores, scores > 0.5)
    weights = tf.fill([kept.shape[0]], 0.5)

## Use instead
    kept = tf.boolean_mask(scores, scores > 0.5)
    weights = tf.fill([tf.shape(kept)[0]], 0.5)

Or count what the mask keeps: `tf.math.count_nonzero(scores > 0.5)`.

## Not flagged
- Dimensions that are static: `tf.where(c).shape[1]`, `x[mask].shape[1]`.
- Code that asks whether the dimension is None, or has another value for it: `n or tf.shape(m)[0]`.
- Batches that a Python loop passes to the function, and those of `drop_remainder=True`.
- What takes None as "any": `tf.TensorShape([n, 2])`, `tf.ensure_shape(m, [n])`, `m.set_shape([n])`.

## Fix safety
Shown only: the number becomes a tensor, and what is made in its size has a bounded dynamic shape again. Better keep the
whole tensor, with the mask as weights.

## References
- https://www.tensorflow.org/api_docs/python/tf/shape
- https://www.tensorflow.org/guide/function#autograph_transformations
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import Dimension
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, UseDimension
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Compiles, Diverges, Draft, DraftNote, Effect, Fails, Good, Rule

from ._names import names

# What refuses None, whatever the argument, but for those below: each measured.
REFUSE: Final = names(
    """
    builtins.abs builtins.complex builtins.divmod builtins.float builtins.hex builtins.int builtins.max builtins.min
    builtins.pow builtins.range builtins.round builtins.sorted builtins.sum
    keras.backend.ones keras.backend.zeros keras.ops.arange keras.ops.broadcast_to keras.ops.cast
    keras.ops.convert_to_tensor keras.ops.divide keras.ops.eye keras.ops.full keras.ops.linspace keras.ops.maximum
    keras.ops.one_hot keras.ops.ones keras.ops.repeat keras.ops.reshape keras.ops.tile keras.ops.zeros
    keras.random.normal keras.random.uniform
    math.ceil math.floor math.log math.sqrt
    np.arange np.ceil np.empty np.eye np.full np.int32 np.int64 np.linspace np.log np.maximum np.ones
    np.random.choice np.random.permutation np.random.rand np.random.randint np.random.randn np.random.uniform
    np.repeat np.sqrt np.tile np.zeros
    tf.add tf.assert_equal tf.assert_greater tf.assert_less tf.broadcast_to tf.cast tf.concat tf.constant
    tf.convert_to_tensor tf.divide tf.equal tf.eye tf.fill tf.gather tf.greater tf.image.crop_to_bounding_box
    tf.image.resize tf.image.resize_with_crop_or_pad tf.linspace tf.math.divide_no_nan tf.math.floordiv
    tf.math.top_k tf.maximum tf.minimum tf.multiply tf.one_hot tf.ones tf.pad tf.pow tf.random.categorical
    tf.random.normal tf.random.stateless_normal tf.random.stateless_uniform tf.random.truncated_normal
    tf.random.uniform tf.range tf.repeat tf.reshape tf.roll tf.scatter_nd tf.slice tf.stack tf.strided_slice
    tf.subtract tf.tile tf.where tf.zeros tf.zeros_like
    """
)
TAKE_NONE: Final = names("axis dtype limit maxval name num_columns seed")
NUMBER: Final = names("operator comparison")
SILENT: Final = {"equality": "is always False", "index": "takes another part than in eager execution"}
HELP: Final = "`tf.shape(..)` has the number as a tensor, and `tf.math.count_nonzero(mask)` counts what a mask keeps"
OPEN_HELP: Final = "`tf.shape(..)` has the number as a tensor, and a new shape may have one -1"
FAILS: Final = Fails("None")


class UnknownDimension(Rule):
    code = "XLA209"
    name = "unknown-dimension"
    handles = (UseDimension,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(scores):
    kept = tf.boolean_mask(scores, scores > 0.5)
    return tf.fill([kept.shape[0]], 0.5)
""",
            ["tf.fill([kept.shape[0]], 0.5)"],
            FAILS,
            effect=Effect.FAILS,
            help="tf.math.count_nonzero(",
        ),
        Bad(
            """
def hits(rows):
    found = tf.where(rows > 0.0)
    return found.shape[0], found.shape[1]

@tf.function(jit_compile=True)
def f(x):
    count, rank = hits(x)
    return tf.reduce_sum(x) / max(count, rank)
""",
            ["max(count, rank)"],
            FAILS,
            effect=Effect.FAILS,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        size, = tf.unique(tf.round(x)).y.get_shape().as_list()
        for _ in range(size):
            x = x * 2.0
        return x
""",
            ["range(size)"],
            FAILS,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    kept = x[x > 0.0]
    last = kept.shape[0] - 1
    return x[last] + tf.zeros(kept.shape)[0]
""",
            ["kept.shape[0] - 1", "tf.zeros(kept.shape)"],
            FAILS,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    kept = tf.boolean_mask(x, x > 0.0)
    tf.debugging.assert_greater(kept.shape[0], 0)
    return tf.pad(x, [[0, kept.shape[0]]])
""",
            ["tf.debugging.assert_greater(kept.shape[0], 0)", "tf.pad(x, [[0, kept.shape[0]]])"],
            FAILS,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    rows = tf.boolean_mask(x, x[:, 0] > 100.0)
    if rows.shape[0] == 0:
        return tf.zeros([3])
    return tf.reduce_sum(rows, axis=0) + 1.0
""",
            ["rows.shape[0] == 0"],
            Diverges(),
            inputs=("f32[4, 3]",),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return x[: tf.where(x > 0.5).shape[0]]
""",
            ["x[: tf.where(x > 0.5).shape[0]]"],
            Diverges(),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    return tf.reshape(x, [x.shape[0], 1])

f(tf.ones([4]))
""",
            ["tf.reshape(x, [x.shape[0], 1])"],
            None,
            effect=Effect.FAILS,
            help="tf.shape",
            why="the signature leaves it open",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 3], tf.float32)])
def f(x):
    return tf.reshape(x, [tf.shape(x)[0], 3, 1]) + tf.reshape(x, [-1, x.shape[1], 1])
""",
            Compiles(),
            inputs=("f32[4, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    found = tf.where(x > 0.0)
    return tf.zeros([tf.shape(found)[0], found.shape[1] + 1])
""",
            Compiles(bounded=True),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    kept = tf.boolean_mask(x, x > 0.0)
    n = kept.shape[0] or tf.shape(kept)[0]
    m = kept.shape[0]
    if m is None:
        m = tf.shape(kept)[0]
    return tf.range(n * m)
""",
            Compiles(bounded=True),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    kept = tf.boolean_mask(x, x[:, 0] > 0.0)
    shape = kept.shape.as_list()
    sizes = [tf.shape(kept)[axis] if size is None else size for axis, size in enumerate(shape)]
    return tf.reshape(kept, sizes) * kept.shape[1]
""",
            Compiles(bounded=True),
            inputs=("f32[4, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    kept = tf.boolean_mask(x, x < 99.0)
    best = tf.math.top_k(kept, 2).values
    both = kept + x
    kept.set_shape([4])
    return tf.zeros([best.shape[0]]) * both.shape[0] * kept.shape[0]
""",
            Compiles(bounded=True),
            why="the shapes say what these dimensions are",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    kept = tf.boolean_mask(x, x > 0.0)
    print(kept.shape[0], tf.TensorShape([kept.shape[0]] + [2]))
    return tf.ensure_shape(kept, [kept.shape[0]])
""",
            Compiles(bounded=True),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def step(x, size):
    return tf.reduce_sum(x) / size

def f(x):
    kept = tf.boolean_mask(x, x > 0.0)
    return step(kept, kept.shape[0] + 1)

f(tf.ones([4]))
""",
            None,
            why="eager code has the number",
        ),
    )

    def __init__(self) -> None:
        self._first: dict[Location, Location] = {}  # of each dimension, its first use: there the trace ends

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case UseDimension(dimension=dimension, used_by=used, argument=argument):
                refused = used in NUMBER or (used in REFUSE and argument not in TAKE_NONE)
                if refused and self._is_first(dimension, event.location):
                    yield _draft(event, Effect.FAILS, "this raises an error")
                elif used in SILENT and not dimension.open:
                    yield _draft(event, Effect.DIVERGES, f"this {SILENT[used]}")
            case _:
                pass

    def _is_first(self, dimension: Dimension, location: Location) -> bool:
        return self._first.setdefault(dimension.read or dimension.bounded.location, location) == location


def _draft(event: UseDimension, effect: Effect, so: str) -> Draft:
    dimension = event.dimension
    shape, code = brief(dimension.bounded.location.node), brief(event.location.node)
    uses = f"`{code}` uses a dimension that is None while tracing"
    if dimension.open:
        why = dimension.bounded.text
        note = DraftNote(dimension.bounded.location, why)
        return Draft(f"{uses}, since {why}: {so}", effect, OPEN_HELP, notes=(note,))
    return Draft(
        f"{uses}, since `{shape}` has a bounded dynamic shape: {so}",
        effect,
        HELP,
        notes=(DraftNote(dimension.bounded.location, "the shape becomes dynamic here"),),
    )
