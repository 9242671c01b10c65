"""Datasets of which nobody sees where they are made: a parameter, what another library returns. What the code around
does with them shows what they are."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, ApiObject, Pipeline, Structure, Unknown, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel
from ..library.datasets import DATASET
from ..program.pipeline_names import METHODS as OF_DATASETS
from ..program.pipeline_names import pipelines_in, shown_by, source_of
from . import jax_programs

_AUTOTUNE: Final = (Api("tf.data.AUTOTUNE"), Api("tf.data.experimental.AUTOTUNE"))
# Those that call functions are of `datasets`, and say by themselves what they are called on.
_OF_SHAPES: Final = OF_DATASETS - {"filter", "interleave", "map"}


def _step(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`data.batch(8)`, of what is not known but is a dataset: `data.prefetch(tf.data.AUTOTUNE)`."""
    if not (isinstance(owner, Unknown) and isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
        return None
    if not _is_shown(interpreter, frame, node):
        return None
    dataset = ApiObject(DATASET, node.func.attr.value, payload=Structure(), facts=Pipeline(foreign=True))
    return interpreter.call(frame, dataset, arguments, node)


def _is_shown(interpreter: Interpreter, frame: Frame, node: cst.Call) -> bool:
    source = source_of(node)
    code = frame.unit.tree if frame.function is None else frame.function.node.body
    if source is None:
        return False
    return any(
        argument is None or interpreter.evaluate(frame, argument) in _AUTOTUNE
        for argument in shown_by(pipelines_in(code), source)
    )


def _repeated(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`data.repeat()`, which JAX's tensors have as well."""
    found = _step(interpreter, frame, owner, arguments, node)
    return jax_programs.METHODS[".repeat"](interpreter, frame, owner, arguments, node) if found is None else found


METHODS: Final[dict[str, MethodModel]] = {
    **{f".{name}": _step for name in _OF_SHAPES},
    ".repeat": _repeated,
}
