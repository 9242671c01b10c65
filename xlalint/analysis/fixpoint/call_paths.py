"""What is reached from roots along the calls: events, functions, and what only the host runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from ..domain.values import Class, Function
from ..files.unit import Location
from ..interpreter.contexts import CallPath, ContextKind, Run
from ..interpreter.events import CallOwnCompiled, Event, FeedCompiled
from ..interpreter.frames import Summary
from ..interpreter.setup_events import Setup
from ..program.definitions import DefinedFunction
from ..record import replace
from .partitions import Key

_TEST_CASES: Final = ("unittest.TestCase", "tf.test.TestCase")
_UNCOMPILED: Final = (ContextKind.GRAPH, ContextKind.OPEN)


def reached_from(roots: Iterable[Summary], ends: Callable[[Summary], bool] | None = None) -> dict[Summary, None]:
    """The analyses that these lead to, themselves among them, in an order that nothing but the calls decides; those
    where the way `ends` lead nowhere."""
    pending = list(roots)
    seen = dict.fromkeys(pending)
    while pending:
        summary = pending.pop()
        if ends is not None and ends(summary):
            continue
        for _, callee in summary.calls:
            if callee not in seen:
                seen[callee] = None
                pending.append(callee)
    return seen


def _reached_with(roots: Iterable[Summary]) -> set[Summary]:
    """The same, but for what is called for another model or optimizer by each run of its caller."""
    pending = list(roots)
    seen = set(pending)
    while pending:
        summary = pending.pop()
        following = {callee for _, callee in summary.calls} - summary.equips - seen
        seen |= following
        pending.extend(following)
    return seen


def calls_from(roots: Iterable[Summary]) -> dict[object, list[tuple[Summary, Summary]]]:
    """How each function is called by what these lead to, but for tests, by identity: each time the caller, and what is
    called."""
    found: dict[object, list[tuple[Summary, Summary]]] = {}
    for summary in reached_from(roots):
        if summary.function is None or not summary.function.module.is_test:
            for _, callee in summary.calls:
                if callee.function is not None:
                    found.setdefault(callee.function.identity, []).append((summary, callee))
    return found


def is_aside(summary: Summary) -> bool:
    """Whether what a function calls says nothing of how that is compiled: eager code that nobody compiles, a test."""
    match summary.context.kind:
        case ContextKind.OPEN:
            return summary.host_only
        case ContextKind.HOST:
            return summary.function is not None and summary.function.module.is_test
        case _:
            return False


def functions_of(summaries: Iterable[Summary]) -> dict[object, Function]:
    """The functions that were analysed, by identity."""
    return {summary.function.identity: summary.function for summary in summaries if summary.function is not None}


def spread_host_only(roots: Sequence[Summary]) -> None:
    """What calls a function that only eager code can call is eager itself, and so is what nothing else calls."""
    callers: dict[Summary, list[Summary]] = {}
    eager: list[Summary] = []
    pending, seen = list(roots), set(roots)
    while pending:
        summary = pending.pop()
        if summary.host_only:
            eager.append(summary)
        for _, callee in summary.calls:
            if callee.context.kind is ContextKind.OPEN:
                callers.setdefault(callee, []).append(summary)
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
    while eager:
        for caller in callers.get(eager.pop(), ()):
            if caller.context.kind is ContextKind.OPEN and not caller.host_only:
                caller.host_only = True
                eager.append(caller)


def root_key(root: Summary) -> tuple[str, int, str]:
    """An order of entry points that does not depend on who found them."""
    match root:
        case Summary(function=DefinedFunction() as function):
            return (function.module.source.display, function.unit.first_line, root.name)
        case Summary(location=Location() as location):
            return (location.path, 0, root.name)
        case _:
            return ("", 0, root.name)


def around_steps(roots: Iterable[Summary]) -> set[Summary]:
    """What has a strategy run steps, and what calls that: loops that stay outside of what XLA compiles."""
    seen = reached_from(roots)
    found = {summary for summary in seen if summary.steps and summary.context.kind in _UNCOMPILED}
    return with_callers(found, seen, lambda caller: caller.context.kind in _UNCOMPILED)


def events_reached_from(
    roots: Sequence[Summary],
    loops: set[Summary],
    told_of: Callable[[Summary], Iterator[Event]],
    leads: Callable[[Summary, Summary], bool],
    without: set[Summary],
    training: set[Summary],
    by_steps: Mapping[Summary, None] | None,
    direct: Collection[Summary],
    unseen: Collection[Summary],
) -> Iterator[tuple[Event, Run]]:
    """Breadth first, so that a trail is the shortest way from an entry point. Where nobody is seen to compile
    anything, what only eager code can do leads to what is compiled by itself alone, and what is in `without` to
    nothing; a loop around steps leads to the steps alone. `told_of`: what happens in an analysis and is of any
    interest; `leads`: whether eager code leads to what it calls, though that is not compiled by itself; `training`:
    what trains, and what leads to that; `by_steps`: what steps lead to, if there are steps; `direct`: what nothing
    leads to but calls of Keras's methods by host code; `unseen`: the entry points of which nobody is seen to make any
    use."""
    seen = set(without)
    entered = (root for root in roots if root.context.kind is not ContextKind.OPEN and root not in unseen)
    used = reached_from((*entered, *(root for root in roots if root in training)))
    runs: dict[object, list[Run]] = {}
    pending: list[tuple[Summary, CallPath | None]] = [(root, root.trail()) for root in roots]
    while pending:
        following: list[tuple[Summary, CallPath | None]] = []
        for summary, trail in pending:
            if summary in seen:
                continue
            seen.add(summary)
            eager = summary.host_only and summary.context.kind is ContextKind.OPEN
            told = [event for event in told_of(summary) if not (event.of_host or isinstance(event, Setup))]
            if summary not in loops and (told or not eager):
                together = runs.setdefault(summary if summary.function is None else summary.function.identity, [])
                run = Run(together, frozenset(summary.skipped))
                together.append(run)
                for event in told:
                    context = event.context if summary in used else replace(event.context, unused=True)
                    if by_steps is not None and summary not in by_steps:
                        context = replace(context, inferred=True)
                    if context.by_keras and context.direct != (summary in direct):
                        context = replace(context, direct=not context.direct)
                    yield replace(event, context=context, trail=trail), run
            for location, callee in summary.calls:
                if eager:
                    alone = callee.context.becomes_graph and not (callee.context.by_keras or callee.context.aside)
                    follows = alone or leads(summary, callee)
                else:
                    follows = summary not in loops or callee in summary.steps or callee in loops
                if follows and callee not in seen:
                    following.append((callee, callee.trail(location, trail)))
        pending = following


def that_train(roots: Iterable[Summary]) -> set[Summary]:
    """What takes gradients or steps of an optimizer, and what leads to that."""
    seen = reached_from(roots)
    return with_callers({summary for summary in seen if summary.trains}, seen, lambda caller: True)


def with_callers(found: set[Summary], seen: Iterable[Summary], leads: Callable[[Summary], bool]) -> set[Summary]:
    """Some analyses, and those among what is `seen` that lead to them by way of callers that `leads` lets pass."""
    if not found:
        return found
    callers: dict[Summary, list[Summary]] = {}
    for summary in seen:
        for _, callee in summary.calls:
            callers.setdefault(callee, []).append(summary)
    pending = list(found)
    while pending:
        for caller in callers.get(pending.pop(), ()):
            if caller not in found and leads(caller):
                found.add(caller)
                pending.append(caller)
    return found


def entered_by_host(roots: Iterable[Summary]) -> dict[Summary, None]:
    """The analyses of compiled functions and graphs for what host code passes to them, in the order of the calls; of a
    graph not for what a test passes."""
    return {
        callee: None
        for summary in reached_from(roots, lambda summary: summary.context.kind is not ContextKind.HOST)
        if summary.context.kind is ContextKind.HOST
        for _, callee in summary.calls
        if callee.context.kind is ContextKind.XLA or (callee.context.becomes_graph and not callee.context.aside)
    }


def events_of_host(roots: Sequence[Summary]) -> Iterator[Event]:
    """What the host does to what is compiled, wherever it stands, and what stands in its own steps of training, which a
    target would compile, each with the shortest trail to it."""
    seen, everything, training = set(roots), reached_from(roots), that_train(roots)
    pending: list[tuple[Summary, CallPath | None]] = [(root, root.trail()) for root in roots]
    callbacks = [root for root in roots if root.function is not None and _is_of_callback(root.function)]
    repeated = reached_from([*(callee for summary in everything for callee in summary.looped), *callbacks])
    for_the_same = _reached_with([*(callee for summary in everything for callee in summary.repeats), *callbacks])
    # What is compiled beside a training and does not train, an evaluation say.
    evaluating = functions_of(everything).keys() - functions_of(training).keys()
    beside = {summary for summary in reached_from(root for root in roots if root in training) if not summary.trains}
    while pending:
        following: list[tuple[Summary, CallPath | None]] = []
        for summary, trail in pending:
            for event in summary.events:
                if event.of_host or (event.context.eager and summary.context.kind is ContextKind.HOST):
                    told = replace(event, trail=trail)
                    if isinstance(told, CallOwnCompiled):
                        # A model that is the same each time is so whatever a call passes.
                        again = summary in (repeated if told.model in ("trained", "whole") else for_the_same)
                        told = replace(told, again=told.again or again)
                    elif isinstance(told, FeedCompiled) and told.single and summary in repeated:
                        told = replace(told, single=False, often=True)
                    if isinstance(told, FeedCompiled) and summary in beside and told.target in evaluating:
                        told = replace(told, trains=False)
                    yield told
            for location, callee in summary.calls:
                if callee not in seen:
                    seen.add(callee)
                    following.append((callee, callee.trail(location, trail)))
        pending = following


def is_run_by_host(function: Function) -> bool:
    """Whether a function that nothing calls is run by those that run tests, or by Keras between steps."""
    owner = function.owner
    if function.module.is_test or owner is None:
        return function.module.is_test
    is_case = _is_collected(function) or any(base.endswith(_TEST_CASES) for base in owner.external_bases)
    return is_case or _is_of_callback(function)


def _is_collected(function: Function) -> bool:
    """Whether pytest takes a method for a test wherever it stands: by its name, in a plain class named `Test..`."""
    owner = function.owner
    if owner is None or owner.bases or not owner.name.startswith("Test"):
        return False
    return function.name.startswith("test_") and owner.find("__init__") is None


def _is_of_callback(function: Function) -> bool:
    return function.owner is not None and function.owner.is_keras("callback")


class ClassRuns:
    """The classes whose methods run, and how: in an input pipeline, or not. `uncalled`: the roots that nobody calls;
    what they lead to counts, but for other methods of their own class, and they do not."""

    def __init__(self, called: Iterable[Summary], uncalled: Collection[Summary]) -> None:
        self.keys: set[Key] = set()
        starts: dict[Class | None, list[Summary]] = {None: [*called]}
        for root in uncalled:
            starts.setdefault(None if root.function is None else root.function.owner, []).append(root)
        for own, roots in starts.items():
            for summary in reached_from(roots):
                self._note(summary, own, uncalled)

    def _note(self, summary: Summary, own: Class | None, uncalled: Collection[Summary]) -> None:
        function = summary.function
        if function is None or function.owner in (None, own) or function.name == "__init__" or summary in uncalled:
            return
        assert function.owner is not None
        self.keys.add(_class_key(function.owner, pipeline=summary.context.pipeline))

    def is_for_pipelines(self, cls: Class | None, is_named: Callable[[Key], bool]) -> bool:
        """Whether nothing but pipelines runs methods of a class, here or, where it `is_named`, elsewhere: one that
        nobody calls is for pipelines, too."""
        if cls is None:
            return False
        keys = (_class_key(cls, pipeline=way) for way in (True, False))
        piped, otherwise = (key in self.keys or is_named(key) for key in keys)
        return piped and not otherwise


def _class_key(cls: Class, *, pipeline: bool) -> Key:
    return (cls.module.source.display, 0, f"{cls.qualname} {'in pipelines' if pipeline else 'elsewhere'}")


def file_key(function: Function) -> Key:
    """What stands for all functions of a file."""
    return (function.module.source.display, 0, "")
