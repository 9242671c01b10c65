"""Reads of a tensor's content by Python or NumPy as operations on the tensor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile
from typing import Final

from ..analysis.domain.kinds import as_tensor
from ..analysis.domain.values import Dependence, Tensor
from ..analysis.files.unit import Location
from ..analysis.interpreter.events import HostRead
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .names import Names
from .rewrite import Rewrite, replace
from .selections import nodes
from .sizes import is_never_converted, with_static_sizes
from .syntax import operand, plain

_CASTS: Final = {"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"}

# NumPy functions whose TensorFlow counterpart has another name.
_NUMPY: Final = {
    "sum": "reduce_sum",
    "mean": "reduce_mean",
    "prod": "reduce_prod",
    "max": "reduce_max",
    "amax": "reduce_max",
    "min": "reduce_min",
    "amin": "reduce_min",
    "any": "reduce_any",
    "all": "reduce_all",
    "std": "math.reduce_std",
    "var": "math.reduce_variance",
    "array": "convert_to_tensor",
    "asarray": "convert_to_tensor",
    "concatenate": "concat",
    "clip": "clip_by_value",
    "ceil": "math.ceil",
    "log": "math.log",
    "log1p": "math.log1p",
    "isnan": "math.is_nan",
    "isinf": "math.is_inf",
    "isfinite": "math.is_finite",
    "power": "pow",
    "mod": "math.floormod",
    "arange": "range",
    "linalg.norm": "norm",
}
# .. and those that have the same; the rest is found under `tf.experimental.numpy`.
_SAME_IN_NUMPY: Final = re.compile(
    r"abs|sqrt|square|exp|expm1|sin|cos|tan|tanh|maximum|minimum|argmax|argmin|cumsum|sign|floor|round|squeeze|reshape"
    r"|transpose|tile|stack|einsum|matmul|ones_like|zeros_like|where|expand_dims|sort|argsort"
)
# What computes of floating numbers what NumPy computes of them: reductions with `axis` and `keepdims`, and functions of
# each element.
_REDUCING: Final = frozenset(("sum", "mean", "prod", "max", "amax", "min", "amin", "std", "var"))
_ELEMENTWISE: Final = frozenset(
    ("abs", "sqrt", "square", "exp", "sin", "cos", "tan", "tanh", "sign", "floor", "ceil", "log", "log1p")
)
_OPTIONS: Final = frozenset(("axis", "keepdims"))
_SHAPING: Final = frozenset(("squeeze", "expand_dims", "transpose"))  # of any dtype, with at most `axis`
# Functions of Python's `math` that give a floating number, as `tf.math` has them.
_MATH: Final = frozenset(("sqrt", "exp", "log", "log1p", "sin", "cos", "tan", "tanh", "erf", "lgamma"))

_OF_PYTHON: Final = frozenset(
    (
        "range",
        "str",
        "print",
        "len",
        "isinstance",
        "format",
        "list",
        "tuple",
        "set",
        "sorted",
        "enumerate",
        "zip",
        "map",
    )
)
_ARITHMETIC: Final = (cst.BinaryOperation, cst.UnaryOperation)
_COMPARED: Final = (cst.Comparison, cst.ComparisonTarget)
_ANOTHER_TYPE: Final = "where the number meets tensors of another dtype, or must be a Python number"
_ARRAY: Final = "where the code needs an array instead of a tensor"


def host_read(reader: str, node: cst.CSTNode, tf: str = "tf") -> str | None:
    """The tensor operation in place of a read on the host."""
    match node:
        case cst.Call(args=[cst.Arg(value=only)]) if reader in _CASTS:
            return f"{tf}.cast({plain(only)}, {tf}.{_CASTS[reader]})"
        case cst.Call(args=[cst.Arg(value=only)]) if reader == "len":
            return f"{operand(only)}.shape[0]"
        case cst.Call(args=[cst.Arg(value=only)]) if reader == "round":
            return f"{tf}.round({plain(only)})"
        case cst.Call(func=cst.Attribute(value=owner)) if reader.startswith("."):
            return plain(owner)
        case cst.Call(args=[cst.Arg(value=only), *options]) if reader == "tf.constant":
            dtype = next((one.value for one in options if one.keyword is None or one.keyword.value == "dtype"), None)
            plain_tensor = f"{tf}.convert_to_tensor({plain(only)})"
            return plain_tensor if dtype is None else f"{tf}.cast({plain(only)}, {plain(dtype)})"
        case cst.Call(args=arguments) if reader.startswith("np."):
            counterpart = _counterpart(reader.removeprefix("np."))
            return f"{tf}.{counterpart}({', '.join(_argument(argument) for argument in arguments)})"
        case cst.Call(args=arguments) if reader.startswith("math."):
            return f"{tf}.{reader}({', '.join(_argument(argument) for argument in arguments)})"
        case cst.Subscript(value=base, slice=[cst.SubscriptElement(cst.Index(value=index))]):
            return f"{tf}.gather({tf}.stack({plain(base)}), {plain(index)})"
        case _:
            return None


def read_in_graph(event: HostRead, names: Names) -> Rewrite | None:
    """The operation in place of the read, where a tensor may stand."""
    if (sized := with_static_sizes(event.location, names, (event.value,), event.names)) is not None:
        return sized
    node = event.location.node
    if _needs_python(event.location):
        return None
    differs = _difference(event, node)
    text = host_read(event.reader, node, names.tf) if differs is not None else None
    if differs is None or text is None:
        return None
    tensor = as_tensor(event.value, Dependence.STATIC)
    if event.reader == ".numpy" and tensor is not None and tensor.dtype in ("float", None):
        text = f"{names.tf}.stop_gradient({text})"  # no gradient goes through an array
    safety = Safety.UNSAFE if differs else Safety.SAFE
    return Rewrite("Compute with the tensor", (replace(event.location, text),), safety, differs)


def _difference(event: HostRead, node: cst.CSTNode) -> str | None:
    """Where a tensor differs from what is read; None where it is not known to be the same otherwise."""
    tensor = as_tensor(event.value, Dependence.STATIC)
    reader = event.reader
    if tensor is None or (reader == "len" and tensor.bounded is not None):
        return None
    match node:
        case cst.Call(args=[cst.Arg(keyword=None, star="")]) if reader in _CASTS:
            return _ANOTHER_TYPE if tensor.rank in (0, None) else None
        case cst.Call(args=[cst.Arg(keyword=None, star="")]) if reader == "len":
            known = isinstance(event.value, Tensor) and is_never_converted(event.location)
            return "" if known else "where the size is unknown during tracing"
        case cst.Call(args=[]) if reader in (".numpy", ".item"):
            return _ARRAY
        case cst.Call(args=[cst.Arg(keyword=None, star=""), *options]) if reader.removeprefix("np.") in _SHAPING:
            return _ARRAY if all(one.keyword and one.keyword.value == "axis" for one in options) else None
        case cst.Call(args=[cst.Arg(keyword=None, star=""), *options]) if tensor.dtype in ("float", None):
            name = reader.removeprefix("np.").removeprefix("math.")
            if reader == f"math.{name}":
                return f"for integers, and {_ANOTHER_TYPE}" if name in _MATH and not options else None
            reduces = name in _REDUCING and all(one.keyword and one.keyword.value in _OPTIONS for one in options)
            if not reduces and (name not in _ELEMENTWISE or options):
                return None
            return _ARRAY if tensor.dtype else f"for integers, and {_ARRAY}"
        case cst.Subscript() if reader == "list index":
            return "for negative indices, and elements of different shapes"
        case _:
            return None


def _needs_python(location: Location) -> bool:
    """Whether what is read goes where no tensor may stand: conditions, sizes, positions, text, iterations, readers,
    arrays that are written into, and lists that are made constants of; under a name, too."""
    around = [*dropwhile(lambda node: isinstance(node, _ARITHMETIC), location.unit.around(location.node))]
    if isinstance(next(dropwhile(lambda node: isinstance(node, _COMPARED), around)), cst.Assert):
        return True  # NumPy compares numbers of different types, TensorFlow does not
    match around[:2]:
        case [cst.Arg(), cst.Call(func=cst.Name(name))] if name in _OF_PYTHON:
            return True
        case [cst.For() | cst.CompFor(), *_]:
            return True
        case [cst.Index() | cst.Slice() | cst.FormattedStringExpression() | cst.Attribute(), *_]:
            return True
        case [cst.If() | cst.IfExp() | cst.While() | cst.Assert() | cst.BooleanOperation(), *_]:
            return True
        case [cst.Subscript(), *_]:
            return _is_written_into(around)
        case [cst.Element(), *_]:
            return any(isinstance(node, cst.ListComp | cst.GeneratorExp) for node in around)
        case [cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=read), *_] if read is location.node:
            scope = next((node for node in around if isinstance(node, cst.FunctionDef)), location.unit.tree)
            uses = [node for node in nodes(scope) if isinstance(node, cst.Name) and node.value == name]
            return any(_needs_python(location.at(use)) for use in uses)
        case _:
            return False


def _is_written_into(around: Sequence[cst.CSTNode]) -> bool:
    """Whether what stands at the beginning of subscripts is assigned to: `x[i][j] = value`, `x[i] += value`."""
    inner, outer = around[0], around[0]
    for outer in around[1:]:
        if not isinstance(outer, cst.Subscript):
            break
        inner = outer
    match outer:
        case cst.AssignTarget():
            return True
        case cst.AugAssign(target=target):
            return target is inner
        case _:
            return False


def _counterpart(name: str) -> str:
    if name in _NUMPY:
        return _NUMPY[name]
    return name if _SAME_IN_NUMPY.fullmatch(name) else f"experimental.numpy.{name}"


def _argument(argument: cst.Arg) -> str:
    text = plain(argument.value)
    return f"{argument.star}{text}" if argument.keyword is None else f"{argument.keyword.value}={text}"
