"""Code around the replicas of a strategy uses what each of them has one of as if it were one tensor.

## What it does
Reports uses of what `strategy.run` returns, and of the batches of a distributed dataset, in code that is no step of the
strategy, if the strategy has several replicas: arithmetic and comparisons, indices, `float(..)`, `.numpy()`, `.shape`
and other attributes of tensors, number formats, iteration, and calls of TensorFlow's functions, of models, layers,
losses and metrics. One finding for each place that such values come from, with notes at the further uses.

## What XLA does
XLA sees none of it: with several replicas these values are objects of the class `PerReplica`, which hold one tensor for
each replica. Measured with TensorFlow 2.21 and a `MirroredStrategy` of two CPU devices, eagerly and in a `tf.function`
around `strategy.run`:

| use of such a value `r` | what happens |
| --- | --- |
| `r + 1`, `total += r`, `r / 2`, `-r`, `r > 0`, `sum([r])`, `r[0]`, `len(r)`, `for x in r` | `TypeError` |
| `float(r)`, `f"{r:.3f}"`, `"%.3f" % r`, `np.mean(r)` | `TypeError` |
| `r.numpy()`, `r.shape`, `r.dtype` | `AttributeError` |
| `tf.reduce_mean(r)`, `tf.cast(r, ..)`, `tf.stack([r])`, `model(r)`, `mean(r)` | `ValueError` |
| `print(r)`, `f"{r}"`, `tf.print(r)` | shows the tensors of all replicas |
| `bool(r)`, `r == 0` | True and False, whatever it holds |
| `r.values`, `tf.identity(r)`, `tf.nest.flatten(r)`, `variable.assign(r)`, and passing it to a `tf.function` | works |

With one replica the same values are tensors, and all of this works but `.values`: so it does on one GPU, and fails on
the eight cores of a TPU.

## Example
    loss = strategy.run(step, args=(batch,))
    total += loss.numpy()

## Use instead
    losses = strategy.run(step, args=(batch,))
    total += strategy.reduce("SUM", losses, axis=None).numpy()

## Not flagged
- What `strategy.reduce`, `strategy.gather` and `strategy.experimental_local_results` return.
- Values that are passed to `strategy.run` again, and what is used in the step.
- Text that is made of such values, and their truth: these do not fail.
- Variables that a step returns, which have a copy on each device.
- Results of a step whose form is not known: a dict of such values is a dict.
- What a nested function reads of the names around it.
- Strategies of one device, and those that are not known.

## Fix safety
There is no fix: whether the sum, the mean or all rows of what the replicas have is meant, is for the program to say.

## References
- https://www.tensorflow.org/tutorials/distribute/custom_training
- https://www.tensorflow.org/api_docs/python/tf/distribute/DistributedValues
"""

from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.values import Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.replicas import UsePerReplica
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.strategies import RUNS, is_strategy
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, DraftNote, Effect, Good, Rule, Runs, Severity

from ._strategies import distributes, method_of

_HELP: Final = 'strategy.reduce("SUM", value, axis=None), strategy.gather(value, axis=0), or use it in the step'


def _program(used: str, devices: str = '["CPU:0", "CPU:1"]') -> str:
    return f"""
strategy = tf.distribute.MirroredStrategy({devices})
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    mean = tf.keras.metrics.Mean()

def step(x):
    return tf.reduce_sum(model(x) ** 2)

def both(x):
    y = model(x)
    return {{"outputs": y, "loss": tf.reduce_sum(y ** 2)}}

data = tf.data.Dataset.from_tensor_slices(tf.ones([16, 3])).batch(8)
data = strategy.experimental_distribute_dataset(data)
total = 0.0
for batch in data:
{used}
"""


def _bad(used: str, place: str, error: str = "PerReplica", why: str = "") -> Bad:
    return Bad(_program(used), [place], Breaks(error), effect=Effect.FAILS, severity=Severity.WARNING, why=why)


class PerReplicaValue(Rule):
    code = "XLA525"
    name = "per-replica-value"
    handles = (UsePerReplica, Program)
    bad = (
        _bad("    loss = strategy.run(step, args=(batch,))\n    print(loss.numpy())", "loss.numpy"),
        _bad("    total += strategy.run(step, args=(batch,))", "total += strategy.run(step, args=(batch,))"),
        _bad("    print(float(strategy.run(step, args=(batch,))))", "float(strategy.run(step, args=(batch,)))"),
        _bad("    loss = strategy.run(step, args=(batch,))\n    print(f'{loss:.3f}')", "loss"),
        _bad(
            "    loss = strategy.run(step, args=(batch,))\n    mean.update_state(loss)\n    print(loss / 2)",
            "mean.update_state(loss)",
            why="told once, with a note at the other use",
        ),
        _bad(
            '    found = strategy.run(both, args=(batch,))\n    print(tf.reduce_mean(found["loss"]), found["loss"])',
            'tf.reduce_mean(found["loss"])',
            why="one part of what the step returns",
        ),
        _bad("    print(tf.shape(batch)[0])", "tf.shape(batch)", why="a batch of a distributed dataset"),
        _bad("    print(model(batch))", "model(batch)", why="without `strategy.run`"),
        Bad(
            f"""{_program("    pass")}
@tf.function
def train(iterator):
    losses = strategy.run(step, args=(next(iterator),))
    return tf.reduce_mean(losses)

train(iter(data))
""",
            ["tf.reduce_mean(losses)"],
            Breaks("PerReplica"),
            severity=Severity.WARNING,
            why="in the graph around the step",
        ),
        Bad(
            f"""{_program("    pass")}
class Trainer:
    def __init__(self, strategy):
        self.strategy = strategy

    @tf.function
    def train(self, x):
        return self.strategy.run(step, args=(x,))

    def fit(self, data):
        for x in data:
            loss = self.train(x)
            if loss > 1e9:
                break

Trainer(strategy).fit(data)
""",
            ["loss > 1e9"],
            Breaks("PerReplica"),
            severity=Severity.WARNING,
            why="what a compiled function returns of it",
        ),
    )
    good = (
        Good(
            _program(
                '    total += strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)\n'
                '    outputs = strategy.run(both, args=(batch,))["outputs"]\n'
                "    print(strategy.gather(outputs, axis=0)[0])"
            ),
            Runs(),
            why="put together",
        ),
        Good(
            _program(
                "    losses = strategy.run(step, args=(batch,))\n"
                "    print([loss.numpy() for loss in strategy.experimental_local_results(losses)])"
            ),
            Runs(),
            why="one by one",
        ),
        Good(_program("    losses = strategy.run(step, args=(batch,))\n    print(f'{losses}', losses)"), Runs()),
        Good(
            _program("    y = strategy.run(model, args=(batch,))\n    strategy.run(tf.reduce_sum, args=(y,))"),
            Runs(),
            why="back to the replicas",
        ),
        Good(
            _program(
                """    found = strategy.run(both, args=(batch,))
    for name in found:
        found[name] = strategy.experimental_local_results(found[name])
    print(found["outputs"][0].numpy()[0])"""
            ),
            Runs(),
            why="a dict of them is a dict",
        ),
        Good(
            _program(
                """    @tf.function
    def first():
        return batch[tf.distribute.get_replica_context().replica_id_in_sync_group]

    batch = tf.ones([2, 3])
    batch = strategy.run(first)
    strategy.experimental_local_results(batch)"""
            ),
            None,
            why="the function reads what the name stands for before",
        ),
        Good(_program("    print(strategy.run(step, args=(batch,)).values[0].numpy())"), Runs(), why="its own"),
        Good(
            _program("    total += strategy.run(step, args=(batch,)).numpy()\n    model(batch[:2])", '["CPU:0"]'),
            Runs(),
            why="one replica",
        ),
        Good(
            _program("    pass")
            + """
for rows in tf.data.Dataset.from_tensors(tf.ones([8, 3])).repeat(2):
    print(model(rows)[0].numpy())
""",
            Runs(),
            why="batches that nobody distributes",
        ),
    )

    def __init__(self) -> None:
        self._uses: dict[Location, dict[Location, UsePerReplica]] = {}  # by where the strategy gives what they use

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case UsePerReplica(location=location, parted=parted):
                self._uses.setdefault(parted, {}).setdefault(location, event)
            case Program(steps=steps):
                for parted, uses in self._uses.items():
                    runs = [step.owner for step in steps if method_of(step) in RUNS and step.location == parted]
                    if _have_several_replicas(runs or _strategies(steps)):
                        what = "what the strategy's `run` returns" if runs else "a batch of a distributed dataset"
                        yield _draft(what, parted, sorted(uses.values(), key=lambda use: use.order))


def _strategies(steps: Sequence[SetupCall]) -> Sequence[Value]:
    return [step.result for step in steps if is_strategy(step.result)]


def _have_several_replicas(strategies: Sequence[Value | None]) -> bool:
    """Whether one of the strategies that may be meant is known to have several replicas."""
    return any(strategy is not None and distributes(strategy) for strategy in strategies)


def _draft(what: str, parted: Location, uses: Sequence[UsePerReplica]) -> Draft:
    first, *others = uses
    return Draft(
        f"{what} is not a tensor but a `PerReplica` of those that the replicas have:"
        f" `{brief(first.location.node)}` fails",
        Effect.FAILS,
        _HELP,
        location=first.location,
        notes=(DraftNote(parted, "it comes from here"), *(DraftNote(it.location, "this fails, too") for it in others)),
        at_most=Severity.WARNING,
    )
