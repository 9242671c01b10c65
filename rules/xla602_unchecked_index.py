"""XLA does not check indices: it clamps out-of-range reads and drops out-of-range writes.

## What it does
Reports `tf.gather`, `tf.gather_nd`, embedding lookups and scatters in compiled code if the indices come from data and
are not clipped. The severity is `info`. It is `warning` if the index is a rounded float computation (`tf.cast(x * 8.0,
tf.int32)`), which leaves the range at the border.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU, for the indices 9 and -1 into 4 elements.

- Eager execution and a plain `tf.function` raise `InvalidArgumentError`.
- Compiled, `tf.gather`, `tf.gather_nd`, `tf.nn.embedding_lookup`, `keras.ops.take` and `keras.layers.Embedding` return
  the last element for 9. For -1 they return the first; Keras, which counts from the end, returns the last.
- Compiled, `tf.scatter_nd`, `tf.tensor_scatter_nd_update` and `_add`, and `tf.math.unsorted_segment_sum` drop the
  update.

## Example
    pixel = tf.gather(row, tf.cast(x * 8.0, tf.int32))

## Use instead
    pixel = tf.gather(row, tf.clip_by_value(tf.cast(x * 8.0, tf.int32), 0, 7))

If an out-of-range index should give a default value, wrap the clamped read in `tf.where(position < size, pixel, 0.0)`.

## Not flagged
- The same indices a second time in one function.
- Constant indices, clipped indices, and indices from `tf.argmax`, `tf.argsort`, `tf.math.top_k`, `tf.range`,
  `tf.where`, `tf.searchsorted`, `tf.image.non_max_suppression` or a remainder, also put side by side or divided with
  `//`, as positions in rows laid end to end are.
- Clipped indices times a width and added to each other or to what the shape gives: `x + y * width + first` of rows laid
  end to end. A clipped index plus a number (`x0 + 1`) is flagged.
- Code that XLA does not compile.

## Fix safety
Shown only: you have to decide what an out-of-range index means.

## References
- https://www.tensorflow.org/api_docs/python/tf/gather
- https://github.com/tensorflow/tensorflow/issues/115254
- https://github.com/tensorflow/tensorflow/issues/57999
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Sequence
from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.fixes.quoted import brief, one_line
from xlalint.linter.rule import Bad, Compiles, Diverges, Draft, Effect, Good, Rule, Severity, origin_note
from xlalint.syntax import nodes as cst

from ._names import names
from ._provenance import HANDING_ON, Provenance

# The parameter that holds the positions.
READS = {
    "keras.ops.take": "indices",
    "keras.ops.take_along_axis": "indices",
    "tf.batch_gather": "indices",
    "tf.gather": "indices",
    "tf.gather_nd": "indices",
    "tf.nn.embedding_lookup": "ids",
}
WRITES = {
    "keras.ops.scatter": "indices",
    "keras.ops.scatter_update": "indices",
    "tf.math.unsorted_segment_max": "segment_ids",
    "tf.math.unsorted_segment_mean": "segment_ids",
    "tf.math.unsorted_segment_min": "segment_ids",
    "tf.math.unsorted_segment_sum": "segment_ids",
    "tf.scatter_nd": "indices",
    "tf.tensor_scatter_nd_add": "indices",
    "tf.tensor_scatter_nd_max": "indices",
    "tf.tensor_scatter_nd_min": "indices",
    "tf.tensor_scatter_nd_sub": "indices",
    "tf.tensor_scatter_nd_update": "indices",
}
# What these give is a position of what they were given, was brought into a range, or is the first one.
IN_RANGE = names(
    """
    keras.ops.arange keras.ops.argmax keras.ops.argmin keras.ops.argsort keras.ops.clip keras.ops.maximum
    keras.ops.minimum keras.ops.mod keras.ops.top_k keras.ops.where keras.ops.zeros
    keras.ops.zeros_like tf.argmax tf.argmin tf.argsort tf.clip_by_value tf.math.floormod tf.math.top_k tf.maximum
    tf.meshgrid tf.minimum
    keras.random.randint keras.random.shuffle tf.random.experimental.stateless_shuffle tf.random.shuffle
    tf.random.categorical tf.random.uniform tf.range tf.searchsorted tf.unique tf.where tf.zeros tf.zeros_like
    tf.image.non_max_suppression tf.image.non_max_suppression_overlaps tf.image.non_max_suppression_padded
    tf.image.non_max_suppression_with_scores
    """
)

# What puts positions side by side: the parameter that has them.
JOINING = {
    "keras.ops.concatenate": "xs",
    "keras.ops.stack": "x",
    "tf.concat": "values",
    "tf.stack": "values",
}

# Arithmetic on positions, spelled as a call.
SUMS = frozenset(("keras.ops.add", "tf.add"))
PRODUCTS = frozenset(("keras.ops.multiply", "tf.multiply"))

ROUNDING = names("keras.ops.ceil keras.ops.floor keras.ops.round tf.floor tf.math.ceil tf.math.rint tf.round")


class UncheckedIndex(Rule):
    code = "XLA602"
    name = "unchecked-index"
    handles = (ApiCall,)
    apis = frozenset((*READS, *WRITES, *JOINING)) | IN_RANGE | SUMS | PRODUCTS | ROUNDING | HANDING_ON
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, position):
    try:
        return tf.gather(x, position + 9)
    except tf.errors.InvalidArgumentError:
        return tf.constant(-100.0)
""",
            ["tf.gather(x, position + 9)"],
            Diverges(),
            inputs=("f32[4]", "i32[]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            help="tf.clip_by_value(position + 9, 0, SIZE - 1)",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.image = tf.ones([4, 4])

    def call(self, points):
        nearest = tf.cast(tf.nn.sigmoid(points) * 3.0, tf.int32)
        return tf.gather_nd(self.image, nearest)
""",
            ["tf.gather_nd(self.image, nearest)"],
            Compiles(),
            inputs=("f32[5, 2]",),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            """
class Table(tf.Module):
    def __init__(self):
        self.rows = tf.Variable(tf.ones([4, 2]))

    def look(self, ids):
        return tf.nn.embedding_lookup(self.rows, ids)

TABLE = Table()

@tf.function(jit_compile=True)
def f(ids):
    return TABLE.look(ids)
""",
            ["tf.nn.embedding_lookup(self.rows, ids)"],
            Compiles(),
            inputs=("i32[3]",),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, ids):
    left = tf.gather(x, ids)
    return left + tf.gather(x * 2.0, ids)
""",
            ["tf.gather(x, ids)"],
            Compiles(),
            inputs=("f32[4]", "i32[3]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, ids):
    try:
        for _ in range(2):
            ids = tf.concat([ids, ids + 9], axis=0)
        return tf.gather(x, ids)
    except tf.errors.InvalidArgumentError:
        return tf.constant(-100.0)
""",
            ["tf.gather(x, ids)"],
            Diverges(),
            inputs=("f32[4]", "i32[2]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="a loop puts positions of which nothing is said beside others",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, ids):
    try:
        ids = tf.concat([ids, ids + 9], axis=0)
        return tf.gather(x, ids)
    except tf.errors.InvalidArgumentError:
        return tf.constant(-100.0)
""",
            ["tf.gather(x, ids)"],
            Diverges(),
            inputs=("f32[4]", "i32[2]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="the name is that of the parameter",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, ids):
    return tf.tensor_scatter_nd_add(x, ids[:, None], tf.ones([3]))
""",
            ["tf.tensor_scatter_nd_add(x, ids[:, None], tf.ones([3]))"],
            Compiles(),
            inputs=("f32[4]", "i32[3]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, points):
    try:
        left = tf.clip_by_value(tf.cast(tf.floor(points + 9.0), tf.int32), 0, 3)
        return tf.gather(x, left) + tf.gather(x, left + 1)
    except tf.errors.InvalidArgumentError:
        return tf.constant(-100.0)
""",
            ["tf.gather(x, left + 1)"],
            Diverges(),
            inputs=("f32[4]", "f32[3]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="the neighbour of the last is out of range",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, ids, shift):
    try:
        return tf.gather(x, tf.clip_by_value(ids, 0, 3) + tf.reshape(shift + 9, [1]))
    except tf.errors.InvalidArgumentError:
        return tf.constant(-100.0)
""",
            ["tf.gather(x, tf.clip_by_value(ids, 0, 3) + tf.reshape(shift + 9, [1]))"],
            Diverges(),
            inputs=("f32[4]", "i32[3]", "i32[]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="what is added comes from data too",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x, position):
    return tf.gather(x, tf.minimum(position + 9, tf.shape(x)[0] - 1))
""",
            inputs=("f32[4]", "i32[]"),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    best = tf.math.top_k(x, 2).indices
    return tf.gather(x, best) + tf.gather(x, tf.argmax(x))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, ids):
    wrapped = tf.cast((ids + 7) % 4, tf.int64)
    return tf.gather(x, wrapped)
""",
            inputs=("f32[4]", "i32[3]"),
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.gather(x, [3, 0])\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    rows = tf.tile(tf.range(tf.shape(x)[0])[:, None], [1, 2])
    best = tf.math.top_k(x, 2).indices
    return tf.gather_nd(x, tf.stack([rows, best], axis=-1))
""",
            inputs=("f32[3, 4]",),
            why="each of the positions is in the range of its axis",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, scores, ids):
    best = tf.math.top_k(scores, 2).indices
    return tf.gather(x, tf.concat([best, tf.zeros_like(ids)], axis=0))
""",
            inputs=("f32[4]", "f32[4]", "i32[3]"),
            why="the positions of the best, and the first one",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, scores):
    best = tf.math.top_k(tf.reshape(scores, [-1]), 2).indices
    rows = best // scores.shape[1]
    return tf.gather(x, rows) + tf.gather(x, best // 4)
""",
            inputs=("f32[3]", "f32[3, 4]"),
            why="the rows of the best",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, ids):
    place = ids - 1
    place = tf.where((place >= 0) & (place < 4), place, tf.zeros_like(place))
    place = tf.expand_dims(place, -1)
    return tf.gather(x, place)
""",
            inputs=("f32[4]", "i32[3]"),
            why="the last assignment brings it into the range",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.image = tf.ones([4])

    def call(self, points):
        near = tf.clip_by_value(tf.cast(points * 3.0, tf.int32), 0, 3)
        return tf.gather(self.image, near)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.gather(x, tf.range(tf.shape(x)[0]) - 1 + 1)
""",
            why="positions from the shape alone",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(image, points):
    height, width = image.shape[1], tf.cast(tf.shape(image)[2], tf.float32)
    x0 = tf.floor(points[..., 0] * width)
    y0 = tf.floor(points[..., 1] * width)
    x0 = tf.clip_by_value(x0, 0.0, width - 1.0)
    y0 = tf.clip_by_value(y0, 0.0, height - 1.0)
    first = tf.reshape(tf.range(tf.shape(image)[0]), [-1, 1]) * height * tf.shape(image)[2]
    place = tf.cast(first, tf.float32) + y0 * width + x0
    return tf.gather(tf.reshape(image, [-1]), tf.cast(place, tf.int32))
""",
            inputs=("f32[2, 4, 4]", "f32[2, 3, 2]"),
            why="clipped columns and rows of images laid end to end",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(image, points):
    size = image.shape[0]
    column = tf.clip_by_value(points[:, 0], 0, size - 1)
    row = tf.clip_by_value(points[:, 1], 0, size - 1)
    return tf.gather(tf.reshape(image, [-1]), tf.add(column, tf.multiply(row, size)))
""",
            inputs=("f32[4, 4]", "i32[3, 2]"),
        ),
        Good(
            """
def look(ids):
    return tf.gather(tf.range(8), ids + 1)

dataset = tf.data.Dataset.range(4).map(look)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
    )

    def __init__(self) -> None:
        self._provenance = Provenance()
        self._told: dict[tuple[int, str], Location] = {}

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if (parameter := READS.get(api) or WRITES.get(api)) is not None:
                yield from self._indexed(event, parameter)
            case ApiCall():
                self._provenance.remember(event)

    def _indexed(self, event: ApiCall, parameter: str) -> Iterator[Draft]:
        tensor = as_tensor(event.arguments[parameter]) if parameter in event.arguments else None
        if tensor is None or tensor.dtype == "bool" or event.context.kind is not ContextKind.XLA:
            return
        node = event.argument_nodes[parameter]
        origin = self._provenance.made(event.location.unit, node)
        if self._in_range(event, origin):
            return
        rounded = self._rounded(event, node, origin)
        if (
            not rounded
            and self._told.setdefault((id(event.location.unit), one_line(origin)), event.location) != event.location
        ):
            return  # the same positions once more in this function
        what = "clamps indices" if event.api in READS else "drops updates at indices"
        code = brief(event.location.node)
        reason = "is rounded from a float" if rounded else "comes from data"
        yield Draft(
            f"`{code}`: XLA {what} out of range, where eager execution raises; this index {reason} and is not clipped",
            Effect.DIVERGES,
            f"tf.clip_by_value({brief(node)}, 0, SIZE - 1)",
            notes=origin_note(tensor.origin, event),
            at_most=Severity.WARNING if rounded else Severity.INFO,
        )

    def _in_range(self, event: ApiCall, node: cst.BaseExpression, joined: frozenset[cst.CSTNode] = frozenset()) -> bool:
        """Whether positions are in the range; `joined`: what they are put side by side in, one inside the other."""
        unit = event.location.unit
        call = self._provenance.call_at(unit, node)
        if call is not None and call.api in IN_RANGE:
            return True
        if call is not None and call.api in JOINING and node not in joined:  # a loop may put it beside itself
            around = joined | {node}
            return all(self._in_range(event, self._provenance.made(unit, one), around) for one in _from_data(call))
        if node not in joined and (parts := _parts(call, node, cst.Multiply, PRODUCTS)) is not None:  # a row's first
            return any(self._in_range(event, self._provenance.made(unit, one), joined | {node}) for one in parts)
        if node not in joined and (parts := _parts(call, node, cst.Add, SUMS)) is not None:
            sure = [self._in_range(event, self._provenance.made(unit, one), joined | {node}) for one in parts]
            return any(sure) and all(yes or self._from_shape(unit, one) for yes, one in zip(sure, parts, strict=True))
        match node:
            case cst.BinaryOperation(operator=cst.Modulo()):
                return True
            case cst.BinaryOperation(left=position, operator=cst.FloorDivide()):  # the row of a position in all of them
                return self._in_range(event, self._provenance.made(unit, position), joined)
            case _:
                return False

    def _from_shape(self, unit: Unit, node: cst.BaseExpression) -> bool:
        """Whether a tensor on the way back is computed from shapes alone."""
        for step in self._provenance.steps(unit, node):
            call = self._provenance.call_at(unit, step)
            if call is not None and call.api in HANDING_ON:
                tensors = [as_tensor(value) for value in call.arguments.values()]
                return all(tensor is None or tensor.dependence is not Dependence.VALUE for tensor in tensors)
        return False

    def _rounded(self, event: ApiCall, node: cst.BaseExpression, origin: cst.BaseExpression) -> bool:
        """A computed float is cast on the way back to where the positions were made."""
        unit = event.location.unit
        call = self._provenance.call_at(unit, origin)
        if not (isinstance(origin, cst.BinaryOperation) or (call is not None and call.api in ROUNDING)):
            return False
        for step in self._provenance.steps(unit, node):
            match self._provenance.call_at(unit, step):
                case ApiCall(api="tf.cast" | "keras.ops.cast", arguments={"x": value}):
                    tensor = as_tensor(value)
                    if tensor is not None and tensor.dtype == "float":
                        return True
        return False


def _parts(
    call: ApiCall | None, node: cst.BaseExpression, operator: type[cst.BaseBinaryOp], apis: frozenset[str]
) -> list[cst.BaseExpression] | None:
    """The two operands of an operation, spelled with its operator or as a call; None: it is none of these."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, operator):
        return [node.left, node.right]
    if call is not None and call.api in apis:
        return [one for name, one in call.argument_nodes.items() if name != "name"]
    return None


def _from_data(call: ApiCall) -> Iterator[cst.BaseExpression]:
    """The expressions that a call puts side by side, those that depend on data; the whole where they are not known."""
    parameter = JOINING[call.api]
    node, value = call.argument_nodes.get(parameter), call.arguments.get(parameter)
    if node is None:
        return
    if isinstance(node, cst.List | cst.Tuple) and isinstance(value, Sequence) and value.items is not None:
        pairs = zip(node.elements, value.items, strict=False)
        for element, item in pairs:
            tensor = as_tensor(item)
            if tensor is None or tensor.dependence is Dependence.VALUE:
                yield element.value
        return
    yield node
