"""A tensor grows in each iteration of a loop that runs in the graph; XLA has no loop whose variables change shape.

## What it does
Reports `tf.concat` and `tf.pad` of a loop variable in compiled code, in `tf.while_loop` or in a loop that AutoGraph
converts, with `shape_invariants` that say that the shape of the variable may change or without.

## What XLA does
Measured with TensorFlow 2.21 on a CPU, and with the TPU compiler of 2.20: TensorFlow runs such a loop, and compiling it
fails ("Input and output shapes of loop body do not match: (s32[], .. f32[3]) vs. (s32[], .. f32[4])"), however many
iterations there are. Without `shape_invariants` TensorFlow itself refuses the loop while tracing ("'y' has shape (3,)
before the loop, but shape (4,) after one iteration"), unless the length is not known then: XLA refuses that one.

## Example
    output = start
    for i in tf.range(40):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(output, tf.TensorShape([None]))])
        output = tf.concat([output, next_token(output)[None]], axis=0)

## Use instead
    output = tf.TensorArray(tf.int32, size=40, element_shape=[])
    for i in tf.range(40):
        output = output.write(i, next_token(output.stack()))
    tokens = output.stack()

Or keep a tensor of the final size and fill it: `output = tf.tensor_scatter_nd_update(output, [[i]], [token])`. What
reads the tensor masks the part that is not filled yet.

## Not flagged
- Loops of Python that tracing unrolls: each iteration may have a shape of its own.
- Windows: `tf.concat([output[1:], token], 0)`, and variables that the loop cuts again.
- Loops of plain `tf.function`s are information.

## Fix safety
Shown only: what the loop does with the tensor has to know which part of it is filled.

## References
- https://www.tensorflow.org/api_docs/python/tf/autograph/experimental/set_loop_options
- https://www.tensorflow.org/api_docs/python/tf/while_loop
"""

from collections.abc import Collection, Iterable, Iterator

from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.events import ApiCall, Event, IterateOver, LoopWhile
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Fails, Good, Rule, Runs, Severity
from xlalint.syntax import nodes as cst

from ._kernels import worst

LOOPS = frozenset(("tf.while_loop", "tf.autograph.experimental.set_loop_options"))
GROWS = frozenset(("tf.concat", "tf.pad"))
HELP = "write into a `tf.TensorArray` or a tensor of the final size: `tf.tensor_scatter_nd_update(t, [[i]], [row])`"
ASKS = "shape_invariants"
NO_LOOP = "XLA has no loop whose variables change shape"
MISMATCH = Fails("Input and output shapes of loop body do not match")


class GrowingLoopVariable(Rule):
    code = "XLA114"
    name = "growing-loop-variable"
    handles = (ApiCall, IterateOver, LoopWhile)
    apis = LOOPS | GROWS
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    output = x[:1]
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(output, tf.TensorShape([None]))])
        output = tf.concat([output, x[:1]], 0)
    return output
""",
            ["tf.concat([output, x[:1]], 0)"],
            MISMATCH,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="tf.TensorArray",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    def more(i, output):
        return i < 3

    def step(i, output):
        longer = tf.concat((output, x[:1]), axis=0)
        i += 1
        return [i, longer]

    return tf.while_loop(
        more, step, [tf.constant(0), x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]
    )[1]
""",
            ["tf.concat((output, x[:1]), axis=0)"],
            MISMATCH,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    more = lambda i, output: tf.reduce_sum(output) < 100.0
    step = lambda i, output: (i + 1, tf.concat([output, output[:1] + 1.0], 0))
    shapes = (tf.TensorShape([]), tf.TensorShape([None]))
    return tf.while_loop(more, step, (0, x), shape_invariants=shapes)[1]
""",
            ["tf.concat([output, output[:1] + 1.0], 0)"],
            MISMATCH,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    i = 0
    padded = x
    while tf.reduce_sum(x) > 1000.0 * tf.cast(i, tf.float32):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(padded, tf.TensorShape([None]))])
        padded = tf.pad(padded, [[0, 1]])
        i += 1
    return padded
""",
            ["tf.pad(padded, [[0, 1]])"],
            MISMATCH,
        ),
        Bad(
            """
@tf.function
def longer(x):
    output = x[:1]
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(output, tf.TensorShape([None]))])
        output = tf.concat([output, x[:1]], 0)
    return output

longer(tf.ones([2]))
""",
            ["tf.concat([output, x[:1]], 0)"],
            Runs(0),
            severity=Severity.INFO,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    output = tf.boolean_mask(x, x > -100.0)
    for i in tf.range(3):
        output = tf.concat([output, x[:1]], 0)
    return output
""",
            ["tf.concat([output, x[:1]], 0)"],
            MISMATCH,
            severity=Severity.ERROR,
            why="its length is not known while tracing",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    start = tf.boolean_mask(x, x > -100.0)
    return tf.while_loop(
        lambda i, output: i < 3, lambda i, output: [i + 1, tf.concat([output, x], 0)], [tf.constant(0), start]
    )[1]
""",
            ["tf.concat([output, x], 0)"],
            MISMATCH,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    output = x
    while tf.reduce_sum(output) < 100.0:
        output = tf.pad(output, [[0, 1]], constant_values=1.0)
    return output
""",
            ["tf.pad(output, [[0, 1]], constant_values=1.0)"],
            Fails("has shape"),
            why="TensorFlow refuses it",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    output = tf.TensorArray(tf.float32, size=3, element_shape=[])
    for i in tf.range(3):
        output = output.write(i, x[0] * tf.cast(i, tf.float32))
    return output.stack()
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    output = x[:1]
    for i in range(3):
        output = tf.concat([output, x[:1]], 0)
    return output
""",
            why="tracing unrolls a loop of Python",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = 0.0
    for i in tf.range(3):
        output = x[:1]
        for k in range(3):
            output = tf.concat([output, x[:1]], 0)
        total += tf.reduce_sum(output)
    return total
""",
            why="no variable of the loop around",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    window = x
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(window, tf.TensorShape([None]))])
        window = tf.concat([window[1:], x[:1]], 0)
    return window
""",
            why="a window stays as long as it is",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    window = x
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(window, tf.TensorShape([None]))])
        window = tf.concat([window, x[:1]], 0)
        window = window[1:]
    return window
""",
            why="the loop cuts it again",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    def step(i, total):
        both = tf.concat([x, x], 0)
        return i + 1, total + tf.reduce_sum(both)

    shapes = (tf.TensorShape([]), tf.TensorShape([]))
    return tf.while_loop(lambda i, total: i < 3, step, (0, 0.0), shape_invariants=shapes)[1]
""",
            why="what grows is no variable of the loop",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    output = tf.zeros([4])
    for i in tf.range(3):
        output = tf.tensor_scatter_nd_update(output, [[i]], x[:1])
    return output
""",
        ),
    )

    def __init__(self) -> None:
        self._options: dict[Location, None] = {}  # calls that set the shapes that a loop's variables may have
        self._headers = set[cst.CSTNode]()  # of loops on tensors
        self._grown: list[ApiCall] = []

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=name) if name in GROWS:
                if event.in_tensor_loop:
                    self._grown.append(event)
                    yield from _told(event, self._options, self._headers)
            case ApiCall(api="tf.while_loop") | ApiCall(arguments={"shape_invariants": _}):
                self._options[event.location] = None
                for grown in self._grown:
                    yield from _told(grown, [event.location], frozenset())
            case IterateOver() | LoopWhile():
                self._headers.add(event.location.node)


def _told(grown: ApiCall, options: Iterable[Location], headers: Collection[cst.CSTNode]) -> Iterator[Draft]:
    """What is said of a call that makes something longer, among these loops."""
    here = [loop for loop in options if loop.unit is grown.location.unit]
    found = next(((name, loop) for loop in here if (name := _variable(loop, grown)) is not None), None)
    name, loop = found or (_converted(grown, headers), None)
    if name is None:
        return
    message = f"`{name}` grows in each iteration of a loop that runs in the graph: {NO_LOOP}"
    notes = (DraftNote(loop, "its shape may change, as this says"),) if loop is not None and _asks(loop.node) else ()
    yield Draft(message, Effect.FAILS, HELP, location=grown.location, notes=notes, at_most=worst(grown))


def _asks(loop: cst.CSTNode) -> bool:
    """Whether a call says which shapes the variables of a loop may have."""
    given = loop.args if isinstance(loop, cst.Call) else ()
    return any(arg.keyword is not None and arg.keyword.value == ASKS for arg in given)


def _converted(grown: ApiCall, headers: Collection[cst.CSTNode]) -> str | None:
    """The variable of a loop that AutoGraph converts, if a call makes it longer: of the loop around the call."""
    unit, call = grown.location.unit, grown.location.node
    for around in unit.around(call):
        match around:
            case cst.For(iter=header) | cst.While(test=header):
                name = _assigned(unit, call)
                grows = name in _taken(grown) and not _assigned_again(around, name)
                return name if grows and any(part in headers for part in cst.within(header)) else None
            case cst.FunctionDef() | cst.Lambda():
                return None
    return None


def _variable(loop: Location, grown: ApiCall) -> str | None:
    """The variable of a loop that a call makes longer, if it does."""
    node = loop.node
    assert isinstance(node, cst.Call)
    unit, call = loop.unit, grown.location.node
    taken = _taken(grown)
    invariants = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == ASKS]
    around = next((it for it in unit.around(node) if isinstance(it, cst.For | cst.While)), None)
    if len(node.args) == 1 and invariants:
        name = _assigned(unit, call)
        named = cst.names_within(invariants[0])
        inside = around is not None and around in unit.around(call) and not _assigned_again(around, name)
        return name if inside and name in taken and name in named else None
    outer = list(unit.around(call))
    body = _function(unit, node, outer)
    if body is None or body not in outer:
        return None
    places = [param.name.value for param in body.params.params]
    for place, result in enumerate(_results(body)):
        gives = result is call or (isinstance(result, cst.Name) and result.value == _assigned(unit, call))
        if (
            gives
            and place < len(places)
            and places[place] in taken
            and not _assigned_again(body, _assigned(unit, call))
        ):
            return places[place]
    return None


def _taken(grown: ApiCall) -> list[str]:
    """The names whose tensors a call puts side by side, or pads."""
    given = grown.node.args[0].value if grown.node.args else None
    parts = [part.value for part in given.elements] if isinstance(given, cst.List | cst.Tuple) else [given]
    names = [part.value for part in parts if isinstance(part, cst.Name)]
    return names[:1] if grown.api == "tf.pad" else names


def _assigned(unit: Unit, call: cst.CSTNode) -> str | None:
    """The name that is given to the result of a call."""
    match next(iter(unit.around(call)), None):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name
        case _:
            return None


def _assigned_again(body: cst.CSTNode, name: str | None) -> bool:
    """Whether code assigns a name more than once."""
    targets = (it.target for it in cst.within(body) if isinstance(it, cst.AssignTarget))
    return sum(isinstance(target, cst.Name) and target.value == name for target in targets) > 1


def _function(unit: Unit, loop: cst.Call, outer: Iterable[cst.CSTNode]) -> cst.FunctionDef | cst.Lambda | None:
    """The body of a `tf.while_loop`, where it is defined beside the call, and may be among these nodes."""
    named = (arg.value for arg in loop.args if arg.keyword is not None and arg.keyword.value == "body")
    body = next(named, None) or (loop.args[1].value if len(loop.args) > 1 and loop.args[1].keyword is None else None)
    match body:
        case cst.Lambda():
            return body
        case cst.Name(value=name) if any(_defined(node, name) for node in outer):
            found = (_defined(node, name) for node in cst.within(unit.tree))
            return next((one for one in found if one is not None), None)
    return None


def _defined(node: cst.CSTNode, name: str) -> cst.FunctionDef | cst.Lambda | None:
    """The function that a statement gives this name."""
    match node:
        case cst.FunctionDef(name=cst.Name(value=defined)) if defined == name:
            return node
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=defined))], value=cst.Lambda() as given):
            return given if defined == name else None
        case _:
            return None


def _results(body: cst.FunctionDef | cst.Lambda) -> list[cst.BaseExpression]:
    """What a function returns, part by part."""
    if isinstance(body, cst.Lambda):
        returned: cst.CSTNode | None = body.body
    else:
        last = body.body.body[-1] if body.body.body else None
        match last:
            case cst.SimpleStatementLine(body=[cst.Return(value=value)]):
                returned = value
            case _:
                returned = None
    return [part.value for part in returned.elements] if isinstance(returned, cst.List | cst.Tuple) else []
