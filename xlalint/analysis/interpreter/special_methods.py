"""Special methods of the project's classes: what operators, comparisons, loops and indices call of an object."""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from typing import Final

from ...syntax import nodes as cst
from ..domain.counts import rounds_up
from ..domain.joins import join_all
from ..domain.kinds import rows_of
from ..domain.values import STATIC, Instance, Member, OneOf, Sequence, Static, Value
from ..domain.varying_shapes import STEPS
from .frames import Arguments, Frame
from .interface import Interpreter, method_value

_TOLD_APART: Final = 16  # items of an object that says how many it has
_OPERATORS: Final[dict[type[cst.CSTNode], str]] = {
    cst.Add: "add",
    cst.Subtract: "sub",
    cst.Multiply: "mul",
    cst.Divide: "truediv",
    cst.FloorDivide: "floordiv",
    cst.Modulo: "mod",
    cst.Power: "pow",
    cst.MatrixMultiply: "matmul",
    cst.BitAnd: "and",
    cst.BitOr: "or",
    cst.BitXor: "xor",
    cst.LeftShift: "lshift",
    cst.RightShift: "rshift",
}
_IN_PLACE: Final[dict[type[cst.CSTNode], str]] = {
    cst.AddAssign: "add",
    cst.SubtractAssign: "sub",
    cst.MultiplyAssign: "mul",
    cst.DivideAssign: "truediv",
    cst.FloorDivideAssign: "floordiv",
    cst.ModuloAssign: "mod",
    cst.PowerAssign: "pow",
    cst.MatrixMultiplyAssign: "matmul",
    cst.BitAndAssign: "and",
    cst.BitOrAssign: "or",
    cst.BitXorAssign: "xor",
    cst.LeftShiftAssign: "lshift",
    cst.RightShiftAssign: "rshift",
}
# Of a comparison: what is asked of its left side, and of its right one.
_COMPARED: Final[dict[type[cst.CSTNode], tuple[str, str]]] = {
    cst.Equal: ("__eq__", "__eq__"),
    cst.NotEqual: ("__ne__", "__ne__"),
    cst.LessThan: ("__lt__", "__gt__"),
    cst.LessThanEqual: ("__le__", "__ge__"),
    cst.GreaterThan: ("__gt__", "__lt__"),
    cst.GreaterThanEqual: ("__ge__", "__le__"),
}


class SpecialMethods(Interpreter):
    """Special methods of the project's classes."""

    def special(
        self, frame: Frame, owner: Value, name: str, arguments: Ordered[Value], node: cst.CSTNode
    ) -> Value | None:
        """What a special method of an object returns; None where the object has none of the name."""
        match owner:
            case Instance(cls) | Static(Member(cls)) if (method := cls.find(name)) is not None:
                return self.invoke(frame, method_value(method, owner), Arguments(list(arguments)), node)
            case _:
                return None

    def overloaded(self, frame: Frame, sign: cst.CSTNode, left: Value, right: Value, node: cst.CSTNode) -> Value | None:
        """The value of an operator or comparison that one of the sides defines itself."""
        if not _is_object(left) and not _is_object(right):
            return None
        kind = type(sign)
        if kind in _COMPARED:
            of_left, of_right = _COMPARED[kind]
            names = [(left, of_left, right), (right, of_right, left)]
        else:
            name = _OPERATORS.get(kind) or _IN_PLACE.get(kind)
            if name is None:
                return None
            names = [(left, f"__i{name}__", right)] if kind in _IN_PLACE else []
            names += [(left, f"__{name}__", right), (right, f"__r{name}__", left)]
        for owner, method, other in names:
            found = self.special(frame, owner, method, (other,), node)
            if found is not None:
                return found
        return None

    def _items(
        self, frame: Frame, owner: Instance, length: Value | None, node: cst.CSTNode
    ) -> tuple[Value, ...] | None:
        """What an object holds that says how much, and gives it by index."""
        match length:
            case Static(int() as count) if 0 < count <= _TOLD_APART:
                read = [self.special(frame, owner, "__getitem__", (Static(at),), node) for at in range(count)]
                return tuple(item for item in read if item is not None) or None
            case _:
                return None

    def _at_each_element(
        self, frame: Frame, owner: Value, name: str, arguments: Ordered[Value], node: cst.CSTNode
    ) -> Value | None:
        """What a special method returns that is called for each element."""
        around, frame.looped = frame.looped, True
        item = self.special(frame, owner, name, arguments, node)
        frame.looped = around
        return item

    def as_iterable(self, frame: Frame, value: Value, node: cst.CSTNode) -> Value:
        """What an object gives that says itself how it is iterated; anything else as it is."""
        match value:
            case Instance(cls):
                made = self.special(frame, value, "__iter__", (), node)
                if made is None and cls.find("__next__") is None:
                    length = self.special(frame, value, "__len__", (), node)
                    if (items := self._items(frame, value, length, node)) is not None:
                        return Sequence("list", items)
                    up = length is not None and rounds_up(rows_of(length))
                    index = STATIC if length is None else self.counter(frame, node, detail=STEPS if up else "")
                    item = self._at_each_element(frame, value, "__getitem__", (index,), node)
                    return value if item is None else Sequence("list", None, item)
                item = self._at_each_element(frame, value if made is None else made, "__next__", (), node)
                return Sequence("list", None, item) if item is not None else value if made is None else made
            case OneOf(alternatives) if any(isinstance(option, Instance) for option in alternatives):
                return join_all(*(self.as_iterable(frame, option, node) for option in alternatives))
            case _:
                return value


def _is_object(value: Value) -> bool:
    """Whether a value is of a class of the project, which may define operators."""
    return isinstance(value, Instance) or (isinstance(value, Static) and isinstance(value.constant, Member))
