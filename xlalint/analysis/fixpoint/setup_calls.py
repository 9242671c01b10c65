"""The calls that set programs up: each by itself, with the way to it, and those of one program together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from ...sources.testing import is_of_tests
from ...syntax import nodes as cst
from ..files.unit import Location
from ..interpreter.contexts import HOST, CallPath, ContextKind
from ..interpreter.events import CompiledEntry, Event
from ..interpreter.frames import Act, Summary
from ..interpreter.setup_events import PassBatch, Program, Setup, SetupCall, TakeGradients
from ..library.made_rows import has_rows
from ..library.strategies import TRAINING, making_of
from ..program.trainer_steps import CALLED_BY_KERAS
from ..record import replace
from .call_paths import reached_from, that_train
from .host_loops import loops_of_steps
from .training_loops import is_in_loop

_APART: Final = ("__init__", *CALLED_BY_KERAS)  # what is entered by itself
MOST_AT_A_PLACE = 8  # calls of one place that are told apart: what a hundred callers pass is no longer read


@dataclass(slots=True)
class _Reached:
    """What the code of one file leads to: calls by their place, in a strategy's step and elsewhere, each as often as
    callers have it differ, and the files that it touches. `trains`: a step of its own takes gradients; `taped`: the
    first tape on the way there."""

    calls: dict[tuple[cst.CSTNode, bool], list[SetupCall]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    trains: bool = False
    taped: Location | None = None


def setup_events(roots: Sequence[Summary]) -> Iterator[Event]:
    """Each event about how a program is set up, once, and then each program. What is eager by nature counts here."""
    seen: dict[Summary, list[Setup]] = {}
    trails: dict[Summary, CallPath | None] = {}
    taped: list[tuple[Summary, TakeGradients]] = []
    pending: list[tuple[Summary, CallPath | None]] = [(root, root.trail()) for root in roots]
    training: set[Summary] | None = None

    def is_told(summary: Summary, event: Setup) -> bool:
        """Of what is passed batches, what trains."""
        nonlocal training
        if not isinstance(event, PassBatch):
            return True
        training = that_train(roots) if training is None else training
        return any(location.node is event.node and callee in training for location, callee in summary.calls)

    while pending:
        following: list[tuple[Summary, CallPath | None]] = []
        for summary, trail in pending:
            if summary not in seen:
                trails[summary] = trail
                told = (event for event in summary.events if isinstance(event, Setup) and is_told(summary, event))
                seen[summary] = [replace(event, trail=trail) for event in told]
                yield from (event for event in seen[summary] if not isinstance(event, TakeGradients))
                taped += ((summary, event) for event in seen[summary] if isinstance(event, TakeGradients))
                following += [(callee, callee.trail(location, trail)) for location, callee in summary.calls]
        pending = following
    compiled = {event.location for _, event in taped if event.context.becomes_graph}  # a switch decides on these
    optimizes = any(map(_optimizes, seen))
    once = _run_once(roots, seen) if taped else set()
    steps = (
        replace(event, again=False) if summary in once and not _is_repeated(summary, event) else event
        for summary, event in taped
        if event.location not in compiled
    )
    yield from (_as_tested(event) if _is_tested(event.trail) else _as_it_matters(event, optimizes) for event in steps)
    yield from loops_of_steps(trails)
    yield from _programs(roots, seen)


def _optimizes(summary: Summary) -> bool:
    """Whether a function has an optimizer take a step."""
    return any(done.act is Act.OPTIMIZE for done in summary.done)


def _is_repeated(summary: Summary, event: TakeGradients) -> bool:
    """Whether a function takes a gradient in a loop, or trains by it."""
    return is_in_loop(event.location) or _optimizes(summary)


def _run_once(roots: Iterable[Summary], seen: Iterable[Summary]) -> set[Summary]:
    """The functions that scripts lead to, and no loop: what explains a picture, say."""
    looped = (callee for summary in seen for location, callee in summary.calls if is_in_loop(location))
    return {*reached_from(root for root in roots if root.function is None)} - {*reached_from(looped)}


def _as_it_matters(event: TakeGradients, optimizes: bool) -> TakeGradients:
    return replace(event, matters=event.matters or optimizes)


def _as_tested(event: TakeGradients) -> TakeGradients:
    """A step that a test runs line by line, as often as it may."""
    return replace(event, again=False)


def _is_tested(trail: CallPath | None) -> bool:
    """Whether a test leads to something, which its program may compile."""
    while trail is not None and not is_of_tests(trail.location.path):
        trail = trail.parent
    return trail is not None


def compiled_entries(roots: Sequence[Summary]) -> Iterator[CompiledEntry]:
    """Where compiled code begins, tests left out."""
    for root in roots:
        function, context = root.function, root.context
        if function is not None and context.kind is ContextKind.XLA and not function.module.is_test:
            asked = "jit_compile=True" in context.entry
            yield CompiledEntry(function.label, context, None, False, function.qualname, asked)


def files_that_set_up(roots: Iterable[Summary]) -> frozenset[str]:
    """The files whose import sets a program up: what leads to them takes part in that."""
    found = set[str]()
    for root in roots:
        if root.function is None and (path := _file_of(root)) is not None:
            pending, seen = [root], {root}
            while pending:
                summary = pending.pop()
                if any(isinstance(event, SetupCall) for event in summary.events):
                    found.add(path)
                    break
                fresh = {callee for _, callee in summary.calls} - seen
                seen |= fresh
                pending += fresh
    return frozenset(found)


def _programs(roots: Sequence[Summary], said: Mapping[Summary, Sequence[Setup]]) -> Iterator[Program]:
    """What the code of each file leads to, with what runs when the files that it touches are imported."""
    by_file: dict[str, _Reached] = {}
    apart: dict[object, list[Summary]] = {}
    for root in roots:
        if root.function is not None and (root.context.pipeline or root.function.name in _APART):
            apart.setdefault(root.function.identity, []).append(root)
    for root in roots:
        if (path := _file_of(root)) is not None:
            _reach(root, said, apart, by_file.setdefault(path, _Reached()))
    at_top = [(path, root) for root in roots if root.function is None and (path := _file_of(root)) is not None]
    for path, reached in by_file.items():
        for other, root in at_top:
            if other in reached.files and other != path:
                _reach(root, said, apart, reached)
        steps = tuple(sorted(chain.from_iterable(reached.calls.values()), key=lambda step: step.order))
        if not all(has_rows(step.api, step.arguments) for step in steps):  # what has rows sets no program up
            trains = reached.trains or any(step.api.rpartition(".")[2] in TRAINING for step in steps)
            files = frozenset((path, *reached.files))
            yield Program(steps[0].location, HOST, None, False, steps, trains, reached.taped, files)


def _file_of(root: Summary) -> str | None:
    """The file whose code begins here; None of what is evaluated aside, such as decorators."""
    if root.function is not None:
        return root.function.module.source.display
    return None if root.location is None else root.location.path


def _is_alike(one: SetupCall, other: SetupCall) -> bool:
    """Whether two calls of one place are of the same values, in the same scope."""
    return (
        one.context.scope == other.context.scope
        and one.owner == other.owner
        and one.arguments == other.arguments
        and one.result == other.result
    )


def _reach(
    root: Summary,
    said: Mapping[Summary, Sequence[Setup]],
    apart: Mapping[object, Sequence[Summary]],
    reached: _Reached,
) -> None:
    """Add what the code of a root leads to; `apart`: what pipelines, constructors and Keras run, by the identities of
    their functions."""
    pending, seen = [root], {root}
    while pending:
        summary = pending.pop()
        reached.trains = reached.trains or summary.trains
        if summary.function is not None:
            reached.files.add(summary.function.module.source.display)
        for event in said[summary]:
            if isinstance(event, TakeGradients) and summary.trains:
                reached.taped = reached.taped or event.location
            if isinstance(event, SetupCall):
                of_place = reached.calls.setdefault((event.location.node, event.context.in_replica), [])
                if len(of_place) < MOST_AT_A_PLACE and not any(_is_alike(event, other) for other in of_place):
                    of_place.append(event)
                made = making_of(event.owner) if event.owner is not None else None
                reached.files |= {made.location.path} if made is not None else set()
        run = (each for identity in summary.mapped | summary.creates for each in apart.get(identity, ()))
        for callee in (*(callee for _, callee in summary.calls), *run):
            if callee not in seen:
                seen.add(callee)
                pending.append(callee)
