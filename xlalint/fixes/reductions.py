"""Reductions over what a mask selects, computed over everything with the mask."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..syntax import nodes as cst
from .rewrite import GivenUp

_DIGITS: Final = "in the last digits"
_NOT_FLOATS: Final = "where the elements are integers"
_EXTREME: Final = "in the gradient, where everything selected is infinite"

# Functions of TensorFlow's that compute something for each position by itself; of the last axis, if they have one.
EACH_POSITION: Final = frozenset(
    (
        *("abs", "cast", "clip_by_value", "divide", "equal", "exp", "maximum", "minimum", "multiply", "negative"),
        *("not_equal", "one_hot", "pow", "sigmoid", "sign", "sqrt", "square", "stop_gradient", "subtract", "tanh"),
        *("add", "math.squared_difference", "math.log", "math.abs", "math.square", "math.sigmoid", "nn.relu"),
        *("nn.softmax", "nn.log_softmax", "nn.sigmoid", "nn.softmax_cross_entropy_with_logits"),
        *("nn.sparse_softmax_cross_entropy_with_logits", "nn.sigmoid_cross_entropy_with_logits"),
    )
)

# Losses of classes by their numbers, of which no other number has one: NaN, whatever the weight. The argument is the
# first, or has this name.
OF_CLASSES: Final[Mapping[str, str]] = {
    "nn.sparse_softmax_cross_entropy_with_logits": "labels",
    "keras.losses.sparse_categorical_crossentropy": "y_true",
    "keras.metrics.sparse_categorical_crossentropy": "y_true",
}


_FINITE: Final = ("math.is_finite", "math.is_nan", "math.is_inf")


@dataclass(frozen=True, slots=True)
class Selected:
    """The elements `x` that `mask` selects. All are source text: `operand` is `x` before an operator or a dot, `spread`
    the mask with `x`'s rank, `rest` further arguments of the reduction (", axis=0"), `kind` the class of the dtype if
    that is known. `whole`: over all axes, so that the elements of a selected row count one by one."""

    tf: str
    x: str
    operand: str
    mask: str
    spread: str
    rest: str
    kind: str | None
    whole: bool

    def kept(self, other: str) -> str:
        """The elements, and `other` in place of those left out."""
        return f"{self.tf}.where({self.spread}, {self.x}, {other})"

    @property
    def number(self) -> str:
        """How many elements there are, in their dtype."""
        if self.whole and self.spread != self.mask:
            return f"{self.tf}.reduce_sum({self.tf}.where({self.spread}, {self.tf}.ones_like({self.x}), 0))"
        return f"{self.tf}.reduce_sum({self.tf}.cast({self.mask}, {self.operand}.dtype))"

    @property
    def sum(self) -> str:
        return f"{self.tf}.reduce_sum({self.kept('0')}{self.rest})"


@dataclass(frozen=True, slots=True)
class Reduced:
    """A reduction as text, and where it differs from that of the selection; nowhere, if that is empty. `before`: the
    statements that it needs."""

    text: str
    differs: str = ""
    before: tuple[tuple[str, str], ...] = ()  # a name that is wanted, and its value


def _sum(of: Selected) -> Reduced:
    return Reduced(of.sum, "" if of.kind == "int" else _DIGITS)


def _mean(of: Selected) -> Reduced:
    return Reduced(f"{of.sum} / {of.number}", _DIGITS if of.kind == "float" else _NOT_FLOATS)


def _variance(of: Selected) -> Reduced:
    differs = _DIGITS if of.kind == "float" else _NOT_FLOATS
    number, mean = ("number", of.number), ("mean", f"{of.sum} / {{number}}")
    # The mean of nothing is NaN: it must not get into the gradient of what is left out.
    distance = f"{of.tf}.where({of.spread}, {of.operand} - {{mean}}, 0)"
    text = f"{of.tf}.reduce_sum({of.tf}.square({distance}){of.rest}) / {{number}}"
    return Reduced(text, differs, (number, mean))


def _deviation(of: Selected) -> Reduced:
    variance = _variance(of)
    return Reduced(f"{of.tf}.sqrt({variance.text})", variance.differs, variance.before)


def _extreme(name: str) -> Callable[[Selected], Reduced]:
    worst, infinity = ("min", "-inf") if name == "max" else ("max", "inf")

    def build(of: Selected) -> Reduced:
        other = f'float("{infinity}")' if of.kind == "float" else f"{of.operand}.dtype.{worst}"
        differs = {"float": _EXTREME, "int": ""}.get(of.kind or "", "where nothing is selected, or in the gradient")
        return Reduced(f"{of.tf}.reduce_{name}({of.kept(other)}{of.rest})", differs)

    return build


def _any(of: Selected) -> Reduced:
    return Reduced(f"{of.tf}.reduce_any({of.tf}.logical_and({of.spread}, {of.x}){of.rest})")


def _all(of: Selected) -> Reduced:
    left_out = f"{of.tf}.logical_not({of.spread})"
    return Reduced(f"{of.tf}.reduce_all({of.tf}.logical_or({left_out}, {of.x}){of.rest})")


def _neutral(name: str, other: str) -> Callable[[Selected], Reduced]:
    """A reduction that `other` leaves as it is."""
    return lambda of: Reduced(f"{of.tf}.{name}({of.kept(other)}{of.rest})", "" if of.kind == "int" else _DIGITS)


def _count(of: Selected) -> Reduced:
    counted = f"{of.tf}.math.count_nonzero({of.kept('0')}{of.rest})"
    return Reduced(counted, "" if of.kind in ("int", "float") else "where the elements are not numbers")


REDUCTIONS: Final[dict[str, Callable[[Selected], Reduced]]] = {
    "reduce_sum": _sum,
    "reduce_mean": _mean,
    "reduce_max": _extreme("max"),
    "reduce_min": _extreme("min"),
    "reduce_any": _any,
    "reduce_all": _all,
    "reduce_prod": _neutral("reduce_prod", "1"),
    "reduce_logsumexp": _neutral("reduce_logsumexp", 'float("-inf")'),
    "reduce_variance": _variance,
    "reduce_std": _deviation,
    "count_nonzero": _count,
}
"""By the last part of the name, under `tf` or `tf.math`."""

KEEPING: Final = frozenset(("reduce_sum", "reduce_any", "count_nonzero"))
"""Those that zeros leave as they are."""

_OF_KERAS: Final = {"var": "reduce_variance", "std": "reduce_std", "count_nonzero": "count_nonzero"}

WEIGHED: Final = {
    "reduce_mean": "{tf}.reduce_sum({x} * {weights}) / {tf}.reduce_sum({weights})",
    "reduce_sum": "{tf}.reduce_sum({x} * {weights})",
}
"""Over numbers that an unknown function computed for each position, with weights of one and zero."""


_SINGULAR: Final = (cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power)
_INFINITE: Final = frozenset(
    ("log", "log1p", "sqrt", "rsqrt", "reciprocal", "divide", "truediv", "acos", "asin", "pow", "norm", "lgamma")
)


def may_be_infinite(node: cst.CSTNode, names: Collection[str]) -> bool:
    """Whether something that is computed of these names in a statement may be infinite, or have such a gradient."""
    for one in cst.within(node):
        match one:
            case cst.Call(func=cst.Attribute(attr=cst.Name(name)) | cst.Name(name)) if name in _INFINITE:
                found: cst.CSTNode = one
            case cst.BinaryOperation(operator=operator, right=right) if isinstance(operator, _SINGULAR):
                found = right
            case cst.AugAssign(operator=cst.DivideAssign(), value=value):
                found = value
            case _:
                continue
        if any(isinstance(name, cst.Name) and name.value in names for name in cst.within(found)):
            return True
    return False


def reduction(api: str) -> str | None:
    """Which of the reductions a library function is, by its canonical name."""
    owner, _, name = api.rpartition(".")
    match owner:
        case "tf" | "tf.math" if name in REDUCTIONS:
            return name
        case "keras.ops" | "keras.backend" | "tnp":
            found = _OF_KERAS.get(name, f"reduce_{name}")
            return found if found in REDUCTIONS else None
        case _:
            return None


def axis_of(rest: Sequence[cst.Arg]) -> str | None:
    """The axis of a reduction: None for all, "0" for the first.

    Raises `GivenUp` for any other argument."""
    match rest:
        case []:
            return None
        case [cst.Arg(keyword=None | cst.Name("axis"), value=cst.Name("None"))]:
            return None
        case [cst.Arg(keyword=None | cst.Name("axis"), value=cst.Integer("0"))]:
            return "0"
        case _:
            raise GivenUp


def is_reduction(statement: cst.CSTNode, api: Callable[[cst.CSTNode], str | None]) -> bool:
    """Whether a statement only binds what a reduction gives. `api`: a function of TensorFlow's without its `tf.`."""
    match statement:
        case cst.Assign(value=cst.Call(func=function)):
            return (api(function) or "").removeprefix("math.") in REDUCTIONS
        case _:
            return False


def tests_finite(mask: cst.CSTNode, api: Callable[[cst.CSTNode], str | None]) -> bool:
    """Whether a mask leaves out what is not finite, which no weight makes zero."""
    return any(isinstance(one, cst.Call) and api(one.func) in _FINITE for one in cst.within(mask))


def numbers_classes(leaf: cst.CSTNode, node: cst.CSTNode, api: Callable[[cst.CSTNode], str | None]) -> bool:
    """Whether a node is a loss whose classes the leaf is."""
    match node:
        case cst.Call(func=function, args=[first, *_] as arguments):
            wanted = OF_CLASSES.get(api(function) or "")
            named = [one.value for one in arguments if one.keyword is not None and one.keyword.value == wanted]
            return wanted is not None and leaf in (named or ([first.value] if first.keyword is None else []))
        case _:
            return False
