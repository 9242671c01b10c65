"""The compiled steps that a function runs, one behind another, and what lies between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...sources.outline import FunctionOutline
from ...syntax import nodes as cst
from ..domain.values import Function
from ..files.unit import Location, Unit
from ..interpreter.fixed_lengths import MAKERS
from ..interpreter.frames import LINE_BY_LINE, Act, Summary
from .made_of import path_of, paths_in
from .reached import Reached
from .surroundings import Around, Surroundings

TRAINS: Final = (Act.FIT, Act.STEP)
_MOST: Final = 200  # functions that a call leads to


def runs_of(summary: Summary, reached: Sequence[Reached], acts: Sequence[Act] = TRAINS) -> Iterator[Reached]:
    """The runs of compiled steps, also by several calls of one function."""
    called: dict[Location, Summary] = {}
    for location, callee in summary.calls:
        called.setdefault(location, callee)
    around = Surroundings()
    for each in (one for one in reached if one.done.act in acts and one.done.reader != LINE_BY_LINE):
        yield each
        by = called.get(each.at)
        for location, other in called.items() if by is not None and each.at != each.done.location else ():
            if location != each.at and by is not None and other.function is by.function:
                outer = around.of(location)
                yield Reached(each.done, (*outer, *each.around[each.own :]), len(outer), location, each.by)


def place_of(each: Reached) -> tuple[int, int]:
    return each.at.span[:2]


def common_loop(one: Reached, other: Reached) -> Around | None:
    """The innermost loop around both."""
    shared = [first for first, second in zip(one.around, other.around, strict=False) if first == second]
    return next(
        (around for around in reversed(shared) if around.is_loop and isinstance(around.node, cst.For | cst.While)), None
    )


def are_apart(*acts: Reached) -> bool:
    """Whether two of these are on two sides of a condition."""
    sides: dict[int, str] = {}
    for act in acts:
        for around in act.around[: act.own]:
            if sides.setdefault(id(around.node), around.side) != around.side:
                return True
    return False


def decides_when(around: Around, names: set[str]) -> bool:
    """Whether a condition is about one of these names, and not about the first time."""
    match around.node:
        case cst.If(test=cst.Comparison(comparisons=[cst.ComparisonTarget(cst.Equal(), cst.Integer("0"))])):
            return False
        case cst.If(test=test):
            return not names.isdisjoint(cst.names_within(test))
        case _:
            return False


def code_around(run: Reached) -> list[tuple[Unit, cst.CSTNode]]:
    """The function around a call, or the code of the module, which is in several stretches."""
    unit = run.at.unit
    around = unit.function_around(run.at.node)
    if around is not None:
        return [(unit, around)]
    stretches = (unit.file.unit(stretch) for stretch in unit.file.outline.code)
    return [(stretch, stretch.tree) for stretch in stretches]


def paths_of(summary: Summary, run: Reached) -> Iterator[str]:
    """What a step may train: the object whose method is called, what it is passed, and what it reads of outside."""
    node = run.at.node
    if not isinstance(node, cst.Call):
        return
    receiver = path_of(node.func.value) if isinstance(node.func, cst.Attribute) else ""
    if receiver:
        yield receiver
    if run.at == run.done.location and run.done.act is Act.FIT:
        return
    yield from (path for argument in node.args if (path := path_of(argument.value)))
    called = {callee for location, callee in summary.calls if location == run.at}
    for callee in [*called, *(one for each in called for one in led_to(each))]:
        if callee.function is not None:
            for path in paths_in(callee.function.node.body):
                names = path.split(".")
                if names[0] == "self" and receiver:
                    names[0] = receiver
                yield from (
                    ".".join(names[:length]) for length in range(1, len(names) + 1) if names[:length] != ["self"]
                )


def led_to(summary: Summary) -> list[Summary]:
    """What an analysis leads to."""
    found: dict[Summary, None] = {}
    pending = [summary]
    while pending and len(found) < _MOST:
        for _, callee in pending.pop().calls:
            if callee not in found:
                found[callee] = None
                pending.append(callee)
    return list(found)


def read_by(summary: Summary, run: Reached) -> set[str]:
    """The names and attributes of outside that a compiled step reads, and what it calls: as the function writes them
    that runs it."""
    node = run.at.node
    receiver = path_of(node.func.value) if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""
    found = set[str]()
    called = {callee for location, callee in summary.calls if location == run.at}
    owners = {callee.function.owner for callee in called if callee.function is not None}
    for callee in {*called, *(one for each in called for one in led_to(each))}:
        function = callee.function
        if function is None or not callee.context.becomes_graph or not _stays(summary, callee):
            continue
        own = {*callee.given, *(name for target in cst.targets_in(function.node) for name in cst.names_in(target))}
        for path in paths_in(function.node.body):
            names = path.split(".")
            if names[0] == "self" and receiver and function.owner in owners:
                names[0] = receiver
            elif names[0] in own:
                continue
            found |= {".".join(names[:length]) for length in range(1, len(names) + 1)}
    # A new object has methods of its own, which are traced for it.
    return {path for path in found if receiver != path and not receiver.startswith(f"{path}.")}


def _stays(summary: Summary, callee: Summary) -> bool:
    """Whether a compiled function is there before the call that leads to it: no function on the way makes it."""
    here = None if summary.function is None else summary.function.node
    function, places = callee.function, [callee.traced_apart] if callee.traced_apart is not None else []
    if function is not None:
        places.append(Location(function.unit, function.node))
    makers = (_maker_of(place) for place in places)
    own = (None, here, None if function is None else function.node)
    return all(maker in own or (isinstance(maker, cst.FunctionDef) and maker.name.value in MAKERS) for maker in makers)


def _maker_of(place: Location) -> cst.CSTNode | None:
    """The function around a place."""
    return next((around for around in place.unit.around(place.node) if isinstance(around, cst.FunctionDef)), None)


def called_by(summary: Summary, run: Reached) -> set[Function | None]:
    """The functions that a call runs."""
    return {callee.function for location, callee in summary.calls if location == run.at}


def passes_others(run: Reached, again: Reached) -> bool:
    """Whether a call is passed another object than an earlier one in the same place, as another optimizer, for which it
    is traced again; not of what the loops around them go through."""
    first, second = (dict(_objects(each)) for each in (run, again))
    return any(second.get(place, path) != path for place, path in first.items())


def _objects(run: Reached) -> Iterator[tuple[int | str, str]]:
    """What a call is passed by name, by the place or the name of the parameter."""
    loops = (around.node for around in run.around[: run.own] if isinstance(around.node, cst.For))
    elements = {name for loop in loops for name in cst.names_in(loop.target)}
    for place, argument in enumerate(run.at.node.args if isinstance(run.at.node, cst.Call) else ()):
        path = path_of(argument.value)
        if path and path.partition(".")[0] not in elements:
            yield (place if argument.keyword is None else argument.keyword.value), path


def defined_between(run: Reached, again: Reached) -> bool:
    """Whether the module defines what is called once more between two calls, as the cells of a notebook do."""
    unit, first, last = run.at.unit, run.at.line, again.at.line
    name = path_of(run.at.node.func).partition(".")[0] if isinstance(run.at.node, cst.Call) else ""
    bindings = unit.file.outline.bindings.get(name, ())
    return any(isinstance(each, FunctionOutline) and first < each.stretch.first <= last for each in bindings)
