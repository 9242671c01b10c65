"""A step that a strategy runs calls what only the code around the replicas may: `reduce`, `gather`, `run` or `scope`.

## What it does
Reports `strategy.reduce`, `strategy.gather`, `strategy.run` and `with strategy.scope():` in code that `strategy.run`
runs on each replica, also in the functions that it calls.

## What XLA does
XLA is not reached: TensorFlow raises `RuntimeError` during tracing. Measured with TensorFlow 2.21 on two CPU devices,
in a `tf.function` and line by line. All strategies share the code of this check, that of a TPU, too.

| in the step of a replica | result |
| --- | --- |
| `strategy.reduce(..)`, `strategy.run(..)` | "Method requires being in cross-replica context" |
| `with strategy.scope():` | "Method requires being in cross-replica context" |
| `strategy.gather(..)` | "requires cross-replica context" |
| `strategy.num_replicas_in_sync`, `tf.distribute.get_replica_context().all_gather(..)` | works |

## Example
    def replica_step(x, y):
        loss = train(x, y)
        return strategy.reduce("SUM", loss, axis=None)

    @tf.function
    def step(x, y):
        return strategy.run(replica_step, args=(x, y))

## Use instead
    def replica_step(x, y):
        return train(x, y)

    @tf.function
    def step(x, y):
        losses = strategy.run(replica_step, args=(x, y))
        return strategy.reduce("SUM", losses, axis=None)

Where the step itself needs the sum of all replicas: `tf.distribute.get_replica_context().all_reduce("SUM", loss)`.

## Not flagged
- Code around the replicas, functions that are only called there, and what `merge_call` runs.
- A strategy that nobody knows, the default one, and strategies of one device.

## Fix safety
Shown only: the code around `run` has to take over what the replicas return.

## References
- https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#reduce
- https://www.tensorflow.org/api_docs/python/tf/distribute/ReplicaContext
"""

from collections.abc import Iterator, Mapping
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.analysis.library.strategies import is_strategy
from xlalint.linter.rule import Bad, Breaks, Draft, Effect, Good, Rule, Runs, Severity

from ._strategies import distributes, made_note, method_of, name_of

_INSTEAD: Final[Mapping[str, str]] = {
    "gather": "in the step `tf.distribute.get_replica_context().all_gather(..)`, or gather what `run` returns",
    "reduce": 'in the step `tf.distribute.get_replica_context().all_reduce("SUM", ..)`, or reduce what `run` returns',
    "run": "call the function itself: the replica runs already",
    "scope": "no scope: create what has variables around the step",
}


def _program(step: str, around: str = "strategy.run(step, args=(x,))", helper: str = "") -> str:
    return f"""
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    weight = tf.Variable(1.0)
{helper}
def step(x):
{step}

@tf.function
def train(x):
    return {around}

train(tf.ones([]))
"""


def _bad(step: str, place: str, error: str, why: str, helper: str = "") -> Bad:
    code, effect = _program(step, helper=helper), Effect.FAILS
    return Bad(code, [place], Breaks(error), effect=effect, severity=Severity.ERROR, why=why)


_CROSS: Final = "cross-replica context"
_HELPER: Final = """
def total(x):
    return strategy.reduce("SUM", x, axis=None)

class Trainer:
    def __init__(self, strategy):
        self.strategy = strategy

    def mean(self, x):
        return self.strategy.reduce(tf.distribute.ReduceOp.MEAN, x, axis=None)

trainer = Trainer(strategy)
"""


class CallAroundReplicas(Rule):
    code = "XLA533"
    name = "call-around-replicas"
    handles = (SetupCall,)
    traced = True
    bad = (
        _bad(
            '    return strategy.reduce("SUM", weight * x, axis=None)',
            'strategy.reduce("SUM", weight * x, axis=None)',
            _CROSS,
            "in the step",
        ),
        _bad("    return total(x)", 'strategy.reduce("SUM", x, axis=None)', _CROSS, "in a function", _HELPER),
        _bad(
            "    return trainer.mean(x)",
            "self.strategy.reduce(tf.distribute.ReduceOp.MEAN, x, axis=None)",
            _CROSS,
            "in a method",
            _HELPER,
        ),
        _bad("    with strategy.scope():\n        return weight * x", "strategy.scope()", _CROSS, "a scope"),
        _bad(
            "    return strategy.run(tf.square, args=(x,))",
            "strategy.run(tf.square, args=(x,))",
            _CROSS,
            "a run in a run",
        ),
        _bad(
            "    return strategy.gather(tf.reshape(x, [1]), axis=0)",
            "strategy.gather(tf.reshape(x, [1]), axis=0)",
            _CROSS,
            "to gather",
        ),
    )
    good = (
        Good(
            _program(
                "    return weight * x / strategy.num_replicas_in_sync",
                'strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)',
            ),
            Runs(),
            why="around the replicas",
        ),
        Good(
            _program("    return tf.distribute.get_replica_context().all_gather(tf.reshape(weight * x, [1]), axis=0)"),
            Runs(),
            why="a method for replicas",
        ),
        Good(
            _program("    return weight * x", "total(strategy.run(step, args=(x,)))", _HELPER),
            Runs(),
            why="a function that is called around the replicas alone",
        ),
        Good(
            _program("    return weight * x", "strategy.experimental_local_results(strategy.run(step, args=(x,)))"),
            Runs(),
            why="what each replica returns",
        ),
        Good(
            _program(
                "    return tf.distribute.get_replica_context().merge_call(merged, args=(weight * x,))",
                helper="""
def merged(strategy, values):
    return strategy.reduce("SUM", values, axis=None)
""",
            ),
            Runs(),
            why="`merge_call` runs it around the replicas",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, SetupCall)
        owner, method = event.owner, method_of(event)
        if not event.context.in_replica or method not in _INSTEAD or owner is None:
            return
        if is_strategy(owner) and distributes(owner):
            yield Draft(
                f"each replica of `{name_of(owner)}` calls `{method}`, which only the code around the replicas may",
                Effect.FAILS,
                _INSTEAD[method],
                notes=made_note(owner, "the strategy"),
            )
