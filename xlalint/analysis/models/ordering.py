"""What puts values in order, and what asks for the least or the greatest: of constants, which one that is."""

from __future__ import annotations

from typing import Any, Final

from ...syntax import nodes as cst
from ..domain.joins import join_all
from ..domain.kinds import as_tensor, steps_of, united
from ..domain.values import NONE, STATIC, UNKNOWN, Dependence, Sequence, Static, Unknown, Value, Variation
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.events import TruthOf
from ..interpreter.frames import Arguments, Frame
from ..interpreter.in_range import first_counted
from ..interpreter.interface import FunctionModel, Interpreter
from ..record import replace
from .longest import is_longest

_TOLD_APART: Final = 16  # items of a sequence of which each is looked at by itself
_ORDERED: Final = (int, float, str)


def put_in_order(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """`sorted([t1, t2])` asks which of two is less, of the items themselves or of what `key` makes of them."""
    if not arguments.positional:
        return Sequence("list", None, UNKNOWN)
    where = arguments.nodes[0] if arguments.nodes else node
    iterable = interpreter.iterate(frame, arguments.positional[0], where, "sorted")
    match iterable:
        case Sequence(items=tuple(items)) if len(items) <= 1:
            return Sequence("list", items)
        case Sequence(items=tuple(items)) if len(items) <= _TOLD_APART:
            order = _order(interpreter, frame, items, arguments, node, "sorted")
            if order is not None:
                match arguments.keywords.get("reverse", Static(False)):
                    case Static(bool(turned)):
                        return Sequence("list", tuple(order[::-1] if turned else order))
    element = interpreter.element(frame, iterable, where)
    if not as_tensor(arguments.positional[0], Dependence.STATIC):  # the rows of a tensor are told as iteration
        _order(interpreter, frame, (element,), arguments, node, "sorted")
    return Sequence("list", None, element, steps=steps_of(arguments.positional[0]))


def _extreme(form: str) -> FunctionModel:
    """`max` and `min`: of one iterable, or of several arguments."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        values = tuple(arguments.positional)
        if len(values) == 1:
            iterable = interpreter.iterate(frame, values[0], arguments.nodes[0] if arguments.nodes else node, form)
            if as_tensor(values[0], Dependence.STATIC):
                return UNKNOWN
            match iterable:
                case Sequence(items=()) if "default" in arguments.keywords:
                    return arguments.keywords["default"]
                case Sequence(items=(only,)):
                    return only
                case Sequence(items=tuple(items)) if items and len(items) <= _TOLD_APART:
                    values = items
                case _:
                    values = (interpreter.element(frame, iterable, node),)
        numbers = all(isinstance(each, Static) and not each.known for each in values)
        if numbers and form == "max" and arguments.nodes and is_longest(interpreter, frame, arguments.nodes[0]):
            return interpreter.number(frame, node)
        order = _order(interpreter, frame, values, arguments, node, form)
        if order:
            return order[-1 if form == "max" else 0]
        if frame.context.kind in NOT_TRACED and all(map(_may_be_number, values)) and any(map(_is_number, values)):
            return _of_counter(form, values, arguments) or _of_numbers(frame, values)
        tensors = [value for value in values if as_tensor(value, Dependence.STATIC)]
        return join_all(*(tensors or values)) if values else STATIC

    return handle


def _of_numbers(frame: Frame, numbers: tuple[Value, ...]) -> Value:
    """The least or the greatest of some numbers, which varies as they do: not by what the code around it has compared
    with something, which is large enough by then."""
    varies: tuple[Variation, ...] = ()
    for number in numbers:
        varies = united(varies, number.varies if isinstance(number, Static) else ())
    kept = tuple(variation for variation in varies if variation.location not in frame.bounded)
    return Static(varies=kept) if kept else join_all(*(_settled(number) for number in numbers))


def _of_counter(form: str, numbers: tuple[Value, ...], arguments: Arguments) -> Value | None:
    """`min(step, 3)`, by the counter of a loop: as many numbers as that leaves, or one."""
    match numbers:
        case (Static(varies=(Variation(kind="counter") as counter,)), Static(int() as bound, varies=())):
            place = 0
        case (Static(int() as bound, varies=()), Static(varies=(Variation(kind="counter") as counter,))):
            place = 1
        case _:
            return None
    if len(arguments.nodes) != len(numbers):
        return None
    first = first_counted(counter.location, arguments.nodes[place])
    if first is None or (form == "max" and not counter.shapes):
        return None
    rounds = counter.shapes or bound - first + 1
    left = min(bound - first + 1, rounds) if form == "min" else rounds - max(bound - first, 0)
    return Static(bound) if left <= 1 else Static(varies=(replace(counter, shapes=left),))


def _is_number(value: Value) -> bool:
    return isinstance(value, Static)


def _may_be_number(value: Value) -> bool:
    """Whether a value is a number, or nobody knows what it is: a setting that a file holds."""
    return isinstance(value, Static | Unknown)


def _settled(number: Value) -> Value:
    return replace(number, varies=()) if isinstance(number, Static) and number.varies else number


def _of_arrays(form: str) -> FunctionModel:
    """`np.minimum(a, b)` of Python numbers."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        numbers = len(arguments.positional) == 2 and all(isinstance(each, Static) for each in arguments.positional)
        return _extreme(form)(interpreter, frame, arguments, node) if numbers and not arguments.keywords else None

    return handle


def _greatest(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`np.max([len(row) for row in batch])`."""
    longest = len(arguments.nodes) == 1 and is_longest(interpreter, frame, arguments.nodes[0])
    return interpreter.number(frame, node) if longest else None


def _order(
    interpreter: Interpreter,
    frame: Frame,
    items: tuple[Value, ...],
    arguments: Arguments,
    node: cst.BaseExpression,
    form: str,
) -> list[Value] | None:
    """The items from the least to the greatest, where that is known; what is compared may be tensors, which is said."""
    key = arguments.keywords.get("key", NONE)
    compared = items
    if key != NONE:
        compared = tuple(interpreter.call(frame, key, Arguments([item]), node) for item in items)
    if any(as_tensor(value, Dependence.STATIC) for value in compared):
        names = dict(frame.env or {})
        interpreter.emit(frame, TruthOf, node, operands=compared, form=form, tested=False, names=names)
        return None
    for value in compared:
        interpreter.doubt_tensor(frame, value)
    heads = [_head(value) for value in compared]
    known = all(isinstance(head, _ORDERED) for head in heads)
    if not known or len({isinstance(head, str) for head in heads}) > 1 or len(set(heads)) < len(heads):
        return None
    return [item for _, item in sorted(zip(heads, items, strict=True), key=lambda pair: pair[0])]


def _head(value: Value) -> Any:
    """What decides in the first place where a value belongs."""
    match value:
        case Static(constant):
            return constant
        case Sequence(items=(Static(constant), *_)):
            return constant
        case _:
            return None


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "builtins.sorted": put_in_order,
    "builtins.max": _extreme("max"),
    "builtins.min": _extreme("min"),
    **dict.fromkeys(("np.max", "np.amax"), _greatest),
    "np.maximum": _of_arrays("max"),
    "np.minimum": _of_arrays("min"),
}
