"""Where two ways of running a graph part: the first operation that gives another result for equal inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.worker.compare import difference, is_random, leaves

_MOST: Final = 400  # operations that are looked at
_SILENT: Final = frozenset(("Placeholder", "Const", "Identity", "IdentityN", "NoOp", "ReadVariableOp"))


def departing(concrete: Any, tensors: Sequence[Any], restore: Callable[[], None], *, skip_random: bool) -> Any:
    """The operation whose compiled result is the first to differ from the plain one; None when none was found.

    `tensors`: what the concrete function is called with; `restore` puts variables back; `skip_random`: random numbers
    may differ. Raises whatever the compiler does.
    """
    graph = concrete.graph
    ops = [op for op in graph.get_operations() if op.type not in _SILENT and _comparable(op)][:_MOST]
    names = [output.name for op in ops for output in op.outputs]
    if not names:
        return None
    definition = graph.as_graph_def()
    fed = {one.op.name for one in graph.inputs}
    nodes = [node for node in definition.node if node.name not in fed]
    del definition.node[:]
    definition.node.extend(nodes)
    given = [*tensors, *concrete.captured_inputs]

    def fetched(*inputs: Any) -> list[Any]:
        pairs = zip(graph.inputs, inputs, strict=True)
        replaced = {one.name: value for one, value in pairs if one.consumers()}
        found: list[Any] = tf.graph_util.import_graph_def(definition, replaced, return_elements=names, name="")
        return found

    restore()
    plain = tf.function(fetched, autograph=False)(*given)
    restore()
    compiled = tf.function(fetched, autograph=False, jit_compile=True)(*given)
    parted: set[str] = set()
    for op, expected, actual in _by_op(ops, plain, compiled):
        if difference(leaves(expected), leaves(actual)):
            if not (skip_random and is_random(op)) and not parted.intersection(one.name for one in op.inputs):
                return op
            parted.update(one.name for one in op.outputs)
    return None


def _comparable(op: Any) -> bool:
    kinds = {output.dtype for output in op.outputs}
    return bool(op.outputs) and not kinds & {tf.resource, tf.variant, tf.string}


def _by_op(ops: Sequence[Any], plain: Sequence[Any], compiled: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    start = 0
    for op in ops:
        end = start + len(op.outputs)
        yield op, plain[start:end], compiled[start:end]
        start = end
