"""What the rules about control flow share: whether AutoGraph rewrites the code, and what happens where it does not."""

from __future__ import annotations

from typing import Final

from xlalint.analysis.domain.values import Dependence, Tensor
from xlalint.analysis.interpreter.contexts import Context, Tracing
from xlalint.linter.rule import reached

REFUSED: Final = "this raises OperatorNotAllowedInGraphError"
KERAS_3: Final = "code that Keras 3 itself traces is not converted"
# What the reader of a tensor is called in a message.
READERS: Final = {
    "array index": "a NumPy array is indexed with",
    "array slice": "a NumPy array is cut at",
    "array": "a NumPy array is assigned",
    "list index": "a Python list is indexed with",
    "format": "a format specification reads",
    "tf.constant": "`tf.constant` is given",
    "tf.constant_initializer": "`tf.constant_initializer` is given",
}


def unconverted(context: Context, never: str | None = None) -> str | None:
    """Why AutoGraph converts no control flow here; None where it does. `never`: what AutoGraph leaves as it is
    everywhere, where that is what the code does, so that an older Keras is no way out."""
    if context.converted:
        return None
    if context.autograph:
        return f"AutoGraph does not convert functions that contain {context.plain_python}"
    match context.keras:
        case Tracing.KERAS_3:
            return f"Keras 3 traces {context.entry} without AutoGraph"
        case Tracing.EITHER if never is not None:
            return f"Keras traces {context.entry}, and {never}"
        case Tracing.EITHER:
            return f"Keras 3 traces {context.entry} without AutoGraph (Keras 2 converts it)"
        case _:
            return f"AutoGraph does not convert {reached(context)}"


def of_a_tensor(tensor: Tensor) -> str:
    """How a message names the tensor: one whose value is data, or one that shapes and constants determine."""
    if tensor.dependence is Dependence.VALUE:
        return "a tensor"
    return "a tensor computed from shapes or constants"


def not_a_truth(tensor: Tensor) -> str | None:
    """Why even AutoGraph cannot take the tensor as a condition; None where it can."""
    if tensor.dtype in (None, "bool"):
        return None
    return f"AutoGraph needs a boolean, but this tensor is of type {tensor.dtype}, so tracing or compiling fails"
