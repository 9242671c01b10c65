"""Python's own numbers: what makes them of tensors, counts and ranges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from ...syntax import nodes as cst
from ..domain.counts import Count, Rows, fills_batches, is_multiple, minus, rounded, rounded_up, rounds_up
from ..domain.gpus import hangs_on_gpus, without_gpus
from ..domain.kinds import as_tensor, is_told, options, rows_of, united
from ..domain.row_counts import number_of_rows
from ..domain.values import (
    STATIC,
    ApiObject,
    Array,
    Dependence,
    FunctionValue,
    Instance,
    OneOf,
    Origin,
    Pipeline,
    Sequence,
    Setting,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)
from ..domain.varying_shapes import LAST, STEPS, is_counted, of_sizes, variations_of
from ..files.unit import Location
from ..interpreter.contexts import NOT_TRACED, ContextKind
from ..interpreter.counting import rows
from ..interpreter.events import HostRead
from ..interpreter.fixed_lengths import is_settled
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..interpreter.narrowing import truth
from ..library.datasets import DATASET
from .longest import is_length_of_longest

_OF_NUMBERS: Final = frozenset(("int", "float", "round"))  # they leave what is known of a number
_TOLD_APART: Final = 16  # numbers of which each is looked at by itself


def first(arguments: Arguments) -> Value:
    """The first argument; a Python value where there is none."""
    return arguments.positional[0] if arguments.positional else arguments.rest or STATIC


def as_number(rows: Rows) -> Static:
    """The Python number of so many rows."""
    return Static(rows) if isinstance(rows, int) else Static(count=rows)


def _reader(name: str) -> FunctionModel:
    """`int(t)` and its kind: Python wants the number."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
        value = first(arguments)
        if is_told(value, frame.context.kind is ContextKind.XLA) and as_tensor(value, Dependence.STATIC):
            interpreter.note_eager_read(frame, value)
            interpreter.emit(frame, HostRead, node, value=value, reader=name, names=dict(frame.env or {}))
            dtype = {"int": "int", "float": "float"}.get(name)
            tensor = as_tensor(value, Dependence.STATIC)
            if frame.context.kind in NOT_TRACED and name == "int" and (rows := number_of_rows(tensor)):
                return Static(varies=rows)
            if frame.context.kind is ContextKind.HOST and not frame.context.pipeline:
                return interpreter.number(frame, node) if frame.python_loop and dtype else STATIC
            if not frame.context.converted or not dtype or not tensor:
                return STATIC
            # AutoGraph converts the call, and the result is a tensor still.
            number = Origin(Location(frame.unit, node), "{code}") if name == "int" else None
            return tensor.with_(dtype=dtype, number=number)
        interpreter.doubt_tensor(frame, value)
        if isinstance(value, Static) and value.known and isinstance(value.constant, int | float) and name == "int":
            return Static(int(value.constant), value.varies) if abs(value.constant) < 1 << 62 else STATIC
        if name == "bool" and (known := truth(value)) is not None:
            return Static(known)
        if hangs_on_gpus(value) and (name == "bool" or name in _OF_NUMBERS):
            told = without_gpus(value)
            return Static(without_gpus=bool(told) if name == "bool" else told)
        match value:
            case Static(int() | float() as constant, varies) if name == "float" and abs(constant) < 1 << 62:
                return Static(float(constant), varies)
            case Static(setting=Setting(default, told)) if name == "bool":
                return Static(setting=Setting(bool(default), told))
            case Static(setting=Setting(str() as text, told)) if name == "int":
                return Static(setting=Setting(int(text), told)) if text.isdecimal() else STATIC
            case Static(setting=Setting()) if name == "int":
                return value
            case Array() | Static(varies=(), count=None) if name in _OF_NUMBERS and (
                varies := _varying(interpreter, frame, value, arguments.node_at(0, node))
            ):
                return Static(varies=varies)
            case Static(varies=varies, count=count) | Unknown(varies=varies, count=count) if name in _OF_NUMBERS:
                whole = rounded(count, up=False) if count is not None and name == "int" else count
                return Static(varies=varies, count=whole if isinstance(whole, Count) else None)
            case _:
                return STATIC

    return handle


def _varying(interpreter: Interpreter, frame: Frame, value: Array | Static, node: cst.CSTNode) -> tuple[Variation, ...]:
    """Why a number of NumPy's is another one each time: a loop takes it of an array, or it is computed from what
    varies."""
    if frame.context.kind not in NOT_TRACED or frame.context.pipeline:
        return ()
    match node:
        case cst.Name(value=name) if isinstance(value, Array):
            loops = (outside for outside in frame.unit.around(node) if isinstance(outside, cst.For))
            taken = any(name in cst.names_in(loop.target) for loop in loops)
            return variations_of(interpreter.counter(frame, node)) if taken else ()
        case cst.Call(args=deciding) | cst.Subscript(slice=deciding):
            found: tuple[Variation, ...] = ()
            for part in (part for each in deciding for part in cst.within(each) if isinstance(part, cst.Name)):
                used = interpreter.lookup(frame, part.value)
                found = united(found, used.varies) if isinstance(used, Static) else found
            return found
        case _:
            return ()


def _len(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    value = first(arguments)
    interpreter.refute_tensor(frame, value)
    interpreter.doubt_tensor(frame, value)
    vague = any(isinstance(option, Structure) for option in options(value))  # a list as likely as not
    tensor = None if vague else as_tensor(value, Dependence.STATIC)
    if tensor is not None:
        interpreter.emit(frame, HostRead, node, value=value, reader="len", names=dict(frame.env or {}))
        if frame.context.converted and tensor.bounded is None:
            # A Python number where the dimension is known, which nobody knows here.
            return OneOf((Tensor(Dependence.SHAPE, "int", 0), STATIC))
    match value:
        case Sequence(kind, tuple(items)) if kind == "tuple":
            return Static(len(items))
        case Static(str(text)):
            return Static(len(text))
        case Sequence("list", None, steps=int(count)) | ApiObject("builtins.range", payload=Static(int() as count)) if (
            count
        ):
            return Static(count)
        case Sequence(varies=varies) if frame.context.kind in NOT_TRACED and (
            sizes := tuple(each for each in of_sizes(varies) if not is_settled(frame, each))
        ):
            return Static(varies=sizes)
        case Sequence(of_gpus=True):
            return Static(without_gpus=0)
        case ApiObject(api=name, facts=Pipeline(count, batch=int())) if name == DATASET:
            return as_number(rounded_up(frame.unit.code(node)) if count is None else count)
        case Array(length=length, varies=varies) if length is not None and not of_sizes(varies):
            return as_number(length)
        case Instance(cls) if method := cls.find("__len__"):
            return interpreter.invoke(frame, FunctionValue(method, bound=value), Arguments(), node)
        case _:
            if arguments.nodes and is_length_of_longest(interpreter, frame, arguments.nodes[0]):
                return interpreter.number(frame, node)
            varies = value.varies if isinstance(value, Tensor | Structure | Array | Unknown) else ()
            sizes = of_sizes(varies)
            if sizes and all(map(is_counted, sizes)):  # it has the length of the list that it is made of
                return Static(varies=sizes)
            if sizes and all(each.kind == LAST for each in sizes):
                return Static(varies=tuple(Variation("number", each.location, detail=LAST) for each in sizes))
            return interpreter.number(frame, node) if sizes else STATIC


def _range(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    payload: Value | None = _rounds(arguments.positional)
    if frame.module.written and isinstance(payload, Static) and payload.constant <= _TOLD_APART:
        numbers = range(*(bound.constant for bound in arguments.positional if isinstance(bound, Static)))
        return Sequence("list", tuple(map(Static, numbers)))
    for place, value in enumerate(arguments.positional):
        interpreter.doubt_tensor(frame, value)
        tensor = as_tensor(value, Dependence.STATIC)
        match value, arguments.positional:
            case Static(), [_]:
                as_many = value.count is not None or bool(value.varies)
            case Static(), [Static(int(), ()), _] | [Static(int(), ()), _, Static(int(), ())]:
                as_many = place == 1 and bool(value.varies)  # in steps, up to a number that changes
            case _:
                as_many = False
        if as_many or (tensor is not None and (payload is None or tensor.dependence is Dependence.VALUE)):
            payload = value
        payload = value if payload is None and hangs_on_gpus(value) else payload
    steps = _leaves_a_rest(frame, arguments, node)
    return ApiObject("builtins.range", payload=payload, options=(("steps", Static(True)),) if steps else ())


def _arange(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """The array of the numbers of a range that goes in steps, or of a window that moves along; of others as of any
    array."""
    bounds = arguments.positional
    if frame.context.kind in NOT_TRACED and len(bounds) == 2 and (moved := _moved(*bounds)):
        last = (Variation(LAST, Location(frame.unit, node), axis=0, shapes=2),)
        return Array("int", varies=last if any(each.detail == STEPS for each in moved) else ())
    whole = not any(isinstance(bound, Static) and isinstance(bound.constant, float) for bound in bounds)
    if len(bounds) < 3 or not whole or any(map(variations_of, bounds)) or not _leaves_a_rest(frame, arguments, node):
        return None
    return Array("int", steps=True)


def _moved(start: Value, stop: Value) -> tuple[Variation, ...]:
    """What moves both bounds of a range alike, so that it is as long each time."""
    first, last = (bound.varies if isinstance(bound, Static) else () for bound in (start, stop))
    return first if set(first) == set(last) else ()


def _leaves_a_rest(frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> bool:
    """Whether `range(start, stop, step)` goes in steps that need not reach `stop`: it is not computed for that. So does
    a range whose length is a quotient that is rounded up."""
    match arguments.positional, arguments.nodes:
        case (([count] | [Static(0), count]), _) if rounds_up(rows_of(count)):
            return True
        case [_] | [_, _], _:
            return False
        case [_, _, Static(1 | -1)], _:
            return False
        case _, [_, cst.BinaryOperation(), _]:
            return False
        case [Static(int() as start), Static(int() as stop), Static(int() as step)], _ if step:
            return (stop - start) % step != 0
        case [_, _, _], _ if frame.context.kind in NOT_TRACED:
            bounds = [rows(frame, bound, arguments.node_at(at, node)) for at, bound in enumerate(arguments.positional)]
            through = None if bounds[0] is None or bounds[1] is None else minus(bounds[1], bounds[0])
            return not (is_multiple(through, bounds[2]) or fills_batches(through))
        case _:
            return True


def _rounds(bounds: list[Value]) -> Static | None:
    """How many numbers `range` of these yields, where all are known."""
    numbers = [bound.constant for bound in bounds if isinstance(bound, Static) and type(bound.constant) is int]
    if len(numbers) != len(bounds) or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        return None
    return Static(min(len(range(*numbers)), 1 << 40)) if max(map(abs, numbers)) < 1 << 40 else None


def _folded(function: Callable[..., float]) -> FunctionModel:
    """A function of Python numbers: of known ones, its result is known."""

    def handle(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
        numbers = [value.constant for value in arguments.positional if isinstance(value, Static) and value.known]
        if arguments.keywords or len(numbers) < len(arguments.positional) or not numbers:
            return None
        try:
            return Static(function(*numbers))
        except (ArithmeticError, TypeError, ValueError):
            return None

    return handle


def _ceil(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`math.ceil(n / size)`, `np.ceil(..)`: of numbers that are not known, it is known which way it is rounded."""
    match arguments.positional:
        case [Static(varies=(), count=count) | Unknown(varies=(), count=Count() as count)] if (
            not isinstance(arguments.positional[0], Static) or not arguments.positional[0].known
        ):
            whole = rounded(count, up=True) if count is not None else None
            return as_number(whole if rounds_up(whole) and whole is not None else rounded_up(frame.unit.code(node)))
        case _:
            return _folded(math.ceil)(interpreter, frame, arguments, node)


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **{f"builtins.{name}": _reader(name) for name in ("int", "float", "bool", "complex", "round", "memoryview")},
    "builtins.len": _len,
    "builtins.range": _range,
    "np.arange": _arange,
    **{f"math.{function.__name__}": _folded(function) for function in (math.isclose, math.floor, math.sqrt)},
    "math.ceil": _ceil,
    "np.ceil": _ceil,
}
