"""When what was run refutes a finding. All of it has to hold:

- the finding says what a call on this machine would show (a rule may speak of other inputs, of a program's data, of a
  loop around its line, of a TPU, or of code that this TensorFlow compiles: none of these is refuted by a call that
  compiles);
- its line ran, eagerly and in the traced function, and without AutoGraph where the finding says that it runs so;
- a tensor of the kind that the finding speaks of was there: an operation of the call that it names, an argument that
  XLA wants as a constant, a selection of different sizes, or a tensor that Python read; of JAX's primitives, which are
  none of TensorFlow's operations, one that the flagged expression made;
- that got at least two different values in calls of one shape;
- every compiled call gave what the eager call gave, and nothing failed, here, elsewhere, or in the gradient, nor was
  the statement compiled for several values;
- no number was drawn at random where the finding speaks of results.

Anything less leaves the finding open, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ..facts import tables
from ..findings.findings import Effect, Finding, Span
from ..sources.text import display_path
from .protocol import DIVERGES, FAILS, JAX, READ, RECOMPILES, TENSORFLOW, WITHOUT_ARRAYS, Outcome, Spot, Varied
from .statements import Statements


@dataclass(frozen=True)
class _Evidence:
    """Whether an operation or read is one that a finding speaks of; and what is said where none got two values."""

    speaks: Callable[[Finding, Varied], bool]
    lacking: str = "with these inputs no such tensor of at least two values reaches the line"


# Rules about gradients: the function itself compiles.
OF_GRADIENTS: Final = frozenset(("while-loop-gradient", "gradient-without-kernel"))

# Rules about values that are out of a range, or no numbers.
OF_EXTREMES: Final = frozenset(("ignored-assertion", "unchecked-index", "undefined-number"))

# Those about code that is there to catch such values, also of a function inside another one, whose values the outer one
# makes: a position that it takes from `tf.where` is never out of range.
OF_CHECKS: Final = frozenset(("ignored-assertion",))

# The rule about numbers that are drawn by chance.
OF_CHANCE: Final = "random-numbers"

# The rule about what no GPU holds.
OF_GPUS: Final = "int32-variable"

# Rules about values that XLA wants to know when it compiles.
_OF_CONSTANTS: Final = ("size-from-value", "position-from-value")

UNREACHED: Final = "the inputs do not reach the line"
_FED: Final = "the finding is about what the program feeds, and the probe makes up its inputs"
_OTHER_INPUTS: Final = "the finding is about inputs that eager execution refuses, and the probe uses others"
# Rules whose findings no call of the function around them can refute, and why.
_BEYOND: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "unpadded-batch",
            "partial-last-batch",
            "padded-batch",
            "generator-signature",
            "open-dimension",
            "batch-sizes",
            "resized-image",
            "foreign-batch",
            "launcher-batch-sizes",
        ),
        _FED,
    ),
    **dict.fromkeys(OF_EXTREMES, _OTHER_INPUTS),
    OF_GPUS: "the finding is about GPUs, and this ran on a CPU",
    OF_CHANCE: "the finding is about random numbers, which differ at each call",
    "unrolled-loop": "the finding is about the compile time of more iterations",
}
# The rule about a loop, of which the function around its finding may be the body only.
_OF_LOOPS: Final = "growing-loop-variable"

# Rules about how host code calls compiled functions: what is run as host code tells.
OF_LAUNCHES: Final = frozenset(("python-argument", "function-made-in-loop", "growing-sequence"))


def shown_by_callers(finding: Finding) -> bool:
    """Whether what calls the function around a finding may show more than the function by itself."""
    return finding.effect is not Effect.NAMED and finding.name not in {*_BEYOND, *OF_LAUNCHES}


def why_open(finding: Finding, outcome: Outcome, statements: Statements, backend: str = TENSORFLOW) -> str | None:
    """Why what was seen of the function around a finding, which does not bear it out, does not refute it either; None
    where it does."""
    return next(_reasons(finding, outcome, statements, backend), None)


def _reasons(finding: Finding, outcome: Outcome, statements: Statements, backend: str) -> Iterator[str]:
    path, span = os.path.abspath(finding.path), finding.span

    def on_line(spot_path: str, line: int) -> bool:
        return spot_path == path and statements.together(path, line, span.line, span.end_line)

    if not outcome.calls:
        yield "nothing was compiled"
    if finding.effect is Effect.TPU and not any(one.untried is None and one.topology for one in outcome.programs):
        yield "a CPU does not show what a TPU does: --target tpu asks the TPU compiler"
    reached = [(path, line) for line in outcome.reached.get(path, ())]
    # Of code that a library lets AutoGraph convert, no line is seen to run.
    reached += [(spot.path, spot.line) for one in outcome.observations for spot in one.spots]
    if not any(on_line(*place) for place in reached):
        yield UNREACHED
    again = [one for one in outcome.observations if one.kind == RECOMPILES and one.per != "shape"]
    if any(on_line(spot.path, spot.line) for one in again for spot in one.spots):
        yield "the statement is compiled for several values"
    first = next((one for one in outcome.observations if one.kind == FAILS and not one.gradient), None)
    if first is not None:
        if any(on_line(spot.path, spot.line) for spot in first.spots):
            yield f"the line may fail for another reason: {first.text}"
        yield f"the function fails elsewhere before that{where(first.spots)}"
    if finding.effect is Effect.NAMED:
        yield "the finding says that this TensorFlow compiles it"
    if (beyond := _BEYOND.get(finding.name)) is not None:
        yield beyond
    if finding.name == _OF_LOOPS:
        yield "the finding is about the loop around the line, which was not compiled with it"
    called = finding.context is not None and len(finding.context.trail) > 1
    if finding.effect is Effect.FAILS and finding.name in _OF_CONSTANTS and called:
        yield "the finding is about how its callers compute the value, and they were not compiled with it"
    if finding.name in OF_LAUNCHES:
        yield from _without_launches(outcome, on_line)
        return
    if outcome.launches is not None:
        yield "it was run as host code, and not compared with eager execution"
    if outcome.death is not None:
        yield f"the process {outcome.death} before the probe finished"
    if finding.name in OF_GRADIENTS and outcome.gradient not in ("equal", DIVERGES):
        yield "no gradient was measured"
    for one in outcome.observations:
        if one.gradient and one.kind in (FAILS, DIVERGES):
            yield f"its gradient {one.kind}{where(one.spots)}"
    if (differing := next((one for one in outcome.calls if one.difference), None)) is not None:
        yield f"compiled and eager calls differ: {differing.difference}"
    if finding.effect is Effect.DIVERGES and WITHOUT_ARRAYS in outcome.notes:
        yield WITHOUT_ARRAYS
    if finding.effect is Effect.DIVERGES and outcome.random:
        yield "random numbers are drawn: values were not compared"
    plainly = any(on_line(path, line) for line in outcome.unconverted.get(path, ()))
    if finding.context is not None and not finding.context.autograph and not plainly:
        yield "AutoGraph converts it here, but not where it is called"
    yield from _without_evidence(finding, outcome, on_line, backend)


def _without_launches(outcome: Outcome, on_line: Callable[[str, int], bool]) -> Iterator[str]:
    """Why nothing shows that the line calls a compiled function several times, with other values, and compiles once."""
    if outcome.launches is None:
        yield "the finding is about the loop around the call, which the probe did not run"
        return
    here = [one for one in outcome.launches if on_line(one.spot.path, one.spot.line)]
    if not any(one.compilations for one in here):
        yield "nothing was compiled at the line"
    if not any(one.calls > 1 and one.values > 1 for one in here):
        yield "the line made fewer than two calls with different values"


def _without_evidence(
    finding: Finding, outcome: Outcome, on_line: Callable[[str, int], bool], backend: str
) -> Iterator[str]:
    """Why nothing shows that a tensor of the kind in question was there, in two values, and was compiled."""
    known = _EVIDENCE_BY_JAX if backend == JAX else _EVIDENCE
    evidence = known.get(finding.name) or (known.get(_CALL) if finding.api else None)
    if evidence is None:
        yield "it is not clear which tensor of the line the finding is about"
        return
    there = [one for one in outcome.varied if on_line(one.spot.path, one.spot.line) and evidence.speaks(finding, one)]
    if not there:
        yield evidence.lacking
    made = {op for spot, ops in outcome.made if on_line(spot.path, spot.line) for op in ops}
    if not any(one.op in made or (one.op == READ and made) for one in there):
        yield "the line is not part of what was compiled"


# -- which tensors a finding speaks of --------------------------------------------------------------------------------


def _of_read(finding: Finding, varied: Varied) -> bool:
    """Python reads a tensor, in the flagged expression."""
    return varied.op == READ and not apart(finding, varied.spot)


def _of_call(finding: Finding, varied: Varied) -> bool:
    """The flagged call makes an operation of this type."""
    if apart(finding, varied.spot) or varied.op not in ops_of(finding.api):
        return False
    if finding.effect is Effect.FAILS and (missing := _missing_of(finding.api)) and varied.op not in missing:
        return False  # the arguments with which the call makes the operation in question were not there
    return finding.effect is not Effect.RECOMPILES or _of_constant(finding, varied)


def _of_constant(finding: Finding, varied: Varied) -> bool:
    """An input that XLA wants to know when it compiles."""
    fact = tables.op(varied.op)
    constants = fact.constants if fact is not None else None
    return not apart(finding, varied.spot) and bool(constants) and not set(constants or ()).isdisjoint(varied.inputs)


def _of_selection(finding: Finding, varied: Varied) -> bool:
    """A selection by data, of different sizes; of a call whose operations are known, one of these."""
    made = ops_of(finding.api)
    return not apart(finding, varied.spot) and varied.shapes > 1 and (not made or varied.op in made)


def _within(finding: Finding, varied: Varied) -> bool:
    """The flagged expression, or a part of it, makes a primitive or has its value asked for."""
    return inside(finding.span, varied.spot)


_CALL: Final = "call"  # stands for the names of the other rules about calls
_EVIDENCE: Final[Mapping[str, _Evidence]] = {
    **dict.fromkeys(
        (
            "branch-on-tensor",
            "while-on-tensor",
            "iterate-over-tensor",
            "bool-operator-on-tensor",
            "assert-on-tensor",
            "host-read",
        ),
        _Evidence(_of_read),
    ),
    **dict.fromkeys(_OF_CONSTANTS, _Evidence(_of_constant)),
    **dict.fromkeys(
        ("boolean-mask", "unique", "where-positions", "partition-ragged-sparse", "unpadded-nms"),
        _Evidence(_of_selection, "with these inputs the line always selects the same number of elements"),
    ),
    _CALL: _Evidence(_of_call),
}
_EVIDENCE_BY_JAX: Final[Mapping[str, _Evidence]] = {
    **_EVIDENCE,
    **dict.fromkeys((*_OF_CONSTANTS, _CALL), _Evidence(_within)),
}


@cache
def _missing_of(api: str) -> frozenset[str]:
    """Those of them that XLA cannot compile."""
    fact = tables.api(api) or tables.api(api.rpartition(".")[0])
    return frozenset(op for case in (fact.cases if fact is not None else ()) for op in case.missing)


@cache
def ops_of(api: str) -> frozenset[str]:
    """The operations that a call was seen to make when it was measured; of a method, those of its object."""
    fact = tables.api(api) or tables.api(api.rpartition(".")[0])
    cases = fact.cases if fact is not None else ()
    return frozenset(op for case in cases for op in (*case.ops, *case.missing, *case.gradient_missing))


def apart(finding: Finding, spot: Spot) -> bool:
    """Whether something was seen in another expression than the flagged one."""
    return outside(finding.span, spot)


def outside(span: Span, spot: Spot) -> bool:
    """Whether an expression, where it is known, lies outside of a stretch of text."""
    if spot.span is None:
        return False
    first, start, last, end = spot.span
    return (last, end) <= (span.line, span.column) or (span.end_line, span.end_column) <= (first, start)


def inside(span: Span, spot: Spot) -> bool:
    """Whether an expression is known, and lies inside of a stretch of text."""
    if spot.span is None:
        return False
    first, start, last, end = spot.span
    return (span.line, span.column) <= (first, start) and (last, end) <= (span.end_line, span.end_column)


def where(spots: tuple[Spot, ...]) -> str:
    """The first of some places, in words."""
    return f" at {display_path(Path(spots[0].path))}:{spots[0].line}" if spots else ""
