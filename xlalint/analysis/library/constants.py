"""Names of libraries that stand for a Python number or a text."""

from __future__ import annotations

from typing import Final

from ..domain.values import Static

# The numbers that integers of TensorFlow's dtypes lie between.
_LIMITS: Final = {
    f"tf.{prefix}{dtype}.{name}": value
    for bits in (8, 16, 32, 64)
    for dtype, least, most in (
        (f"int{bits}", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1),
        (f"uint{bits}", 0, 2**bits - 1),
    )
    for name, value in (("min", least), ("max", most))
    for prefix in ("", "dtypes.")
}
_RESIZE_METHODS: Final = {
    "NEAREST_NEIGHBOR": "nearest",
    **{name.upper(): name for name in ("area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5")},
    "MITCHELLCUBIC": "mitchellcubic",
}
_REDUCTIONS: Final = {name.upper(): name for name in ("auto", "none", "sum", "sum_over_batch_size")}

# By canonical name (tensorflow/python/ops/image_ops_impl.py, keras/src/utils/losses_utils.py).
CONSTANTS: Final = {
    **{name: Static(value) for name, value in _LIMITS.items()},
    **{f"tf.image.ResizeMethod.{name}": Static(value) for name, value in _RESIZE_METHODS.items()},
    **{f"keras.losses.Reduction.{name}": Static(value) for name, value in _REDUCTIONS.items()},
}
