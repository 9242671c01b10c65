"""Python that iterates over a tensor: as an operation over the whole of it, or over its parts."""

from __future__ import annotations

from typing import Final

from ..analysis.domain.kinds import as_tensor
from ..analysis.domain.values import Dependence, Tensor
from ..analysis.interpreter.events import IterateOver
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .names import Names
from .rewrite import Rewrite, replace
from .sizes import counted_in_python, with_static_sizes
from .syntax import plain

_REDUCTIONS: Final = {
    "max": "reduce_max",
    "min": "reduce_min",
    "sum": "reduce_sum",
    "any": "reduce_any",
    "all": "reduce_all",
}
# Where the reduction of a tensor of one dimension differs from what Python makes of its elements.
_DIFFERS: Final = {
    "max": "for NaN",
    "min": "for NaN",
    "sum": "in the last digits",
    "any": "where the code needs a Python bool",
    "all": "where the code needs a Python bool",
}
_UNROLLED: Final = frozenset(("for", "comprehension", "star", "enumerate", "zip", "list", "tuple", "map", "filter"))
_UNSTACK: Final = "Unstack the tensor"
_NO_TENSOR: Final = "where the unpacked value is a structure of tensors instead of a tensor"
_UNKNOWN: Final = "where the first dimension is unknown during tracing; tracing unrolls the loop"


def iteration(form: str, iterable: cst.BaseExpression, *, bound: bool = False) -> str:
    """What to write instead of iterating a tensor in the given form, for a person. `bound`: what stands there is what
    the parts are bound to."""
    text = plain(iterable)
    match form, iterable:
        case (("for range" | "range"), cst.Call(args=[cst.Arg(value=limit)])):
            return f"for i in range(LIMIT):  # a static bound\n    y = tf.where(i < {plain(limit)}, <next y>, y)"
        case "comprehension" | "map" | "filter" | "list" | "tuple", _:
            return f"tf.vectorized_map(fn, {text}), or, over a static first dimension, tf.unstack({text})"
        case "sorted", _:
            return f"tf.sort({text})"
        case "reversed", _:
            return f"tf.unstack(tf.reverse({text}, axis=[0]))"
        case (("max" | "min" | "sum" | "any" | "all"), _):
            return f"tf.{_REDUCTIONS[form]}({text}, axis=0)"
        case "unpacking", _ if bound:
            return f"{text} = tf.unstack(<the tensor>)  # in a statement of its own; needs a static first dimension"
        case (("unpacking" | "star" | "zip" | "enumerate"), _):
            return f"tf.unstack({text})  # needs a static first dimension"
        case _:
            return (
                f"one operation over the whole of {text} (tf.reduce_sum, tf.cumsum, tf.vectorized_map, tf.scan),\n"
                f"or, over a static first dimension, unrolled: tf.unstack({text})"
            )


def parts(event: IterateOver, names: Names) -> Rewrite | None:
    """The parts of the tensor, its reduction, or the static size of a range."""
    node, form = event.location.node, event.form
    if not isinstance(node, cst.BaseExpression):
        return None
    if (sized := with_static_sizes(event.location, names, (event.iterable,))) is not None:
        return sized
    if form in _REDUCTIONS:
        return _reduced(event, node, names)
    if form == "unpacking" and is_bound(event):
        return None
    number = _number_of_targets(event) if form == "unpacking" else None
    if number is not None:  # without the number, `tf.unstack` wants a first dimension that is known
        edits = (replace(event.location, f"{names.tf}.unstack({plain(node)}, num={number})"),)
        known = isinstance(event.iterable, Tensor)
        return Rewrite(_UNSTACK, edits) if known else Rewrite(_UNSTACK, edits, Safety.UNSAFE, _NO_TENSOR)
    if form not in (*_UNROLLED, "unpacking"):
        return None
    tensor = as_tensor(event.iterable, Dependence.STATIC)
    if tensor is not None and tensor.dtype == "int" and tensor.dependence < Dependence.VALUE:
        counted = counted_in_python(event.location, names)
        if counted is not None:
            return counted
    if _has_open_size(event, names):
        return None
    edits = (replace(event.location, f"{names.tf}.unstack({plain(node)})"),)
    return Rewrite(_UNSTACK, edits, Safety.UNSAFE, _UNKNOWN)


def _has_open_size(event: IterateOver, names: Names) -> bool:
    """Whether data decides how many parts there are, so that no graph can unstack them."""
    tensor = as_tensor(event.iterable, Dependence.STATIC)
    match event.location.node:
        case cst.Call(func=function) if plain(function) == f"{names.tf}.range":
            return tensor is None or tensor.dependence is Dependence.VALUE
        case _:
            return tensor is not None and tensor.bounded is not None


def is_bound(event: IterateOver) -> bool:
    """Whether the place of an unpacking is that of the names: what is unpacked stands nowhere by itself then, as in
    `for a, b in t` and `(a, b), c = t, u`."""
    match next(event.location.unit.around(event.location.node), None):
        case cst.Assign(value=value):
            return value is not event.location.node
        case _:
            return True


def _number_of_targets(event: IterateOver) -> int | None:
    """Into how many names a tensor is unpacked; None where one of them takes the rest."""
    match next(event.location.unit.around(event.location.node), None):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=parts) | cst.List(elements=parts))]):
            return None if any(isinstance(part, cst.StarredElement) for part in parts) else len(parts)
        case _:
            return None


def _reduced(event: IterateOver, node: cst.BaseExpression, names: Names) -> Rewrite | None:
    """`sum(x)` as the reduction of `x`, of one dimension where the comparison of two rows has no truth."""
    tensor = as_tensor(event.iterable, Dependence.STATIC)
    match [*event.location.unit.around(node)][:2]:
        case [cst.Arg(keyword=None, star=""), cst.Call(args=[_]) as call] if tensor is not None and (
            event.form == "sum" or tensor.rank in (1, None)
        ):
            text = f"{names.tf}.{_REDUCTIONS[event.form]}({plain(node)}, axis=0)"
            edits = (replace(event.location.at(call), text),)
            return Rewrite("Reduce the tensor", edits, Safety.UNSAFE, _DIFFERS[event.form])
        case _:
            return None
