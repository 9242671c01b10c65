"""Quotients of integers, which TensorFlow computes in float64 where they have 32 or 64 bits."""

from collections.abc import Iterator, Sequence
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Api, Dependence, Static, Value
from xlalint.analysis.files.unit import Unit
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, DivideBy
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Draft, Effect, Severity, Told
from xlalint.syntax import nodes as cst

from ._names import names
from ._provenance import Provenance

DIVISIONS: Final = names("tf.divide tf.truediv tf.math.divide_no_nan")
_WHOLE: Final = frozenset(("int32", "int64", "uint32", "uint64"))
# What returns int32 or int64, whatever it is passed, and what keeps the dtype of its first argument.
_COUNTING: Final = names("tf.argmax tf.argmin tf.argsort tf.math.count_nonzero tf.range tf.searchsorted")
_KEEPING: Final = names(
    """
    tf.abs tf.add tf.cumsum tf.gather tf.maximum tf.minimum tf.multiply tf.reduce_max tf.reduce_min tf.reduce_prod
    tf.reduce_sum tf.subtract
    """
)
MADE: Final = names("tf.cast tf.constant") | _COUNTING | _KEEPING
_FARTHEST: Final = 8  # calls back
_IN_FLOAT32: Final = "tf.cast(a, tf.float32) / tf.cast(b, tf.float32)"


def divided(
    provenance: Provenance,
    event: DivideBy | ApiCall,
    values: Sequence[Value],
    nodes: Sequence[cst.BaseExpression],
) -> Iterator[Draft]:
    """A quotient of integers of 32 or 64 bits, of which one is a tensor of several."""
    if event.context.kind is not ContextKind.XLA or not all(map(_is_whole, values)):
        return
    tensors = [tensor for tensor in map(as_tensor, values) if tensor is not None]
    several = any(tensor.dependence is Dependence.VALUE and tensor.rank != 0 for tensor in tensors)
    if several and any(_is_wide(provenance, event.location.unit, node) for node in nodes):
        yield Draft(
            f"`{brief(event.location.node)}`: TensorFlow divides such integers in float64, and a TPU makes several"
            " numbers of 32 bits of each",
            Effect.TPU,
            _IN_FLOAT32,
            at_most=Severity.INFO,
            told=Told.FOR_TPU,
        )


def _is_whole(value: Value) -> bool:
    match value:
        case Static(constant=bool()):
            return False
        case Static(constant=int()):
            return True
        case _:
            tensor = as_tensor(value, Dependence.STATIC)
            return tensor is not None and tensor.dtype == "int"


def _is_wide(provenance: Provenance, unit: Unit, node: cst.BaseExpression, left: int = _FARTHEST) -> bool:
    """Whether the call that made a value says that it is of integers of 32 or 64 bits."""
    for step in provenance.steps(unit, node):
        call = provenance.call_at(unit, step)
        if call is None:
            continue
        match call.arguments.get("dtype", call.arguments.get("output_type")):
            case Api(name=name):
                return name.rpartition(".")[2] in _WHOLE
            case Static(constant=str() as name):
                return name in _WHOLE
        if call.api in _COUNTING:
            return True
        if call.api in _KEEPING and (given := [*call.argument_nodes.values()]):
            return left > 0 and _is_wide(provenance, unit, given[0], left - 1)
    return False
