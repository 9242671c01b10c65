"""A strategy's `run` is passed a model, an optimizer or a function, of which a TPU cannot make tensors.

## What it does
Reports arguments of `strategy.run(step, args=.., kwargs=..)`, also in lists and dicts, that are layers, models,
optimizers, losses and metrics of Keras's, functions and classes. There is one finding for each call; notes name the
other arguments. For the strategy of a TPU that is an error. Where the target is a TPU, and the program has a
`MirroredStrategy` or another one with several devices, which passes the same objects on as they are, it is a warning.

## What XLA does
XLA is not reached. A `TPUStrategy` passes what `run` is given to `tf.compat.v1.tpu.replicate`, which makes a tensor of
each part. Measured with TensorFlow 2.21 and Keras 3.15: that function, in a `tf.function` on a CPU.

| passed | on a TPU | `MirroredStrategy` |
| --- | --- | --- |
| tensors, NumPy arrays, numbers, strings, `None`, variables, iterators | tensors, which the step gets | works |
| a model, layer, optimizer, loss or metric | `TypeError`: "Failed to convert elements of .. to Tensor" | works |
| a function, a class, an object of the program's own | the same | works |

## Example
    strategy.run(step, args=(x, y, model, optimizer))

## Use instead
    def step(x, y):
        ..  # reads `model` and `optimizer` from around it

    strategy.run(step, args=(x, y))

## Not flagged
Programs without a strategy, strategies of one device, objects of the program's own classes that do not derive from
Keras's, which may be structures, and values that are not known.

## Fix safety
Shown only: the step has to find the objects elsewhere, as a closure, an attribute or a partial function.

## References
- https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy#run
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.kinds import leaves, options
from xlalint.analysis.domain.values import NONE, ApiObject, ClassValue, FunctionValue, Instance, Sequence, Value
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.analysis.library.api import kind_of
from xlalint.analysis.library.strategies import RUNS, is_tpu
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

from ._strategies import PASSED, distributes, made_note, method_of, passed_by

_KINDS: Final = ("layer", "loss", "metric", "model", "optimizer")
_BODY: Final = """
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)

def loss_of(y, made):
    return tf.nn.compute_average_loss(tf.reduce_sum((made - y) ** 2, -1), global_batch_size=8)

def step(x, y, net=None, by=None, loss=loss_of):
    net, by = net or model, by or optimizer
    with tf.GradientTape() as tape:
        value = loss(y, net(x))
    by.apply_gradients(zip(tape.gradient(value, net.trainable_variables), net.trainable_variables))
    return value

dataset = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(2)
"""
_TWO: Final = f'import tensorflow as tf\n\nstrategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])\n{_BODY}'
_ONE: Final = f'import tensorflow as tf\n\nstrategy = tf.distribute.MirroredStrategy(["CPU:0"])\n{_BODY}'
_TPU: Final = f"""import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
{_BODY}"""


def _trained(program: str, given: str, outer: str = "") -> str:
    return f"""{program}
@tf.function
def train(x, y{outer and f", {outer}"}):
    return strategy.run(step, {given})

for x, y in strategy.experimental_distribute_dataset(dataset):
    train(x, y{outer and f", {outer}"})
"""


class PassedObject(Rule):
    code = "XLA535"
    name = "passed-object"
    handles = (SetupCall,)
    bad = (
        Bad(
            _trained(_TPU, "args=(x, y, model, optimizer)"),
            ["model"],
            None,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
            why="there is no TPU here",
        ),
        Bad(
            _trained(_TWO, "args=(x, y, model, optimizer)", "model, optimizer"),
            ["model"],
            Runs(),
            effect=Effect.TPU,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            _trained(_TWO, 'args=(x, y), kwargs={"loss": loss_of}'),
            ['{"loss": loss_of}'],
            Runs(),
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"""{_TWO}
class Trainer:
    def __init__(self):
        self.models, self.metric = [model, model], tf.keras.metrics.Mean()

    def replica_step(self, x, y, models, metric):
        metric.update_state(step(x, y, models[0]))

    @tf.function
    def train(self, x, y):
        strategy.run(self.replica_step, (x, y, self.models, self.metric))

trainer = Trainer()
for x, y in strategy.experimental_distribute_dataset(dataset):
    trainer.train(x, y)
""",
            ["self.models"],
            None,
            severity=Severity.WARNING,
            target="tpu",
            why="the metric is not created in the scope",
        ),
    )
    good = (
        Good(_trained(_TWO, "args=(x, y)"), Runs(), target="tpu", why="the step finds the model itself"),
        Good(_trained(_TWO, "args=(x, y, None)"), Runs(), target="tpu"),
        Good(_trained(_TWO, "args=(x, y, model)"), Runs(), why="nobody asks for a TPU"),
        Good(_trained(_ONE, "args=(x, y, model)"), Runs(), target="tpu", why="one device"),
        Good(
            f"{_TWO}\n@tf.function\ndef show(x):\n    return strategy.run(model, args=(x,))\n\nshow(tf.ones([8, 3]))\n",
            Runs(),
            target="tpu",
            why="the model is what runs",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case SetupCall(owner=ApiObject() as strategy) if method_of(event) in RUNS and distributes(strategy):
                found = [(what, node) for value, node in _parts(event) if (what := _refused(value)) is not None]
                if found:
                    yield _draft(event, strategy, *found)


def _parts(run: SetupCall) -> Iterator[tuple[Value, cst.BaseExpression]]:
    """What the step is passed, each part where it is written."""
    for name in PASSED:
        match run.arguments.get(name), passed_by(run.node, name):
            case Sequence(items=tuple(items)), cst.Tuple(elements=parts) | cst.List(elements=parts) if len(
                items
            ) == len(parts):
                yield from zip(items, (part.value for part in parts), strict=True)
            case value, node if value is not None:
                yield value, node


def _refused(value: Value) -> str | None:
    """What of a part no tensor can be made of; where it may be several things, of all but `None`."""
    given = [option for option in options(value) if option != NONE]
    found = [next(filter(None, map(_kind, leaves(option))), None) for option in given]
    return found[0] if found and None not in found else None


def _kind(value: Value) -> str | None:
    match value:
        case Instance(cls):
            return next((kind for kind in _KINDS if cls.is_keras(kind)), None)
        case ApiObject(api=name, method=None):
            kind = kind_of(name)
            return kind if kind in _KINDS else None
        case FunctionValue():
            return "function"
        case ClassValue():
            return "class"
        case _:
            return None


def _named(kind: str) -> str:
    return f"an {kind}" if kind == "optimizer" else f"a {kind}"


def _draft(
    run: SetupCall,
    strategy: ApiObject,
    first: tuple[str, cst.BaseExpression],
    *others: tuple[str, cst.BaseExpression],
) -> Draft:
    tpu, (what, node) = is_tpu(strategy), first
    return Draft(
        f"`{brief(node)}` passes {_named(what)} to the step: a TPU strategy makes tensors of all that it passes, and"
        " raises a TypeError",
        Effect.FAILS if tpu else Effect.TPU,
        "have the step read it from around it, as a closure or an attribute, and pass tensors alone",
        location=run.location.at(node),
        notes=(
            *(DraftNote(run.location.at(other), f"and {_named(kind)} here") for kind, other in others),
            *made_note(strategy, "the strategy is created here"),
        ),
        at_most=Severity.ERROR if tpu else Severity.WARNING,
        told=Told.ALWAYS if tpu else Told.FOR_TPU,
    )
