"""The tensors that an input stands for: drawn so that both sides of a branch are reached, the same at every draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeAlias

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.specs import Form, Keyed, Many, Spec

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]  # by position, and by name

# Values that code may not be made for, by the number of the set: great, negative, and zero or no number.
GREAT, NEGATIVE, NOTHING = range(100, 103)
EXTREMES: Final = (GREAT, NEGATIVE, NOTHING)
_EXTREME_INTEGERS: Final = {GREAT: 50_000, NEGATIVE: -7, NOTHING: 0}
_EXTREME_FLOATS: Final = {GREAT: 3e9, NEGATIVE: -3e9, NOTHING: np.nan}

# Sets of values of one shape: half of the signs positive or true, all but one, one, as many again elsewhere; none; all.
VALUE_SETS = 6
_NONE, _ALL = 4, 5


@dataclass(frozen=True)
class ObjectInput:
    """An object that the grammar cannot write: how it is made, and that in words. `changed` is the same made of other
    tensors, if it is made of any."""

    text: str
    make: Callable[[], Any] = field(compare=False)
    changed: Callable[[Callable[[Spec], Spec]], ObjectInput] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.text


def signs(size: int, value_set: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Which elements are positive or true: both kinds in each of the first four sets, and another number of each."""
    if value_set in (_NONE, _ALL):
        return np.full(size, value_set == _ALL)
    positive = (size // 2, size - 1, min(1, size // 2), max(1, size // 2))[value_set]
    chosen = np.zeros(size, bool)
    chosen[:positive] = True
    if size == 1:
        chosen[:] = value_set % 2 == 0
    return chosen if value_set == 0 else random.permutation(chosen)


def draw(spec: Spec, variant: int, value_set: int, position: int) -> Any:
    """The values of one tensor. Integers are 1, 2 or 3: valid as sizes and as indices of most axes."""
    shape, dtype = spec.shape(variant), tf.as_dtype(spec.dtype)
    size = int(np.prod(shape))
    if value_set in EXTREMES and dtype.is_floating | dtype.is_integer:
        chosen = (_EXTREME_INTEGERS if dtype.is_integer else _EXTREME_FLOATS)[value_set]
        return _in_form(tf.cast(tf.fill(shape, chosen), dtype), spec.style)
    random = np.random.default_rng([position, value_set, variant])
    if dtype == tf.bool:
        values: Any = signs(size, value_set, random)
    elif spec.style == "flags":
        values = signs(size, value_set, random)
    elif dtype.is_integer or dtype == tf.string:
        values = 1 + (np.arange(size) + value_set + position) % 3 if size == 1 else random.integers(1, 4, size)
    else:
        magnitude = random.uniform(0.25, 2.0, size) * (8.0 if value_set == 1 else 1.0)
        values = _styled(spec.style, magnitude, shape)
        if values is None:
            values = np.where(signs(size, value_set, random), magnitude, -magnitude)
    if dtype == tf.string:
        made = tf.constant(np.array(["one", "two", "three"], object)[values - 1].reshape(shape))
    else:
        made = tf.cast(values.reshape(shape), dtype)
    return _in_form(made, spec.style)


def _in_form(made: tf.Tensor, style: str) -> Any:
    return _FORMS[style](made) if style in _FORMS else made


def _sparse(dense: tf.Tensor) -> tf.SparseTensor:
    """Without the last element of each row."""
    kept = (
        tf.where(tf.range(tf.size(dense)) % max(int(dense.shape[-1]), 2) != 0) if dense.shape.rank else tf.where([True])
    )
    where = tf.unravel_index(kept[:, 0], tf.cast(tf.shape(dense), tf.int64)) if dense.shape.rank else tf.zeros((0, 1))
    indices = tf.transpose(where)
    return tf.SparseTensor(indices, tf.gather_nd(dense, indices), tf.shape(dense, tf.int64))


_FORMS: Final[dict[str, Callable[[tf.Tensor], Any]]] = {
    "sparse": _sparse,
    "ragged": tf.RaggedTensor.from_tensor,
    "variable": tf.Variable,
}


def _styled(style: str, magnitude: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Any:
    """Numbers of the kind that a spec names; None for those of both signs."""
    if style == "unit":
        return magnitude / (1.0 + magnitude.max(initial=0.0))
    if style == "positive":
        return magnitude
    if style == "definite" and len(shape) >= 2 and shape[-1] == shape[-2]:
        rows = magnitude.reshape(shape) / (1.0 + magnitude.max(initial=0.0))
        return rows @ np.swapaxes(rows, -1, -2) + np.eye(shape[-1])
    return None


def map_specs(form: Form | ObjectInput | None, change: Callable[[Spec], Spec]) -> Any:
    """An input with all its tensors changed."""
    match form:
        case Spec():
            return change(form)
        case Many():
            return Many(form.kind, tuple(map_specs(item, change) for item in form.items))
        case Keyed():
            return Keyed(tuple((key, map_specs(item, change)) for key, item in form.entries))
        case ObjectInput(changed=changed) if changed is not None:
            return changed(change)
    return form


def build(form: Form | ObjectInput, variant: int, value_set: int, positions: Iterator[int] | None = None) -> Any:
    """The Python object that a form describes. `positions` numbers the tensors of a call, so that no two are equal."""
    positions = count() if positions is None else positions
    if isinstance(form, Spec):
        return draw(form, variant, value_set, next(positions))
    if isinstance(form, Many):
        items = [build(item, variant, value_set, positions) for item in form.items]
        return items if form.kind == "list" else tuple(items)
    if isinstance(form, Keyed):
        return {key: build(item, variant, value_set, positions) for key, item in form.entries}
    return form.make() if isinstance(form, ObjectInput) else form.value
