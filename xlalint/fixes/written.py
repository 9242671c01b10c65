"""What the code around a place tells by its form: what a name stands for, and which dtype an expression has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..analysis.files.unit import Location
from ..syntax import nodes as cst
from .syntax import any_node, assigned, parameter_names, plain, small_statements

_OTHER_BINDERS: Final = (cst.Global, cst.Nonlocal, cst.NamedExpr)
# Functions of TensorFlow's by the dtype of their result; None: that of their first argument.
_RESULTS: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(("argmax", "argmin", "math.argmax", "math.argmin"), "int64"),
    **dict.fromkeys(("size", "rank"), "int32"),
    **dict.fromkeys(("maximum", "minimum", "math.maximum", "math.minimum", "clip_by_value", "abs", "math.abs"), None),
    **dict.fromkeys(("identity", "reshape", "sort", "reverse", "squeeze", "reduce_max", "reduce_min"), None),
}
AS_SIZE: Final = "where the count is used as a size: XLA recompiles for each value"
_DTYPES: Final = ("output_type", "out_type")
_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.FloorDivide, cst.Modulo)


def definition(location: Location, name: str) -> cst.BaseExpression | None:
    """What a name stands for that the function around a place binds once, above the place."""
    function = next((one for one in location.unit.around(location.node) if isinstance(one, cst.FunctionDef)), None)
    if function is None or any_node(function, _OTHER_BINDERS) or name in parameter_names(function.params):
        return None
    bindings = [line for line in small_statements(function.body) if name in assigned([line])]
    match bindings:
        case [cst.Assign(targets=[cst.AssignTarget(cst.Name())], value=value)] if location.unit.span(
            value
        ) < location.unit.span(location.node):
            return value
        case _:
            return None


def is_bound_once(location: Location, name: str) -> bool:
    """Whether nothing but the parameters of the function around a place, or one statement of it, gives a name its
    value."""
    function = next((one for one in location.unit.around(location.node) if isinstance(one, cst.FunctionDef)), None)
    if function is None or any_node(function, _OTHER_BINDERS):
        return False
    return [*parameter_names(function.params), *assigned(function.body)].count(name) == 1


def written(location: Location, node: cst.BaseExpression) -> cst.BaseExpression:
    """What a name stands for, where that is written above the place; else the expression itself."""
    found = definition(location, node.value) if isinstance(node, cst.Name) else None
    return node if found is None else found


def dtype_written(location: Location, node: cst.BaseExpression, tf: str) -> str | None:
    """The dtype of an expression ("int64"), where its form tells."""
    match written(location, node):
        case cst.Call(func=function, args=[first, *rest]) as call if plain(function).startswith(f"{tf}."):
            name = plain(function).removeprefix(f"{tf}.")
            match name, rest:
                case "cast", [cst.Arg(value=dtype)]:
                    return _named(dtype, tf)
                case "constant", []:
                    return "int32" if _holds_integers(first.value) else None
            if name not in _RESULTS or any(argument.star for argument in call.args):
                return None
            asked = [one.value for one in rest if one.keyword is not None and one.keyword.value in _DTYPES]
            if asked:
                return _named(asked[0], tf)
            return _RESULTS[name] or dtype_written(location, first.value, tf)
        case cst.BinaryOperation(left=left, operator=operator, right=cst.Integer()) if isinstance(
            operator, _ARITHMETIC
        ):
            return dtype_written(location, left, tf)
        case _:
            return None


def _named(dtype: cst.BaseExpression, tf: str) -> str | None:
    """The dtype that an argument names: `tf.int32`, `"int32"`."""
    match dtype:
        case cst.Attribute(attr=cst.Name(name)) if plain(dtype) == f"{tf}.{name}":
            return name
        case cst.SimpleString():
            return str(dtype.evaluated_value)
        case _:
            return None


def _holds_integers(node: cst.BaseExpression) -> bool:
    match node:
        case cst.List(elements=[_, *_] as elements):
            return all(_holds_integers(element.value) for element in elements)
        case _:
            return isinstance(node, cst.Integer)


def is_a_number(location: Location, node: cst.CSTNode, tf: str) -> bool:
    """Whether an integer goes straight where it is a number among others, and no size: into a comparison, or a cast to
    floats. A size has to be known while XLA compiles."""
    match [*location.unit.around(node)][:2]:
        case [cst.Comparison() | cst.ComparisonTarget(), *_]:
            return True
        case [cst.Arg(keyword=None), cst.Call(func=function, args=[_, cst.Arg(value=dtype)])]:
            return plain(function) == f"{tf}.cast" and (_named(dtype, tf) or "").startswith(("float", "bfloat"))
        case _:
            return False
