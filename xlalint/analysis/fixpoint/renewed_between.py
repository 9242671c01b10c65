"""Models and optimizers that host code makes between compiled steps, which go on with those that tracing saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...syntax import nodes as cst
from ..files.unit import Location
from ..interpreter.changed_outside import is_newer
from ..interpreter.contexts import CallPath
from ..interpreter.fixed_lengths import MAKERS
from ..interpreter.frames import Act, Summary
from ..interpreter.setup_events import RenewBetweenSteps
from .made_of import path_of
from .reached import Reached
from .steps_in_order import (
    TRAINS,
    are_apart,
    called_by,
    code_around,
    common_loop,
    decides_when,
    defined_between,
    place_of,
    read_by,
    runs_of,
)

_OPTIMIZER: Final = ".optimizer"


def renewed_between(
    summary: Summary, trail: CallPath | None, reached: Sequence[Reached]
) -> Iterator[RenewBetweenSteps]:
    """What a function makes anew, or what it calls for that, between two runs of one compiled step that reads it."""
    renewed = sorted((each for each in reached if each.done.act is Act.RENEW), key=place_of)
    runs = sorted(runs_of(summary, reached, (*TRAINS, Act.RUN)), key=place_of) if renewed else []
    told = set[Location]()
    for each in renewed:
        path = _path_of(each)
        run = None if path is None else _run_around(summary, each, path, runs)
        if run is not None and run.at not in told:  # the first of several is enough
            told.add(run.at)
            of_keras = run.done.act is Act.FIT
            yield RenewBetweenSteps(each.done.location, summary.context, trail, False, 0, run.at, of_keras)


def _path_of(renewal: Reached) -> str | None:
    """What is made anew, as the function that is looked at writes it; None where that is not known."""
    place, call = renewal.done.location, renewal.at.node
    path = path_of(place.node)
    if renewal.at == place:
        return path
    by = renewal.by
    if by is None or by.name in MAKERS:
        return None
    if path.startswith("self.") and isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        receiver = path_of(call.func.value)
        return f"{receiver}{path.removeprefix('self')}" if receiver else None
    declared = (part for part in cst.within(by.node) if isinstance(part, cst.Global))
    return path if any(item.name.value == path for part in declared for item in part.names) else None


def _run_around(summary: Summary, renewal: Reached, path: str, runs: Sequence[Reached]) -> Reached | None:
    """A compiled step that reads what is made anew, and runs before and behind that."""
    reading = [run for run in runs if _reads(summary, run, path)]
    for run in reading:
        loop = common_loop(renewal, run)
        if loop is not None and not _makes_functions(loop.node) and not _is_of_new_object(renewal, path):
            bound = {name for target in cst.targets_in(loop.node) for name in cst.names_in(target)} - {path}
            conditions = [one for one in renewal.around[renewal.around.index(loop) + 1 :] if not one.is_loop]
            if all(decides_when(condition, bound) for condition in conditions):
                return run
        if place_of(run) < place_of(renewal):
            for again in reading:
                if (
                    place_of(renewal) < place_of(again)
                    and _step_of(run) == _step_of(again)
                    and called_by(summary, run) == called_by(summary, again)
                    and not defined_between(run, again)
                    and not are_apart(run, renewal, again)
                    and not _made_between(run, again, path)
                ):
                    return run
    return None


def _reads(summary: Summary, run: Reached, path: str) -> bool:
    """Whether a step reads a name or an attribute of outside; Keras's own, the optimizer of its model."""
    node = run.at.node
    if run.at == run.done.location and run.done.act is Act.FIT:
        return isinstance(node, cst.Call) and f"{path_of(node.func).rpartition('.')[0]}{_OPTIMIZER}" == path
    return run.done.act in (Act.STEP, Act.RUN) and path in read_by(summary, run)


def _step_of(run: Reached) -> str:
    return path_of(run.at.node.func) if isinstance(run.at.node, cst.Call) else ""


def _makes_functions(block: cst.CSTNode) -> bool:
    """Whether code makes steps of its own, or has models compiled."""
    return any(
        isinstance(node, cst.FunctionDef)
        or (isinstance(node, cst.Call) and path_of(node.func).rpartition(".")[2] in ("compile", "function"))
        for node in cst.within(block)
    )


def _is_of_new_object(renewal: Reached, path: str) -> bool:
    """Whether a loop makes the object, too, whose attribute it assigns to."""
    root, dot, _ = path.partition(".")
    return bool(dot) and root != "self" and is_newer(renewal.at.unit, renewal.at.node, cst.Name(root))


def _made_between(run: Reached, again: Reached, path: str) -> bool:
    """Whether the step, or the object whose attribute it reads, is new between two runs, or a model is compiled."""
    first, last = place_of(run), place_of(again)
    root, dot, _ = path.partition(".")
    new = {_step_of(run), root} if dot else {_step_of(run)}
    between = (
        node
        for unit, block in code_around(run)
        for node in cst.within(block)
        if isinstance(node, cst.Assign | cst.Call | cst.FunctionDef) and first < unit.span(node)[:2] < last
    )
    return any(
        any(path_of(target.target) in new for target in node.targets)
        if isinstance(node, cst.Assign)
        else _makes_functions(node)
        for node in between
    )
