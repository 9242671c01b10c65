"""Python's logic as operations: `and`, `or`, `not`, chains, `in`, `max`, `min`, `any`, `all`, and `assert`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from ..analysis.domain.kinds import as_tensor
from ..analysis.domain.values import Dependence, Static, Tensor, Value
from ..analysis.files.unit import Location
from ..analysis.interpreter.events import TruthOf
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .known import Knowledge
from .names import Names
from .rewrite import Rewrite, replace
from .sizes import with_static_sizes
from .syntax import call, compared, inner, plain

_COMPARISONS: Final[dict[type[cst.BaseCompOp], str]] = {
    cst.GreaterThan: "assert_greater",
    cst.GreaterThanEqual: "assert_greater_equal",
    cst.LessThan: "assert_less",
    cst.LessThanEqual: "assert_less_equal",
    cst.Equal: "assert_equal",
    cst.NotEqual: "assert_none_equal",
}
# TensorFlow's functions that make the same of a bool of Python's as of a tensor.
_OF_EITHER: Final = frozenset(
    ("cast", "cond", "convert_to_tensor", "logical_and", "logical_not", "logical_or", "where")
)
_REDUCTIONS: Final = {"max": "reduce_max", "min": "reduce_min", "any": "reduce_any", "all": "reduce_all"}
_PAIRWISE: Final = {"max": "maximum", "min": "minimum"}

# Operators that raise for no numbers: integers cannot be divided by zero.
_HARMLESS: Final = (cst.Add, cst.Subtract, cst.Multiply)
# TensorFlow's functions that raise for no numbers and have no effect.
_PURE: Final = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "math.")
    for name in (
        *("abs", "add", "cast", "equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "size"),
        *("logical_and", "logical_not", "logical_or", "reduce_all", "reduce_any", "reduce_max", "reduce_mean"),
        *("reduce_min", "reduce_prod", "reduce_sum", "square", "subtract", "multiply", "is_nan", "is_finite", "is_inf"),
        *(
            "ceil",
            "cos",
            "exp",
            "expm1",
            "floor",
            "identity",
            "log",
            "log1p",
            "maximum",
            "minimum",
            "negative",
            "ones_like",
        ),
        *(
            "divide_no_nan",
            "reduce_logsumexp",
            "reduce_std",
            "reduce_variance",
            "round",
            "rsqrt",
            "sigmoid",
            "sign",
            "sin",
        ),
        *("sqrt", "tanh", "zeros_like"),
    )
)

_BECOMES: Final = "where the Python number is chosen: it becomes a tensor"
# Where TensorFlow's larger or smaller of several differs from Python's, by the kinds of what is compared.
_CHOSEN: Final[Mapping[frozenset[str | None], list[str]]] = {
    frozenset(("int",)): [],
    frozenset(("int", "python")): [_BECOMES],
    frozenset(("float",)): ["for NaN"],
    frozenset(("float", "python")): ["for NaN", _BECOMES],
}

SKIPPED: Final = "where an operand raises or has a side effect that Python would skip"
AS_PYTHON: Final = "where the code needs a Python bool"
ONE_ELEMENT: Final = "for a one-element tensor that is not a scalar"
IGNORED: Final = "  # XLA ignores this: where it must hold, check the value outside the compiled code"


# -- conditions -------------------------------------------------------------------------------------------------------


def condition(node: cst.BaseExpression, tf: str = "tf") -> str:
    """A test as one tensor expression: `and`, `or`, `not`, chains and `in` as operations."""
    match node:
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            name = "logical_and" if isinstance(operator, cst.And) else "logical_or"
            return f"{tf}.{name}({condition(left, tf)}, {condition(right, tf)})"
        case cst.UnaryOperation(cst.Not(), cst.UnaryOperation(cst.Not(), expression)):
            return condition(expression, tf)
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return f"{tf}.logical_not({condition(expression, tf)})"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.In(), container)]):
            return f"{tf}.reduce_any({tf}.equal({plain(left)}, {plain(container)}))"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.NotIn(), container)]):
            return f"{tf}.reduce_all({tf}.not_equal({plain(left)}, {plain(container)}))"
        case cst.Comparison(left=left, comparisons=[_, _, *_] as targets):
            return _chain(left, targets, tf)
        case _:
            return plain(node)


def _chain(left: cst.BaseExpression, targets: Sequence[cst.ComparisonTarget], tf: str) -> str:
    parts = []
    for target in targets:
        parts.append(compared(left, target))
        left = target.comparator
    text = parts.pop()
    while parts:
        text = f"{tf}.logical_and({parts.pop()}, {text})"
    return text


def over(name: str, node: cst.BaseExpression, tf: str = "tf") -> str | None:
    """`max(a, b)`, `any([a, b])`: the TensorFlow operation over the same arguments."""
    match node:
        case cst.Call(args=[cst.Arg(value=cst.GeneratorExp() as generator)]):
            return f"{tf}.{_REDUCTIONS[name]}([{inner(generator)}], axis=0)"
        case cst.Call(args=[cst.Arg(value=only, star="", keyword=None)]):
            return f"{tf}.{_REDUCTIONS[name]}({plain(only)}, axis=0)"
        case cst.Call(args=arguments) if name in _PAIRWISE and not any(one.keyword or one.star for one in arguments):
            text = plain(arguments[0].value)
            for argument in arguments[1:]:
                text = f"{tf}.{_PAIRWISE[name]}({text}, {plain(argument.value)})"
            return text
        case _:
            return None


# -- what the operators are rewritten as ------------------------------------------------------------------------------


def of_booleans(event: TruthOf) -> bool:
    """Whether all that an operator is asked about are booleans: of others it gives one back."""
    return all(isinstance(value, Tensor) and value.dtype == "bool" for value in event.operands)


def logical(event: TruthOf, others: Collection[cst.CSTNode], names: Names) -> Rewrite | None:
    """`and`, `or`, `not`, a chain or `in`. None where Python gives an operand back that is no truth value: `others` are
    the places of operators that are not `of_booleans`."""
    node = event.location.node
    if not isinstance(node, cst.BaseExpression) or any(inner in others for inner in _operators(node)):
        return None
    differs = _contained(event, node, names.tf) if event.form == "in" else _operated(event, node, names.tf)
    if differs is None:
        return None
    safety = Safety.UNSAFE if differs else Safety.SAFE
    title = "Use TensorFlow's logical operations"
    return Rewrite(title, (replace(event.location, condition(node, names.tf)),), safety, " or ".join(differs))


def _operated(event: TruthOf, node: cst.BaseExpression, tf: str) -> list[str] | None:
    """Where the operation differs from the operator; None for other than booleans."""
    if not of_booleans(event):
        return None
    differs = []
    if any(isinstance(value, Tensor) and value.rank != 0 for value in event.operands):
        differs.append(ONE_ELEMENT)
    knowledge = Knowledge(event.names, tf, event.location)
    knowledge.establish(node)
    if not knowledge.may_compute_all(node):
        differs.append(SKIPPED)
    return differs if event.form != "not" else _as_python(event, tf, differs)


def _contained(event: TruthOf, node: cst.BaseExpression, tf: str) -> list[str] | None:
    """Where the comparison of all differs from `in`; None for what is no scalar looked up among numbers."""
    item, _ = event.operands
    match node:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(cst.In() | cst.NotIn(), container)]):
            elements = container.elements if isinstance(container, cst.List | cst.Tuple | cst.Set) else ()
        case _:
            return None
    if isinstance(container, cst.Set) or not elements or not all(isinstance(e.value, cst.Integer) for e in elements):
        return None
    if not (isinstance(item, Tensor) and item.dtype == "int"):
        return None
    differs = [] if item.rank == 0 else [ONE_ELEMENT]
    return _as_python(event, tf, differs)


def _operators(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The operators inside of a condition that become operations with it."""
    match node:
        case cst.BooleanOperation(left=left, right=right):
            for part in (left, right):
                yield part
                yield from _operators(part)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield inner
            yield from _operators(inner)


def is_pure(node: cst.BaseExpression, tf: str) -> bool:
    """Whether an expression has no effect and raises for no numbers, so that it may be computed for nothing."""
    match node:
        case cst.Name() | cst.Integer() | cst.Float():
            return True
        case cst.Attribute(value=cst.BaseExpression() as owner):
            return is_pure(owner, tf)
        case cst.UnaryOperation(expression=inner):
            return is_pure(inner, tf)
        case cst.BinaryOperation(left=left, operator=operator, right=right):
            return isinstance(operator, _HARMLESS) and is_pure(left, tf) and is_pure(right, tf)
        case cst.BooleanOperation(left=left, right=right):
            return is_pure(left, tf) and is_pure(right, tf)
        case cst.Comparison(left=left, comparisons=targets):
            return is_pure(left, tf) and all(is_pure(target.comparator, tf) for target in targets)
        case cst.Call(func=function, args=arguments):
            name = plain(function)
            known = name.startswith(f"{tf}.") and name.removeprefix(f"{tf}.") in _PURE
            return known and all(not argument.star and is_pure(argument.value, tf) for argument in arguments)
        case _:
            return False


def _as_python(event: TruthOf, tf: str, differs: list[str]) -> list[str] | None:
    """Where a tensor differs from the bool that Python makes, besides `differs`; None where it goes into what takes
    a bool for a number, and no tensor."""
    match [*event.location.unit.around(event.location.node)][:2]:
        case [cst.Arg(keyword=None, star=""), cst.Call(func=function, args=arguments)] if _takes_either(function, tf):
            return differs if arguments[0].value is event.location.node else [*differs, AS_PYTHON]
        case [cst.Arg(), cst.Call(func=cst.Name("bool" | "float" | "int" | "sum" | "str"))]:
            return None
        case [cst.BinaryOperation() | cst.Comparison() | cst.ComparisonTarget() | cst.UnaryOperation(), *_]:
            return None
        case [cst.Index() | cst.FormattedStringExpression(), *_]:
            return None
        case _:
            return [*differs, AS_PYTHON]


def _takes_either(function: cst.BaseExpression, tf: str) -> bool:
    """Whether a function makes the same of a bool of Python's as of a tensor, where it is the first argument."""
    return plain(function).removeprefix(f"{tf}.") in _OF_EITHER and plain(function).startswith(f"{tf}.")


# -- builtins ---------------------------------------------------------------------------------------------------------


def builtin(event: TruthOf, names: Names) -> Rewrite | None:
    """`max`, `min`, `any` or `all` as an operation."""
    node = event.location.node
    if not isinstance(node, cst.Call):
        return None
    if (sized := with_static_sizes(event.location, names, event.operands)) is not None:
        return sized
    differs = _reduced(event, node, names.tf) if event.form in ("any", "all") else _compared(event)
    text = over(event.form, node, names.tf)
    if differs is None or text is None:
        return None
    safety = Safety.UNSAFE if differs else Safety.SAFE
    title = f"Use TensorFlow's operation for `{event.form}`"
    return Rewrite(title, (replace(event.location, text),), safety, " or ".join(differs))


def _compared(event: TruthOf) -> list[str] | None:
    """Where the larger or smaller of several differs from Python's; None for what is no number."""
    kinds = set[str | None]()
    one_element = False
    for value in event.operands:
        tensor = as_tensor(value, Dependence.STATIC)
        if tensor is not None:
            kinds.add(tensor.dtype)
            if tensor.rank not in (0, None):
                return None
            one_element = one_element or tensor.rank is None
        elif isinstance(value, Static):
            kinds.add("python")
        else:
            return None
    differs = _CHOSEN.get(frozenset(kinds))
    return differs if differs is None or not one_element else [*differs, ONE_ELEMENT]


def _reduced(event: TruthOf, node: cst.Call, tf: str) -> list[str] | None:
    """Where the reduction of a list differs from `any` and `all`; None for other than a list of booleans."""
    if not all(isinstance(value, Tensor) and value.dtype == "bool" and value.rank == 0 for value in event.operands):
        return None
    match node.args[0].value:
        case cst.List(elements=[_, *_]) | cst.Tuple(elements=[_, *_]):
            return _as_python(event, tf, [])
        case _:
            return _as_python(event, tf, ["for an empty list"])


# -- assertions -------------------------------------------------------------------------------------------------------


def assertion(test: cst.BaseExpression, tf: str = "tf", message: str | None = None, step: str = "    ") -> str:
    """`assert a > b` as `tf.debugging.assert_greater(a, b)`. `message`: the text of an expression; `step`: by how much
    lines are indented."""
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator, right)]) if (
            type(operator) in _COMPARISONS
        ):
            said = [] if message is None else [f"message={message}"]
            name = f"{tf}.debugging.{_COMPARISONS[type(operator)]}"
            return call(name, [plain(left), plain(right), *said], step)
        case _:
            text = condition(test, tf)
            return call(f"{tf}.debugging.Assert", [text, f"[{text if message is None else message}]"], step)


def asserted(location: Location, value: Value, names: Names) -> Rewrite | None:
    """The whole `assert` statement around a test as an assertion of TensorFlow's."""
    statement = next(location.unit.around(location.node))
    test = location.node
    if not isinstance(statement, cst.Assert) or not isinstance(test, cst.BaseExpression):
        return None
    compared = isinstance(test, cst.Comparison) and len(test.comparisons) == 1
    if not compared and not (isinstance(value, Tensor) and value.dtype == "bool"):
        return None
    match statement.msg:
        case None:
            message = None
        case cst.SimpleString() | cst.FormattedString() | cst.ConcatenatedString() as text:
            message = plain(text)
        case _:
            return None
    edits = (replace(location.at(statement), assertion(test, names.tf, message, names.indent)),)
    differs = "where it does not hold: another error in eager execution, none once compiled"
    return Rewrite("Assert with TensorFlow", edits, Safety.UNSAFE, differs)
