"""Whether code that asks for one batch after the other gets to the last one, which may be smaller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.counts import Rows, rounds_up
from ..domain.kinds import options, rows_of
from ..domain.values import ApiObject, Pipeline, Sequence, Static, Value
from ..domain.varying_shapes import LAST, variations_of
from ..files.unit import Location, Unit
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter
from ..library.generators import is_endless
from .python_numbers import first

_MANY: Final = 1000  # batches: more than a program takes that only looks at a few


def ends_by_number(value: Value) -> bool:
    """Whether this is a range that goes through whole steps."""
    return isinstance(value, ApiObject) and value.api == "builtins.range" and not value.options


def meets_the_end(interpreter: Interpreter, frame: Frame, call: cst.CSTNode, arguments: Arguments) -> bool:
    """Whether what calls `next` gets to the end of the data: it has said what `next` returns then, or catches what it
    raises, or calls it in as many iterations as there are batches, the smaller one among them. A trace is asked of the
    size that it knows: that of no batch, if one may be smaller."""
    if (
        frame.context.kind not in NOT_TRACED
        or len(arguments.positional) > 1
        or _goes_round(interpreter, frame, call, arguments)
    ):
        return True
    inner = call
    for around in frame.unit.around(call):
        match around:
            case cst.Try():
                return True
            case (
                cst.For(iter=iterable)
                | cst.ListComp(for_in=cst.CompFor(iter=iterable))
                | cst.GeneratorExp(for_in=cst.CompFor(iter=iterable))
            ) if inner is not iterable:
                match interpreter.evaluate(frame, iterable):
                    case ApiObject(api="builtins.range") as numbers if not ends_by_number(numbers):
                        return True
                    case ApiObject("builtins.range", payload=Static() as number):
                        if _counts_all(rows_of(number), first(arguments)):
                            return True
            case cst.FunctionDef() | cst.Lambda():
                return False
        inner = around
    return False


def _counts_all(rows: Rows | None, data: Value) -> bool:
    """Whether a number is that of all batches, the smaller one among them: `len(dataset)`, `ceil(n / size)`."""
    match data:
        case ApiObject(facts=Pipeline(count=int() as count)) if isinstance(rows, int):
            return rows >= count
        case ApiObject(facts=Pipeline(count=count)) if rows is not None and rows == count:
            return True
        case _:
            return rounds_up(rows)


def _goes_round(interpreter: Interpreter, frame: Frame, call: cst.CSTNode, arguments: Arguments) -> bool:
    """Whether the data begin again after the last batch, and more is asked for than one pass."""
    where = arguments.nodes[0] if arguments.nodes else None
    if not isinstance(where, cst.Name | cst.Attribute) or not any(map(_begins_again, options(first(arguments)))):
        return False  # a new iterator, `next(iter(dataset))`, begins at the first batch
    name = frame.unit.code(where)
    around = (each for each in _around(frame.unit, call) if isinstance(each, cst.For | cst.While))
    loops = [each for each in around if not _binds(frame.unit, each, name)]
    match loops:
        case [cst.For(iter=iterable)]:
            return _asks_for_many(interpreter.evaluate(frame, iterable))
        case _:
            return bool(loops)


def _asks_for_many(numbers: Value) -> bool:
    """Whether a loop over these has more iterations than one pass has batches, as far as anybody can tell."""
    match numbers:
        case ApiObject("builtins.range", payload=Static(int() as count)):
            return count >= _MANY
        case ApiObject("builtins.range", payload=payload):
            return payload is None or rows_of(payload) is None
        case _:
            return False


def _begins_again(value: Value) -> bool:
    """Whether what yields these batches goes through the data more than once: a pipeline that repeats them, a generator
    with a loop around the one that cuts them."""
    match value:
        case ApiObject(facts=Pipeline(endless=endless)):
            return endless
        case Sequence():
            return any(each.kind == LAST and _is_cut_again(each.location) for each in variations_of(value))
        case _:
            return False


def _is_cut_again(location: Location) -> bool:
    loops = [each for each in _around(location.unit, location.node) if isinstance(each, cst.For | cst.While)]
    function = location.unit.function_around(location.node)
    yields = function is not None and any(isinstance(part, cst.Yield) for part in cst.within(function.body))
    return yields and (len(loops) > 1 or any(isinstance(loop, cst.While) and is_endless(loop) for loop in loops))


def _binds(unit: Unit, loop: cst.For | cst.While, name: str) -> bool:
    """Whether a loop makes another iterator by this name in each iteration."""
    return any(isinstance(part, cst.AssignTarget) and unit.code(part.target) == name for part in cst.within(loop.body))


def _around(unit: Unit, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a node stands in, within its function."""
    for around in unit.around(node):
        if isinstance(around, cst.FunctionDef | cst.Lambda):
            return
        yield around
