"""What is known of an expression that a rewrite moves: its shape and dtype beside those of others, and its gradient.

Shapes and dtypes are compared, never computed: two expressions that are elementwise over the same names have one shape
and one dtype whatever those are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from ..analysis.domain.values import Static, Structure, Tensor, Value
from ..syntax import nodes as cst

Scope: TypeAlias = Mapping[str, Value]
"""What the analyser knows of the names at a place."""


class Gradient(IntEnum):
    """How the gradient of an expression behaves where another branch was taken, from the worst."""

    SINGULAR = 0  # may be infinite or NaN: times zero it spoils the sum
    LINEAR = 1  # a constant, whatever the input


@dataclass(frozen=True, slots=True)
class Known:
    """An expression without effects. `shape`: the names over which it broadcasts, none for a scalar; `dtype`: the
    names that share its dtype, and perhaps a dtype as TensorFlow spells it, none for a Python number; `kind`: the
    class of its dtype, if that is known."""

    shape: frozenset[str]
    dtype: frozenset[str]
    kind: str | None
    gradient: Gradient = Gradient.LINEAR

    def agrees(self, other: Known, numbers: bool) -> bool:
        """Whether both have one shape and one dtype. `numbers`: a Python number counts as one of the dtype of a tensor
        of its class."""
        if self.shape != other.shape:
            return False
        if self.dtype and other.dtype:
            return bool(self.dtype & other.dtype)
        return numbers and bool(self.dtype or other.dtype) and self.kind == other.kind


_NUMBERS: Final = {cst.Float: "float", cst.Integer: "int"}
_LARGEST: Final = 65504.0  # of half precision: a constant beyond is infinite there

# TensorFlow's elementwise functions of one tensor, by what their gradient does.
_ELEMENTWISE: Final = {
    **dict.fromkeys(("identity", "negative", "stop_gradient", "zeros_like", "ones_like"), Gradient.LINEAR),
    **dict.fromkeys(("nn.relu",), Gradient.LINEAR),  # its kernel selects
    **dict.fromkeys(
        (
            *("abs", "exp", "sqrt", "square", "tanh", "sigmoid", "sin", "cos", "sign", "round", "floor"),
            *("nn.tanh", "nn.sigmoid", "nn.softplus", "nn.elu", "nn.gelu", "nn.swish", "nn.silu"),
            *(f"math.{name}" for name in ("abs", "exp", "log", "log1p", "sqrt", "rsqrt", "square", "tanh", "sigmoid")),
            *(f"math.{name}" for name in ("negative", "sin", "cos", "sign", "floor", "ceil", "expm1", "reciprocal")),
        ),
        Gradient.SINGULAR,
    ),
}
_FLOATING: Final = frozenset(
    name
    for name in _ELEMENTWISE
    if name.removeprefix("math.").removeprefix("nn.")
    in ("exp", "sqrt", "tanh", "sigmoid", "sin", "cos", "log", "log1p", "rsqrt", "expm1", "reciprocal", "softplus")
)
# Functions of two tensors that broadcast.
_PAIRWISE: Final = {
    **dict.fromkeys(("add", "subtract", "math.add", "math.subtract"), Gradient.LINEAR),
    **dict.fromkeys(("multiply", "maximum", "minimum", "math.multiply", "math.maximum", "math.minimum"), Gradient(0)),
}
_COMPARING: Final = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "math.")
    for name in ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or")
)
# Reductions over everything that keep the dtype.
_REDUCING: Final = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "math.")
    for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod")
)
_TESTING: Final = frozenset(f"{prefix}{name}" for prefix in ("", "math.") for name in ("reduce_any", "reduce_all"))
_SCALING: Final = (cst.Multiply, cst.MultiplyAssign)


def number(node: cst.CSTNode | None) -> float | None:
    """The value of a number literal, signed or not."""
    match node:
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Float() | cst.Integer() as literal):
            return -float(literal.evaluated_value)
        case cst.Float() | cst.Integer():
            return float(node.evaluated_value)
        case _:
            return None


def dotted(node: cst.CSTNode) -> str | None:
    """The source of a name with attributes, `a.b.c`."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            front = dotted(owner)
            return None if front is None else f"{front}.{name}"
        case _:
            return None


class Knowledge:
    """Reads expressions in a scope. `tf` is TensorFlow's name there."""

    def __init__(self, scope: Scope, tf: str) -> None:
        self._scope = scope
        self._tf = tf
        self._proven: set[str] = set()  # what may be a list, and is used as only a tensor can be
        self._floats: set[str] = set()  # what stands beside a Python float, which no tensor of integers takes

    def of(self, node: cst.CSTNode | None) -> Known | None:
        """What is known of an expression; None where anything in it is not."""
        match node:
            case cst.Float() | cst.Integer():
                value = number(node)
                within = value is not None and abs(value) <= _LARGEST
                return Known(frozenset(), frozenset(), _NUMBERS[type(node)]) if within else None
            case cst.Name(value=name):
                return self._name(name)
            case cst.UnaryOperation(operator=cst.Minus() | cst.Plus() as operator, expression=operand):
                return self._operand(operand, operator, None)
            case cst.UnaryOperation(operator=cst.BitInvert(), expression=operand):
                known = self.of(operand)
                return known if known is not None and known.kind == "bool" else None
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                return self.combined(left, operator, right)
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator, right)]) if not isinstance(
                operator, cst.In | cst.NotIn | cst.Is | cst.IsNot
            ):
                return self._compared(left, right)
            case cst.Call(func=function, args=arguments) if (api := self.api(function)) is not None:
                if all(argument.keyword is None and not argument.star for argument in arguments):
                    return self._call(api, [argument.value for argument in arguments])
        return None

    def gradient(self, function: cst.CSTNode) -> Gradient | None:
        """What the gradient of an elementwise function of TensorFlow's does."""
        api = self.api(function)
        return None if api is None else _ELEMENTWISE.get(api, _PAIRWISE.get(api))

    def api(self, function: cst.CSTNode) -> str | None:
        """A function of TensorFlow's without its `tf.`."""
        name = dotted(function)
        prefix = f"{self._tf}."
        return name.removeprefix(prefix) if name is not None and name.startswith(prefix) else None

    def all_of(self, nodes: Sequence[cst.CSTNode]) -> list[Known | None]:
        """What is known of several expressions over the same names, each of which may prove what a name is."""
        for node in nodes:
            self.of(node)
        return [self.of(node) for node in nodes]

    def is_scalar(self, node: cst.CSTNode) -> bool:
        """Whether an expression is known to be a scalar."""
        known = self.of(node)
        return known is not None and not known.shape

    def _name(self, name: str) -> Known | None:
        match self._scope.get(name):
            case Tensor(dtype=kind, rank=rank, bounded=None):
                shape = frozenset() if rank == 0 else frozenset((name,))
                return Known(shape, frozenset((name,)), "float" if name in self._floats else kind)
            case Structure() if name in self._proven:
                return Known(frozenset((name,)), frozenset((name,)), "float" if name in self._floats else None)
            case Static(constant=bool()):
                return None
            case Static(constant=int() | float() as value) if abs(value) <= _LARGEST:
                return Known(frozenset(), frozenset(), type(value).__name__)
            case _:
                return None

    def _operand(self, node: cst.CSTNode, operator: cst.CSTNode, other: cst.CSTNode | None) -> Known | None:
        """What is known of an operand. What may be a list or a tensor is a tensor where no list could stand."""
        match node, other:
            case cst.Name(value=name), None | cst.Float() | cst.Integer() if isinstance(
                self._scope.get(name), Structure
            ):
                if not (isinstance(other, cst.Integer) and isinstance(operator, _SCALING)):
                    self._proven.add(name)
        return self.of(node)

    def combined(self, left: cst.CSTNode, operator: cst.CSTNode, right: cst.CSTNode) -> Known | None:
        """What is known of `left operator right`, also of an augmented assignment."""
        first, second = self._operand(left, operator, right), self._operand(right, operator, left)
        if first is None or second is None:
            return None
        constant = number(right)
        linear = min(first.gradient, second.gradient)
        match operator:
            case cst.Add() | cst.Subtract() | cst.AddAssign() | cst.SubtractAssign():
                gradient = linear
            case cst.Multiply() | cst.MultiplyAssign():
                gradient = linear if constant is not None or number(left) is not None else Gradient.SINGULAR
            case cst.Divide() | cst.DivideAssign():
                # Integers divide to another dtype.
                if "float" not in (first.kind, second.kind):
                    return None
                gradient = linear if constant else Gradient.SINGULAR
            case cst.BitAnd() | cst.BitOr():
                if first.kind != "bool" or second.kind != "bool":
                    return None
                gradient = Gradient.LINEAR
            case _:
                return None
        return self._together(first, second, gradient)

    def _compared(self, left: cst.CSTNode, right: cst.CSTNode) -> Known | None:
        first, second = self.of(left), self.of(right)
        if first is None or second is None or not (first.dtype or second.dtype):
            return None
        joined = self._together(first, second, Gradient.LINEAR)
        return joined and Known(joined.shape, frozenset(("tf.bool",)), "bool")

    def _call(self, api: str, arguments: list[cst.BaseExpression]) -> Known | None:
        match arguments:
            case [only] if (known := self.of(only)) is not None and known.dtype:
                if api in _ELEMENTWISE:
                    kind = "float" if api in _FLOATING and known.kind is None else known.kind
                    if api in _FLOATING and kind != "float":
                        return None
                    return Known(known.shape, known.dtype, kind, min(known.gradient, _ELEMENTWISE[api]))
                if api in _REDUCING:
                    return Known(frozenset(), known.dtype, known.kind, Gradient.SINGULAR)
                if (api in _TESTING or api == "logical_not") and known.kind in ("bool", None):
                    shape = known.shape if api == "logical_not" else frozenset()
                    return Known(shape, frozenset(("tf.bool",)), "bool")
            case [left, right] if api in _COMPARING:
                return self._compared(left, right)
            case [left, right] if api in _PAIRWISE:
                first, second = self.of(left), self.of(right)
                if first is not None and second is not None and (first.dtype or second.dtype):
                    return self._together(first, second, min(first.gradient, second.gradient, _PAIRWISE[api]))
            case [value, dtype] if api == "cast" and (self.api(dtype) or "").startswith("float"):
                known = self.of(value)
                if known is not None:
                    return Known(known.shape, frozenset((f"tf.{self.api(dtype)}",)), "float", known.gradient)
        return None

    def _together(self, first: Known, second: Known, gradient: Gradient) -> Known | None:
        """Two operands of one operation: they share a dtype, and broadcast. A float beside an integer is an error."""
        dtype = first.dtype | second.dtype
        kinds = {known.kind for known in (first, second) if known.kind is not None}
        if len(kinds) > 1 and (first.dtype or first.kind == "float") and (second.dtype or second.kind == "float"):
            return None
        kind = "float" if "float" in kinds else next(iter(kinds), None)
        numbers = [known for known in (first, second) if not known.dtype]
        if any(number.kind == "int" for number in numbers) and dtype and "float" not in kinds:
            kind = next((known.kind for known in (first, second) if known.dtype), None)
        if kind == "float" and any(number.kind == "float" for number in numbers):
            self._floats |= dtype
        return Known(first.shape | second.shape, dtype, kind, gradient)
