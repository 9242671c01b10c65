"""The dtype of the result of a call, as the tables of results say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..domain.values import NONE, Static, Value
from .dtypes import agreed_dtype, dtype_of, named_dtype
from .ranks import chosen
from .result_tables import DTYPE_PARAMETERS, FLOATING

if TYPE_CHECKING:
    from .call import Call

# Rules that take a dtype over, but for these.
_CHANGED: Final = {
    "real": {"bool": "float", "int": "float"},
    "count": {"bool": "int"},
    "truth": {"bool": "float"},
    "part": {"complex": "float"},
}
_COPYING: Final = frozenset(("like", "promote", *_CHANGED))


def _promoted(call: Call, values: list[Value]) -> str | None:
    """The dtype class of an operation on all these. TensorFlow takes the tensors' own; Keras and NumPy the widest."""
    tensors = [value for value in values if not isinstance(value, Static)]
    known = [dtype for value in tensors if (dtype := dtype_of(value))]
    if call.name.startswith("tf.") and known:
        return known[0]
    known += [dtype for value in values if isinstance(value, Static) and (dtype := dtype_of(value))]
    widest = agreed_dtype(known)
    certain = all(map(dtype_of, tensors))
    return widest if certain or widest in ("float", "complex", "string") else None


def result_dtype(rule: str, call: Call, values: list[Value]) -> str | None:
    """The class of the dtype that a rule of the tables stands for, where these arguments decide it."""
    rule, values = chosen(rule, call, values)
    for name in DTYPE_PARAMETERS:
        explicit = call.arguments.get(name)
        if explicit is not None and explicit != NONE:
            return named_dtype(explicit)
    if rule == "?":
        return None
    if rule not in _COPYING:
        return rule
    several = rule == "promote" or (rule == "real" and len(values) > 1)
    dtype = _promoted(call, values) if several else dtype_of(values[0] if values else None)
    if dtype is None and call.name.rpartition(".")[2] in FLOATING:
        return "float"
    return _CHANGED.get(rule, {}).get(dtype or "", dtype)
