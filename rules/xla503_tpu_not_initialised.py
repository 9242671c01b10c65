"""A TPU strategy is created before the TPU is initialised, or the program never initialises it.

## What it does
Reports:

- a `TPUStrategy` in a program that never calls `tf.tpu.experimental.initialize_tpu_system`, or calls it later
- a TPU node that is initialised without `tf.config.experimental_connect_to_cluster`
- a second initialisation after the strategy is created and used
- lookup tables that are created before the connection

## What XLA does
- Measured with TensorFlow 2.21, and with 2.20 for TPUs: a `TPUStrategy` on a TPU that is not initialised raises at once
  ("IndexError: index 0 is out of bounds"), because there are no devices.
- Measured on a CPU with a second process as the remote worker: after `experimental_connect_to_cluster`, an older lookup
  table is gone ("Container localhost does not exist"). Tensors, variables, functions and datasets still work.
- Not measured, for lack of a TPU: TensorFlow warns that a second initialisation loses the variables on the TPU, and its
  guide puts the initialisation at the start of the program.

## Example
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
    strategy = tf.distribute.TPUStrategy(resolver)

## Use instead
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)

## Not flagged
- A resolver from elsewhere (an argument, `TPUClusterResolver.connect()`), because other code may have initialised it.
- A TPU VM (`tpu="local"`) without a connection.
- Tensors and models created earlier.
- A second initialisation before anything is created in the scope of the strategy, and one in each iteration of a loop
  that makes its models anew.

## Fix safety
`unsafe`: connection and initialisation are inserted before the strategy if nothing in the program does it. What other
code already keeps on the TPU is lost. A wrong order is shown only, because you have to move the code in between.

## References
- https://www.tensorflow.org/guide/tpu
- https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy
- https://www.tensorflow.org/api_docs/python/tf/tpu/experimental/initialize_tpu_system
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from xlalint.analysis.domain.values import NONE, ApiObject, Value
from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.strategies import (
    RESOLVER,
    address_of,
    is_node,
    is_strategy,
    is_tpu,
    keeps_variables,
    making_of,
)
from xlalint.fixes.names import Names
from xlalint.fixes.rewrite import Rewrite, before
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Safety, Severity
from xlalint.syntax import nodes as cst

CONNECT = frozenset(("tf.config.experimental_connect_to_cluster", "tf.config.experimental_connect_to_host"))
INITIALISE = "tf.tpu.experimental.initialize_tpu_system"
DIFFERS = "where other code has already initialised the TPU: what it keeps there is lost"
ORDER = "experimental_connect_to_cluster(resolver), then initialize_tpu_system(resolver), then TPUStrategy(resolver)"

STARTED: Final = """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""


class TpuNotInitialised(Rule):
    code = "XLA503"
    name = "tpu-not-initialised"
    handles = (Program,)
    bad = (
        Bad(
            f"""
{STARTED}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
for fold in range(5):
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
    tf.tpu.experimental.initialize_tpu_system(resolver)
""",
            ["tf.tpu.experimental.initialize_tpu_system(resolver)"],
            None,
            why="it needs a TPU",
        ),
        Bad(
            """
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"))
""",
            ['tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"))'],
            Breaks("index 0 is out of bounds"),
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            help="initialize_tpu_system(resolver)",
        ),
        Bad(
            """
class Trainer:
    def __init__(self, name):
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
        self.strategy = tf.distribute.TPUStrategy(resolver)

Trainer("my-tpu")
""",
            ["tf.distribute.TPUStrategy(resolver)"],
            None,
            safety=Safety.UNSAFE,
            fixed="""
class Trainer:
    def __init__(self, name):
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        self.strategy = tf.distribute.TPUStrategy(resolver)

Trainer("my-tpu")
""",
            why="it needs a TPU",
        ),
        Bad(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
strategy = tf.distribute.TPUStrategy(resolver)
""",
            ["tf.distribute.TPUStrategy(resolver)"],
            None,
            safety=Safety.UNSAFE,
            fixed="""
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
""",
            why="it needs a TPU",
        ),
        Bad(
            """
def start(name):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(name)
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return strategy

strategy = start("local")
""",
            ["tf.distribute.experimental.TPUStrategy(resolver)"],
            Breaks("index 0 is out of bounds"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu", zone="us-central1-a")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
""",
            ["tf.tpu.experimental.initialize_tpu_system(resolver)"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            help="experimental_connect_to_cluster",
            why="it needs a TPU",
        ),
        Bad(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
tf.tpu.experimental.initialize_tpu_system(resolver)
""",
            ["tf.tpu.experimental.initialize_tpu_system(resolver)"],
            None,
            effect=Effect.TPU,
            why="it needs a TPU",
        ),
        Bad(
            """
words = tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1])
table = tf.lookup.StaticHashTable(words, -1)
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="grpc://10.0.0.2:8470")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
""",
            ["tf.lookup.StaticHashTable(words, -1)"],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
    )
    good = (
        Good(
            f"""
{STARTED}
def build():
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(), "mse")
    return model

for fold in range(5):
    model = build()
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
    tf.tpu.experimental.initialize_tpu_system(resolver)
""",
            None,
            why="each fold has a model of its own, which is over",
        ),
        Good(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
words = tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1])
table = tf.lookup.StaticHashTable(words, -1)
""",
            None,
        ),
        Good(
            """
def find():
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return tf.distribute.TPUStrategy(resolver)
    except ValueError:
        return tf.distribute.get_strategy()

strategy = find()
""",
            None,
        ),
        Good(
            """
def strategy_of(resolver):
    return tf.distribute.TPUStrategy(resolver)
""",
            None,
            why="the caller that passes the resolver may have initialised the TPU",
        ),
        Good(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
strategy = tf.distribute.TPUStrategy(resolver)
""",
            None,
            why="`connect` initialises the TPU",
        ),
        Good(
            """
def initialise(resolver):
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
initialise(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
""",
            None,
        ),
        Good(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
""",
            None,
            why="nothing is on the TPU yet, as where a notebook has the same cell twice",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                strategies = [step for step in steps if is_strategy(step.result) and is_tpu(step.result)]
                if strategies:
                    started = [step for step in steps if step.api == INITIALISE]
                    yield from _too_early(strategies, started)
                    yield from _again(strategies, started, steps)
                    yield from _unconnected(strategies, started, steps)
                    yield from _lost(strategies, steps)


def _too_early(strategies: Sequence[SetupCall], started: Sequence[SetupCall]) -> Iterator[Draft]:
    """Strategies before the TPU is initialised."""
    for step in strategies:
        if not _knows_resolver(step.result):
            continue
        if not started:
            message = "nothing in this program initialises the TPU of this `TPUStrategy`"
            yield Draft(message, Effect.FAILS, ORDER, location=step.location, rewrite=partial(_initialised, step))
        first = min(started, key=lambda call: call.order, default=None)
        if first is not None and first.order > step.order and first.location.path == step.location.path:
            yield Draft(
                "this `TPUStrategy` is created before the TPU is initialised",
                Effect.FAILS,
                ORDER,
                location=step.location,
                notes=(DraftNote(first.location, "the TPU is initialised here"),),
            )


def _initialised(step: SetupCall, names: Names) -> Rewrite | None:
    """The connection and the initialisation before the strategy; a TPU of this machine needs no connection."""
    match step.node.args, [*step.location.unit.around(step.node)][:2]:
        case [cst.Arg(value=cst.Name(resolver)), *_], [cst.Assign(), cst.SimpleStatementLine(body=[_]) as line]:
            lines = [f"{names.tf}.tpu.experimental.initialize_tpu_system({resolver})"]
            if address_of(step.result) != "local":
                lines.insert(0, f"{names.tf}.config.experimental_connect_to_cluster({resolver})")
            edits = (before(step.location.at(line), "\n".join(lines)),)
            return Rewrite("Initialise the TPU first", edits, Safety.UNSAFE, DIFFERS)
        case _:
            return None


def _again(
    strategies: Sequence[SetupCall], started: Sequence[SetupCall], steps: Sequence[SetupCall]
) -> Iterator[Draft]:
    """Initialisations once a strategy is there and has been used: before that, there is nothing to lose."""
    for step in strategies:
        before = [call for call in started if call.order < step.order]
        uses = [call for call in steps if call.order > step.order and _uses_strategy(call)]
        for call in started:
            earlier = [use for use in uses if use.order < call.order]
            used = _entry(call) == _entry(step) and bool(earlier) and not _made_anew(earlier, call)
            if before and used and call.order > step.order and call.location.path == step.location.path:
                yield Draft(
                    "initialising the TPU again loses the variables that the strategy keeps on it",
                    Effect.TPU,
                    "initialise the TPU once, before the strategy is created",
                    location=call.location,
                    notes=(DraftNote(step.location, "the strategy is created here"),),
                )


def _entry(step: SetupCall) -> Location | None:
    """The function that nobody is seen to call by which the code is reached; None where the program itself comes there.
    Of two such functions, or of one beside the program, whoever runs the one need not run the other."""
    trail = step.trail
    while trail is not None and trail.parent is not None:
        trail = trail.parent
    return None if trail is None or isinstance(trail.location.node, cst.Call) else trail.location


def _made_anew(uses: Sequence[SetupCall], start: SetupCall) -> bool:
    """Whether each iteration of a loop initialises the TPU and makes all that keeps variables there: the model of a
    fold, which is over."""
    loop = _loop_around(start.location)
    loop = _loop_around(start.location)
    objects = (each for use in uses for each in (use.owner, use.result) if each is not None and keeps_variables(each))
    places = [made.location for made in map(making_of, objects) if made is not None]
    return bool(places) and loop is not None and all(_is_made_in(loop, start.location.unit, place) for place in places)


def _is_made_in(loop: cst.For | cst.While, unit: Unit, place: Location) -> bool:
    """Whether something is made in a loop, in a function that the loop names, or by the constructor of another object,
    which is looked at itself."""
    if place.unit is unit and loop in unit.around(place.node):
        return True
    function = place.unit.function_around(place.node)
    named = {node.value for node in cst.within(loop.body) if isinstance(node, cst.Name)}
    return function is not None and (function.name.value == "__init__" or function.name.value in named)


def _loop_around(location: Location) -> cst.For | cst.While | None:
    for outer in location.unit.around(location.node):
        match outer:
            case cst.FunctionDef():
                return None
            case cst.For() | cst.While() as loop:
                return loop
    return None


def _uses_strategy(step: SetupCall) -> bool:
    """Whether a call enters the scope of a strategy, or runs something by it."""
    return step.context.scope is not None or (step.owner is not None and is_strategy(step.owner))


def _unconnected(
    strategies: Sequence[SetupCall], started: Sequence[SetupCall], steps: Sequence[SetupCall]
) -> Iterator[Draft]:
    """A TPU node that nobody connects to."""
    if any(is_node(step.result) for step in strategies) and not any(step.api in CONNECT for step in steps):
        for call in started:
            yield Draft(
                "a TPU node is another machine, but nothing connects this program to it",
                Effect.TPU,
                ORDER,
                location=call.location,
            )


def _lost(strategies: Sequence[SetupCall], steps: Sequence[SetupCall]) -> Iterator[Draft]:
    """Lookup tables from before the connection to another machine."""
    if any(address_of(step.result) in (None, "local") for step in strategies):
        return
    for connection in (step for step in steps if step.api in CONNECT):
        for step in steps:
            earlier = step.order < connection.order and step.location.path == connection.location.path
            if step.api.startswith("tf.lookup.") and earlier:
                yield Draft(
                    "this table is created before the connection to the TPU, which drops it",
                    Effect.TPU,
                    "connect to the TPU first",
                    location=step.location,
                    notes=(DraftNote(connection.location, "the program connects here"),),
                )


def _knows_resolver(strategy: Value) -> bool:
    """Whether the strategy's resolver is made in sight, or there is none."""
    match strategy:
        case ApiObject(payload=ApiObject(api=made)):
            return made == RESOLVER
        case ApiObject(payload=payload):
            return payload in (None, NONE)
        case _:
            return False
