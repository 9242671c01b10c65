"""Sizes that TensorFlow is asked for as the sizes that Python knows: `tf.shape(x)[0]` as `x.shape[0]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..analysis.domain.kinds import as_tensor
from ..analysis.domain.values import Dependence, Tensor, Value
from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .known import Scope
from .names import Names
from .rewrite import Rewrite, replace
from .syntax import any_node, operand, plain
from .written import definition, is_bound_once

_UNKNOWN: Final = "for a value that is not a tensor, or whose size is unknown during tracing"
_NO_TENSOR: Final = "where the body needs the loop index as a tensor, or a bound is a tensor"

# TensorFlow's comparisons and logic, as Python writes them.
_BETWEEN: Final[Mapping[str, str]] = {
    **{f"{prefix}{name}": sign for prefix in ("", "math.") for name, sign in (
        ("greater", ">"), ("greater_equal", ">="), ("less", "<"), ("less_equal", "<="),
        ("equal", "=="), ("not_equal", "!="),
    )},
    **{f"{prefix}logical_{word}": word for prefix in ("", "math.") for word in ("and", "or")},
}  # fmt: skip
_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.FloorDivide, cst.Modulo)


def static_size(node: cst.CSTNode, tf: str, location: Location | None = None) -> str | None:
    """`tf.shape(x)[0]` as `x.shape[0]`; None for anything else. `location`: where the shape may stand under a name."""
    match node:
        case cst.Subscript(value=cst.Name(name), slice=[cst.SubscriptElement(slice=cst.Index(value=axis))]) if (
            location is not None and _is_number(axis)
        ):
            match definition(location, name):
                case cst.Call(func=function, args=[cst.Arg(value=cst.Name() as sized, keyword=None)]) if plain(
                    function
                ) == f"{tf}.shape" and is_bound_once(location, plain(sized)):
                    return f"{plain(sized)}.shape[{plain(axis)}]"
            return None
        case cst.Subscript(
            value=cst.Call(func=function, args=[cst.Arg(value=cst.Name() | cst.Attribute() as sized, keyword=None)]),
            slice=[cst.SubscriptElement(slice=cst.Index(value=axis))],
        ) if plain(function) == f"{tf}.shape" and _is_number(axis):
            return f"{plain(sized)}.shape[{plain(axis)}]"
        case _:
            return None


def static_rank(node: cst.CSTNode, tf: str) -> str | None:
    """`len(tf.shape(x))` and `tf.rank(x)` as `len(x.shape)`; None for anything else."""
    match node:
        case cst.Call(func=cst.Name("len"), args=[cst.Arg(value=cst.Call() as inner, keyword=None)]):
            asked = f"{tf}.shape"
        case cst.Call() as inner:
            asked = f"{tf}.rank"
        case _:
            return None
    match inner:
        case cst.Call(func=function, args=[cst.Arg(value=ranked, keyword=None, star="")]) if plain(function) == asked:
            return f"len({operand(ranked)}.shape)"
        case _:
            return None


def static_number(node: cst.CSTNode, tf: str) -> str | None:
    """`tf.size(x)` as `x.shape.num_elements()`; None for anything else."""
    match node:
        case cst.Call(func=function, args=[cst.Arg(value=sized, keyword=None, star="")]) if (
            plain(function) == f"{tf}.size"
        ):
            return f"{operand(sized)}.shape.num_elements()"
        case _:
            return None


def in_python(node: cst.BaseExpression, tf: str, location: Location | None = None) -> str | None:
    """An expression of sizes and numbers as Python computes it; None where anything else has a part in it."""
    if (known := static_size(node, tf, location) or static_rank(node, tf)) is not None:
        return known
    match node:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(cst.Is() | cst.IsNot())]):
            return plain(node)
        case cst.Integer() | cst.Float() | cst.Call(func=cst.Name("len"), args=[_]):
            return plain(node)
        case cst.Subscript(value=cst.Attribute(attr=cst.Name("shape"))):
            return plain(node)
        case cst.UnaryOperation(operator=cst.Minus() | cst.Not() as operator, expression=inner):
            return _joined(node, ("not " if isinstance(operator, cst.Not) else "-",), [inner], tf, location)
        case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, _ARITHMETIC):
            return _joined(node, ("", _sign(operator)), [left, right], tf, location)
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            return _joined(node, ("", _sign(operator)), [left, right], tf, location)
        case cst.Comparison(left=left, comparisons=targets):
            signs = ("", *(_sign(target.operator) for target in targets))
            return _joined(node, signs, [left, *(target.comparator for target in targets)], tf, location)
        case cst.Call(func=function, args=[cst.Arg(left, keyword=None), cst.Arg(right, keyword=None)]):
            name = plain(function)
            sign = _BETWEEN.get(name.removeprefix(f"{tf}.")) if name.startswith(f"{tf}.") else None
            return None if sign is None else _joined(node, ("", f" {sign} "), [left, right], tf, location)
        case _:
            return None


def _joined(
    node: cst.BaseExpression,
    signs: Sequence[str],
    parts: Sequence[cst.BaseExpression],
    tf: str,
    location: Location | None,
) -> str | None:
    """The parts of an expression as Python computes them, each behind its sign."""
    text = ""
    for sign, part in zip(signs, parts, strict=True):
        known = in_python(part, tf, location)
        if known is None:
            return None
        text += f"{sign}({known})" if _strength(part, tf) <= _strength(node, tf) else f"{sign}{known}"
    return text


def _strength(node: cst.BaseExpression, tf: str) -> int:
    """How strongly the outermost operator binds that Python writes for an expression."""
    match node:
        case cst.BooleanOperation() | cst.UnaryOperation(operator=cst.Not()):
            return 0
        case cst.Comparison():
            return 1
        case cst.BinaryOperation() | cst.UnaryOperation():
            return 2
        case cst.Call(func=function) if (sign := _BETWEEN.get(plain(function).removeprefix(f"{tf}."))) is not None:
            return 0 if sign.isalpha() else 1
        case _:
            return 3


def _sign(operator: cst.BaseOperator) -> str:
    return f" {cst.sign_of(operator)} "


def decided_in_python(location: Location, test: cst.BaseExpression, names: Names, scope: Scope) -> Rewrite | None:
    """A test of sizes that TensorFlow computes, on the sizes that Python knows. It is told where AutoGraph converts
    nothing: where a size is not known there, both fail."""
    text = in_python(test, names.tf, location)
    if text is None or text == plain(test):
        return None
    compared = any_node(test, (cst.Equal, cst.NotEqual)) or "equal(" in plain(test)
    return _rewrite(location.at(test), text, names.tf, None if compared else scope, "Test the static sizes")


def is_never_converted(location: Location) -> bool:
    """Whether AutoGraph converts the code for nobody: its function says so itself. What asks a tensor for its size in
    Python fails there in every graph, and where it runs eagerly all sizes are known."""
    functions = [node for node in location.unit.around(location.node) if isinstance(node, cst.FunctionDef)]
    return bool(functions) and any(
        argument.keyword is not None and argument.keyword.value == "autograph" and plain(argument.value) == "False"
        for decorator in functions[-1].decorators
        for argument in getattr(decorator.decorator, "args", ())
    )


def _all_tensors(node: cst.CSTNode, tf: str, scope: Scope) -> bool:
    """Whether everything whose shape is asked for in an expression is a tensor for certain."""
    match node:
        case cst.Call(func=function, args=[cst.Arg(value=sized)]) if plain(function) in (f"{tf}.shape", f"{tf}.rank"):
            value = scope.get(sized.value) if isinstance(sized, cst.Name) else None
            return isinstance(value, Tensor) and value.bounded is None
        case _:
            return all(_all_tensors(child, tf, scope) for child in node.children)


def counted_in_python(location: Location, names: Names) -> Rewrite | None:
    """`tf.range(..)` over numbers and sizes, as a `range`."""
    match location.node:
        case cst.Call(func=function, args=[_, *_] as bounds) if plain(function) == f"{names.tf}.range":
            if any(bound.keyword is not None or bound.star for bound in bounds):
                return None
            texts = [in_python(bound.value, names.tf) or plain(bound.value) for bound in bounds]
            edits = (replace(location, f"range({', '.join(texts)})"),)
            return Rewrite("Use Python's `range`", edits, Safety.UNSAFE, _NO_TENSOR)
        case _:
            return None


def with_static_sizes(
    location: Location, names: Names, sizes: Iterable[Value], scope: Scope | None = None
) -> Rewrite | None:
    """A call of Python's at `place` whose arguments are sizes and numbers: with the sizes that Python knows. The call
    goes too where it only made a Python number of one. `sizes`: what it is passed, none of it data; `scope`: where the
    result is the same number of Python's, what is known of the names."""
    tensors = [tensor for size in sizes if (tensor := as_tensor(size, Dependence.STATIC)) is not None]
    if any(tensor.dependence is Dependence.VALUE or tensor.bounded is not None for tensor in tensors):
        return None
    if isinstance(location.node, cst.Call) and (rank := static_rank(location.node, names.tf)) is not None:
        return _rewrite(location, rank, names.tf, scope)
    match location.node:
        case cst.Call(func=cst.Attribute(value=only, attr=cst.Name("numpy")), args=[]):
            found = (read(only, names.tf) for read in (static_size, static_rank, static_number))
            known = next((text for text in found if text is not None), None)
            return None if known is None else _rewrite(location, known, names.tf, scope)
        case cst.Call(func=cst.Name(name), args=[cst.Arg(value=only, keyword=None, star="")]) if name == "int" and (
            size := static_size(only, names.tf)
        ):
            return _rewrite(location, size, names.tf, scope)
        case cst.Call(func=cst.Name() as function, args=arguments):
            texts = [_size_or_number(argument, names.tf) for argument in arguments]
            if None in texts or not any(static_size(argument.value, names.tf) for argument in arguments):
                return None
            text = f"{plain(function)}({', '.join(text for text in texts if text is not None)})"
            return _rewrite(location, text, names.tf, scope)
        case _:
            return None


def _rewrite(
    location: Location, text: str, tf: str, scope: Scope | None, title: str = "Use the static size"
) -> Rewrite:
    edits = (replace(location, text),)
    if scope is not None and is_never_converted(location) and _all_tensors(location.node, tf, scope):
        return Rewrite(title, edits)
    return Rewrite(title, edits, Safety.UNSAFE, _UNKNOWN)


def _size_or_number(argument: cst.Arg, tf: str) -> str | None:
    if argument.keyword is not None or argument.star:
        return None
    return plain(argument.value) if _is_number(argument.value) else static_size(argument.value, tf)


def _is_number(node: cst.BaseExpression) -> bool:
    match node:
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer()):
            return True
        case _:
            return isinstance(node, cst.Integer)
