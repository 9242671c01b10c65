"""Arithmetic and its relatives: unary and binary operators on abstract values."""

from __future__ import annotations

from functools import reduce
from typing import ClassVar, Final

from ...syntax import nodes as cst
from ..domain.bounds import broadcast, product
from ..domain.counts import DIVIDING, Count, Rows, computed, negative
from ..domain.gpus import computed as without_any
from ..domain.gpus import negated
from ..domain.joins import element_of, join_parts
from ..domain.kinds import as_condition, is_mixed, steps_of, united
from ..domain.operators import (
    arithmetic_tensor,
    as_sure_as,
    concatenate,
    dtype_of,
    fold,
    joined_structures,
    rank_of,
    shapes_met,
)
from ..domain.origins import strongest
from ..domain.values import (
    STATIC,
    UNKNOWN,
    UNSET,
    Api,
    ApiObject,
    Array,
    Dependence,
    Dict,
    Instance,
    Sequence,
    Setting,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)
from ..domain.varying_shapes import LAST, LENGTHS, PADDING
from ..files.unit import Location
from ..library.local_paths import added, filled_in
from ..library.reductions import combined
from ..record import replace
from .contexts import NOT_TRACED, ContextKind
from .counting import rows
from .dimensions import ask_for_none, report_operands
from .events import Consume, DivideBy, TruthOf
from .found_gpus import report_division
from .frames import WEIGHTS, Act, Frame
from .host_reads import mix_number, numbers_in_format, report_text
from .interface import Handlers, Interpreter
from .narrowing import truth

_REMAINDERS: Final[frozenset[type[object]]] = frozenset(
    (cst.FloorDivide, cst.FloorDivideAssign, cst.Modulo, cst.ModuloAssign)
)
_ARITHMETIC: Final[frozenset[type[object]]] = frozenset(
    (
        *(cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.MatrixMultiply),
        *(cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign, cst.DivideAssign, cst.PowerAssign),
    )
)
_UNARY: Final = {cst.Minus: "__neg__", cst.Plus: "__pos__", cst.BitInvert: "__invert__"}
_TOLD_APART: Final = 16  # items of a list that is multiplied


class Operations(Interpreter):
    """Arithmetic and its relatives."""

    def _unary(self, frame: Frame, node: cst.UnaryOperation) -> Value:
        value = self.evaluate(frame, node.expression)
        if isinstance(node.operator, cst.Not):
            self.refute_tensor(frame, value)
            return self.negate(frame, node, value, tested=False)
        report_operands(self, frame, (value,), node, "operator")
        match value:
            case Instance() if (name := _UNARY.get(type(node.operator))) is not None:
                return self.special(frame, value, name, (), node) or UNKNOWN
            case Static(constant, varies) if isinstance(node.operator, cst.Minus) and isinstance(constant, int | float):
                return Static(-constant, varies)
            case Static(varies=varies, count=count):
                less = negative(count) if count is not None else None
                return Static(varies=varies, count=less if isinstance(less, Count) else None)
            case Structure():
                return value.tensor
            case Tensor(eager=True):
                return value.with_(eager=False)
            case _:
                return value

    def negate(self, frame: Frame, node: cst.UnaryOperation, value: Value, tested: bool) -> Value:
        tensor = as_condition(value)
        if tensor is not None:
            self.emit(frame, TruthOf, node, operands=(value,), form="not", tested=tested, names=dict(frame.env or {}))
            return tensor.with_(dtype="bool", rank=0)
        self.doubt_tensor(frame, value)
        ask_for_none(frame, value)
        match value:
            case Static(constant, setting=Setting(default=default, name=name)) if constant is UNSET:
                return Static(setting=Setting(not default, name))
        known = truth(value)
        return negated(value, STATIC if known is None else Static(not known))

    def _binary(self, frame: Frame, node: cst.BinaryOperation) -> Value:
        left, right = self.evaluate(frame, node.left), self.evaluate(frame, node.right)
        if type(node.operator) is cst.Modulo and frame.context.kind is ContextKind.HOST:
            frame.compared.add(Location(frame.unit, node))  # `if step % 128 == 0:`
        return self.operate(frame, node, node.operator, left, right)

    def operate(
        self,
        frame: Frame,
        node: cst.CSTNode,
        sign: cst.BaseBinaryOp | cst.BaseAugOp,
        left: Value,
        right: Value,
    ) -> Value:
        """The value of `left sign right`."""
        made = without_any(sign, left, right, self._operated(frame, node, sign, left, right))
        report_division(self, frame, sign, left, right, node)
        match made, left, right:
            case ((Static(count=None) | Unknown(count=None)), (Static() | Unknown()), (Static() | Unknown())):
                return made if frame.context.kind not in NOT_TRACED else _counted(frame, node, sign, left, right, made)
            case _:
                return made

    def _operated(
        self,
        frame: Frame,
        node: cst.CSTNode,
        sign: cst.BaseBinaryOp | cst.BaseAugOp,
        left: Value,
        right: Value,
    ) -> Value:
        if (overloaded := self.overloaded(frame, sign, left, right, node)) is not None:
            return overloaded
        if not (isinstance(left, Static) and isinstance(left.constant, str)):  # `"%s" % n`
            report_operands(self, frame, (left, right), node, "operator")
        elif isinstance(sign, cst.Modulo):
            report_text(self, frame, (right,), node, numbers_in_format(left.constant, right))
        if type(sign) in _ARITHMETIC and not (isinstance(left, Tensor) and isinstance(right, Tensor)):
            for side, other in ((left, right), (right, left)):
                if isinstance(side, Unknown | Structure) and _tells_numbers(side, other):
                    self.confirm_number(frame, side)
        if isinstance(sign, cst.Add | cst.AddAssign) and (joined := joined_structures(left, right)) is not None:
            return joined
        tensors = [tensor for tensor in map(arithmetic_tensor, (left, right)) if tensor is not None]
        if tensors:
            if isinstance(left, Static) and isinstance(left.constant, str):
                return STATIC  # "%s" % tensor is text
            mix_number(self, frame, node, left, right)
            return as_sure_as(self._operate_on_tensors(frame, node, sign, left, right, tensors), left, right)
        self.doubt_tensor(frame, left)
        self.doubt_tensor(frame, right)
        match left, right:
            case Static(a), Static(b):
                made = fold(type(sign), a, b)
                lacking = isinstance(sign, cst.Subtract | cst.SubtractAssign)  # `32 - n`, as much as is filled up
                varies = united(left.varies, tuple(v for v in right.varies if not (lacking and v.detail == LAST)))
                if type(sign) in _REMAINDERS:  # a few numbers come of counters; a part of a size is another one
                    divided = not isinstance(sign, cst.Modulo | cst.ModuloAssign)
                    varies = tuple(each for each in varies if divided and each.kind == "number" and each.detail != LAST)
                if not made.known and isinstance(sign, cst.Add | cst.AddAssign) and (path := added(left, right)):
                    return path
                if isinstance(a, str) and isinstance(sign, cst.Modulo):
                    return filled_in(a, (right,))
                return replace(made, varies=varies) if varies else made
            case Static(str() as form), Sequence(items=tuple(items)) if isinstance(sign, cst.Modulo):
                return filled_in(form, items)
            case (ApiObject("pathlib.Path", None) as path, _) | (_, ApiObject("pathlib.Path", None) as path):
                return path
            case (Array("int", None, ()), Static(varies=(_, *_) as varies)) | (
                Static(varies=(_, *_) as varies),
                Array("int", None, ()),
            ) if isinstance(sign, cst.Add | cst.AddAssign):
                return Unknown(varies=varies)  # where a piece ends: `start + length`
            case (Array(), _) | (_, Array()):
                held = (value.varies for value in (left, right) if isinstance(value, Array))
                return Array(None, _length_of(left, right), reduce(united, held, ()), _row_of(left, right))
            case Dict(a, x), Dict(b, y) if isinstance(sign, cst.BitOr | cst.BitOrAssign):
                return Dict({**a, **b}, join_parts(x, y) if x and y else x or y)
            case Sequence(), Sequence() if isinstance(sign, cst.Add | cst.AddAssign):
                return concatenate(left, right)
            case Sequence(kind, tuple(items)), Static(int(times)) if (
                isinstance(sign, cst.Multiply) and len(items) * times <= _TOLD_APART
            ):
                return Sequence(kind, items * times)
            case (Sequence(kind=kind) as sequence, Static(varies=found)) | (
                Static(varies=found),
                Sequence(kind=kind) as sequence,
            ):
                # As many as data say, `[0] * (longest - len(row))`: where a loop here counts, each row has others.
                location = Location(frame.unit, node)
                if found and all(each.kind in LENGTHS for each in found):
                    as_long = isinstance(node, cst.BinaryOperation) and isinstance(node.right, cst.Call)
                    varies = found if as_long else (Variation(PADDING, location, 0),)  # `[0] * len(row)`
                    return Sequence(kind, None, element_of(sequence), varies=varies)
                told = [each for each in found if each.kind == "number" or _is_of_caller(frame, each.location)][:1]
                # A number is told where it is made: what pads each row to it stands in a loop over the rows.
                places = (each.location if each.kind == "number" else location for each in told)
                varies = tuple(
                    Variation("sized", place, 0, each.shapes) for place, each in zip(places, told, strict=True)
                )
                return Sequence(kind, None, element_of(sequence), varies=varies, steps=_times(sign, left, right))
            case (Sequence(kind=kind) as sequence, Unknown()) | (Unknown(), Sequence(kind=kind) as sequence) if (
                isinstance(sign, cst.Multiply) and isinstance(element_of(sequence), ApiObject | Instance)
            ):
                return Sequence(kind, None, element_of(sequence))  # of objects, which an array does not multiply
            case (Unknown(), Sequence(varies=(_, *_)) as row) | (Sequence(varies=(_, *_)) as row, Unknown()) if (
                isinstance(sign, cst.Add | cst.AddAssign)
            ):
                return replace(row, items=None, element=UNKNOWN)  # a list, too, of which nothing else is known
            case (Static(varies=varies), Api()) | (Api(), Static(varies=varies)) if varies:
                return Static(varies=varies)  # `math.pi * epoch`
            case (Static(varies=varies), Unknown()) | (Unknown(), Static(varies=varies)) if varies:
                return Unknown(varies=varies)
            case Static() as path, Unknown() if (
                isinstance(sign, cst.Add | cst.AddAssign)
                and frame.context.kind in NOT_TRACED
                and (begun := added(path, right)) is not None
            ):
                return begun  # a text, or a column of them: `"pictures/" + frame["name"]`
            case (Unknown(varies=(_, *_) as varies), Static()) | (Static(), Unknown(varies=(_, *_) as varies)):
                return Unknown(varies=varies)
            case (Unknown(names, part=True), Static()) | (Static(), Unknown(names, part=True)) if names:
                return Unknown(names, part=True)  # as much a part of what the parameter holds
            case (Static(), Static()) | (Api(), _):
                return STATIC
            case _:
                return UNKNOWN

    def _operate_on_tensors(
        self,
        frame: Frame,
        node: cst.CSTNode,
        sign: cst.BaseBinaryOp | cst.BaseAugOp,
        left: Value,
        right: Value,
        tensors: list[Tensor],
    ) -> Tensor:
        decisive = strongest(tensors)
        if type(sign) in _REMAINDERS:
            symbol = "%" if isinstance(sign, cst.Modulo | cst.ModuloAssign) else "//"
            self.emit(frame, DivideBy, node, left=left, right=right, sign=symbol)
        kinds = {dtype_of(left), dtype_of(right)} - {None}
        if isinstance(sign, cst.Divide):
            dtype = "float" if kinds <= {"int", "float"} and "complex" not in kinds else None
            if kinds == {"int"}:
                self.emit(frame, DivideBy, node, left=left, right=right, sign="/")
        elif isinstance(sign, cst.BitAnd | cst.BitOr | cst.BitXor):
            dtype = "bool" if "bool" in kinds else next(iter(kinds), None)
        else:
            dtype = next((kind for kind in ("complex", "float", "int", "bool", "string") if kind in kinds), None)
        ranks = [rank_of(value) for value in (left, right)]
        known = [rank for rank in ranks if rank is not None]
        multiplies = isinstance(sign, cst.MatrixMultiply | cst.MatrixMultiplyAssign)
        if multiplies and any(tensor.variable for tensor in tensors):
            self.note_done(frame, Act.MODEL, node, WEIGHTS)
        bounded = product(left, right, tensors) if multiplies else broadcast(tensors)
        source = next((tensor for tensor in tensors if tensor.bounded), None)
        if source is not None:
            arguments = {"left": left, "right": right}
            self.emit(frame, Consume, node, tensor=source, consumer="operator", node=node, arguments=arguments)
        # XLA computes no product of matrices while it compiles.
        unfolded = multiplies and decisive.dependence is Dependence.VALUE
        carried = unfolded or any(tensor.carried for tensor in tensors)
        return Tensor(
            decisive.dependence,
            dtype,
            max(known) if len(known) == 2 else None,
            decisive.origin,
            bounded,
            carried,
            mixed=carried and (is_mixed(tensors) or unfolded),
            varies=shapes_met(tensors),
            number=tensors[0].number if len(tensors) == 1 and dtype == "int" else None,
            of_tensorflow=all(tensor.of_tensorflow for tensor in tensors),
            traced=any(tensor.traced for tensor in tensors),
            python=all(tensor.python for tensor in tensors),
            returned=all(tensor.returned for tensor in tensors),
            reduction=combined(sign, left, right),
        )

    EXPRESSIONS: ClassVar[Handlers[Value]] = {
        cst.UnaryOperation: _unary,
        cst.BinaryOperation: _binary,
    }


def _tells_numbers(side: Value, other: Value) -> bool:
    """Whether arithmetic with `other` says that `side` is a number or a tensor, and no list or tuple."""
    match other:
        case Tensor() | Array():
            return True
        case Static(constant):
            return isinstance(constant, float) or (isinstance(side, Structure) and not isinstance(constant, str))
        case Structure(parameter=None, origin=origin) if origin is not None:
            return isinstance(side, Structure) and side.origin is origin  # and a part of what it is added to
        case Unknown(names, part=True):  # and so is this
            return isinstance(side, Unknown) and not side.part and len(names) == 1 and side.names == names
        case _:
            return False


def _is_of_caller(frame: Frame, location: Location) -> bool:
    """Whether something stands in another function than the one that is executed."""
    if frame.function is None or location.unit is not frame.unit:
        return frame.function is not None
    return frame.unit.function_around(location.node) is not frame.function.node


def _counted(
    frame: Frame,
    node: cst.CSTNode,
    sign: cst.BaseBinaryOp | cst.BaseAugOp,
    left: Static | Unknown,
    right: Static | Unknown,
    made: Static | Unknown,
) -> Value:
    """What is computed of two numbers, with what is known of it as a number of rows."""
    if isinstance(made, Static) and made.known:
        return made
    if type(sign) not in DIVIDING and not _is_counted(left, sign) and not _is_counted(right, sign):
        return made
    match node:
        case cst.BinaryOperation(left=first, right=second) | cst.AugAssign(target=first, value=second):
            count = computed(type(sign), rows(frame, left, first), rows(frame, right, second))
        case _:
            return made
    return replace(made, count=count) if isinstance(count, Count) else made


def _is_counted(value: Static | Unknown, sign: cst.BaseBinaryOp | cst.BaseAugOp) -> bool:
    """Whether a side says by itself that numbers of rows are computed: `3 * size`, `size` being a setting."""
    if isinstance(value, Unknown):
        return value.count is not None
    product = isinstance(sign, cst.Multiply) and type(value.constant) is int
    return product or value.count is not None or value.setting is not None


def _times(sign: cst.CSTNode, left: Value, right: Value) -> int | None:
    """How many items a list has that is repeated: `[0] * 800`."""
    match left, right:
        case (Sequence() as sequence, Static(int(times))) | (Static(int(times)), Sequence() as sequence) if (
            isinstance(sign, cst.Multiply) and type(times) is int
        ):
            items = steps_of(sequence) if sequence.items is None else len(sequence.items)
            return None if items is None else items * max(times, 0)
        case _:
            return None


def _length_of(left: Value, right: Value) -> Rows | None:
    """How long an array is that is computed of an array and something else: as long as the arrays that are known."""
    known = {value.length for value in (left, right) if isinstance(value, Array) and value.length is not None}
    return known.pop() if len(known) == 1 else None


def _row_of(left: Value, right: Value) -> int | None:
    """How many elements the rows of an array have that is computed with a number, which leaves its shape."""
    match left, right:
        case (Array(row=row), Static(int() | float())) | (Static(int() | float()), Array(row=row)):
            return row
        case _:
            return None
