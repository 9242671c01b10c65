"""What errors, compilations and programs mean, as observations at the user's lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from xlalint.probe.protocol import BOUNDED, FAILS, RECOMPILES, SHAPES, TRACE, Call, Observation, Spot, Trouble
from xlalint.probe.statements import statements

from .evidence import Line
from .hlo import bounded_ops, changed_ops

# As TensorFlow says of shapes that its operations refuse, of dtypes, and of what another `tf.function` is called with:
# where functions run eagerly, numbers are converted, and signatures do not count.
_OF_INPUTS: Final = re.compile(
    r"with input shapes: |Input '\w+' of '\w+' Op has type \w+ that does not match type"
    r"|Binding inputs to tf\.function failed"
)
# By the user's lines that made them, innermost first, the types of operations.
Made: TypeAlias = Mapping[tuple[Spot, ...], tuple[str, ...]]
# From the names of operations to that.
Locate: TypeAlias = Callable[[Iterable[Iterable[str]]], Made]


def failure(error: Trouble, of: str, within: str, gradient: bool) -> Observation:
    """What cannot be traced or compiled. `of`: what; `within`: where, in words, if no line of the user's is known."""
    if error.ops:
        said = f"XLA cannot compile {of}: no kernel for {', '.join(f'`{op}`' for op in error.ops)}{within}"
    elif error.stage == TRACE:
        said = f"tracing {of} fails with {error.kind}: {error.message}"
    else:
        said = f"XLA cannot compile {of}: {error.message}"
    ops = error.ops or error.made
    per = SHAPES if _OF_INPUTS.search(error.text) else ""
    return Observation(FAILS, said, error.spots, per, gradient=gradient, ops=ops, lacking=bool(error.ops))


def recompilations(
    calls: Sequence[Call], programs: Mapping[int, Sequence[str]], locate: Locate, behind: str
) -> Iterator[Observation]:
    """Compilations for other values of one shape, else for other shapes. `programs`: by shape, what was compiled."""
    shapes: dict[int, list[Call]] = {}
    for call in calls:
        shapes.setdefault(call.variant, []).append(call)
    for variant, here in shapes.items():
        count = sum(call.compilations for call in here)
        if any(call.compilations for call in here[1:]):
            said = f"{count} compilations{behind} for {len(here)} sets of values of one shape"
            changed = [changed_ops(one, other) for one, other in pairwise(programs[variant])]
            for spots, ops in locate(changed).items():
                yield Observation(RECOMPILES, said, spots, "value", ops=ops)
            return
    if len(shapes) > 1 and all(here[0].compilations for here in shapes.values()):
        yield Observation(RECOMPILES, f"{len(shapes)} compilations for {len(shapes)} shapes", (), "shape")


def with_constants(
    again: Sequence[Observation], calls: Sequence[Call], constants: Callable[[], Made], wanted: Container[Line]
) -> list[Observation]:
    """Recompilations with those at the `wanted` lines that follow from them by what XLA asks for: where a program
    differs for each value, all its operations that want a constant of these are compiled for each, not just the first.
    """
    [said] = {one.text for one in again if one.per == "value"} or [None]
    if said is None or any(call.inside for call in calls):  # what a bounded shape gives may be none
        return [*again]
    found = [one for one in again if one.spots]
    for spots, ops in constants().items():
        if (spots[0].path, spots[0].line) in wanted and not any(one_place(spots[0], one.spots[0]) for one in found):
            named = ", ".join(f"`{op}`" for op in ops)
            found.append(Observation(RECOMPILES, f"{said}, one for each constant of {named}", spots, "value", ops=ops))
    return found or [*again]


def bounded_shapes(
    calls: Sequence[Call], programs: Mapping[int, Sequence[str]], locate: Locate, behind: str
) -> Iterator[Observation]:
    """Shapes of which only a bound is known to the compiler."""
    here = [call for call in calls if call.inside]
    if not here:
        return
    outputs = sorted({index for call in here for index in call.bounded})
    where = f"in {_listed(outputs, 'result')}" if outputs else "inside"
    made = locate(bounded_ops(program) for several in programs.values() for program in several)
    for spots, ops in made.items():
        yield Observation(BOUNDED, f"compiles{behind} with a bounded dynamic shape {where}", spots, ops=ops)


def one_place(one: Spot, other: Spot) -> bool:
    """Whether two spots are of one expression, or, where that is not known, of one statement."""
    if one.path != other.path:
        return False
    if one.span and other.span:
        return one.span[:2] < other.span[2:] and other.span[:2] < one.span[2:]
    lines = statements(one.path)
    return lines.get(one.line, one.line) == lines.get(other.line, other.line)


def _listed(indices: Sequence[int], noun: str) -> str:
    return f"{noun}{'s' if len(indices) > 1 else ''} {', '.join(map(str, indices))}"
