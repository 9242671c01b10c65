"""Loops on the host around steps of training and around models: what each iteration reads of tensors.

What a function does in its loops, and what the functions do that it calls there, is put together once all of them have
been analysed: an analysis of a function is shared by all loops that call it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Function
from ..files.unit import Location, Unit
from ..interpreter.contexts import NOT_TRACED, CallPath
from ..interpreter.frames import LINE_BY_LINE, ROWS, UNKNOWN_MODEL, WEIGHTS, Act, Done, Summary
from ..interpreter.setup_events import (
    AssignEachStep,
    LoopOfCalls,
    LoopOfSteps,
    RenewBetweenSteps,
    SetBetweenSteps,
    SetTrainable,
)
from ..library.call_kinds import RETURNS_TO_HOST
from ..library.optimizers import OPTIMIZES
from ..record import replace
from .call_paths import reached_from, with_callers
from .feedback import (
    decides_next,
    goes_through_callees,
    hands_on,
    is_of_element,
    is_of_iteration,
    is_of_result,
    is_passed_on,
    trains_on_answers,
)
from .frozen_between import thawed_between, thawed_by_callback, value_set
from .guards import finds_nothing, goes_on_without, passes_over
from .reached import Reached, header
from .renewed_between import renewed_between
from .set_between import is_between, set_between, set_by_callback
from .shared_causes import Nest, one_for_each_cause
from .summed_up import is_summed_up, is_wasted
from .surroundings import LOOPS, Around, Surroundings, with_steady
from .unchanging import is_chosen, is_unchanging

_MOST: Final = 400  # acts of a function, with what it calls
_TRAIN: Final = (Act.STEP, Act.FIT)
_CALLS: Final = (Act.MODEL, Act.PREDICT)
_INTERESTING: Final = (Act.STEP, Act.RUN, *_CALLS)
_AT_EACH_BATCH: Final = frozenset(("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end"))


def loops_of_steps(
    trails: Mapping[Summary, CallPath | None],
) -> Iterator[LoopOfSteps | LoopOfCalls | AssignEachStep | SetBetweenSteps | SetTrainable | RenewBetweenSteps]:
    """The loops in these analyses, and what is set between steps."""
    around = Surroundings()
    training = _that_train(trails, around)
    acting = {
        summary
        for summary in trails
        if any(done.act in _INTERESTING for done in summary.done)
        or any(callee.context.becomes_graph for _, callee in summary.calls)
    }
    leading = with_callers(acting | training.keys(), trails, lambda caller: True)
    acts = _Acts(training, around, trails)
    repeated = {each.function for each in reached_from(one for summary in trails for one in summary.looped)}
    told = set[cst.CSTNode]()
    set_so = (done.location for summary in trails for done in summary.done if done.act is Act.FREEZE)
    frozen = {location for location in set_so if value_set(location) is False}
    changing = any(done.act in (Act.FREEZE, Act.RENEW) for summary in trails for done in summary.done)
    loops: list[Nest] = []
    unknown: dict[cst.CSTNode, Nest] = {}
    for summary, trail in trails.items():
        if summary.function is not None and _is_at_each_batch(summary.function):
            between = _between_batches(summary.function, summary, trail, acts.of(summary))
            if between is not None and between.location.node not in told:
                told.add(between.location.node)
                yield between
            yield from _one_by_one(summary, trail, (), acts, told)
        if is_between(summary.function):
            yield from set_by_callback(summary, trail, acts.of(summary))
            yield from thawed_by_callback(summary, trail, acts.of(summary), frozen)
        if any(done.act is Act.SET for done in summary.done):
            yield from set_between(summary, trail, acts.of(summary))
        for change in _changes(summary, trail, acts.of(summary), frozen) if changing else ():
            if change.location.node not in told:
                told.add(change.location.node)
                yield change
        if summary not in leading or summary.context.kind not in NOT_TRACED or summary.context.pipeline:
            continue
        reached = acts.of(summary)
        own = (each for each in reached if each.done.act in _INTERESTING and each.is_own)
        keys = dict.fromkeys(each.around[: each.loop] for each in own)
        for key in keys:
            yield from _one_by_one(summary, trail, key, acts, told)
            yield from _beside_steps(summary, trail, key, reached, told)
            again = summary.function in repeated or is_between(summary.function)
            event = _event(summary, trail, key, reached, again=again)
            if event is None or event.location.node in told:
                continue
            if not isinstance(event, LoopOfCalls):
                told.add(event.location.node)
                yield event
                continue
            nest = Nest(event, key[-1].node, frozenset(_loops_within(key, reached)))
            if event.unknown:  # another analysis may know the model
                unknown.setdefault(event.location.node, nest)
            else:
                told.add(event.location.node)
                loops.append(nest)
    loops += (nest for node, nest in unknown.items() if node not in told)
    yield from one_for_each_cause(loops)


def _changes(
    summary: Summary, trail: CallPath | None, reached: Sequence[Reached], frozen: Set[Location]
) -> Iterator[SetTrainable | RenewBetweenSteps]:
    """What a function does between compiled steps to what they train."""
    yield from thawed_between(summary, trail, reached, frozen)
    yield from renewed_between(summary, trail, reached)


def _is_at_each_batch(function: Function) -> bool:
    owner = function.owner
    return function.name in _AT_EACH_BATCH and owner is not None and owner.is_keras("callback")


def _between_batches(
    function: Function, summary: Summary, trail: CallPath | None, reached: Sequence[Reached]
) -> LoopOfSteps | None:
    """What a callback reads at each batch that Keras trains with."""
    reads = [each for each in reached if each.done.act is Act.READ]
    either = _on_both_sides(reads)
    reads = [each for each in reads if _conditions(each, ()) <= either]
    places = tuple(dict.fromkeys((each.done.location, each.done.reader) for each in reads))
    named = function.node.name if isinstance(function.node, cst.FunctionDef) else function.node
    location = Location(function.unit, named)
    usual = tuple(dict.fromkeys(_usual(reads, ())))
    made = LoopOfSteps(location, summary.context, trail, False, 0, places, False, usual, by_keras=True)
    return made if places else None


def _one_by_one(
    summary: Summary,
    trail: CallPath | None,
    key: tuple[Around, ...],
    acts: _Acts,
    told: set[cst.CSTNode],
) -> Iterator[AssignEachStep]:
    """The variables that a loop around steps assigns to, or a callback at each batch, each by itself; not what is part
    of a step that runs line by line, which is to be compiled whole."""
    inside = [each for each in acts.of(summary) if each.around[: len(key)] == key]
    stepping = {each.around[: each.loop] for each in inside if each.done.act in _INTERESTING}
    steps = [one for one in inside if one.done.act is Act.STEP and one.loop == len(key)]
    bounds = [_conditions(one, key) for one in steps] if key else [set[Around]()]
    assigning = [each for each in inside if each.done.act is Act.ASSIGN] if bounds else []
    by_line = [one for one in steps if one.done.reader == LINE_BY_LINE]
    own = acts.assigned_with(by_line, key[-1].node, assigning) if by_line and assigning else ()
    for each in assigning:
        whole = each.around[: each.loop]
        decided = {around for around in whole[len(key) :] if not around.is_loop and around.steady is None}
        of_loop = len(whole) > len(key) and whole not in stepping and each.done.location not in own
        if of_loop and any(decided <= bound for bound in bounds) and whole[-1].node not in told:
            told.add(whole[-1].node)  # the loop over the variables
            by = Location(steps[0].at.unit, header(key[-1].node)) if key else None
            yield AssignEachStep(each.done.location, summary.context, trail, False, 0, by)


def _beside_steps(
    summary: Summary,
    trail: CallPath | None,
    key: tuple[Around, ...],
    reached: Sequence[Reached],
    told: set[cst.CSTNode],
) -> Iterator[LoopOfCalls]:
    """The models that a loop around compiled steps calls line by line, each time, in the order of their calls."""
    loop = key[-1].node
    direct = [each for each in reached if each.around[: len(key)] == key and each.loop == len(key)]
    steps = [each for each in direct if each.done.act is Act.STEP]
    if not steps or any(each.done.reader == LINE_BY_LINE for each in steps):
        return
    bounds = [_conditions(each, key) for each in steps]
    calls = _themselves(
        [
            each
            for each in direct
            if each.done.act is Act.MODEL
            and each.done.reader != UNKNOWN_MODEL
            and not _is_operation(each)
            and not _is_part_of_model(summary, each.at)
            and any(_conditions(each, key) <= bound for bound in bounds)
        ]
    )
    places = tuple(dict.fromkeys(each.done.location for each in calls if each.done.location.node not in told))
    if places and not _is_left_at_once(loop):
        told.update(place.node for place in places)
        yield LoopOfCalls(
            places[0], summary.context, trail, False, 0, places, (), False, False, False, False, False, beside=True
        )


def _event(
    summary: Summary, trail: CallPath | None, key: tuple[Around, ...], reached: Sequence[Reached], again: bool
) -> LoopOfSteps | LoopOfCalls | None:
    """What is to be said of a loop, which a key ends with; `again`: its function runs time and again."""
    inside = [each for each in reached if each.around[: len(key)] == key]
    direct = [each for each in inside if each.loop == len(key)]
    loop = key[-1].node
    steps = [each for each in direct if each.done.act is Act.STEP]
    trained = bool(steps)
    fetches = any(each.done.act is Act.READ and not is_of_element(each.done.location.node, loop) for each in direct)
    asked = [
        each
        for each in direct
        if each.done.act in _CALLS
        and (fetches or not _is_operation(each))
        and is_of_iteration(each.at.node, loop)
        and not (_is_part_of_model(summary, each.at) or _is_given_to_layer(each.at.unit, loop))
        and not (each.at != each.done.location and each.by is not None and is_chosen(each.done.location.node, each.by))
    ]
    always = _on_both_sides(asked)
    doubts = {
        each: {
            one
            for one in _conditions(each, key) - always
            if not (one.by_chance or passes_over(one, loop) or finds_nothing(one.node, each.by))
        }
        for each in asked
    }
    calls = _themselves([each for each in asked if not doubts[each]])
    if not steps and not calls:  # what a function does that is called here may be many steps, and their end
        runs = [each for each in direct if each.done.act is Act.RUN and is_of_iteration(each.at.node, loop)]
        steps = [
            each
            for each in runs
            if each.done.location == each.at or hands_on(each.at.node, loop, each.by, each.done.location.node)
        ]
    unsure = not steps and not calls
    if unsure:  # it is done in each iteration, or in none
        kept = partial(is_unchanging, loop=loop, outer=summary.function)
        calls = [
            each
            for each in asked
            if all(
                goes_on_without(one.node) or kept(one.node, call=each.at.node, inner=each.by) for one in doubts[each]
            )
        ]
        calls = _themselves(calls)
    acts = steps or calls
    within = {each.around[: each.loop] for each in inside if each.done.act in _INTERESTING and each.loop > len(key)}
    fits = [each for each in direct if each.done.act is Act.FIT]
    predicts = not steps and all(each.done.act is Act.PREDICT for each in calls)
    trains = predicts and trains_on_answers(loop, {one.at.node for one in calls}, {one.at.node for one in fits})
    nested = [one for one in inside if one.done.act in _TRAIN and one not in steps and not (trains and one in fits)]
    if not acts or _is_left_at_once(loop) or (nested and not trained):
        return None
    called = {act.at.node for act in acts}
    reads = [
        each
        for each in inside
        if each.done.act is Act.READ
        and not any(each.around[: len(one)] == one for one in within)
        and not _is_of_host(each, loop, called)
    ]
    either = _on_both_sides(reads)
    reads = [each for each in reads if any(_conditions(each, key) - either <= _conditions(act, key) for act in acts)]
    sources = {each.at.node for each in (*reads, *acts)}
    others = {done.location.node for done in summary.done if done.act is Act.ELSEWHERE}
    elsewhere = (others | {location.node for location, _ in summary.calls}) - sources
    needed = decides_next(loop, sources, elsewhere, {each.at.node for each in acts})
    places = tuple(dict.fromkeys((each.done.location, each.done.reader) for each in reads))
    location = Location(acts[0].at.unit, header(loop))
    if steps:
        usual = tuple(dict.fromkeys(_usual(reads, key)))
        read = {each.at.node for each in reads}
        to_sum = is_wasted(loop, read) or (again and is_summed_up(location.unit, loop, read))
        how = (needed, usual, False, trained, to_sum)
        matters = trained or to_sum or any(reader.lstrip(".") not in RETURNS_TO_HOST for _, reader in places)
        return LoopOfSteps(location, summary.context, trail, False, 0, places, *how) if places and matters else None
    of_calls = tuple(dict.fromkeys(each.done.location for each in calls))
    places = tuple((place, reader) for place, reader in places if place not in of_calls)
    unknown = all(each.done.reader == UNKNOWN_MODEL for each in calls)
    asks = (needed, isinstance(loop, cst.While), unsure, unknown)
    chance = all(any(one.by_chance for one in _conditions(each, key) - always) for each in calls)
    called_so = LoopOfCalls(location, summary.context, trail, False, 0, of_calls, places, predicts, trains, *asks)
    return replace(called_so, by_chance=chance, by_hand=all(map(_is_operation, calls)))


def _is_operation(act: Reached) -> bool:
    """Whether the loop multiplies with weights itself: it calls no function for it. Those of recurrent layers do, but
    read nothing."""
    return act.done.reader == WEIGHTS and act.done.location == act.at


def _themselves(calls: Sequence[Reached]) -> list[Reached]:
    """The calls of models, but what they lead to."""
    themselves = {each.at for each in calls if each.done.location == each.at}
    return [each for each in calls if each.done.location == each.at or each.at not in themselves]


def _is_of_host(read: Reached, loop: cst.CSTNode, steps: Collection[cst.CSTNode]) -> bool:
    """Whether what a loop goes through is read, and not what Keras, or a step in the loop around it, makes, nor the
    weights of a model."""
    node, inner = read.done.location.node, read.around[read.loop - 1].node
    made = read.done.held or read.done.reader.lstrip(".") in RETURNS_TO_HOST
    made = made or (read.done.reader == ROWS and isinstance(node, cst.Call))
    made = made or node in steps or (inner is not loop and is_of_result(inner, loop, steps))
    return not made and is_of_element(node, inner)


def _loops_within(key: tuple[Around, ...], reached: Sequence[Reached]) -> Iterator[cst.CSTNode]:
    """The loops in the loop that a key ends with."""
    for each in reached:
        if each.around[: len(key)] == key:
            yield from (around.node for around in each.around[len(key) :] if around.is_loop)


def _is_part_of_model(summary: Summary, call: Location) -> bool:
    """Whether the function makes a model behind a call, `keras.Model(inputs, outputs)`: it is called while that is put
    together, and computes nothing. What stands at the top of a notebook may be of another cell."""
    made = (done.location for done in summary.done if done.act is Act.BUILD and summary.function is not None)
    return any(place.line > call.line for place in made)


def _is_given_to_layer(unit: Unit, loop: cst.CSTNode) -> bool:
    """Whether a comprehension is what a layer is called with that is made there, as where a model is put together:
    `Concatenate()([model(level) for level in pyramid])`."""
    match [*islice(unit.around(loop), 2)]:
        case [cst.Arg(), cst.Call(func=cst.Call())]:
            return True
        case _:
            return False


class _Acts:
    """What functions do to the device, each with what it calls. `training`: the compiled analyses that take a step;
    `summaries`: all there are."""

    def __init__(self, training: Mapping[Summary, bool], around: Surroundings, summaries: Collection[Summary]) -> None:
        self._training, self._around, self._summaries = training, around, summaries
        self._found: dict[Summary, Sequence[Reached]] = {}
        self._entered: set[Summary] = set()
        self._looping: dict[Function, bool] = {}  # whether a function has a loop: many calls lead to each

    def of(self, summary: Summary) -> Sequence[Reached]:
        """What one does; nothing of one that is being looked at, which calls itself."""
        if summary in self._found:
            return self._found[summary]
        if summary in self._entered:
            return ()
        self._entered.add(summary)
        reached: dict[tuple[Done, tuple[Around, ...]], Reached] = {}
        for done in summary.done:
            if done.act is Act.MODEL and _is_part_of_model(summary, done.location):
                continue
            around = _as_one(done, done.location, with_steady(self._around.of(done.location), summary))
            reached.setdefault((done, around), Reached(done, around, len(around), done.location, summary.function))
        for location, callee in summary.calls:
            around = with_steady(self._around.of(location), summary)
            if callee.context.kind in NOT_TRACED and callee.traced_apart is None and not callee.serves:
                for each in self.of(callee) if not callee.context.pipeline else ():
                    whole = (*_as_one(each.done, location, around), *each.around)
                    if len(reached) < _MOST:
                        made = Reached(each.done, whole, len(around), location, each.by)
                        reached.setdefault((each.done, whole), made)
            elif (act := self._act_of(callee)) is not None:
                done = Done(act, location)
                reached.setdefault((done, around), Reached(done, around, len(around), location, summary.function))
        self._entered.discard(summary)
        self._found[summary] = tuple(reached.values())
        return self._found[summary]

    def assigned_with(self, steps: Sequence[Reached], loop: cst.CSTNode, assigning: Sequence[Reached]) -> set[Location]:
        """Where variables are assigned to in the functions of these steps, or by what they call; of a step in the loop
        itself, what stands beside it, or is passed what it computes."""
        blocks = [_block_of(one.at) for one in steps if one.at == one.done.location]
        beside = {
            each.done.location
            for each in assigning
            if blocks
            and (each.at == each.done.location or any(is_passed_on(each.at.node, loop, block) for block in blocks))
        }
        functions = {one.by for one in steps if one.at != one.done.location}
        analyses = (summary for summary in self._summaries if summary.function in functions)
        reached = (each.done for summary in analyses for each in self.of(summary))
        return beside | {done.location for done in reached if done.act is Act.ASSIGN}

    def _act_of(self, callee: Summary) -> Act | None:
        """What the call of a compiled function is; None of one that loops over many steps itself."""
        if callee.context.direct or not callee.context.becomes_graph:
            return None
        if callee in self._training:
            return Act.STEP if self._training[callee] else None
        function = callee.function
        return None if function is not None and self._loops(function) else Act.RUN

    def _loops(self, function: Function) -> bool:
        """Whether a call may stand for many steps; the loops of a layer's `call` go through its layers."""
        if function not in self._looping:
            self._looping[function] = not _is_of_layer(function) and any(
                isinstance(node, LOOPS) for node in cst.within(function.node.body)
            )
        return self._looping[function]


def _as_one(done: Done, call: Location, around: tuple[Around, ...]) -> tuple[Around, ...]:
    """What is around a call of a model; a loop through several models, or the layers of one, stands for one call."""
    if done.act not in _CALLS:
        return around
    loops = (at for at in range(len(around) - 1, -1, -1) if around[at].is_loop)
    last = next(loops, None)
    if last is None or not goes_through_callees(call.node, around[last].node):
        return around
    return (*around[:last], replace(around[last], few=True), *around[last + 1 :])


def _block_of(step: Location) -> cst.CSTNode:
    """What a tape records, or the place of a step that has none."""
    return next((outer for outer in step.unit.around(step.node) if isinstance(outer, cst.With)), step.node)


def _is_of_layer(function: Function) -> bool:
    """Whether a function is the `call` of a layer or a model of Keras's."""
    owner = function.owner
    return function.name == "call" and owner is not None and any(map(owner.is_keras, ("layer", "model")))


def _that_train(summaries: Iterable[Summary], around: Surroundings) -> dict[Summary, bool]:
    """The compiled analyses that take a step of training: whether each of their calls takes a single one, or few."""
    found = {summary: True for summary in summaries if summary.trains and summary.context.becomes_graph}
    callers: dict[Summary, list[tuple[Location, Summary]]] = {}
    for summary in summaries:
        for location, callee in summary.calls:
            callers.setdefault(callee, []).append((location, summary))
    pending = list(found)
    for summary in found:
        found[summary] = not any(map(around.takes_many, _optimizing(summary)))
    while pending:
        callee = pending.pop()
        for location, summary in callers.get(callee, ()):
            if summary.context.becomes_graph:
                single = found[callee] and not around.takes_many(location)
                if summary not in found or (found[summary] and not single):
                    found[summary] = single
                    pending.append(summary)
    return found


def _optimizing(summary: Summary) -> Iterator[Location]:
    """Where a function has an optimizer take a step."""
    if summary.function is not None:
        for node in cst.within(summary.function.node.body):
            if isinstance(node, cst.Attribute) and node.attr.value in OPTIMIZES:
                yield Location(summary.function.unit, node)


def _conditions(reached: Reached, key: tuple[Around, ...]) -> set[Around]:
    """The conditions in a loop that decide whether something is done."""
    return {around for around in reached.around[len(key) :] if not around.is_loop and around.steady is None}


def _usual(reads: Iterable[Reached], key: tuple[Around, ...]) -> Iterator[tuple[Location, str]]:
    """The conditions on settings by which something is done in each iteration, as these are by default."""
    for read in reads:
        for around in read.around[len(key) :]:
            if around.steady is not None and around.steady.setting:
                yield around.steady.location, around.steady.setting


def _on_both_sides(reads: Iterable[Reached]) -> set[Around]:
    """The sides of conditions that read something on the other side, too."""
    sides = {around for each in reads for around in each.around}
    other = {"then": "else", "else": "then"}
    return {one for one in sides if one.side in other and Around(one.node, other[one.side]) in sides}


def _is_left_at_once(loop: cst.CSTNode) -> bool:
    """Whether a loop is left at the end of its first iteration."""
    match loop:
        case cst.For(body=cst.BaseSuite(body=[*_, cst.SimpleStatementLine(body=[*_, cst.Break() | cst.Return()])])):
            return True
        case _:
            return False
