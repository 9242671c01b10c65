"""Which inputs of an op must be compile-time constants: each is hidden from the compiler, its value left as it is.

The nodes come from the graphs of measured calls, so that the other inputs are valid. An input is hidden behind a
random number that is always zero: what the compiler then refuses with "must be a compile-time constant", it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import chdir
from tempfile import TemporaryDirectory
from typing import Any, Final

from xlalint.measuring.expressions import namespace, parse

REFUSAL: Final = "must be a compile-time constant"
MOST_CALLS: Final = 4  # per op


def calls_of(apis: Mapping[str, Any]) -> dict[str, list[str]]:
    """By op, the compiling calls of `apis.json` that make it, the shortest first."""
    calls: dict[str, list[str]] = {}
    for row in apis.values():
        for case in (row or {}).get("cases", ()):
            if case.get("outcome", "ok") != "fails":
                for op in case.get("ops", ()):
                    calls.setdefault(op, []).append(case["call"])
    return {op: sorted(set(texts), key=lambda text: (len(text), text)) for op, texts in sorted(calls.items())}


def measure(calls: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """By op, the names of the inputs that must be constants, parted by blanks. Ops that stay unknown are left out."""
    names = namespace()
    found: dict[str, str] = {}
    with TemporaryDirectory() as folder, chdir(folder):  # some of the calls write files
        for op, texts in calls.items():
            for text in texts[:MOST_CALLS]:
                inputs = _of(op, text, names)
                if inputs is not None:
                    found[op] = " ".join(inputs)
                    break
    return found


def _of(op: str, text: str, names: Mapping[str, Any]) -> list[str] | None:
    """The inputs that must be constants, by the node that a call makes; None where the node cannot stand alone."""
    tf = names["tf"]
    expression = parse(text, names)
    tensors = [tf.constant(one.arrays[0], dtype=one.dtype) for one in expression.samples]
    nodes: list[Any] = []

    def inputs_of_node(*tensors: Any) -> list[Any]:
        expression.function(*tensors)
        made = tf.compat.v1.get_default_graph().get_operations()
        nodes[:] = [node for node in made if node.type == op][:1]
        return [one for node in nodes for one in node.inputs]

    try:
        expression.function(*tensors)  # objects make their variables at their first call
        values = tf.function(inputs_of_node, autograph=False)(*tensors)
        if not nodes or any(one.dtype in (tf.resource, tf.variant, tf.string) for one in values):
            return None
        if _refused(nodes[0], values, None, tf):
            return None
        verdicts = [_refused(nodes[0], values, place, tf) for place in range(len(values))]
    except Exception:  # a node that lives from its surroundings, or that the compiler refuses: the next call may do
        return None
    labels = _labels(nodes[0])
    return list(dict.fromkeys(name for name, needed in zip(labels, verdicts, strict=True) if needed))


def _refused(node: Any, values: Sequence[Any], hidden: int | None, tf: Any) -> bool:
    """Whether the compiler asks for a constant when one input is hidden from it."""

    def alone(*tensors: Any) -> Any:
        inputs = [
            _hide(tensor, tf) if place == hidden else tf.constant(value.numpy())
            for place, (tensor, value) in enumerate(zip(tensors, values, strict=True))
        ]
        dtypes = [one.dtype for one in node.outputs]
        graph = tf.compat.v1.get_default_graph()
        return graph.create_op(node.type, inputs, dtypes, attrs=dict(node.node_def.attr)).outputs

    try:
        tf.function(alone, autograph=False, jit_compile=True)(*values)
    except tf.errors.InvalidArgumentError as error:
        if REFUSAL in str(error):
            return True
        raise
    return False


def _hide(tensor: Any, tf: Any) -> Any:
    zero = tf.floor(tf.random.uniform([]) * 0.5)
    return tf.logical_or(tensor, zero > 1.0) if tensor.dtype == tf.bool else tensor + tf.cast(zero, tensor.dtype)


def _labels(node: Any) -> list[str]:
    """The name of each input by the definition of the op, repeated for lists."""
    labels = []
    for argument in node.op_def.input_arg:
        count = 1
        if argument.number_attr:
            count = node.get_attr(argument.number_attr)
        elif argument.type_list_attr:
            count = len(node.get_attr(argument.type_list_attr))
        labels += [argument.name] * count
    return labels
