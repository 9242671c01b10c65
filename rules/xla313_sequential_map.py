"""`tf.map_fn` calls a function for one element of a batch after the other, in a loop that XLA compiles.

## What it does
Reports `tf.map_fn` and `keras.ops.map` in code that XLA compiles, if the function computes with operations that take a
whole batch at once. Where the program does not show that XLA compiles it, where the function indexes with what it is
passed, and where it calls what xlalint does not know, that is information.

## What XLA does
It compiles a `while` loop, and a second one for the gradient. No option of `tf.map_fn` changes that:
`parallel_iterations` gives the same program. Measured with TensorFlow 2.21 on a CPU, of a function that multiplies an
element of [16, 64] by a matrix and divides the rows by their norms, in milliseconds for a batch:

| elements | `tf.map_fn` | its gradient | `tf.vectorized_map` | its gradient | the batch at once | its gradient |
| --- | --- | --- | --- | --- | --- | --- |
| 8 | 0.6 | 0.7 | 0.5 | 0.5 | 0.5 | 0.6 |
| 64 | 1.0 | 6.3 | 0.8 | 1.3 | 0.8 | 1.3 |
| 256 | 3.3 | 40 | 2.6 | 5.5 | 2.0 | 4.7 |

A TPU loses more: its units wait for one small element each time. What the compiler for a v5e estimates for the same
function, in thousands of cycles (the loop's body times the number of elements):

| elements | `tf.map_fn` | its gradient | `tf.vectorized_map` | its gradient |
| --- | --- | --- | --- | --- |
| 8 | 36 | | 6 | |
| 64 | 260 | 863 | 11 | 22 |
| 256 | 1022 | | 11 | |

Of 80 functions that were compiled with both, `tf.vectorized_map` computes the same for arithmetic, comparisons,
reductions, matrix products, convolutions, layers of Keras, `tf.gather`, `tf.slice` with a start of each element's own,
`tf.reshape`, `tf.concat`, `tf.pad`, `tf.one_hot`, sorting, `tf.cond`, `tf.linalg.inv` and `cholesky`, and leaves no
loop. It leaves one for `x[i]` with a tensor `i` (`tf.gather(x, i)` has none), `tf.image.resize`, `tf.scatter_nd` and
`tf.linalg.svd`. With `tf.scan` or another `tf.map_fn` inside, and for variables that are assigned, it fails.

## Example
    norms = tf.map_fn(lambda rows: tf.norm(rows @ weights, axis=-1), batch)

## Use instead
    norms = tf.norm(batch @ weights, axis=-1)  # most operations take a batch

Or `tf.vectorized_map(lambda rows: tf.norm(rows @ weights, axis=-1), batch)`, which finds the operations on batches
itself.

## Not flagged
- Functions with random numbers, loops, conditions on tensors (`if`), assignments to variables, results whose shape
  depends on data, or what `tf.vectorized_map` leaves a loop for.
- A batch of one element, by `x[tf.newaxis]` or `tf.expand_dims(x, 0)`.
- Ragged tensors, `tf.scan`, in which an element needs the one before, and code on the host, also in `tf.data`.

## Fix safety
Shown only: all elements at once take more memory.

## References
- https://www.tensorflow.org/api_docs/python/tf/vectorized_map
- https://www.tensorflow.org/api_docs/python/tf/map_fn
"""

from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import (
    Api,
    ApiObject,
    Dependence,
    FunctionValue,
    Instance,
    Slice,
    Static,
    Value,
)
from xlalint.analysis.interpreter.contexts import NOT_TRACED, ContextKind
from xlalint.analysis.interpreter.events import (
    UNSEEN,
    BranchOn,
    HostRead,
    IndexWith,
    IterateOver,
    LoopWhile,
)
from xlalint.analysis.interpreter.mapped_elements import MapElements
from xlalint.fixes.quoted import brief, one_line
from xlalint.linter.rule import ApiCall, Bad, Compiles, Draft, Effect, Event, Good, Rule, Severity
from xlalint.syntax import nodes as cst

from ._names import names
from ._provenance import Provenance

# What draws for each element by itself, what loops in the graph, and what has no form for a batch (measured).
_RANDOM: Final = names(
    """
    keras.random.beta keras.random.binomial keras.random.categorical keras.random.dropout keras.random.gamma
    keras.random.normal keras.random.randint keras.random.shuffle keras.random.truncated_normal keras.random.uniform
    keras.layers.AlphaDropout.__call__ keras.layers.Dropout.__call__ keras.layers.GaussianDropout.__call__
    keras.layers.GaussianNoise.__call__ keras.layers.SpatialDropout1D.__call__ keras.layers.SpatialDropout2D.__call__
    tf.image.random_brightness tf.image.random_contrast tf.image.random_crop tf.image.random_flip_left_right
    tf.image.random_flip_up_down tf.image.random_hue tf.image.random_jpeg_quality tf.image.random_saturation
    tf.image.sample_distorted_bounding_box tf.image.stateless_random_brightness tf.image.stateless_random_contrast
    tf.image.stateless_random_crop tf.image.stateless_random_flip_left_right
    tf.image.stateless_random_flip_up_down tf.image.stateless_random_hue tf.image.stateless_random_saturation
    tf.image.stateless_sample_distorted_bounding_box
    tf.nn.dropout tf.nn.experimental.stateless_dropout tf.random.Generator.normal tf.random.Generator.uniform
    tf.random.categorical tf.random.gamma tf.random.normal tf.random.poisson tf.random.shuffle
    tf.random.stateless_binomial tf.random.stateless_categorical tf.random.stateless_gamma tf.random.stateless_normal
    tf.random.stateless_poisson tf.random.stateless_truncated_normal tf.random.stateless_uniform
    tf.random.truncated_normal tf.random.uniform
    """
)
_LOOPING: Final = names(
    """
    keras.layers.Bidirectional.__call__ keras.layers.GRU.__call__ keras.layers.LSTM.__call__ keras.layers.RNN.__call__
    keras.layers.SimpleRNN.__call__ keras.ops.associative_scan keras.ops.fori_loop keras.ops.map keras.ops.scan
    keras.ops.while_loop tf.foldl tf.foldr tf.map_fn tf.scan tf.while_loop
    """
)
_SINGLE: Final = names(
    """
    keras.ops.image.resize keras.ops.nonzero keras.ops.scatter keras.ops.svd tf.boolean_mask tf.dynamic_partition
    tf.image.combined_non_max_suppression tf.image.crop_and_resize tf.image.non_max_suppression
    tf.image.non_max_suppression_overlaps tf.image.non_max_suppression_padded
    tf.image.non_max_suppression_with_scores tf.image.resize tf.image.resize_with_crop_or_pad
    tf.image.resize_with_pad tf.linalg.eigh tf.linalg.svd tf.math.bincount tf.numpy_function tf.print
    tf.py_function tf.range tf.repeat tf.scatter_nd tf.unique tf.unique_with_counts
    """
)
_POSITIONS: Final = names("keras.ops.where tf.where")
_RAGGED: Final = ("tf.RaggedTensorSpec", "tf.RaggedTensor", "tf.SparseTensor", "tf.SparseTensorSpec")
_INSTEAD: Final = {"tf.map_fn": "tf.vectorized_map", "keras.ops.map": "keras.ops.vectorized_map"}
_LONGEST: Final = 72  # characters of the arguments that the help repeats
_STEP: Final = "\n@tf.function(jit_compile=True)\ndef f(x):\n"


class SequentialMap(Rule):
    code = "XLA313"
    name = "sequential-map"
    handles = (MapElements, ApiCall)
    apis = _RANDOM | _LOOPING | _SINGLE | _POSITIONS | {UNSEEN, "tf.expand_dims", "keras.ops.expand_dims"}
    bad = (
        Bad(
            f"{_STEP}    return tf.map_fn(lambda row: tf.nn.softmax(row * 2.0), x)\n",
            ["tf.map_fn(lambda row: tf.nn.softmax(row * 2.0), x)"],
            Compiles(),
            inputs=("f32[8, 4]",),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
            help="tf.vectorized_map(lambda row: tf.nn.softmax(row * 2.0), x)",
        ),
        Bad(
            """
def iou(pair):
    first, second = pair
    return tf.reduce_sum(tf.minimum(first, second)) / tf.reduce_sum(tf.maximum(first, second))

@tf.function(jit_compile=True)
def f(x):
    return tf.map_fn(iou, (abs(x) + 1.0, abs(x) + 2.0), fn_output_signature=tf.float32, parallel_iterations=32)
""",
            [
                "tf.map_fn(iou, (abs(x) + 1.0, abs(x) + 2.0), fn_output_signature=tf.float32, parallel_iterations=32)",
            ],
            Compiles(),
            inputs=("f32[8, 4]",),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
            help="tf.vectorized_map(iou, (abs(x) + 1.0, abs(x) + 2.0))",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3, kernel_initializer="ones")

    def build(self, shape):
        self.dense.build(shape)

    def frame(self, x):
        return self.dense(x)

    def call(self, x):
        return tf.map_fn(self.frame, x)
""",
            ["tf.map_fn(self.frame, x)"],
            Compiles(),
            inputs=("f32[8, 5, 4]",),
            effect=Effect.NAMED,
            why="a layer for each frame",
        ),
        Bad(
            f"{_STEP}    return tf.map_fn(lambda i: tf.norm(x[i]), tf.range(8), fn_output_signature=tf.float32)\n",
            ["tf.map_fn(lambda i: tf.norm(x[i]), tf.range(8), fn_output_signature=tf.float32)"],
            Compiles(),
            inputs=("f32[8, 4]",),
            effect=Effect.NAMED,
            severity=Severity.INFO,
            help="pass the tensors",
            why="by an index: the loop goes once the tensors themselves are passed",
        ),
        Bad(
            f"{_STEP}    return tf.keras.ops.map(lambda row: tf.linalg.normalize(row)[0], x)\n",
            ["tf.keras.ops.map(lambda row: tf.linalg.normalize(row)[0], x)"],
            Compiles(),
            inputs=("f32[8, 4]",),
            effect=Effect.NAMED,
            help="keras.ops.vectorized_map",
        ),
    )
    good = (
        Good(
            f"{_STEP}    return tf.vectorized_map(lambda row: tf.nn.softmax(row * 2.0), x)\n",
            inputs=("f32[8, 4]",),
            why="no loop",
        ),
        Good(
            f"""{_STEP}
    def kept(boxes):
        return tf.image.non_max_suppression_padded(boxes, boxes[:, 0], 2, pad_to_max_output_size=True)[0]

    return tf.map_fn(kept, x, fn_output_signature=tf.int32)
""",
            inputs=("f32[2, 4, 4]",),
            why="`tf.vectorized_map` cannot convert it",
        ),
        Good(
            f"{_STEP}    return tf.map_fn(lambda row: tf.nn.softmax(row), x[tf.newaxis])[0]\n",
            inputs=("f32[8, 4]",),
            why="one element",
        ),
        Good(
            f"{_STEP}    return tf.scan(lambda a, row: 0.9 * a + row, x)\n",
            inputs=("f32[8, 4]",),
            why="an element needs the one before",
        ),
        Good(
            f"""{_STEP}
    def halved(row):
        while tf.reduce_sum(row) > 1.0:
            row /= 2.0
        return row

    return tf.map_fn(halved, x)
""",
            inputs=("f32[8, 4]",),
            why="each element takes as many iterations as it needs",
        ),
        Good(
            """
count = tf.Variable(0.0)

def counted(row):
    count.assign_add(tf.reduce_sum(row))
    return row * count

@tf.function(jit_compile=True)
def f(x):
    return tf.map_fn(counted, x)
""",
            None,
            why="the elements change a variable, one after the other; eager execution goes on with it",
        ),
        Good(
            """
def prepared(rows):
    return tf.map_fn(lambda row: row / tf.reduce_max(row), rows)

data = tf.data.Dataset.from_tensors(tf.ones([8, 4])).map(prepared)
print(tf.map_fn(lambda row: row * 2.0, tf.ones([8, 4])))
""",
            None,
            why="the host runs the pipeline, and eager code",
        ),
    )

    def __init__(self) -> None:
        self._provenance = Provenance()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall():
                self._provenance.remember(event)
            case MapElements(context=context) if context.kind not in NOT_TRACED and not context.pipeline:
                if not event.assigns and _is_known(event.function) and not _is_ragged(event):
                    sure = _judged(event.inside)
                    if sure is not None and not self._is_single(event):
                        counts = _is_counter(event.elements) or any(map(_indexes, event.inside))
                        yield _draft(event, indexes=counts, sure=sure)

    def _is_single(self, event: MapElements) -> bool:
        """Whether the first axis of what is mapped is one that was added."""
        node = _argument(event.location.node, 1, "elems", "xs")
        for step in () if node is None else self._provenance.steps(event.location.unit, node):
            match step:
                case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=first)), *_]):
                    if one_line(first) in ("None", "tf.newaxis", "np.newaxis"):
                        return True
                case cst.Call() if (call := self._provenance.call_at(event.location.unit, step)) is not None:
                    axis = call.arguments.get("axis", call.arguments.get("*1"))
                    if call.api.endswith(".expand_dims") and axis == Static(0):
                        return True
        return False


def _is_known(function: Value) -> bool:
    return isinstance(function, FunctionValue | Api | ApiObject | Instance)


def _is_ragged(event: MapElements) -> bool:
    """Whether elements or results differ in their sizes."""
    given = (event.elements, *event.keywords.values())
    return any(isinstance(value, ApiObject) and value.api in _RAGGED for value in given)


def _judged(inside: Sequence[Event]) -> bool | None:
    """Whether all that a function does is known to take a batch; None where something does not."""
    sure = True
    for event in inside:
        match event:
            case LoopWhile() | IterateOver() | HostRead():
                return None
            case BranchOn(test=test) if _is_data(test):
                return None
            case ApiCall(api=api, arguments=arguments) if api in _POSITIONS:
                if not {"x", "y", "x1", "x2"} & arguments.keys():
                    return None
            case ApiCall(api=api) if api in _RANDOM | _LOOPING | _SINGLE:
                return None
            case ApiCall(api=api) if api == UNSEEN:
                sure = False
    return sure


def _indexes(event: Event) -> bool:
    """Whether an index is a tensor, for which `tf.vectorized_map` leaves a loop."""
    match event:
        case IndexWith(index=index):
            parts = (part for one in index for part in ((one.start, one.stop) if isinstance(one, Slice) else (one,)))
            return any(part is not None and _is_data(part) for part in parts)
        case _:
            return False


def _is_counter(elements: Value) -> bool:
    """Whether each element is an integer, by which the function takes what it computes with."""
    tensor = as_tensor(elements, Dependence.STATIC)
    return tensor is not None and tensor.dtype == "int" and tensor.rank == 1


def _is_data(value: Value) -> bool:
    tensor = as_tensor(value, Dependence.STATIC)
    return tensor is not None and tensor.dependence is Dependence.VALUE


def _draft(event: MapElements, *, indexes: bool, sure: bool) -> Draft:
    instead = _INSTEAD[event.api]
    function, elements = (_argument(event.location.node, *at) for at in ((0, "fn", "f"), (1, "elems", "xs")))
    given = "" if function is None or elements is None else f"{one_line(function)}, {one_line(elements)}"
    help = f"operations on the whole batch, or {instead}({given if 0 < len(given) <= _LONGEST else 'fn, elems'})"
    if indexes:
        help = f"pass the tensors themselves, not an index; then {help}"
    quiet = indexes or not sure or event.context.kind is not ContextKind.XLA
    return Draft(
        f"`{brief(event.location.node)}`: XLA compiles a loop that calls the function for one element after the other;"
        " operations on the whole batch need none",
        Effect.NAMED,
        help,
        at_most=Severity.INFO if quiet else Severity.WARNING,
    )


def _argument(call: cst.CSTNode, position: int, *names: str) -> cst.BaseExpression | None:
    """What stands for a parameter in a call."""
    args = call.args if isinstance(call, cst.Call) else ()
    for at, arg in enumerate(args):
        if arg.star:
            return None
        if (arg.keyword is None and at == position) or (arg.keyword is not None and arg.keyword.value in names):
            return arg.value
    return None
