"""TensorFlow, as `interface` asks for it."""

from __future__ import annotations

import inspect
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, Final

import keras  # type: ignore[import-untyped]
import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.autograph.impl import api  # type: ignore[import-untyped]
from tensorflow.python.eager import context  # type: ignore[import-untyped]
from tensorflow.python.ops import while_loop  # type: ignore[import-untyped]

from .interface import Array
from .joined_lines import keep_numbers
from .old_numpy import give_old_names
from .pretrained import keep_what_models_are_made_with
from .signed_calls import keep_to_signatures
from .summaries import lend_a_writer

NAME = "tensorflow"
NAMES: Mapping[str, Any] = {"tf": tf, "keras": keras, "np": np}
REFUSALS: tuple[type[Exception], ...] = (tf.errors.InvalidArgumentError,)
ANNOTATIONS: Mapping[Any, str] = {
    tf.Tensor: "",
    tf.Variable: "variable",
    tf.SparseTensor: "sparse",
    tf.RaggedTensor: "ragged",
}
OBJECTS: Mapping[Any, tuple[str, Any]] = {tf.DType: ("tf.float32", tf.float32)}
KINDS: tuple[Any, ...] = (tf.Tensor, tf.Variable, tf.SparseTensor, tf.RaggedTensor)
MODULES: tuple[type, ...] = (tf.Module,)
VARIABLES: tuple[type, ...] = (tf.Variable,)
GENERATORS: tuple[type, ...] = (tf.random.Generator,)
STRATEGIES: tuple[Any, ...] = (tf.distribute.Strategy,)
DISTRIBUTED: tuple[Any, ...] = (tf.distribute.DistributedValues,)
RUNS: frozenset[CodeType] = frozenset(
    inspect.unwrap(cls.run).__code__
    for cls in (tf.distribute.Strategy, tf.distribute.TPUStrategy, tf.distribute.OneDeviceStrategy)
)
LOOPS: frozenset[CodeType] = frozenset((inspect.unwrap(while_loop.while_loop).__code__,))
ARRAYS: tuple[type, ...] = (tf.TensorArray,)
TensorFunction: Final = type(tf.function(lambda: None))
_CONVERTING: Final = api.converted_call.__code__


# -- the process ------------------------------------------------------------------------------------------------------


def start() -> dict[str, str]:
    """See `Backend`."""
    devices = [tf.config.LogicalDeviceConfiguration() for _ in range(2)]  # what a strategy needs
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
    hide_library_frames(False)
    keep_what_models_are_made_with()
    give_old_names()
    keep_numbers()
    keep_to_signatures()
    lend_a_writer()
    return {"tensorflow": tf.__version__, "python": platform.python_version(), "keras": keras.__version__}


def hide_library_frames(on: bool) -> None:
    """See `Backend`."""
    for library in (tf.debugging, getattr(keras, "config", None)):  # Keras 2 goes by TensorFlow's
        if library is not None:
            (library.enable_traceback_filtering if on else library.disable_traceback_filtering)()


def forget_earlier() -> None:
    """See `Backend`. AutoGraph takes functions for one whose code is alike, in whatever files they are, and would tell
    of the lines of the other file. A program may have left eager execution on, in which nothing is compiled."""
    tf.config.run_functions_eagerly(False)
    transpiler = api._TRANSPILER
    transpiler._cache = type(transpiler._cache)()


@contextmanager
def eager_execution() -> Iterator[None]:
    """See `Backend`. It may be asked for inside of another. A program for graphs may have switched it off for good."""
    if not tf.executing_eagerly() and not tf.inside_function():
        context.default_execution_mode = context.EAGER_MODE
        context.context()._thread_local_data.is_eager = True
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


def is_eager() -> bool:
    """See `Backend`."""
    return bool(tf.executing_eagerly())


def seed(number: int | None) -> None:
    """See `Backend`."""
    tf.random.set_seed(number)


def keras_modules() -> list[Any]:
    """See `Backend`."""
    return [module for name in ("keras", "tf_keras") if (module := sys.modules.get(name)) is not None] + [tf.keras]


# -- tensors ----------------------------------------------------------------------------------------------------------


def is_tensor(value: Any) -> bool:
    """See `Backend`. A data set, which TensorFlow also calls a tensor, runs beside what is compiled."""
    if isinstance(value, tf.data.Dataset | tf.data.Iterator):
        return False
    return bool(tf.is_tensor(value)) or isinstance(value, tf.__internal__.CompositeTensor)


def is_floating(tensor: Any) -> bool:
    """See `Backend`."""
    return bool(tensor.dtype.is_floating)


def dtype_name(dtype: Any) -> str:
    """See `Backend`."""
    return str(tf.as_dtype(dtype).name)


def tensor_of(array: Array, dtype: str) -> Any:
    """See `Backend`."""
    return tf.constant(array) if dtype == "string" else tf.cast(array, tf.as_dtype(dtype))


def content(part: Any) -> tuple[str, Array | None] | None:
    """See `Backend`."""
    if isinstance(part, tf.TensorArray):
        part = part.stack()
    if hasattr(part, "convert_to_tensor"):  # a variable of Keras 3
        part = part.convert_to_tensor()
    if not isinstance(part, tf.Tensor | tf.Variable):
        return None
    return part.dtype.name, None if part.dtype in (tf.resource, tf.variant) else np.asarray(part)


def spec_of(described: Any) -> tuple[str, Sequence[int | None] | None] | None:
    """See `Backend`."""
    if not isinstance(described, tf.TensorSpec):
        return None
    return described.dtype.name, None if described.shape.rank is None else list(described.shape)


def _sparse(dense: Any, further: int) -> Any:
    """Without the first element of each row; what it holds may lie `further`, in a larger one."""
    kept = (
        tf.where(tf.range(tf.size(dense)) % max(int(dense.shape[-1]), 2) != 0) if dense.shape.rank else tf.where([True])
    )
    where = tf.unravel_index(kept[:, 0], tf.cast(tf.shape(dense), tf.int64)) if dense.shape.rank else tf.zeros((0, 1))
    indices = tf.transpose(where)
    return tf.SparseTensor(indices + further, tf.gather_nd(dense, indices), tf.shape(dense, tf.int64) + further)


FORMS: Mapping[str, Callable[[Any, int], Any]] = {
    "sparse": _sparse,
    "ragged": lambda dense, further: tf.RaggedTensor.from_tensor(dense),
    "variable": lambda dense, further: tf.Variable(dense),
}


# -- structures -------------------------------------------------------------------------------------------------------


def flatten(structure: Any) -> list[Any]:
    """See `Backend`."""
    return list(tf.nest.flatten(structure, expand_composites=True))


def leaves(structure: Any) -> list[Any]:
    """See `Backend`."""
    return list(tf.nest.flatten(structure))


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """See `Backend`."""
    return tf.nest.map_structure(function, *structures)


def is_nested(value: Any) -> bool:
    """See `Backend`."""
    return bool(tf.nest.is_nested(value))


# -- variables and training -------------------------------------------------------------------------------------------


def variable(tensor: Any) -> Any:
    """See `Backend`."""
    return tf.Variable(tf.ones_like(tensor))


def is_trained(variable: Any) -> bool:
    """See `Backend`."""
    return isinstance(variable, tf.Variable) and variable.dtype.is_floating


def train_step(model: Any, data: Any) -> Any:
    """See `Backend`."""
    return model.train_step(data)


def replicas() -> int:
    """See `Backend`."""
    return int(tf.distribute.get_strategy().num_replicas_in_sync)


def converted(frame: FrameType) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """See `Backend`. AutoGraph also converts what `tf.map_fn` is given in eager execution."""
    if frame.f_code is not _CONVERTING:
        return None
    values = frame.f_locals
    return values["f"], tuple(values["args"]), dict(values["kwargs"] or {})
