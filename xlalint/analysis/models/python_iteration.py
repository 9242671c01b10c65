"""Python's own functions that iterate what they are passed: `zip`, `map`, `any`, `next` and the like."""

from __future__ import annotations

from functools import reduce
from math import inf
from typing import Final

from ...syntax import nodes as cst
from ..domain.gpus import hangs_on_gpus
from ..domain.joins import as_tuple, join_all, join_parts, without_none
from ..domain.kinds import as_tensor, options, steps_of, united
from ..domain.operators import concatenate
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    ApiObject,
    Array,
    Dependence,
    Instance,
    OneOf,
    Pipeline,
    Sequence,
    Static,
    Structure,
    Unknown,
    Value,
    Variation,
)
from ..domain.varying_shapes import LAST, last_batches
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.events import TruthOf
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..interpreter.narrowing import truth
from ..interpreter.pipelines import as_taken, report_elements
from ..library.datasets import is_dataset
from ..library.taken_batches import among_first
from ..record import replace
from .called_plainly import called_by
from .ends_of_data import ends_by_number, meets_the_end
from .python_numbers import first

_TOLD_APART: Final = 16  # items of a sequence of which each is looked at by itself


def _iterator(form: str) -> FunctionModel:
    """`zip(..)`, `enumerate(..)` and the like: each argument is iterated."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        iterables = []
        for position, value in enumerate(arguments.positional):
            if form == "enumerate" and position:
                break
            if form == "zip" and not (isinstance(value, Unknown) and value.part):
                interpreter.refute_tensor(frame, value)
            where = arguments.node_at(position, node)
            iterables.append(interpreter.iterate(frame, value, where, form))
        if form == "zip":
            iterables = _as_many_as_counted(iterables)
        elements = [
            interpreter.element(frame, iterable, arguments.node_at(position, node))
            for position, iterable in enumerate(iterables)
        ]
        if arguments.rest is not None:
            if form != "zip" or elements:
                return Sequence("list", None, UNKNOWN)
            return _transposed(arguments.rest, _of_rows(interpreter, frame, node))
        if form == "enumerate":
            match iterables, arguments.get(1, "start"):
                case [Sequence(items=tuple(items))], None | Static(int()) as start if len(items) <= _TOLD_APART:
                    first_number = 0 if start is None else start.constant
                    numbered = (
                        Sequence("tuple", (Static(number), item)) for number, item in enumerate(items, first_number)
                    )
                    return Sequence("list", tuple(numbered))
            elements.insert(0, interpreter.counter(frame, node))
        if form in ("zip", "enumerate"):
            if form == "zip" and (rows := _rows(iterables, elements)) is not None:
                return Sequence("list", tuple(Sequence("tuple", row) for row in rows))
            steps = max((count for count in map(steps_of, iterables) if count is not None), default=None)
            rest: tuple[Variation, ...] = ()
            rest = reduce(united, map(last_batches, iterables), rest)
            row = Sequence("tuple", tuple(elements))
            return Sequence("list", None, row, steps=steps, varies=rest, of_gpus=any(map(hangs_on_gpus, iterables)))
        kind = "tuple" if form == "tuple" else "set" if form == "set" else "list"
        match iterables[:1]:
            case [Sequence(items=tuple(items))] if form in ("list", "tuple"):
                return Sequence(kind, items)
            case [Sequence(items=tuple(items))] if form == "reversed":
                return Sequence(kind, items[::-1])
            case [ApiObject("builtins.range") as numbers] if form == "reversed":
                return numbers
        if not elements:
            return Sequence(kind, ())
        varies = iterables[0].varies if isinstance(iterables[0], Sequence) else ()
        kept = tuple(each for each in varies if each.kind != "capped")
        gpus = hangs_on_gpus(iterables[0])
        return Sequence(kind, None, elements[0], varies=kept, steps=steps_of(iterables[0]), of_gpus=gpus)

    return handle


def _rows(iterables: list[Value], elements: list[Value]) -> list[tuple[Value, ...]] | None:
    """What `zip` yields, where it is known how much that is: nothing of `range(n)` beside it is known but what it
    counts."""
    columns = [one.items if isinstance(one, Sequence) else None for one in iterables]
    lengths = [len(column) for column in columns if column is not None]
    others = [one for one, column in zip(iterables, columns, strict=True) if column is None]
    if not lengths or not all(lengths) or not all(_counts(one) for one in others):
        return None
    least = min(lengths)
    filled = [
        column if column is not None else (element,) * least for column, element in zip(columns, elements, strict=True)
    ]
    return list(zip(*filled, strict=False))


def _as_many_as_counted(iterables: list[Value]) -> list[Value]:
    """What `zip` takes of datasets that stand beside a range: as many elements as it counts."""
    counts = [steps_of(one) or None for one in iterables if ends_by_number(one)]
    if not counts:
        return iterables
    number = min(counts, key=lambda count: count or inf)
    return [
        replace(one, payload=among_first(one.payload, number, one.facts.count))
        if isinstance(one, ApiObject) and one.payload is not None and isinstance(one.facts, Pipeline)
        else one
        for one in iterables
    ]


def _counts(value: Value) -> bool:
    """Whether this counts up, as far as anybody asks."""
    return isinstance(value, Sequence) and isinstance(value.element, Static) and value.kind == "list"


def _of_rows(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> tuple[Variation, ...]:
    """Why the rows that `zip(*rows)` is passed are more or fewer."""
    match node:
        case cst.Call(args=[cst.Arg(value=rows, star="*")]) if frame.context.kind in NOT_TRACED:
            held = options(interpreter.evaluate(frame, rows))
            return reduce(united, (option.varies for option in held if isinstance(option, Sequence | Array)), ())
        case _:
            return ()


def _transposed(row: Value, varies: tuple[Variation, ...]) -> Value:
    """`zip(*rows)`, where each row is like this one: for each place in it, what all rows have there."""
    match row:
        case Instance():
            return _transposed(as_tuple(row), varies) if as_tuple(row) is not row else Sequence("list", None, UNKNOWN)
        case Sequence(items=tuple(items)):
            return Sequence("list", tuple(Sequence("tuple", None, item, varies=varies) for item in items))
        case Sequence(element=element) if element is not None:
            return Sequence("list", None, Sequence("tuple", None, element, varies=varies))
        case _:
            rest = tuple(each for each in varies if each.kind == LAST)
            return Sequence("list", None, Sequence("tuple", None, UNKNOWN, varies=rest) if rest else UNKNOWN)


def _deque(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`deque(items, maxlen=n)`: with a length that it does not exceed it is full before long."""
    items = replace(arguments, positional=arguments.positional[:1])
    made = _iterator("list")(interpreter, frame, items, node) or UNKNOWN
    if isinstance(made, Sequence) and arguments.get(1, "maxlen") not in (None, NONE):
        match arguments.get(1, "maxlen"), made.items:
            case Static(int() as most), tuple(held) if most > 0:
                capped = Variation("capped", Location(frame.unit, node), shapes=most)
                return replace(made, items=held[-most:], varies=(capped,))
        return replace(made, varies=(Variation("capped", Location(frame.unit, node)),))
    return made


def _map(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:

    function, columns, elements = called_by(interpreter, "map", first(arguments)), [], []
    for position, value in enumerate(arguments.positional[1:], 1):
        where = arguments.node_at(position, node)
        iterable = interpreter.iterate(frame, value, where, "map")
        columns.append(iterable.items if isinstance(iterable, Sequence) else None)
        elements.append(interpreter.element(frame, iterable, where))
    around, frame.looped = frame.looped, True
    made = _of_each_row(interpreter, frame, function, columns, elements, node)
    frame.looped = around
    return made


def _of_each_row(
    interpreter: Interpreter,
    frame: Frame,
    function: Value,
    columns: list[tuple[Value, ...] | None],
    elements: list[Value],
    node: cst.BaseExpression,
) -> Value:
    """What a function returns for each of a few rows, or for one of many."""
    rows = [column for column in columns if column is not None]
    if rows and len(rows) == len(columns) and len(set(map(len, rows))) == 1 and len(rows[0]) <= _TOLD_APART:
        made = [interpreter.call(frame, function, Arguments(list(row)), node) for row in zip(*rows, strict=True)]
        return Sequence("list", tuple(made))
    return Sequence("list", None, interpreter.call(frame, function, Arguments(elements), node))


def _filter(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:

    if len(arguments.positional) < 2:
        return UNKNOWN
    where = arguments.node_at(1, node)
    iterable = interpreter.iterate(frame, arguments.positional[1], where, "filter")
    function = called_by(interpreter, "filter", arguments.positional[0])

    def kept(item: Value) -> bool | None:
        return truth(item if function == NONE else interpreter.call(frame, function, Arguments([item]), node))

    match iterable:
        case Sequence(items=tuple(items)) if len(items) <= _TOLD_APART:
            chosen = [kept(item) for item in items]
            left = tuple(item for item, is_kept in zip(items, chosen, strict=True) if is_kept is not False)
            if None not in chosen or not left:
                return Sequence("list", left)
            return Sequence("list", None, join_parts(*left))
        case _:
            item = interpreter.element(frame, iterable, where)
            kept(item)
            return Sequence("list", None, item)


def _chosen(form: str) -> FunctionModel:
    """`any`, `all`, `sum` over an iterable."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        only = first(arguments)
        iterable = interpreter.iterate(frame, only, arguments.node_at(0, node), form)
        if as_tensor(only, Dependence.STATIC):
            return UNKNOWN
        start = arguments.get(1, "start")
        if isinstance(start, Sequence) and isinstance(iterable, Sequence) and iterable.items is not None:
            return reduce(concatenate, (row for row in iterable.items if isinstance(row, Sequence)), start)
        if form in ("any", "all"):
            held = iterable.items if isinstance(iterable, Sequence) else None
            for item in (interpreter.element(frame, iterable, node),) if held is None else held:
                if truth(item) is (form == "any"):
                    return Static(form == "any")  # Python asks no further
                if as_tensor(item, Dependence.STATIC) is not None:
                    names = dict(frame.env or {})
                    interpreter.emit(frame, TruthOf, node, operands=(item,), form=form, tested=False, names=names)
                    break
            return STATIC  # Python's own, also where AutoGraph converts the function
        item = interpreter.element(frame, iterable, node)
        tensor = as_tensor(item, Dependence.STATIC)
        if isinstance(item, Structure):
            return item
        return tensor if tensor is not None else STATIC if isinstance(item, Static) else UNKNOWN

    return handle


def _iter(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`iter(x)`: of a dataset an iterator, of anything else what can be iterated as well; of a function its results."""
    if len(arguments.positional) > 1:
        return Sequence("list", None, without_none(interpreter.call(frame, first(arguments), Arguments(), node)))
    match first(arguments):
        case ApiObject("tf.data.Dataset", None, facts=facts) as dataset:
            return ApiObject("tf.data.Iterator", payload=as_taken(interpreter, frame, dataset, node), facts=facts)
        case OneOf(alternatives) if all(map(is_dataset, alternatives)):
            each = (replace(arguments, positional=[option]) for option in alternatives)
            return join_all(*(_iter(interpreter, frame, one, node) for one in each))
        case value:
            return interpreter.iterate(frame, value, arguments.node_at(0, node), "iter")


def _reversed(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    own = interpreter.special(frame, first(arguments), "__reversed__", (), node)
    return _iterator("reversed")(interpreter, frame, arguments, node) or UNKNOWN if own is None else own


def _next(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    value = first(arguments)
    interpreter.refute_tensor(frame, value)
    report_elements(interpreter, frame, value, node)
    match value, arguments.nodes:
        case Sequence(kind, (found, *rest)), [where, *_] if not (frame.loop or frame.python_loop):
            if isinstance(where, cst.Name | cst.Attribute) and not (frame.conditional or frame.branch):
                interpreter.assign_quietly(frame, where, Sequence(kind, tuple(rest)))
            return found
        case _:
            found = interpreter.element(frame, value, node)
            return found if meets_the_end(interpreter, frame, node, arguments) else among_first(found)


def _islice(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`islice(dataset, 4)` is `dataset.take(4)`, and `islice(dataset, 4, None)` skips as many."""
    match arguments.positional:
        case [ApiObject() as dataset, count] if is_dataset(dataset):
            return interpreter.call(frame, replace(dataset, method="take"), Arguments([count]), node)
        case [ApiObject() as dataset, start, *_] if is_dataset(dataset):
            return interpreter.call(frame, replace(dataset, method="skip"), Arguments([start]), node)
        case _:
            return None


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "itertools.islice": _islice,
    **{f"builtins.{name}": _iterator(name) for name in ("enumerate", "zip", "list", "tuple", "set")},
    "builtins.frozenset": _iterator("set"),
    "builtins.reversed": _reversed,
    "builtins.iter": _iter,
    "builtins.next": _next,
    "builtins.map": _map,
    "builtins.filter": _filter,
    **{f"builtins.{name}": _chosen(name) for name in ("any", "all", "sum")},
    **dict.fromkeys(("collections.deque", "_collections.deque"), _deque),
}
