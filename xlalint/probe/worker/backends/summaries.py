"""Summaries that are written wherever a function asks for one.

A summary is no operation where there is no default writer, and the program sets that elsewhere, so one is lent.
TensorBoard makes the operation; where it is not installed, the one that its summaries end in takes its place.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, wraps
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.ops import summary_ops_v2  # type: ignore[import-untyped]

try:
    from tensorflow.python.summary.tb_summary import (  # type: ignore[import-untyped]
        TBNotInstalledError as _NotInstalled,
    )
except ImportError:  # an older TensorFlow, which comes with TensorBoard
    _NotInstalled = ImportError

_KINDS: Final = ("audio", "histogram", "image", "scalar", "text", "write")


def lend_a_writer() -> None:
    """From now on `tf.summary` writes to a folder for temporary files where the program has set no other."""
    for module in (tf.summary, tf.compat.v2.summary):
        for kind in _KINDS:
            setattr(module, kind, _written(getattr(module, kind)))


@cache
def _writer() -> Any:
    with tf.init_scope():
        return tf.summary.create_file_writer(tempfile.mkdtemp(prefix="summaries"))


def _written(plain: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(plain)

    @wraps(plain)
    def summary(*positional: Any, **keywords: Any) -> Any:
        given = signature.bind(*positional, **keywords)
        if given.arguments.get("step") is None and tf.summary.experimental.get_step() is None:
            given.arguments["step"] = 0
        with nullcontext() if summary_ops_v2.has_default_writer() else _writer().as_default():
            try:
                return plain(*given.args, **given.kwargs)
            except _NotInstalled:
                name, data, *_ = given.arguments.values()
                return summary_ops_v2.write(name, data, given.arguments.get("step"))

    return summary
