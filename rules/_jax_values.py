"""What must be a Python value in code that JAX traces, and is one or fails on TensorFlow, too: by function, the
parameters, or what gives a result that depends on data its size. Measured with JAX 0.10.2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from xlalint.facts import jax

from ._followed import followed

# Of JAX's functions, each parameter with its position.
_OWN: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    **dict.fromkeys(("jax.random.split",), (("num", 1),)),
    **dict.fromkeys(("jax.random.normal", "jax.random.uniform", "jax.random.randint"), (("shape", 1),)),
    **dict.fromkeys(("jax.random.bernoulli", "jax.random.categorical"), (("shape", 2),)),
    "jax.random.choice": (("shape", 2),),
    **dict.fromkeys(("jax.lax.dynamic_slice", "jax.lax.dynamic_slice_in_dim"), (("slice_sizes", 2), ("slice_size", 2))),
    "jax.lax.slice": (("start_indices", 1), ("limit_indices", 2)),
    "jax.lax.slice_in_dim": (("start_index", 1), ("limit_index", 2)),
    "jax.lax.iota": (("size", 1),),
    "jax.lax.broadcasted_iota": (("shape", 1),),
    "jax.lax.broadcast": (("sizes", 1),),
    "jax.lax.full": (("shape", 0),),
    "jax.lax.reshape": (("new_sizes", 1),),
    "jax.lax.cumsum": (("axis", 1),),
    "jax.image.resize": (("shape", 1),),
    "jax.scipy.special.logsumexp": (("axis", 1),),
    "jax.numpy.indices": (("dimensions", 0),),
    "jax.numpy.hanning": (("M", 0),),
    "jax.numpy.vander": (("N", 1),),
    "jax.numpy.partition": (("kth", 1),),
    "jax.numpy.linalg.matrix_power": (("n", 1),),
    "jax.numpy.fft.fft": (("n", 1),),
    "jax.numpy.resize": (("new_shape", 1),),
    "jax.numpy.diff": (("n", 1),),
}
# Of `keras.ops`, beside what was measured as static there: the same names in `jax.numpy` run the same.
_OF_KERAS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("keras.ops.split", "keras.ops.array_split"), ("indices_or_sections",)),
    **dict.fromkeys(("keras.ops.squeeze", "keras.ops.expand_dims", "keras.ops.flip"), ("axis",)),
    **dict.fromkeys(("keras.ops.tril", "keras.ops.diag", "keras.ops.rot90"), ("k",)),
    "keras.ops.diff": ("n",),
    "keras.ops.histogram": ("bins",),
    "keras.ops.moveaxis": ("source", "destination"),
    "keras.ops.swapaxes": ("axis1", "axis2"),
    "keras.ops.transpose": ("axes",),
}
# What makes as many elements as its data say, and the parameters that fix the number.
SIZED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        (
            *("jax.numpy.compress", "jax.numpy.extract", "jax.numpy.intersect1d", "jax.numpy.setdiff1d"),
            *("jax.numpy.setxor1d", "jax.numpy.union1d", "jax.numpy.unique_all", "jax.numpy.unique_counts"),
            *("jax.numpy.unique_inverse", "jax.numpy.unique_values"),
        ),
        ("size",),
    ),
    "jax.numpy.delete": ("assume_unique_indices",),
    "jax.numpy.roots": ("strip_zeros",),
    "jax.numpy.trim_zeros": (),
    **dict.fromkeys(
        (
            *(f"jax.ops.segment_{how}" for how in ("max", "min", "prod", "sum")),
            *("keras.ops.segment_max", "keras.ops.segment_sum"),
        ),
        ("num_segments", "*2"),
    ),
}
_LAYERS: Final = "keras.layers."


@cache
def python_values() -> Mapping[str, tuple[str, ...]]:
    """By function, the parameters as events name them."""
    known = {name: {one.parameter for one in found} for name, found in followed().items()}
    measured = {
        name: tuple(sorted({one for call in jax.api(name).values() for one in call.static} - known.get(name, set())))
        for name in jax.names()
        if not name.startswith(_LAYERS)
    }
    own = {name: tuple(part for one, at in rows for part in (one, f"*{at}")) for name, rows in _OWN.items()}
    found: dict[str, tuple[str, ...]] = {**{name: some for name, some in measured.items() if some}, **own}
    for name, some in _OF_KERAS.items():
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *some)))
    return {name: tuple(one for one in some if one not in known.get(name, ())) for name, some in found.items()}
