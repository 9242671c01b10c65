"""Eager execution of whatever is called, `tf.function` or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import tensorflow as tf  # type: ignore[import-untyped]

TensorFunction: Final = type(tf.function(lambda: None))


@contextmanager
def eager_execution() -> Iterator[None]:
    """No `tf.function` is traced in the body; all run as the Python that they are."""
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)
