"""A function that makes the batches of each replica makes them as large as those of all replicas together.

## What it does
Reports the size of `batch` in a function that is passed to `strategy.distribute_datasets_from_function`, if it is a
multiple of `num_replicas_in_sync`.

## What XLA does
XLA is not asked, and compiles a step that is larger than was meant. Measured with TensorFlow 2.21 on two CPU devices,
with a size of 8 for both together:

| | batch of each replica |
| --- | --- |
| `experimental_distribute_dataset(data.batch(8))` | 4: the strategy cuts it |
| `distribute_datasets_from_function(lambda context: data.batch(8))` | 8: the strategy takes it as it is |
| the same with `data.batch(context.get_per_replica_batch_size(8))` | 4 |

So each step sees that many times as many examples, a TPU may run out of memory, and a loss that is divided by the size
for all replicas is that many times too large.

## Example
    size = 64 * strategy.num_replicas_in_sync
    data = strategy.distribute_datasets_from_function(lambda context: dataset.batch(size))

## Use instead
    size = 64 * strategy.num_replicas_in_sync
    data = strategy.distribute_datasets_from_function(
        lambda context: dataset.batch(context.get_per_replica_batch_size(size))
    )

## Not flagged
- Sizes that are a number, or come from elsewhere: they may be those of a replica.
- Sizes divided by the number of replicas, or by what `get_per_replica_batch_size` gives.
- `experimental_distribute_dataset`, which cuts each batch.

## Fix safety
Shown only: the model then trains with smaller batches than so far, and the learning rate may have to change with them.

## References
- https://www.tensorflow.org/tutorials/distribute/input#tfdistributestrategydistribute_datasets_from_function
- https://www.tensorflow.org/api_docs/python/tf/distribute/InputContext#get_per_replica_batch_size
"""

import re
from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.counts import Count
from xlalint.analysis.domain.kinds import rows_of
from xlalint.analysis.domain.values import NONE
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.made_rows import BATCHES, size_of, size_passed
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Runs, Severity
from xlalint.syntax import nodes as cst

from ._strategies import places_of

TWO: Final = """
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
SIZE = 4 * strategy.num_replicas_in_sync
dataset = tf.data.Dataset.range(32)

@tf.function
def step(batch, size):
    tf.debugging.assert_equal(tf.shape(batch)[0], size)

def run(data, size):
    for batch in data:
        strategy.run(step, args=(batch, size))
"""
_MAKERS: Final = frozenset(("distribute_datasets_from_function", "experimental_distribute_datasets_from_function"))
_OF_REPLICAS: Final = re.compile(r"(?:^|\.)num_replicas_in_sync (?:in|of) ")


class WholeBatchPerReplica(Rule):
    code = "XLA530"
    name = "whole-batch-per-replica"
    handles = (Program,)
    bad = (
        Bad(
            f"""{TWO}
def batches(context):
    return dataset.batch(SIZE)

run(strategy.distribute_datasets_from_function(batches), SIZE)
""",
            ["SIZE"],
            Runs(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="context.get_per_replica_batch_size(SIZE)",
        ),
        Bad(
            f"""{TWO}
def batched(data, size, drop=False):
    return data.repeat(2).batch(batch_size=size, drop_remainder=drop).prefetch(1)

run(strategy.distribute_datasets_from_function(lambda context: batched(dataset, SIZE, True)), SIZE)
""",
            ["size"],
            Runs(),
            why="in a function that it calls",
        ),
        Bad(
            f"""{TWO}
class Data:
    def __init__(self, strategy, size):
        self.strategy = strategy
        self.size = size * self.strategy.num_replicas_in_sync

    def of_worker(self, context):
        own = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
        return own.batch(self.size, drop_remainder=True)

    def distributed(self):
        return self.strategy.distribute_datasets_from_function(self.of_worker)

run(Data(strategy, 4).distributed(), 8)
""",
            ["self.size"],
            Runs(),
        ),
        Bad(
            f"""{TWO}
def batches(context):
    return dataset.batch(2 * context.num_replicas_in_sync)

run(strategy.distribute_datasets_from_function(batches), 4)
""",
            ["2 * context.num_replicas_in_sync"],
            Runs(),
        ),
    )
    good = (
        Good(
            f"""{TWO}
def batches(context):
    return dataset.batch(context.get_per_replica_batch_size(SIZE))

run(strategy.distribute_datasets_from_function(batches), 4)
""",
            Runs(),
            why="the part of a replica",
        ),
        Good(
            f"""{TWO}
def batches(context):
    return dataset.batch(SIZE // context.num_replicas_in_sync)

run(strategy.distribute_datasets_from_function(batches), 4)
""",
            Runs(),
            why="the same by hand",
        ),
        Good(
            f"{TWO}\nrun(strategy.distribute_datasets_from_function(lambda context: dataset.batch(8)), 8)\n",
            Runs(),
            why="it may be the size for a replica",
        ),
        Good(
            f"{TWO}\nrun(strategy.experimental_distribute_dataset(dataset.batch(SIZE)), 4)\n",
            Runs(),
            why="the strategy cuts it",
        ),
        Good(
            f"""{TWO}
whole = dataset.batch(SIZE)
run(strategy.distribute_datasets_from_function(lambda context: whole.unbatch().batch(4)), 4)
for batch in whole:
    assert len(batch) == SIZE
""",
            Runs(),
            why="created outside, and batched again",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        for step in event.steps if isinstance(event, Program) else ():
            size, maker = _size_of_all(step), _maker(step)
            if size is not None and maker is not None:
                yield Draft(
                    f"`{brief(size)}` is for all replicas together, and each replica gets a batch of this size",
                    Effect.DIVERGES,
                    f"context.get_per_replica_batch_size({brief(size)})",
                    location=step.location.at(size),
                    notes=(DraftNote(maker, "this asks for the batches of a replica"),),
                    at_most=Severity.WARNING,
                )


def _size_of_all(step: SetupCall) -> cst.BaseExpression | None:
    """The size of batches, where it is as many times as large as there are replicas."""
    if step.api not in BATCHES:
        return None
    match rows_of(size_passed(step.api, step.arguments) or NONE):
        case Count(terms=terms, over=None) if all(map(_has_replicas, (product for product, _ in terms))):
            return size_of(step.api, step.argument_nodes)
        case _:
            return None


def _has_replicas(product: tuple[object, ...]) -> bool:
    return any(isinstance(factor, str) and _OF_REPLICAS.search(factor) is not None for factor in product)


def _maker(step: SetupCall) -> Location | None:
    """The call that has a function make the batches of each replica, if it leads to this one."""
    for place in places_of(step):
        match place.node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in _MAKERS:
                return place
    return None
