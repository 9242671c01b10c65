"""A `tf.TensorArray` cannot grow: XLA keeps its initial size and drops later writes.

## What it does
Reports `tf.TensorArray(.., dynamic_size=True)`, unless `unstack` sets its content at once. Also reports a `write`,
`scatter`, `split` or `unstack` whose result is discarded.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. XLA reserves `size` elements and ignores `dynamic_size`. There is no error.

- With `size=0`, the result of `stack()` is empty, and `concat()` and `size()` are wrong. With `size=1`, it has one
  element. It makes no difference whether a `tf.range` loop or an unrolled Python loop writes.
- With a `size` that is large enough, the result is right.
- `read` of an element past the size does not compile.

In a graph, each `write` returns a new array and leaves the old one unchanged. If the result is discarded, the write is
lost without an error, while eager execution keeps it.

## Example
    outputs = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for step in tf.range(steps):
        outputs = outputs.write(step, cell(step))

## Use instead
    outputs = tf.TensorArray(tf.float32, size=steps)

`steps` is the maximum number of writes: a Python int, or a static size.

## Not flagged
Arrays of fixed size, `tf.TensorArray(..).unstack(x)`, arrays that are as large as the numbers of the elements that the
next statements write say, and Python lists in a Python loop.

## Fix safety
- `safe` if a single loop with a literal number of iterations writes each element at the loop index, and the array is
  read as a whole after the loop, under its only name, and never asked for its size. The array gets that size.
- `unsafe` if single elements are read: a graph multiplies the gradient of the others by zero, which is NaN if they are
  infinite. Also `unsafe` if the number of iterations is an expression, which must be static.
- Shown only elsewhere, with `NUMBER_OF_WRITES` for the number that only you know.

## References
- https://github.com/tensorflow/tensorflow/issues/119375
- https://github.com/tensorflow/tensorflow/issues/127528
"""

from collections.abc import Iterator

from xlalint.analysis.domain.values import Static
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.fixes.arrays import sized_array
from xlalint.fixes.quoted import brief, parent
from xlalint.linter.rule import Bad, Compiles, Diverges, Draft, Effect, Good, Rule, Safety
from xlalint.syntax import nodes as cst

WRITING = frozenset(f"tf.TensorArray.{name}" for name in ("write", "scatter", "split", "unstack"))
DROPPED = "XLA keeps the initial size and drops writes past it"


class DynamicTensorArray(Rule):
    code = "XLA204"
    name = "dynamic-tensor-array"
    handles = (ApiCall,)
    apis = WRITING | {"tf.TensorArray"}
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    outputs = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for step in tf.range(3):
        outputs = outputs.write(step, x * tf.cast(step, tf.float32))
    return outputs.stack()
""",
            ["tf.TensorArray(tf.float32, size=0, dynamic_size=True)"],
            Diverges(),
            effect=Effect.DIVERGES,
            safety=Safety.SAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    outputs = tf.TensorArray(tf.float32, size=3)
    for step in tf.range(3):
        outputs = outputs.write(step, x * tf.cast(step, tf.float32))
    return outputs.stack()
""",
        ),
        Bad(
            """
from tensorflow import TensorArray

def growing(dtype):
    return TensorArray(dtype, 1, True)

@tf.function(jit_compile=True)
def f(x):
    outputs = growing(x.dtype)
    for step in range(3):
        outputs = outputs.write(step, x)
    return outputs.stack()
""",
            ["TensorArray(dtype, 1, True)"],
            Diverges(),
            effect=Effect.DIVERGES,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.grow = True

    def call(self, x):
        steps = tf.TensorArray(x.dtype, size=0, dynamic_size=self.grow, element_shape=[4])
        for step in range(x.shape[0]):
            steps = steps.write(step, x[step])
        return steps.stack()
""",
            ["tf.TensorArray(x.dtype, size=0, dynamic_size=self.grow, element_shape=[4])"],
            Diverges(),
            inputs=("f32[3, 4]",),
            effect=Effect.DIVERGES,
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.grow = True

    def call(self, x):
        steps = tf.TensorArray(x.dtype, size=x.shape[0], element_shape=[4])
        for step in range(x.shape[0]):
            steps = steps.write(step, x[step])
        return steps.stack()
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    def collect():
        parts = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        return parts.write(0, x).write(1, -x).concat()

    return collect()
""",
            ["tf.TensorArray(tf.float32, 0, dynamic_size=True)"],
            Diverges(),
            effect=Effect.DIVERGES,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    outputs = tf.TensorArray(tf.float32, size=8, dynamic_size=True)
    for step in tf.range(3):
        outputs = outputs.write(step, x)
    return outputs.stack()
""",
            ["tf.TensorArray(tf.float32, size=8, dynamic_size=True)"],
            Compiles(),
            effect=Effect.NAMED,
            safety=Safety.SAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    outputs = tf.TensorArray(tf.float32, size=8)
    for step in tf.range(3):
        outputs = outputs.write(step, x)
    return outputs.stack()
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    second = tf.TensorArray(tf.float32, size=1, dynamic_size=True)
    second = second.write(1, x).stack()
    return second
""",
            ["tf.TensorArray(tf.float32, size=1, dynamic_size=True)"],
            Diverges(),
            safety=Safety.DISPLAY,
            why="too small for what is written",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    outputs = tf.TensorArray(tf.float32, size=3)
    for step in tf.range(3):
        outputs = outputs.write(step, x)
    return outputs.stack()
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    outputs = tf.TensorArray(x.dtype, size=tf.shape(x)[0], dynamic_size=False)
    for step in tf.range(tf.shape(x)[0]):
        outputs = outputs.write(step, x[step])
    return outputs.stack()
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack(x).stack()
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    first = tf.TensorArray(tf.float32, size=1, dynamic_size=True)
    first = first.write(0, x).stack()
    both = tf.TensorArray(tf.float32, size=2, dynamic_size=True)
    both = both.write(0, x)
    both = both.write(1, x * 2.0)
    both = both.stack()
    return first, both
""",
            why="large enough for what is written",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.map_fn(lambda row: row * 2.0, x)\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    parts = []
    for step in range(3):
        parts.append(x * float(step))
    return tf.stack(parts)
""",
        ),
        Good(
            """
def collect(x):
    return tf.TensorArray(tf.float32, size=0, dynamic_size=True).write(0, x).stack()

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).map(collect)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    array = tf.TensorArray(size=0, dtype=tf.float32, dynamic_size=True)
    steps = array.unstack(x)
    return steps.stack()
""",
            why="filled at once, and then under another name",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, node=cst.Call(func=cst.Attribute(value=array))) if api in WRITING:
                if isinstance(parent(event.location), cst.Expr):
                    message = f"`{brief(event.location.node)}` is discarded: in a graph, the write is lost"
                    code = event.location.unit.code
                    yield Draft(message, Effect.DIVERGES, f"{code(array)} = {code(event.location.node)}")
            case ApiCall(arguments={"dynamic_size": Static(constant=True)}) if not (
                _filled_at_once(event) or _is_large_enough(event)
            ):
                match event.arguments.get("size"):
                    case None | Static(constant=None | 0 | 1):
                        effect, reason = Effect.DIVERGES, f"{DROPPED}, without an error"
                    case _:
                        effect, reason = Effect.NAMED, DROPPED
                rewrite = sized_array(event.location, event.node)
                yield Draft(f"`{brief(event.location.node)}` cannot grow: {reason}", effect, rewrite=rewrite)


def _filled_at_once(event: ApiCall) -> bool:
    """The content, and with it the size, is set where the array is made, or by the only use of its name."""
    match parent(event.location):
        case cst.Attribute(attr=cst.Name("unstack")):
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            unit = event.location.unit
            parts = [*cst.within(unit.function_around(event.location.node) or unit.tree)]
            named = sum(isinstance(part, cst.Name) and part.value == name for part in parts)
            filled = sum(_unstacks(part, name) for part in parts)
            return filled == 1 and named == 2
        case _:
            return False


def _is_large_enough(event: ApiCall) -> bool:
    """The statements behind write to places that the array has, and read all of it: `x = x.write(0, y).stack()`."""
    match event.arguments.get("size"), parent(event.location):
        case (
            Static(constant=int() as size),
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) as made,
        ):
            unit = event.location.unit
            block = next((around for around in unit.around(made) if isinstance(around, cst.BaseSuite)), unit.tree)
            lines = iter(block.body)
            next((line for line in lines if made in line.children), None)
            for line in lines:
                match line:
                    case cst.SimpleStatementLine(
                        body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=other))], value=value)]
                    ) if other == name:
                        left = _left_of_writes(value, size)
                        if left is None or not (isinstance(left, cst.Name) and left.value == name):
                            return False
                        if not _writes(value):
                            return True
                    case _ if any(isinstance(part, cst.Name) and part.value == name for part in cst.within(line)):
                        return False
            return False
        case _:
            return False


def _writes(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "write"


def _left_of_writes(node: cst.BaseExpression, size: int) -> cst.BaseExpression | None:
    """What `x.write(0, y).write(1, z).stack()` is called on; None where a place is not known to be there."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        match node.func.attr.value, node.args:
            case "stack", []:
                pass
            case "write", [cst.Arg(value=cst.Integer(evaluated_value=int() as place)), *_] if place < size:
                pass
            case _:
                return None
        node = node.func.value
    return node


def _unstacks(node: cst.CSTNode, name: str) -> bool:
    match node:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name("unstack")):
            return owner == name
        case _:
            return False
