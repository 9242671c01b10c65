"""Operators: one object of each kind, which stands nowhere."""

from __future__ import annotations

from typing import ClassVar

from .base import CSTNode


class BaseOperator(CSTNode):
    __slots__ = ()
    sign: ClassVar[str]


class BaseBinaryOp(BaseOperator):
    __slots__ = ()


class BaseUnaryOp(BaseOperator):
    __slots__ = ()


class BaseBooleanOp(BaseOperator):
    __slots__ = ()


class BaseCompOp(BaseOperator):
    __slots__ = ()


class BaseAugOp(BaseOperator):
    __slots__ = ()


class Add(BaseBinaryOp):
    __slots__ = ()
    sign = "+"


class Subtract(BaseBinaryOp):
    __slots__ = ()
    sign = "-"


class Multiply(BaseBinaryOp):
    __slots__ = ()
    sign = "*"


class Divide(BaseBinaryOp):
    __slots__ = ()
    sign = "/"


class FloorDivide(BaseBinaryOp):
    __slots__ = ()
    sign = "//"


class Modulo(BaseBinaryOp):
    __slots__ = ()
    sign = "%"


class Power(BaseBinaryOp):
    __slots__ = ()
    sign = "**"


class MatrixMultiply(BaseBinaryOp):
    __slots__ = ()
    sign = "@"


class LeftShift(BaseBinaryOp):
    __slots__ = ()
    sign = "<<"


class RightShift(BaseBinaryOp):
    __slots__ = ()
    sign = ">>"


class BitOr(BaseBinaryOp):
    __slots__ = ()
    sign = "|"


class BitAnd(BaseBinaryOp):
    __slots__ = ()
    sign = "&"


class BitXor(BaseBinaryOp):
    __slots__ = ()
    sign = "^"


class Plus(BaseUnaryOp):
    __slots__ = ()
    sign = "+"


class Minus(BaseUnaryOp):
    __slots__ = ()
    sign = "-"


class BitInvert(BaseUnaryOp):
    __slots__ = ()
    sign = "~"


class Not(BaseUnaryOp):
    __slots__ = ()
    sign = "not"


class And(BaseBooleanOp):
    __slots__ = ()
    sign = "and"


class Or(BaseBooleanOp):
    __slots__ = ()
    sign = "or"


class Equal(BaseCompOp):
    __slots__ = ()
    sign = "=="


class NotEqual(BaseCompOp):
    __slots__ = ()
    sign = "!="


class LessThan(BaseCompOp):
    __slots__ = ()
    sign = "<"


class LessThanEqual(BaseCompOp):
    __slots__ = ()
    sign = "<="


class GreaterThan(BaseCompOp):
    __slots__ = ()
    sign = ">"


class GreaterThanEqual(BaseCompOp):
    __slots__ = ()
    sign = ">="


class Is(BaseCompOp):
    __slots__ = ()
    sign = "is"


class IsNot(BaseCompOp):
    __slots__ = ()
    sign = "is not"


class In(BaseCompOp):
    __slots__ = ()
    sign = "in"


class NotIn(BaseCompOp):
    __slots__ = ()
    sign = "not in"


class AddAssign(BaseAugOp):
    __slots__ = ()
    sign = "+="


class SubtractAssign(BaseAugOp):
    __slots__ = ()
    sign = "-="


class MultiplyAssign(BaseAugOp):
    __slots__ = ()
    sign = "*="


class DivideAssign(BaseAugOp):
    __slots__ = ()
    sign = "/="


class FloorDivideAssign(BaseAugOp):
    __slots__ = ()
    sign = "//="


class ModuloAssign(BaseAugOp):
    __slots__ = ()
    sign = "%="


class PowerAssign(BaseAugOp):
    __slots__ = ()
    sign = "**="


class MatrixMultiplyAssign(BaseAugOp):
    __slots__ = ()
    sign = "@="


class LeftShiftAssign(BaseAugOp):
    __slots__ = ()
    sign = "<<="


class RightShiftAssign(BaseAugOp):
    __slots__ = ()
    sign = ">>="


class BitOrAssign(BaseAugOp):
    __slots__ = ()
    sign = "|="


class BitAndAssign(BaseAugOp):
    __slots__ = ()
    sign = "&="


class BitXorAssign(BaseAugOp):
    __slots__ = ()
    sign = "^="
