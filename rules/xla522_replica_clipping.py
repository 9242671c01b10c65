"""A step under a strategy clips the gradients of its own replica, before those of all replicas are added up.

## What it does
Reports `tf.clip_by_global_norm`, `tf.clip_by_norm` and `tf.clip_by_value` of gradients in a step that `strategy.run` or
Keras runs on several replicas, if an optimizer applies what is clipped, and in the `apply_gradients` of an optimizer of
the program's own that takes steps there. As information, also optimizers that clip by
themselves under a strategy of Keras 3 (`clipnorm`, `global_clipnorm`, `clipvalue`), and, where the target is a TPU, the
step of a program that has no strategy yet.

## What XLA does
XLA compiles it as it stands: the strategy makes the difference, as `apply_gradients` adds the gradients of all replicas
up behind the clipping. Measured with TensorFlow 2.21, Keras 3.15 and tf_keras 2.21, a `MirroredStrategy` on two CPU
devices, one step of SGD with a learning rate of 1, a global batch of 8, and gradients with a norm of 1.85:

| clipped to a norm of 0.5 | one replica | two, Keras 3 | two, Keras 2 |
| --- | --- | --- | --- |
| `tf.clip_by_global_norm`, `tf.clip_by_norm` | 0.5 | 0.928 | 0.928 |
| `global_clipnorm=0.5`, `clipnorm=0.5` of the optimizer, in a step or in `fit` | 0.5 | 0.928 | 0.5 |
| the bound divided by the number of replicas | 0.5 | 0.464 | - |
| all replicas' gradients added up, clipped, divided by the number of replicas | 0.5 | 0.5 | - |

An optimizer of one's own that clips in `apply_gradients`, in `fit` on other data: 0.5 with one replica, with two 0.90
(Keras 3) and 0.76 (Keras 2).

The same for single elements: `tf.clip_by_value(g, -0.3, 0.3)` leaves 0.6 of two replicas. With the 8 cores of a TPU
that is 8 times the bound. The direction changes, too, because a replica with large gradients counts for less.

## Example
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    strategy.run(step, args=batch)

## Use instead
    gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    gradients = [gradient / strategy.num_replicas_in_sync for gradient in gradients]

The optimizer adds up once more. In Keras 2, `apply_gradients(.., skip_gradients_aggregation=True)` does not, and then
nothing is to be divided; Keras 3 has no such argument and raises `TypeError` (measured).

## Not flagged
- Gradients that the step has added up before it clips them, and what it changes behind that.
- Bounds that the program computes, such as by the number of replicas.
- Optimizers that clip by themselves where Keras 2 runs them.
- Strategies that are not known, and those of one device.

## Fix safety
There is no fix: the bound may have been found with what it does now.

## References
- https://www.tensorflow.org/api_docs/python/tf/distribute/ReplicaContext#all_reduce
- https://www.tensorflow.org/api_docs/python/tf/clip_by_global_norm
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import ApiObject, Class, Creation, Instance
from xlalint.analysis.files.unit import Location, Unit
from xlalint.analysis.interpreter.contexts import Context
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.analysis.interpreter.setup_events import HoldModels, Program, SetupCall
from xlalint.analysis.library.optimizers import OPTIMIZES, is_optimizer
from xlalint.analysis.library.strategies import is_strategy
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity, Told
from xlalint.syntax import nodes as cst

from ._applied import CLIPS, GRADIENT, AppliedGradients, steps_of_models, steps_to_come
from ._provenance import Provenance
from ._strategies import method_of, model_strategy, name_of, strategy_in

_HELP: Final = (
    'tf.distribute.get_replica_context().all_reduce("SUM", gradients) before it is clipped, and behind that'
    " / strategy.num_replicas_in_sync"
)
_TOO_LARGE: Final = "what is applied may be as many times larger than the bound as there are replicas"
_OWN: Final = frozenset(("clipnorm", "clipvalue", "global_clipnorm"))
_BOUNDS: Final = ("clip_norm", "clip_value_max")
_SCOPE: Final = 'strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])'
_NORM: Final = "tf.clip_by_global_norm(gradients, 0.5)"


def _program(clip: str, apply: str = "zip(gradients, model.trainable_variables)", n: int = 2, own: str = "") -> str:
    return f"""
{_SCOPE if n == 2 else 'strategy = tf.distribute.MirroredStrategy(["CPU:0"])'}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01{own})

@tf.function
def train(x, y):
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum((model(x) - y) ** 2, -1)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=8)
        gradients = tape.gradient(loss, model.trainable_variables)
        {clip}
        optimizer.apply_gradients({apply})
        return loss
    return strategy.run(step, args=(x, y))

data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(2)
for x, y in strategy.experimental_distribute_dataset(data):
    train(x, y)
"""


_ALONE: Final = f"""
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - y) ** 2) / 8.0
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, norm = {_NORM}
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return norm

for x, y in tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 3]))).repeat(2):
    train(x, y)
"""


_OWN_OPTIMIZER: Final = """
class Clipping(tf.keras.optimizers.SGD):
    def apply_gradients(self, grads_and_vars, **settings):
        gradients, variables = zip(*grads_and_vars)
        gradients, _ = tf.clip_by_global_norm(list(gradients), clip_norm=0.5)
        return super().apply_gradients(zip(gradients, variables), **settings)

{make}
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile(Clipping(0.1), "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=8, verbose=0)
"""


class ReplicaClipping(Rule):
    code = "XLA522"
    name = "replica-clipping"
    handles = (ApiCall, HoldModels, Program)
    apis = frozenset((GRADIENT, *CLIPS))
    bad = (
        Bad(
            _program(f"gradients, _ = {_NORM}"),
            [_NORM],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="all_reduce",
        ),
        Bad(
            _program(
                "limit = 0.5",
                "[(tf.clip_by_norm(g, limit), v) for g, v in zip(gradients, model.trainable_variables)]",
            ),
            ["tf.clip_by_norm(g, limit)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="each by itself",
        ),
        Bad(
            _program("gradients = [tf.clip_by_value(g, -0.3, 0.3) for g in gradients if g is not None]"),
            ["tf.clip_by_value(g, -0.3, 0.3)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="element by element",
        ),
        Bad(
            f"""{_SCOPE}
class Model(tf.keras.Sequential):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.compute_loss(data[0], data[1], self(data[0]))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip({_NORM}[0], self.trainable_variables))
        return {{"loss": loss}}

with strategy.scope():
    model = Model([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=8, verbose=0)
""",
            [_NORM],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="a step of its own, which Keras runs",
        ),
        Bad(
            f"""{_SCOPE}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(global_clipnorm=1.0), "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=8, verbose=0)
""",
            ["tf.keras.optimizers.Adam(global_clipnorm=1.0)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="Keras 3 clips each replica's gradients",
        ),
        Bad(
            _program("", own=", clipnorm=0.5"),
            ["tf.keras.optimizers.SGD(0.01, clipnorm=0.5)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="in a step of the program's own",
        ),
        Bad(
            _OWN_OPTIMIZER.format(make=_SCOPE + "\nwith strategy.scope():"),
            ["tf.clip_by_global_norm(list(gradients), clip_norm=0.5)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="an optimizer of one's own, in `fit`",
        ),
        Bad(
            _OWN_OPTIMIZER.format(make="if True:"),
            ["tf.clip_by_global_norm(list(gradients), clip_norm=0.5)"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="the strategy is still to come",
            target="tpu",
        ),
        Bad(
            _ALONE,
            [_NORM],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            why="the strategy is still to come",
            target="tpu",
        ),
    )
    good = (
        Good(_OWN_OPTIMIZER.format(make="if True:"), Runs(), why="one replica alone, and none to come"),
        Good(
            _OWN_OPTIMIZER.format(make=_SCOPE + "\nwith strategy.scope():").replace(
                "        gradients, _ =",
                '        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)'
                "\n        gradients, _ =",
            ),
            Runs(),
            why="the optimizer adds up before it clips",
        ),
        Good(_ALONE, Runs(), why="nobody says that there will be several replicas"),
        Good(
            _program(
                'gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)'
                f"\n        gradients, _ = {_NORM}"
                "\n        gradients = [gradient / strategy.num_replicas_in_sync for gradient in gradients]"
            ),
            Runs(),
            why="they are added up before",
        ),
        Good(
            _program(f"shown, norm = {_NORM}"),
            Runs(),
            why="others are applied than those that are clipped",
        ),
        Good(
            _program("gradients, _ = tf.clip_by_global_norm(gradients, 0.5 / strategy.num_replicas_in_sync)"),
            Runs(),
            why="each replica has its part of the bound",
        ),
        Good(_program(f"gradients, _ = {_NORM}", n=1), Runs(), why="one replica"),
        Good(_program("", own=", clipnorm=None"), Runs(), why="nothing is clipped"),
        Good(
            _program("", own=", clipnorm=0.5").replace("tf.keras", "tf_keras").replace("\n", "\nimport tf_keras\n", 1),
            None,
            why="Keras 2, which is a package of its own, adds up before it clips",
        ),
    )

    def __init__(self) -> None:
        self._provenance = Provenance()
        self._models: list[tuple[Class, ApiObject | None]] = []  # that Keras runs, with their strategies
        self._gradients: dict[Location, Context] = {}  # where they are taken, in which step
        self._from = AppliedGradients(self._provenance, self._gradients.__contains__)

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if api == GRADIENT:
                self._gradients[event.location] = event.context
            case ApiCall():
                self._provenance.remember(event)
            case HoldModels(cls=cls, made=Creation(scope=scope)):
                self._models.append((cls, strategy_in(scope)))
            case Program(steps=steps, taped=taped):
                yield from _by_themselves(steps)
                yield from self._in_classes(steps)
                if taped is not None and not any(is_strategy(step.result) for step in steps):
                    yield from self._to_come(taped)
                for step, unit, strategy in steps_of_models(self._models, self._gradients.items()):
                    yield from self._applied(step, unit, strategy)
                for each in steps:
                    inside = strategy_in(each.context.scope) if each.context.in_replica else None
                    if method_of(each) in OPTIMIZES and inside is not None:
                        yield from self._applied(each.node, each.location.unit, inside)

    def _clips(self, step: cst.Call, unit: Unit) -> Iterator[Location]:
        """Where the gradients that a step applies are clipped, by a bound that nobody computes."""
        _, clips = self._from.taken(step, unit) or (None, ())
        return (clip for clip in clips if self._is_bounded(unit, clip.node))

    def _is_bounded(self, unit: Unit, node: cst.CSTNode) -> bool:
        """Whether a call clips, by a bound that nobody computes."""
        call = self._provenance.call_at(unit, node)
        bounds = () if call is None else (call.argument_nodes.get(bound) for bound in _BOUNDS)
        given = [self._provenance.made(unit, bound) for bound in bounds if bound is not None]
        return call is not None and not any(isinstance(bound, cst.BinaryOperation | cst.Call) for bound in given)

    def _in_classes(self, steps: tuple[SetupCall, ...]) -> Iterator[Draft]:
        """Optimizers of the program's own that clip what they are to apply."""
        to_come = not any(is_strategy(step.result) for step in steps)
        told = set[Location]()
        for step in steps:
            for optimizer in (step.owner, step.arguments.get("optimizer")):
                clip = self._own_clip(optimizer.cls) if isinstance(optimizer, Instance) else None
                inside = method_of(step) in OPTIMIZES and step.context.in_replica
                strategy = strategy_in(step.context.scope) if inside else model_strategy(step)
                if clip is None or clip in told or (strategy is None and not to_come):
                    continue
                told.add(clip)
                yield Draft(
                    f"this optimizer clips the gradients of one replica, and {_adds_up(strategy)} what all replicas"
                    f" have clipped: {_TOO_LARGE}",
                    Effect.DIVERGES,
                    _HELP,
                    location=clip,
                    notes=(DraftNote(step.location, "a step of it"),),
                    at_most=Severity.INFO if to_come else Severity.WARNING,
                    told=Told.FOR_TPU_ALONE if to_come else Told.ALWAYS,
                )

    def _own_clip(self, cls: Class) -> Location | None:
        """Where the `apply_gradients` of a class of optimizers clips, if it adds up nothing itself."""
        method = cls.find("apply_gradients") if cls.is_keras("optimizer") else None
        if method is None:
            return None
        unit, calls = method.label.unit, [node for node in cst.within(method.node.body) if isinstance(node, cst.Call)]
        if any(isinstance(call.func, cst.Attribute) and call.func.attr.value == "all_reduce" for call in calls):
            return None
        return next((Location(unit, call) for call in calls if self._is_bounded(unit, call)), None)

    def _applied(self, step: cst.Call, unit: Unit, strategy: ApiObject) -> Iterator[Draft]:
        """An optimizer's step in a strategy's, if what it applies is clipped."""
        for clip in self._clips(step, unit):
            yield Draft(
                f"this clips the gradients of one replica, and `{name_of(strategy)}` adds up what all replicas have"
                f" clipped: {_TOO_LARGE}",
                Effect.DIVERGES,
                _HELP,
                location=clip,
                notes=(DraftNote(Location(unit, step), "they are applied here"),),
                at_most=Severity.WARNING,
            )

    def _to_come(self, taped: Location) -> Iterator[Draft]:
        """The steps of a program that has no strategy yet."""
        steps = steps_to_come(taped, self._gradients.items())
        clips = dict.fromkeys(clip for step, unit in steps for clip in self._clips(step, unit))
        if clips:
            first, *others = clips
            yield Draft(
                "under a strategy, this clips the gradients of one replica, and what all replicas have clipped is added"
                f" up: {_TOO_LARGE}",
                Effect.DIVERGES,
                _HELP,
                location=first,
                notes=tuple(DraftNote(other, "this, too") for other in others),
                at_most=Severity.INFO,
                told=Told.FOR_TPU_ALONE,
            )


def _adds_up(strategy: ApiObject | None) -> str:
    return "a strategy adds up" if strategy is None else f"`{name_of(strategy)}` adds up"


def _by_themselves(steps: tuple[SetupCall, ...]) -> Iterator[Draft]:
    """Optimizers of Keras 3 that clip by themselves, and that a strategy has take steps."""
    told = set[Location]()
    for step in steps if any(is_strategy(step.result) for step in steps) else ():
        for optimizer in (step.owner, step.arguments.get("optimizer")):
            match optimizer:
                case ApiObject(made=Creation(location=place)) if is_optimizer(optimizer) and place not in told:
                    inside = method_of(step) in OPTIMIZES and step.context.in_replica
                    strategy = strategy_in(step.context.scope) if inside else model_strategy(step)
                    if step.keras == 3 and strategy is not None and _clips(place.node):
                        told.add(place)
                        yield Draft(
                            "Keras 3 has this optimizer clip the gradients of each replica before"
                            f" `{name_of(strategy)}` adds them up: {_TOO_LARGE}",
                            Effect.DIVERGES,
                            _HELP,
                            location=place,
                            notes=(DraftNote(step.location, "it takes its steps under the strategy"),),
                            at_most=Severity.INFO,
                            keras_3=not step.keras_is_known,
                        )


def _clips(made: cst.CSTNode) -> bool:
    """Whether an optimizer is made with a bound, by a number."""
    match made:
        case cst.Call(args=arguments):
            own = [arg.value for arg in arguments if arg.keyword is not None and arg.keyword.value in _OWN]
            return any(isinstance(bound, cst.Float | cst.Integer) for bound in own)
        case _:
            return False
