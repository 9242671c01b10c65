"""The parts of a partition, a ragged or a sparse tensor have lengths that depend on data.

## What it does
Reports `tf.dynamic_partition` by data, ragged tensors cut by data, `tf.sparse.from_dense` and `tf.sparse.retain`, and
ragged operations that XLA cannot compile. If a part feeds an operation that XLA gets wrong, the finding names that
operation and its line.

## What XLA does
Measured with TensorFlow 2.21 on a CPU.

- The parts of `tf.dynamic_partition`, `tf.ragged.boolean_mask` and `tf.RaggedTensor.from_tensor(x, lengths)` compile
  with bounded dynamic shapes, and so do the values of `tf.sparse.from_dense`. `part[-1]` then returns another element,
  and sums of `tf.cumsum(part)` are wrong.
- `tf.dynamic_stitch` of the parts, `tf.ragged.stack_dynamic_partitions`, `tf.ragged.row_splits_to_segment_ids` and
  `tf.ragged.segment_ids_to_row_splits` recompile for every new content. The TPU compiler (2.20) refuses the last three
  under a strategy, which compiles by shapes alone.
- `tf.ragged.range`, `tf.RaggedTensor.to_tensor`, `to_sparse`, `tf.concat` and `tf.map_fn` of ragged tensors, or to
  ragged tensors (`fn_output_signature=tf.RaggedTensorSpec(..)`), and most of `tf.sparse` have no XLA kernel.
- XLA folds a partition by constants and gives the parts static shapes.

## Example
    small, large = tf.dynamic_partition(x, tf.cast(x > limit, tf.int32), 2)
    loss = tf.reduce_sum(tf.square(small)) + tf.reduce_sum(tf.abs(large))

## Use instead
    is_large = x > limit
    loss = tf.reduce_sum(tf.where(is_large, tf.abs(x), tf.square(x)))

For ragged data, use a padded tensor and `tf.sequence_mask(lengths, maxlen=MAXIMUM)`.

## Not flagged
Partitions by constants, ragged constants, a `tf.SparseTensor` of static indices, `tf.split`, and functions that
`tf.data` maps.

## Fix safety
`unsafe` in two cases:

- Parts of `tf.dynamic_partition` that only `tf.reduce_sum` uses become the whole tensor, with zeros outside the part.
- If `tf.dynamic_stitch` joins functions of the parts, each function is applied to all rows, and the partition index
  selects the result. Each function must treat each row independently.

Everything else is shown only. `tf.where` computes both sides for all elements.

## References
- https://github.com/tensorflow/tensorflow/issues/105143
- https://github.com/tensorflow/tensorflow/issues/86043
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import (
    UNKNOWN,
    ApiObject,
    Dict,
    OneOf,
    Sequence,
    Structure,
    Unknown,
    Value,
)
from xlalint.analysis.interpreter.events import ApiCall, Consume, Event
from xlalint.facts.kernels import lacking
from xlalint.fixes.partitions import partitioned
from xlalint.fixes.quoted import brief, one_line
from xlalint.linter.rule import (
    Bad,
    Compiles,
    Diverges,
    Draft,
    Effect,
    Fails,
    Good,
    Recompiles,
    Rule,
    Safety,
    Severity,
    TpuOutcome,
)
from xlalint.syntax import nodes as cst

from ._bounded import NAMED, BoundedShapes
from ._followed import COMPILED_AGAIN
from ._kernels import missing_in, names_lacking, worst

# By API: the parameter that cuts, which does so at compile time when it is constant; None: the API never compiles.
CUT_BY = {
    "tf.dynamic_partition": "partitions",
    "tf.ragged.boolean_mask": "mask",
    "tf.RaggedTensor.from_tensor": "lengths",
    "tf.sparse.from_dense": "tensor",
    "tf.sparse.retain": "to_retain",
}
DENSE = "use a dense tensor of fixed size: zeros where a sparse tensor is empty, a mask for ragged padding"


class PartitionRaggedSparse(Rule):
    code = "XLA207"
    name = "partition-ragged-sparse"
    handles = (ApiCall, Consume)
    apis = frozenset((*CUT_BY, *COMPILED_AGAIN, "tf.map_fn")) | names_lacking("XLA207")
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    rows = tf.map_fn(lambda row: row[:2], x, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))
    return rows.values
""",
            ["tf.map_fn(lambda row: row[:2], x, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))"],
            Fails("No registered 'TensorListReserve' OpKernel"),
            inputs=("f32[3, 4]",),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="a dense tensor",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        adjacency = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 1.0], [4, 4])
        return tf.sparse.sparse_dense_matmul(adjacency, x)
""",
            ["tf.sparse.sparse_dense_matmul(adjacency, x)"],
            Fails("No registered 'SparseTensorDenseMatMul' OpKernel"),
            inputs=("f32[4, 2]",),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="a dense tensor",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    small, large = tf.dynamic_partition(x, tf.cast(x > 0.5, tf.int32), 2)
    return tf.reduce_sum(tf.square(small)) + tf.reduce_sum(tf.abs(large))
""",
            ["tf.dynamic_partition(x, tf.cast(x > 0.5, tf.int32), 2)"],
            Compiles(bounded=True),
            effect=Effect.NAMED,
            help="mask = tf.equal(tf.cast(x > 0.5, tf.int32), PART)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, owners):
    sides = owners % 2
    parts = tf.dynamic_partition(x, sides, 2)
    return tf.stack([tf.reduce_sum(part) for part in parts])
""",
            ["tf.dynamic_partition(x, sides, 2)"],
            Compiles(bounded=True),
            inputs=("f32[4]", "i32[4]"),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x, owners):
    sides = owners % 2
    parts = [tf.where(tf.equal(sides, number), x, 0) for number in range(2)]
    return tf.stack([tf.reduce_sum(part) for part in parts])
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, owners):
    sides = owners % 2
    parts = tf.dynamic_partition(x, sides, 2)
    results = [function(part) for function, part in zip((tf.abs, tf.square), parts)]
    places = tf.dynamic_partition(tf.range(tf.size(sides)), sides, 2)
    return tf.dynamic_stitch(places, results)
""",
            ["tf.dynamic_partition(x, sides, 2)", "tf.dynamic_partition(tf.range(tf.size(sides)), sides, 2)"],
            Recompiles(),
            inputs=("f32[4]", "i32[4]"),
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x, owners):
    sides = owners % 2
    parts = [x] * 2
    results = [function(part) for function, part in zip((tf.abs, tf.square), parts)]
    return tf.gather(tf.stack(results, 1), sides, batch_dims=1)
""",
        ),
        Bad(
            """
from tensorflow import dynamic_partition

def parts(x):
    return dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2)

class L(tf.keras.layers.Layer):
    def call(self, x):
        return parts(x)[1][-1]
""",
            ["dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2)"],
            Diverges(),
            inputs=("f32[6]",),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, splits):
    return tf.ragged.row_splits_to_segment_ids(tf.stack([0, splits, 6]))
""",
            ["tf.ragged.row_splits_to_segment_ids(tf.stack([0, splits, 6]))"],
            Recompiles(),
            inputs=("f32[6]", "i32[]"),
            effect=Effect.RECOMPILES,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, lengths):
        return tf.ragged.range(lengths).values
""",
            ["tf.ragged.range(lengths)"],
            Fails("RaggedRange"),
            inputs=("i32[4]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    def kept():
        return tf.ragged.boolean_mask(x, x > 0.0)

    return tf.reduce_sum(kept())
""",
            ["tf.ragged.boolean_mask(x, x > 0.0)"],
            Compiles(bounded=True),
            inputs=("f32[2, 3]",),
            effect=Effect.NAMED,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.sparse.to_dense(tf.sparse.from_dense(tf.nn.relu(x)))
""",
            ["tf.sparse.from_dense(tf.nn.relu(x))"],
            Compiles(bounded=True),
            inputs=("f32[2, 3]",),
            effect=Effect.NAMED,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.map_fn(lambda row: row[:2], x, fn_output_signature=tf.TensorSpec([2], tf.float32))
""",
            inputs=("f32[3, 4]",),
            why="each row is as long",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def signature(self, x):
        shape, ragged = x.shape[1:], isinstance(x, tf.RaggedTensor)
        return tf.RaggedTensorSpec(shape, x.dtype) if ragged else tf.TensorSpec(shape, x.dtype)

    def call(self, x):
        return tf.map_fn(lambda row: row * 2.0, x, fn_output_signature=self.signature(x))
""",
            inputs=("f32[3, 4]",),
            why="ragged if the inputs are",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 2), initializer="ones")

    def call(self, x):
        if isinstance(x, tf.SparseTensor):
            return tf.sparse.sparse_dense_matmul(x, self.w)
        return tf.matmul(x, self.w)
""",
            inputs=("f32[3, 4]",),
            why="no caller is seen to pass a sparse tensor",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        if isinstance(x, tf.RaggedTensor):
            x = x.to_tensor()
        return tf.reduce_sum(x)
""",
            inputs=("f32[3, 4]",),
            why="no caller is seen to pass a ragged tensor",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.where(x > 0.5, tf.abs(x), tf.square(x)))
""",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.dynamic_partition(x, [0, 1, 0, 1], 2)[0]\n"),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.split(x, [1, 3])[0]\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return x * tf.ragged.constant([[1.0], [2.0, 3.0]]).values[0]
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, lengths):
    mask = tf.sequence_mask(lengths, maxlen=3, dtype=tf.float32)
    return tf.reduce_sum(x * mask, axis=1)
""",
            inputs=("f32[4, 3]", "i32[4]"),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.sparse.to_dense(tf.SparseTensor([[0], [2]], x[:2], [4]))
""",
        ),
        Good(
            """
from tensorflow.keras import backend as K

class Dense(keras.layers.Layer):
    def call(self, x):
        if K.is_sparse(x):
            return tf.sparse.sparse_dense_matmul(x, tf.ones([4, 2]))
        return tf.matmul(x, tf.ones([4, 2]))

layer = Dense()

@tf.function(jit_compile=True)
def f(x):
    return layer(x)
""",
            inputs=("f32[3, 4]",),
            why="what is sparse does not come here",
        ),
        Good(
            """
def parts(example):
    return tf.dynamic_partition(example, tf.cast(example > 0.0, tf.int32), 2)

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).map(parts)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
    )

    def __init__(self) -> None:
        self._shapes = BoundedShapes()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Consume():
                yield from self._shapes.consumed(event)
            case ApiCall(api=api, arguments=arguments) if api in COMPILED_AGAIN:
                if as_tensor(arguments[COMPILED_AGAIN[api]]):
                    message = f"XLA recompiles `{brief(event.location.node)}` for every new content"
                    yield Draft(message, Effect.RECOMPILES, on_tpu=TpuOutcome.FAILS)
            case ApiCall(api=api, arguments=arguments) if api in CUT_BY:
                if as_tensor(arguments.get(CUT_BY[api], UNKNOWN)):
                    message = f"the shape of `{brief(event.location.node)}` depends on data; {NAMED}"
                    rewrite = partial(partitioned, event) if api == "tf.dynamic_partition" else None
                    yield from self._shapes.begin(event.location, message, _whole(event), rewrite=rewrite)
            case ApiCall(api="tf.map_fn") if _returns_ragged(event):
                message = f"`{brief(event.location.node)}` makes a list of ragged tensors, for which XLA has no kernel"
                yield Draft(message, Effect.FAILS, DENSE, at_most=worst(event))
            case ApiCall() if not _is_only_asked(event) and (missing := missing_in(event, self.code, self.tensorflow)):
                message = f"`{brief(event.location.node)}`: {lacking(missing, self.tensorflow)}"
                yield Draft(message, Effect.FAILS, DENSE, at_most=worst(event))


def _is_only_asked(event: ApiCall) -> bool:
    """Whether `isinstance` alone says that an argument is sparse or ragged: nobody is seen to hand over such a one."""
    match next(iter(event.arguments.values()), None) if event.owner is None else event.owner:
        case ApiObject(payload=Unknown(names)) if event.owner is not None:
            return bool(names)  # an argument, and not the result of a function that nobody knows
        case ApiObject(payload=Unknown() | Structure()):
            return True
        case _:
            return False


def _returns_ragged(event: ApiCall) -> bool:
    """Whether a function is mapped that declares to return a ragged tensor, among others perhaps: there, and not where
    another function says so of what it is passed, or a dict is filled with what there is, which may be ragged or
    not."""
    for name in ("fn_output_signature", "dtype"):
        declared = event.arguments.get(name, UNKNOWN)
        match event.argument_nodes.get(name):
            case cst.Call(func=cst.Attribute(attr=made) | (cst.Name() as made)) if made.value != "RaggedTensorSpec":
                continue
            case cst.Name() | cst.Attribute() if isinstance(declared, Dict):
                continue
        if _is_ragged(declared):
            return True
    return False


def _is_ragged(declared: Value) -> bool:
    match declared:
        case ApiObject(api="tf.RaggedTensorSpec"):
            return True
        case Sequence(items=tuple(items)):
            return any(map(_is_ragged, items))
        case Dict(entries):
            return any(map(_is_ragged, entries.values()))
        case OneOf(alternatives):
            return all(map(_is_ragged, alternatives))
        case _:
            return False


def _whole(event: ApiCall) -> str | None:
    """The part as a mask over the whole tensor."""
    if event.api != "tf.dynamic_partition":
        return None
    partitions = one_line(event.argument_nodes["partitions"])
    return f"mask = tf.equal({partitions}, PART)  # and sums over tf.where(mask, x, 0.0), for each part"
