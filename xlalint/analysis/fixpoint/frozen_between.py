"""Weights that host code freezes or thaws between steps of training, which are traced already, and train what they did
before: between two calls in one function, in the loop around the steps, or where Keras calls a callback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final

from ...syntax import nodes as cst
from ..files.unit import Location
from ..interpreter.changed_outside import is_newer
from ..interpreter.contexts import CallPath
from ..interpreter.frames import Act, Summary
from ..interpreter.setup_events import SetTrainable, SetupCall
from ..program.definitions import all_methods
from .made_of import made_of, parts_of, path_of
from .reached import Reached
from .steps_in_order import (
    are_apart,
    code_around,
    common_loop,
    decides_when,
    defined_between,
    led_to,
    passes_others,
    paths_of,
    place_of,
    runs_of,
)

_TRACES_AGAIN: Final = frozenset(("compile", "function", "make_train_function", "train_function"))


def thawed_by_callback(
    summary: Summary, trail: CallPath | None, reached: Sequence[Reached], frozen: Set[Location]
) -> Iterator[SetTrainable]:
    """What a method sets that Keras calls between epochs, or batches, where a condition says when. `frozen`: where the
    program freezes weights."""
    if any(map(_traces_again, [summary, *led_to(summary)])):
        return
    names = set(summary.given) - {"self", "logs"}
    for each in reached:
        value = value_set(each.done.location) if each.done.act is Act.FREEZE else None
        changes = value is False or (value and frozen)
        if changes and any(decides_when(around, names) for around in each.around):
            yield SetTrainable(each.done.location, summary.context, trail, False, 0, None, True)


def thawed_between(
    summary: Summary, trail: CallPath | None, reached: Sequence[Reached], frozen: Set[Location]
) -> Iterator[SetTrainable]:
    """What a function sets, or what it calls for that, between steps of training that it has run. `frozen`: where the
    program freezes weights."""
    sets = sorted((each for each in reached if each.done.act is Act.FREEZE), key=place_of)
    runs = sorted(runs_of(summary, reached), key=place_of) if sets else []
    told = set[Location]()
    for each in sets:
        value = value_set(each.done.location)
        elsewhere = frozen - {each.done.location for each in sets}
        before = None if value is None else _first_of(summary, each, sets, runs, bool(elsewhere))
        if before is not None and before.at not in told:  # the first of several is enough
            told.add(before.at)
            by_keras = before.done.act is Act.FIT or path_of(before.done.location.node).endswith(".train_on_batch")
            yield SetTrainable(each.done.location, summary.context, trail, False, 0, before.at, by_keras)


def _first_of(
    summary: Summary, setting: Reached, sets: Sequence[Reached], runs: Sequence[Reached], frozen: bool
) -> Reached | None:
    """A step that has run before something is set, of what it is set of, and runs again behind it, as it was traced."""
    for run in runs:
        subject = _subject(summary, run, setting)
        if subject is None:
            continue
        if _is_set_in_loop(summary, setting, run, subject) and _changes(setting, sets, setting, setting, frozen):
            return run
        later = (each for each in runs if place_of(run) < place_of(setting) < place_of(each))
        for again in later:
            if (
                not are_apart(run, setting, again)
                and _changes(setting, sets, run, again, frozen)
                and subject == _subject(summary, again, setting)
                and not _traced_between(summary, run, again, subject)
                and not defined_between(run, again)
                and not passes_others(run, again)
            ):
                return run
    return None


def _is_set_in_loop(summary: Summary, setting: Reached, run: Reached, subject: str) -> bool:
    """Whether some iterations of a loop set something, and all of them run a step that is older than the loop."""
    loop = common_loop(setting, run)
    if loop is None or _renews(summary, loop.node, subject, run):
        return False
    bound = {name for target in cst.targets_in(loop.node) for name in cst.names_in(target)}
    return any(decides_when(around, bound) for around in setting.around[setting.around.index(loop) + 1 :])


# -- whether it is another value --------------------------------------------------------------------------------------


def _changes(setting: Reached, sets: Sequence[Reached], run: Reached, again: Reached, frozen: bool) -> bool:
    """Whether something is set to another value than it had at one run of a step, and has that at the next. What Keras
    makes is trained; `frozen`: unless other code freezes it."""
    owner, value = path_of(setting.done.location.node), value_set(setting.done.location)
    same = [each for each in sets if each is not setting and path_of(each.done.location.node) == owner]
    if any(place_of(setting) < place_of(each) < place_of(again) for each in same):
        return False  # that one decides
    earlier = [each for each in same if place_of(each) <= place_of(run)]
    if earlier:
        return value_set(earlier[-1].done.location) != value
    held = (value_set(each.done.location) for each in sets if place_of(each) <= place_of(run))
    return not value or frozen or any(one is False for one in held)


def value_set(place: Location) -> bool | None:
    """What is assigned to an attribute, where it is written there."""
    for around in place.unit.around(place.node):
        match around:
            case cst.Assign(value=cst.Name(value="True" | "False" as text)):
                return text == "True"
            case cst.Assign():
                return None
    return None


# -- what is trained, and what is set ---------------------------------------------------------------------------------


def _subject(summary: Summary, run: Reached, setting: Reached) -> str | None:
    """The model, as it is written where a step is run, that something is set of: its own, of a layer of it, or of what
    it was made of."""
    owners = set(_owners(setting))
    for path in paths_of(summary, run):
        if any(_is_part(owner, path) for owner in owners):
            return path
        made = made_of(_blocks(summary, run, path), path)
        if any(_is_part(owner, part) for owner in owners for part in made):
            return path
    return None


def _is_part(owner: str, path: str) -> bool:
    return owner == path or owner.startswith(f"{path}.")


def _blocks(summary: Summary, run: Reached, path: str) -> Iterator[cst.CSTNode]:
    """The code that makes what a function names: its own, or for an attribute that of all methods."""
    function = summary.function
    if path.startswith("self.") and function is not None and function.owner is not None:
        yield from (method.node for method in all_methods(function.owner))
    else:
        yield from (block for _, block in code_around(run))


def _owners(setting: Reached) -> Iterator[str]:
    """What something is set of: of the layers that a loop goes through, whose they are; of a function that is called
    for it, what it is passed."""
    place = setting.done.location
    if setting.at != place:
        yield from parts_of(setting.at.node)
        return
    assert isinstance(place.node, cst.Attribute)
    path = path_of(place.node.value)
    root = path.partition(".")[0]
    for around in place.unit.around(place.node):
        match around:
            case cst.For(target=target, iter=layers) if root in set(cst.names_in(target)):
                path = path_of(layers)
                root = path.partition(".")[0]
            case cst.FunctionDef() | cst.ClassDef():
                break
    if path:
        yield path


# -- what is traced again ---------------------------------------------------------------------------------------------


def _traced_between(summary: Summary, run: Reached, again: Reached, subject: str) -> bool:
    """Whether the model is compiled, or made, anew between two runs of a step, or the step is."""
    first, last = place_of(run), place_of(again)
    if any(first < location.span[:2] <= last for location in _tracing(summary)):
        return True
    return any(
        isinstance(node, cst.Assign | cst.Call)
        and first < unit.span(node)[:2] < last
        and _touches(summary, node, subject, run)
        for unit, block in code_around(run)
        for node in cst.within(block)
    )


def _renews(summary: Summary, loop: cst.CSTNode, subject: str, run: Reached) -> bool:
    """Whether a loop makes the model anew, or has it traced again."""
    unit = run.at.unit
    inside = {id(node) for node in cst.within(loop)}
    if any(id(location.node) in inside for location in _tracing(summary)):
        return True
    root = cst.Name(subject.partition(".")[0])
    return is_newer(unit, run.at.node, root) or any(
        isinstance(node, cst.Assign | cst.Call) and _touches(summary, node, subject, run) for node in cst.within(loop)
    )


def _touches(summary: Summary, node: cst.Assign | cst.Call, subject: str, run: Reached) -> bool:
    """Whether a statement assigns to a model, or to what is called to train it, or passes it to code that is not
    seen."""
    match node:
        case cst.Assign(targets=targets):
            callee = path_of(run.at.node.func) if isinstance(run.at.node, cst.Call) else ""
            names = {path_of(part) for target in targets for part in _targets(target.target)}
            return subject in names or callee in names or any(name.endswith(".train_function") for name in names)
        case cst.Call(func=function):
            named = isinstance(function, cst.Attribute) and function.attr.value in _TRACES_AGAIN
            passed = any(path_of(argument.value) == subject for argument in node.args)
            return named or (passed and all(location.node is not node for location, _ in summary.calls))


def _targets(target: cst.CSTNode) -> Iterable[cst.CSTNode]:
    return [element.value for element in target.elements] if isinstance(target, cst.Tuple | cst.List) else [target]


def _tracing(summary: Summary) -> Iterator[Location]:
    """Where a function, or what it calls, compiles a model."""
    yield from (event.location for event in summary.events if _compiles(event))
    for location, callee in summary.calls:
        if any(map(_traces_again, [callee, *led_to(callee)])):
            yield location


def _traces_again(summary: Summary) -> bool:
    return any(map(_compiles, summary.events))


def _compiles(event: object) -> bool:
    return isinstance(event, SetupCall) and event.api.rpartition(".")[2] == "compile"
