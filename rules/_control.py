"""What the rules about control flow share: whether AutoGraph rewrites the code, and what happens where it does not."""

from __future__ import annotations

from typing import Final

from xlalint.analysis.domain.values import Dependence, Tensor
from xlalint.analysis.interpreter.events import Context
from xlalint.linter.rule import reached

REFUSED: Final = "tracing fails with OperatorNotAllowedInGraphError"


def unconverted(context: Context) -> str | None:
    """Why AutoGraph converts no control flow here; None where it does."""
    if context.converted:
        return None
    if context.autograph:
        return f"AutoGraph converts nothing in a function with {context.plain_python}"
    return f"AutoGraph does not convert {reached(context)}"


def of_a_tensor(tensor: Tensor) -> str:
    """How a message names the tensor: its value, or what is known from shapes and constants."""
    if tensor.dependence is Dependence.VALUE:
        return "the value of a tensor"
    return "a tensor made of shapes or constants"


def not_a_truth(tensor: Tensor) -> str | None:
    """Why even AutoGraph cannot take the tensor as a condition; None where it can."""
    if tensor.dtype in (None, "bool"):
        return None
    return f"AutoGraph wants a boolean and this is a tensor of type {tensor.dtype}, so tracing or compiling fails"
