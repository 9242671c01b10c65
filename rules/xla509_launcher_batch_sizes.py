"""In a function that Accelerate launches on a TPU, evaluation has a larger batch size than training.

## What it does
Reports, in the function passed to Hugging Face Accelerate's `notebook_launcher`, a `DataLoader` whose batch size is
known and larger than that of the first one. The severity is always `info`. xlalint checks no other PyTorch code.

## What XLA does
A TPU reserves memory for the largest batch that it has seen, and XLA compiles for each shape. Accelerate's
documentation recommends the training batch size for evaluation if that is slow. Not measured, for lack of a TPU.

## Example
    train_data = DataLoader(train_set, batch_size=16)
    eval_data = DataLoader(eval_set, batch_size=64)

## Use instead
    train_data = DataLoader(train_set, batch_size=16)
    eval_data = DataLoader(eval_set, batch_size=16)

## Not flagged
Unknown, equal or smaller batch sizes, and loaders outside the launched function.

## Fix safety
Shown only: you have to decide which size fits the memory.

## References
- https://huggingface.co/docs/accelerate/concept_guides/training_tpu
"""

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import Static
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.strategies import LOADER
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Severity

from ._launches import launched

NEEDED: Final = "it needs a TPU, and PyTorch"
LAUNCH: Final = "notebook_launcher(train)\n"
IMPORTS: Final = """
from accelerate import notebook_launcher
from torch.utils.data import DataLoader
"""


class LauncherBatchSizes(Rule):
    code = "XLA509"
    name = "launcher-batch-sizes"
    handles = (Program,)
    bad = (
        Bad(
            f"""{IMPORTS}
def train():
    first = DataLoader([1, 2, 3], batch_size=16, shuffle=True)
    second = DataLoader([4, 5], batch_size=64)

{LAUNCH}""",
            ["DataLoader([4, 5], batch_size=64)"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="batch_size=16",
            why=NEEDED,
        ),
        Bad(
            f"""{IMPORTS}
SIZE = 8

def loaders(train_set, eval_set, factor):
    return DataLoader(train_set, SIZE), DataLoader(eval_set, SIZE * factor)

def train(train_set=(), eval_set=()):
    one, other = loaders(train_set, eval_set, 4)

{LAUNCH}""",
            ["DataLoader(eval_set, SIZE * factor)"],
            None,
            effect=Effect.TPU,
            why=NEEDED,
        ),
        Bad(
            f"""{IMPORTS}
def train():
    first = DataLoader([1, 2, 3])
    second = DataLoader([4, 5], batch_size=2)

{LAUNCH}""",
            ["DataLoader([4, 5], batch_size=2)"],
            None,
            why=NEEDED,
        ),
        Bad(
            f"""{IMPORTS}
import torch

def train(size):
    first = torch.utils.data.DataLoader([1, 2, 3], batch_size=8)
    second = torch.utils.data.DataLoader([4, 5], batch_size=8 * 4)

notebook_launcher(train, (8,), num_processes=8)
""",
            ["torch.utils.data.DataLoader([4, 5], batch_size=8 * 4)"],
            None,
            why=NEEDED,
        ),
    )
    good = (
        Good(
            f"""{IMPORTS}
def train():
    first = DataLoader([1, 2, 3], batch_size=16)
    second = DataLoader([4, 5], batch_size=16)

{LAUNCH}""",
            None,
        ),
        Good(
            f"""{IMPORTS}
def train():
    first = DataLoader([1, 2, 3], batch_size=16)
    second = DataLoader([4, 5], batch_size=8)

{LAUNCH}""",
            None,
            why="a smaller batch fits into the memory that is there",
        ),
        Good(
            f"""{IMPORTS}
import sys

def train():
    first = DataLoader([1, 2, 3], batch_size=int(sys.argv[1]))
    second = DataLoader([4, 5], batch_size=64)

{LAUNCH}""",
            None,
        ),
        Good(
            f"""{IMPORTS}
data = DataLoader([4, 5], batch_size=64)

def train():
    first = DataLoader([1, 2, 3], batch_size=16)

{LAUNCH}""",
            None,
        ),
        Good(
            f"""{IMPORTS}
def train():
    first = DataLoader([1, 2, 3], batch_size=16)
    second = DataLoader([4, 5], batch_size=64)

notebook_launcher(train, num_processes=4)
""",
            None,
            why="four processes are for GPUs",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps):
                for _, inside in launched(steps):
                    loaders = [step for step in inside if step.api == LOADER]
                    for step in loaders[1:]:
                        size, first = _size(step), _size(loaders[0])
                        if size is not None and first is not None and size > first:
                            yield Draft(
                                f"batches of {size} after a loader with batches of {first}: a TPU lays out its memory "
                                "again for a larger batch",
                                Effect.TPU,
                                f"batch_size={first}",
                                location=step.location,
                                notes=(DraftNote(loaders[0].location, "the first loader"),),
                                at_most=Severity.INFO,
                            )


def _size(step: SetupCall) -> int | None:
    """The batch size of a loader, 1 where none is given; None where it is not known."""
    match step.arguments.get("batch_size", step.arguments.get("*1", Static(1))):
        case Static(int() as size):
            return size
        case _:
            return None
