"""Ragged tensors that become dense ones: as wide as the longest row at hand."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import NONE, ApiObject, Dependence, Tensor, Unknown, Value
from ..files.unit import Location
from ..interpreter.contexts import ContextKind
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel
from ..library.dtypes import dtype_of
from ..library.objects import as_wide_as_longest


def _to_tensor(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`r.to_tensor()`. Of all that a pipeline may have, such as what a tokenizer returns, only ragged tensors have this
    method without an input."""
    if not (frame.context.pipeline or frame.context.kind is ContextKind.HOST):
        return None  # what may be compiled, and does not compile
    match owner:
        case ApiObject("tf.RaggedTensor"):
            made = Tensor(Dependence.VALUE, dtype_of(owner.payload))
        case Unknown() if frame.context.pipeline and not arguments.positional:
            made = Tensor(Dependence.VALUE)
        case _:
            return None
    if arguments.get(2, "shape") not in (None, NONE):
        return made
    return as_wide_as_longest(made, Location(frame.unit, node))


METHODS: Final[dict[str, MethodModel]] = {".to_tensor": _to_tensor}
