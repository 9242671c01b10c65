"""Sizes that a function of Keras computes of shapes or constants: TensorFlow folds them, JAX traces them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Slice, Tensor, Value
from xlalint.analysis.interpreter.events import ApiCall, IndexWith
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Draft, Effect, OnJax

from ._jax import SLICE, passed
from ._shapes import data_in

HELP: Final = "compute it with Python: `max`, `math.prod`, `//` take what keras.ops.shape(x) has"


def traced_sizes(event: ApiCall, parameters: Iterable[str]) -> Iterator[Draft]:
    """An argument that decides a shape is such a size."""
    for parameter in (name for names in parameters for name in names.split() if name in event.arguments):
        for tensor, node in data_in(event.arguments[parameter], event.argument_nodes[parameter], Dependence.SHAPE):
            what = f"`{brief(node)}` in `{brief(event.location.node)}` is a tensor and decides a shape"
            if _is_traced(tensor) and (jax := passed(event.api, parameter, what)) is not None:
                yield Draft(what, Effect.FAILS, HELP, jax=jax, on_jax_alone=True)
                return


def traced_bounds(event: IndexWith) -> Iterator[Draft]:
    """A bound of a slice is such a size."""
    cuts = [item for item in event.index if isinstance(item, Slice)]
    if any(map(_may_be_traced, (bound for cut in cuts for bound in (cut.start, cut.stop, cut.step)))):
        what = f"a bound of `{brief(event.location.node)}` is a tensor"
        yield Draft(what, Effect.FAILS, HELP, jax=OnJax(Effect.FAILS, what, SLICE), on_jax_alone=True)


def _may_be_traced(bound: Value | None) -> bool:
    tensor = as_tensor(bound, Dependence.SHAPE) if bound is not None else None
    return tensor is not None and _is_traced(tensor)


def _is_traced(tensor: Tensor) -> bool:
    return tensor.traced and tensor.dependence is Dependence.SHAPE
