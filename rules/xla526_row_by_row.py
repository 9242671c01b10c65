"""A loop in the loop around a step goes through a tensor row by row, each row by an operation of its own.

## What it does
Reports a Python loop over a tensor that a device has computed (`for box in boxes:`, also with `enumerate`, with `zip`
or in a comprehension), in a loop on the host that trains, or calls a compiled function for each of its elements, if
each of its iterations does so. Only programs for TPUs are meant, and it is information: the rows may be few.

## What XLA does
Measured with TensorFlow 2.21 on a CPU, a tensor of 100 rows:

| code | operations that the host starts | time |
| --- | --- | --- |
| `for row in tensor:` | 100 | 33 ms |
| `for row in tensor: row[0], row[1]` | 300 | 73 ms |
| `for row in tensor.numpy(): row[0], row[1]` | 0 | < 0.1 ms |

On a device for which XLA compiles each operation (`XLA_CPU`), the loop compiles a program for each row when it runs for
the first time (20 rows: 21 programs), `tensor.numpy()` none.

## Example
    for x in data:
        for box in step(x):
            draw(box[0], box[1])

## Use instead
    for x in data:
        for box in step(x).numpy():
            draw(box[0], box[1])

## Not flagged
- Loops under a condition, such as at every hundredth step, and behind the loop, once an epoch.
- What a data set yields, which is on the host, and `a, b = tensor`.

## Fix safety
There is no fix: what the loop does with the rows may need tensors.

## References
- https://www.tensorflow.org/guide/function
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.frames import ROWS
from xlalint.analysis.interpreter.setup_events import LoopOfSteps
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity, Told

from ._host_loops import WHO, around
from ._loops_of_steps import COMPILED

_FOUND: Final = f"""{COMPILED}
@tf.function
def found(x):
    return model(x)

def show(boxes):
    for box in boxes:
        assert box.shape == (1,)
"""


class RowByRow(Rule):
    code = "XLA526"
    name = "row-by-row"
    handles = (LoopOfSteps,)
    bad = (
        Bad(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
    for row in found(x):
        assert row.shape == (1,)
""",
            ["found(x)"],
            Runs(),
            severity=Severity.INFO,
            help=".numpy():",
            target="tpu",
        ),
        Bad(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
    made = found(x)
    for number, row in enumerate(made):
        assert row.shape == (1,)
""",
            ["made"],
            Runs(),
            severity=Severity.INFO,
            help=".numpy():",
            target="tpu",
        ),
        Bad(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
    made = found(x)
    parts = [row[0] for row in made]
""",
            ["made"],
            Runs(),
            severity=Severity.INFO,
            help=".numpy():",
            target="tpu",
        ),
        Bad(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
    show(found(x))
""",
            ["boxes"],
            Runs(),
            severity=Severity.INFO,
            help=".numpy():",
            target="tpu",
            why="the loop is in a function that it calls",
        ),
    )
    good = (
        Good(
            f"""{_FOUND}
for number, (x, y) in enumerate(data):
    step(x, y)
    for row in found(x).numpy():
        assert row.shape == (1,)
    if number % 100 == 0:
        for row in found(x):
            assert row.shape == (1,)
""",
            Runs(),
            target="tpu",
            why="arrays, and a loop that runs seldom",
        ),
        Good(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
for row in found(x):
    assert row.shape == (1,)
""",
            Runs(),
            target="tpu",
            why="behind the loop",
        ),
        Good(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
    for row in x:
        assert row.shape == (3,)
""",
            Runs(),
            target="tpu",
            why="data, which is on the host",
        ),
        Good(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
    first, second, *_ = tf.split(found(x), 8)
    assert found(x).shape == (8, 1)
""",
            Runs(),
            target="tpu",
            why="one operation",
        ),
        Good(
            f"""{_FOUND}
for x, y in data:
    step(x, y)
    show(found(x))
""",
            Runs(),
            why="nobody asks for a TPU",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case LoopOfSteps(reads=reads, by_keras=by_keras):
                for place in (place for place, reader in reads if reader == ROWS):
                    tensor = brief(place.node)
                    yield Draft(
                        f"{WHO[by_keras]} goes through the tensor `{tensor}` row by row: an operation for each row",
                        Effect.TPU,
                        f"for row in {tensor}.numpy():  # one read, and arrays from then on",
                        location=place,
                        notes=(around(event),),
                        at_most=Severity.INFO,
                        told=Told.FOR_TPU,
                    )
