"""How well what the probe saw fits a finding: by the effect, the operation and the place of both."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..facts import tables
from ..findings.findings import Effect, Finding, Span
from .computed import by_callers
from .keras_names import named_like
from .protocol import (
    CHANCE,
    DIVERGES,
    FAILS,
    GPU_FAILS,
    KINDS,
    LOOPED,
    NESTED,
    OF_NESTED,
    OF_STATE,
    OF_WEIGHTS,
    RECOMPILES,
    SHAPES,
    STATE,
    TPU_FAILS,
    WEIGHTS,
    Observation,
    Spot,
)
from .refutation import OF_CHANCE, OF_EXTREMES, OF_GPUS, OF_GRADIENTS, ops_of, outside

# Which observations bear out a finding of each effect.
BEARS_OUT: Final[dict[Effect, frozenset[str]]] = {
    Effect.FAILS: frozenset((FAILS, TPU_FAILS, GPU_FAILS, DIVERGES, RECOMPILES)),
    Effect.DIVERGES: frozenset((FAILS, TPU_FAILS, DIVERGES)),
    Effect.RECOMPILES: frozenset((FAILS, TPU_FAILS, RECOMPILES)),
    Effect.NAMED: frozenset(KINDS),
    Effect.TPU: frozenset((TPU_FAILS,)),
}
# What is seen only of what a rule speaks of.
ONLY_OF: Final = {CHANCE: OF_CHANCE, STATE: OF_STATE, WEIGHTS: OF_WEIGHTS, NESTED: OF_NESTED, LOOPED: ""}
EFFECTS: Final = {
    FAILS: Effect.FAILS,
    TPU_FAILS: Effect.TPU,
    GPU_FAILS: Effect.FAILS,
    DIVERGES: Effect.DIVERGES,
    RECOMPILES: Effect.RECOMPILES,
}
# What rules say that a function is compiled for again and again, where that is another thing than values.
_PER: Final = {"growing-sequence": "shape", "python-argument": "value", "function-made-in-loop": "value"}
# Rules about values that decide shapes, whatever kernels the call has for its other arguments.
_OF_SIZES: Final = frozenset(("size-from-value", "position-from-value"))
_INDEX: Final = "unchecked-index"  # out of range only where the program may be given such a value
# What no number, or one that is infinite, is as an index: code that clips all others takes it to no element, either.
_OF_NO_NUMBER: Final = re.compile(r"-(?:2147483648|9223372036854775808)\b")
_JOINED: Final = "unjoinable-branches"  # which speaks of what becomes of both sides, and not of what one does
_OF_CONSTANTS: Final = re.compile(r"must be a compile-time constant")
_CALL: Final = "uncompilable-call"
_OF_NUMBER: Final = re.compile(r"Shape must be rank 1 but is rank 0$")
_UNROLLED: Final = "unrolled-loop"  # which speaks of the time that a compilation takes
_OF_NAMES: Final = re.compile(r"is not a valid (?:root )?scope name")  # which are guessed, too
# An object that is called keeps what it made in eager execution, which code that runs it from the start does not.
_OF_EAGER: Final = re.compile(r"from either an eager-mode TensorArray")
# What the call passes in Python, whatever any tensor of it is.
_OF_PYTHON: Final = re.compile(r"must not be a Python bool|'(?:bool|int|float|complex|str)' object has no attribute")
_OF_BRANCHES: Final = "XLA1"
_GROWING: Final = "growing-loop-variable"
_OF_LOOPS: Final = re.compile(r"shapes of (?:while )?loop body|loop body do not match|shape invariant")
LEAVES: Final = re.compile(r"break and return statements which depend on a TF condition|changed to Tensor")


@dataclass(frozen=True)
class Place:
    """A place that a finding is about: its own, a consumer's, or that of the loop that it speaks of. `api`: what is
    called there, where that is known."""

    path: str
    span: Span
    api: str
    own: bool

    @property
    def lines(self) -> tuple[int, int]:
        return self.span.line, self.span.end_line


def places(finding: Finding) -> Iterator[Place]:
    yield Place(os.path.abspath(finding.path), finding.span, finding.api, own=True)
    for note in finding.notes:
        if note.consumer or finding.name == _GROWING:
            yield Place(os.path.abspath(note.path), note.span, note.consumer, own=False)


def likeness(finding: Finding, location: Place, observation: Observation, spot: Spot) -> tuple[int, ...] | None:
    """How well an observation in a finding's statement fits the finding: by its operation, its effect and its place.

    None where it is of something else: of another expression, or of an operation that what is flagged does not make.
    """
    effect = finding.effect
    if effect is None or observation.kind not in BEARS_OUT[effect] or outside(location.span, spot):
        return None
    if observation.extreme and (finding.name not in OF_EXTREMES or (finding.name == _INDEX and by_callers(finding))):
        return None
    if finding.name == _INDEX and observation.extreme and _OF_NO_NUMBER.search(observation.text):
        return None
    if finding.name == _GROWING and not location.own and not _OF_LOOPS.search(observation.text):
        return None
    if finding.name == _JOINED and (observation.lacking or _OF_CONSTANTS.search(observation.text)):
        return None
    if is_of_inputs(observation) and not finding.code.startswith(_OF_BRANCHES) and not _is_meant(finding, observation):
        return None  # branches that cannot run raise it as well
    if observation.kind == FAILS and _OF_PYTHON.search(observation.text):
        return None
    if ONLY_OF.get(observation.per, finding.name) != finding.name:
        return None
    if finding.name == OF_GPUS and observation.kind != GPU_FAILS:
        return None  # elsewhere it compiles, and what fails is something else
    if finding.name == _UNROLLED or (
        observation.kind == RECOMPILES and _PER.get(finding.name, observation.per) != observation.per
    ):
        return None
    made = ops_of(location.api)
    kernel = any(map(_lacks, made)) and finding.name not in _OF_SIZES
    if effect is Effect.FAILS and observation.kind == RECOMPILES and kernel:
        return None  # it says that a kernel is missing
    fits = 1 if not made or not observation.ops else 2 * bool(made.intersection(observation.ops))
    if observation.lacking and (
        not location.own or fits == 0 or finding.name in _OF_SIZES or effect is Effect.RECOMPILES
    ):
        return None  # what has no kernel fails whatever its sizes are computed from
    of_function = effect is Effect.RECOMPILES or (location.own and effect is Effect.FAILS)
    if observation.gradient and of_function and finding.name not in OF_GRADIENTS:
        return None  # it says what becomes of the function itself, which compiles
    return fits, EFFECTS.get(observation.kind) is effect, location.own


def is_of_layer(observation: Observation, layer: str) -> bool:
    """Whether an operation without a kernel, of which no line is known, is one of a layer of some class: Keras puts the
    operations of a layer into a scope with its name, which is that of its class where nobody gives it another."""
    scope = rf"[`/]{re.escape(named_like(layer))}(?:_\d+)?/"
    return observation.lacking and not observation.spots and bool(re.search(scope, observation.text))


def is_of_inputs(observation: Observation) -> bool:
    """Whether something fails for shapes, names or Python's values that eager execution takes, and that real inputs may
    not have."""
    return observation.per == SHAPES or any(one.search(observation.text) for one in (_OF_NAMES, _OF_PYTHON, _OF_EAGER))


def _is_meant(finding: Finding, observation: Observation) -> bool:
    """Whether an error says of a flagged call that the shape that it makes is a number, whatever its inputs are."""
    return finding.name == _CALL and _OF_NUMBER.search(observation.text) is not None


def _lacks(op: str) -> bool:
    """Whether the CPU has no kernel of an operation."""
    fact = tables.op(op)
    return fact is not None and "cpu" in fact.lacking()
