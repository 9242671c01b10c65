"""The measured calls again, with an argument whose size along one dimension is decided by data.

`tf.cumsum(f32[2, 3])` becomes `tf.cumsum(tf.boolean_mask(f32[4, 3], kept[4], axis=0))`, and for the other dimension
`tf.cumsum(tf.boolean_mask(f32[2, 5], kept[5], axis=1))`: the sizes are what they were, and the compiler knows only what
they are at most.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from xlalint.measuring.expressions import kind_of
from xlalint.measuring.samples import DROPPED, PICK

# Words are in no buffer of XLA's, and what is one message is no row of anything.
_COMPILE: Final = ("ok", "recompiles", "bounded")
_WITHOUT: Final = ("str", "digits", "blank", PICK, "kept")


def variants(row: Mapping[str, Any]) -> list[str]:
    """The texts that are measured of a row of `apis.json`: each dimension of each tensor of its calls that compile, and
    all tensors that are alike there together; of vectors also as matrices. Not what a chosen value decides."""
    texts: dict[str, None] = {}
    for case in row.get("cases", ()):
        if case.get("outcome", "ok") in _COMPILE and f"{PICK}[" not in case["call"]:
            texts |= dict.fromkeys(_of_call(case["call"]))
    return list(texts)


def _of_call(call: str) -> Iterator[str]:
    tensors = _tensors(call)
    for axis in range(max((len(tensor.shape) for tensor in tensors), default=0)):
        along = [tensor for tensor in tensors if axis < len(tensor.shape)]
        for tensor in along:
            yield _masked(call, [tensor], axis)
        for size in {tensor.shape[axis] for tensor in along}:
            alike = [tensor for tensor in along if tensor.shape[axis] == size]
            if len(alike) > 1:
                yield _masked(call, alike, axis)
    if tensors and all(len(tensor.shape) == 1 for tensor in tensors):
        yield from _of_call(_written(call, [(tensor, f"{tensor.kind}[3, {tensor.shape[0]}]") for tensor in tensors]))


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor argument of a call, and where it is written."""

    kind: str
    shape: tuple[int, ...]
    start: int
    end: int


def _tensors(call: str) -> list[_Tensor]:
    found = []
    for node in ast.walk(ast.parse(call, mode="eval")):
        if isinstance(node, ast.Subscript) and (kind := kind_of(node)) and kind not in _WITHOUT:
            written = ast.literal_eval(node.slice)
            shape = written if isinstance(written, tuple) else (written,)
            found.append(_Tensor(kind, shape, node.col_offset, node.end_col_offset or 0))
    return sorted(found, key=lambda tensor: tensor.start)


def _masked(call: str, tensors: Sequence[_Tensor], axis: int) -> str:
    """The call with these tensors bounded along the axis."""
    return _written(call, [(tensor, _mask(tensor, axis)) for tensor in tensors])


def _mask(tensor: _Tensor, axis: int) -> str:
    sizes = [size + DROPPED * (place == axis) for place, size in enumerate(tensor.shape)]
    inside = ", ".join(map(str, sizes))
    return f"tf.boolean_mask({tensor.kind}[{inside}], kept[{sizes[axis]}], axis={axis})"


def _written(call: str, texts: Sequence[tuple[_Tensor, str]]) -> str:
    for tensor, text in reversed(texts):
        call = call[: tensor.start] + text + call[tensor.end :]
    return call
