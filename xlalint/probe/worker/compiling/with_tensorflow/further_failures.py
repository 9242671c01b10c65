"""What else of a function would fail that XLA refuses: the tracer and the compiler name the first thing only.

Operations are looked up among the kernels that XLA registers. Where not even the trace ends, eager execution is watched
instead: for operations without a kernel, and for Python that reads a tensor, which has no content while traced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from functools import cache
from types import FrameType
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.framework import kernels, op_def_registry  # type: ignore[import-untyped]

from xlalint.probe.protocol import FAILS, Observation, Spot

from ...code.graphs import functions_of
from ...code.user_lines import UserLines
from .eager_watch import READS

_COMPILER: Final = "XLA_CPU_JIT"
_GIVEN: Final = frozenset(("Placeholder", "VarHandleOp"))
_FOLDED: Final = frozenset(("Shape", "ShapeN", "Rank", "Size"))  # constants, where the shape is known


@cache
def registered() -> Mapping[str, tuple[Mapping[str, Set[int]], ...]]:
    """By operation, the kernels of XLA's compiler for CPUs: of each, the dtypes by type attribute."""
    tf.function(lambda x: x + 1.0, jit_compile=True)(tf.zeros([]))  # they are registered by the first compilation
    found: dict[str, list[Mapping[str, Set[int]]]] = defaultdict(list)
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type == _COMPILER:
            found[kernel.op].append({one.name: set(one.allowed_values.list.type) for one in kernel.constraint})
    return {op: tuple(several) for op, several in found.items()}


def has_kernel(op: str, dtypes: Mapping[str, Set[int]]) -> bool:
    """Whether XLA has a kernel for an operation of these dtypes, by type attribute."""
    return any(
        all(dtypes.get(name, allowed) <= allowed for name, allowed in kernel.items())
        for kernel in registered().get(op, ())
    )


# -- of a traced function ---------------------------------------------------------------------------------------------


def lacking_in(graph: Any) -> Iterator[Any]:
    """The operations without a kernel, of a graph and the functions that it calls; those that run, and on data."""
    needed = _needed(graph)
    on_data: set[str] = set()
    for op in (op for op in graph.get_operations() if op.name in needed):
        folded = op.type in _FOLDED and all(one.shape.is_fully_defined() for one in op.inputs)
        if op.type == "Const" or folded:
            continue
        inputs = [one.op.name in on_data for one in op.inputs]
        if any(inputs) or not inputs or op.op_def.is_stateful:
            on_data.add(op.name)
            called = list(functions_of(graph, op))
            for inner in called:
                yield from lacking_in(inner)
            if not called and op.type not in _GIVEN and not has_kernel(op.type, _dtypes(op.node_def.attr)):
                yield op


def _needed(graph: Any) -> set[str]:
    """The names of the operations that the results need; the others are dropped before anything is compiled."""
    pending = [*(one.op for one in graph.outputs), *graph.control_outputs]
    found: set[str] = set()
    while pending:
        op = pending.pop()
        if op.name not in found:
            found.add(op.name)
            pending += [*(one.op for one in op.inputs), *op.control_inputs]
    return found


def _dtypes(attributes: Mapping[str, Any]) -> dict[str, Set[int]]:
    return {name: {value.type, *value.list.type} - {0} for name, value in attributes.items()}


def lacking(kind: str, spots: tuple[Spot, ...]) -> Observation:
    """An operation without a kernel, as something that was seen."""
    return Observation(FAILS, f"XLA has no kernel for `{kind}` either", spots, ops=(kind,), lacking=True)


# -- of what runs eagerly ---------------------------------------------------------------------------------------------


class Refused:
    """Watches one eager call, whose arguments are the tensors `given`. `autograph`: whether it would be converted."""

    def __init__(self, user_lines: UserLines, given: list[Any], autograph: bool) -> None:
        self._user_lines, self._autograph = user_lines, autograph
        self._kept = list(given)  # as long as they live, no other object has their identity
        self._made = {id(one) for one in given}
        self._on_data = set(self._made)
        self.seen: dict[Observation, None] = {}

    def on_data(self, tensor: Any) -> bool:
        """Whether a tensor was computed from the given ones, or is one of them."""
        return id(tensor) in self._on_data

    def ran(self, kind: str, inputs: Any, attributes: Any, outputs: Any, frame: FrameType) -> None:
        """See `Watcher`."""
        self._kept += outputs
        self._made.update(map(id, outputs))
        definition = op_def_registry.get(kind)
        stateful = definition is not None and definition.is_stateful
        if kind in _FOLDED or kind in _GIVEN or not (stateful or any(id(one) in self._on_data for one in inputs)):
            return
        self._on_data.update(map(id, outputs))
        pairs = zip(attributes[::2], attributes[1::2], strict=True) if attributes else ()
        given = {one: {int(value)} for one, value in pairs if isinstance(value, int) and not isinstance(value, bool)}
        types = {one.name for one in definition.attr if one.type == "type"} if definition is not None else set()
        dtypes = {one: value for one, value in given.items() if one in types}
        if not has_kernel(kind, dtypes):
            self._see(lacking(kind, self._user_lines.called_from(frame)))

    def read(self, how: str, tensor: Any, frame: FrameType) -> None:
        """See `Watcher`."""
        words, converted = READS[how]
        if id(tensor) not in self._made or (self._autograph and converted):
            return
        if self._user_lines.owns(frame.f_code.co_filename):
            said = f"tracing would fail here, too: Python asks {words}"
            self._see(Observation(FAILS, said, self._user_lines.called_from(frame)))

    def _see(self, observation: Observation) -> None:
        if observation.spots:
            self.seen.setdefault(observation)
