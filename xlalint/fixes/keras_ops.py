"""A call of TensorFlow as a call of `keras.ops`."""

from __future__ import annotations

from typing import Final

from ..analysis.interpreter.events import TensorflowCall
from ..facts.equal_names import EQUAL, LEAST, PARAMETERS
from ..facts.names import parameters
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .names import Names
from .rewrite import NodeEdit, Rewrite, replace

_DTYPES: Final = frozenset(("bfloat16", "bool", "float16", "float32", "float64", "int32", "int64", "uint8"))
_DIFFERS: Final = "where dtypes are mixed, or integers"


def in_keras_ops(event: TensorflowCall, names: Names) -> Rewrite | None:
    """The call with the function of `keras.ops` that computes the same; None where there is no such, or an argument
    that it does not take."""
    found = EQUAL.get(event.api)
    order = parameters(event.api) or ()
    if found is None or len(event.node.args) < LEAST.get(event.api, 1) or any(one.star for one in event.node.args):
        return None
    name, renamed = found
    taken = PARAMETERS.get(event.api) or tuple(one for one in order if one != "name")
    edits = list[NodeEdit]()
    for at, given in enumerate(event.node.args):
        parameter = given.keyword.value if given.keyword is not None else order[at] if at < len(order) else ""
        if parameter not in taken:
            return None
        if (attribute := _of_tensorflow(given.value, names)) is not None:
            if parameter != "dtype" or attribute not in _DTYPES:
                return None
            edits.append(replace(event.location.at(given.value), f'"{attribute}"'))
        if given.keyword is not None and parameter in renamed:
            edits.append(replace(event.location.at(given.keyword), renamed[parameter]))
    function = event.location.at(event.node.func)
    edits.insert(0, replace(function, f"{names.imported('keras', 'ops')}.{name}"))
    return Rewrite(f"Call `keras.ops.{name}`", tuple(edits), Safety.UNSAFE, _DIFFERS)


def _of_tensorflow(node: cst.BaseExpression, names: Names) -> str | None:
    """What an argument names of TensorFlow itself, such as a dtype, if it does."""
    match node:
        case cst.Attribute(value=cst.Name(value=module), attr=cst.Name(value=attribute)) if module == names.bound_tf:
            return attribute
        case _:
            return None
