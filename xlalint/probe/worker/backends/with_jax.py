"""JAX, as `interface` asks for it. TensorFlow is not imported."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras  # type: ignore[import-untyped]
import numpy as np
from jax.experimental import sparse

from .interface import Array
from .old_numpy import give_old_names
from .pretrained import keep_what_models_are_made_with

NAME = "jax"
NAMES: Mapping[str, Any] = {"keras": keras, "np": np, "jax": jax, "jnp": jnp}
REFUSALS: tuple[type[Exception], ...] = ()  # out of range is no error, and there are no assertions
FORMS: Mapping[str, Callable[[Any, int], Any]] = {
    "sparse": lambda dense, further: sparse.BCOO.fromdense(dense),
    "variable": lambda dense, further: keras.Variable(dense),
}
ANNOTATIONS: Mapping[Any, str] = {
    jax.Array: "",
    keras.KerasTensor: "",
    keras.Variable: "variable",
    sparse.BCOO: "sparse",
}
OBJECTS: Mapping[Any, tuple[str, Any]] = {}
KINDS: tuple[Any, ...] = (jax.Array, keras.Variable, sparse.BCOO)
MODULES: tuple[type, ...] = (keras.layers.Layer,)
VARIABLES: tuple[type, ...] = ()  # Keras's only
GENERATORS: tuple[type, ...] = ()
STRATEGIES: tuple[Any, ...] = ()
DISTRIBUTED: tuple[Any, ...] = ()
RUNS: frozenset[CodeType] = frozenset()
LOOPS: frozenset[CodeType] = frozenset()
ARRAYS: tuple[type, ...] = ()

_COMPOSITES: Final = (sparse.BCOO,)


# -- the process ------------------------------------------------------------------------------------------------------


def start() -> dict[str, str]:
    """See `Backend`."""
    hide_library_frames(False)
    keep_what_models_are_made_with()
    give_old_names()
    return {"jax": jax.__version__, "python": platform.python_version(), "keras": keras.__version__}


def hide_library_frames(on: bool) -> None:
    """See `Backend`. Keras takes JAX's frames out, too."""
    jax.config.update("jax_traceback_filtering", "auto" if on else "off")
    (keras.config.enable_traceback_filtering if on else keras.config.disable_traceback_filtering)()


def forget_earlier() -> None:
    """See `Backend`. JAX converts no functions."""


def eager_execution() -> AbstractContextManager[None]:
    """See `Backend`. Loops and branches of JAX's run in Python, too."""
    found: AbstractContextManager[None] = jax.disable_jit()
    return found


def is_eager() -> bool:
    """See `Backend`. Where code is traced, so is what is recorded of it."""
    return True


def seed(number: int | None) -> None:
    """See `Backend`. Keras takes a number only; what is drawn later goes on from it."""
    if number is not None:
        keras.utils.set_random_seed(number)


def keras_modules() -> list[Any]:
    """See `Backend`."""
    return [keras]


# -- tensors ----------------------------------------------------------------------------------------------------------


def is_tensor(value: Any) -> bool:
    """See `Backend`."""
    return isinstance(value, (jax.Array, keras.Variable, *_COMPOSITES))


def is_floating(tensor: Any) -> bool:
    """See `Backend`."""
    return bool(jnp.issubdtype(tensor.dtype, jnp.floating))


def dtype_name(dtype: Any) -> str:
    """See `Backend`."""
    return str(np.dtype(dtype).name)


def tensor_of(array: Array, dtype: str) -> Any:
    """See `Backend`."""
    if dtype == "string":
        raise TypeError("JAX has no tensors of strings")
    with np.errstate(invalid="ignore"):
        return jnp.asarray(array.astype(dtype))


def content(part: Any) -> tuple[str, Array | None] | None:
    """See `Backend`."""
    if isinstance(part, keras.Variable):
        part = part.value
    if not isinstance(part, jax.Array):
        return None
    if jnp.issubdtype(part.dtype, jax.dtypes.prng_key):
        part = jax.random.key_data(part)
    return part.dtype.name, np.asarray(part)


def spec_of(described: Any) -> tuple[str, Sequence[int | None] | None] | None:
    """See `Backend`."""
    if not isinstance(described, jax.ShapeDtypeStruct | keras.KerasTensor):
        return None
    return dtype_name(described.dtype), list(described.shape)


# -- structures -------------------------------------------------------------------------------------------------------


def flatten(structure: Any) -> list[Any]:
    """See `Backend`."""
    return list(jax.tree.leaves(structure, is_leaf=lambda one: one is None))


def leaves(structure: Any) -> list[Any]:
    """See `Backend`."""
    return list(jax.tree.leaves(structure, is_leaf=lambda one: one is None or isinstance(one, _COMPOSITES)))


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """See `Backend`."""
    return jax.tree.map(function, *structures, is_leaf=lambda one: one is None or isinstance(one, _COMPOSITES))


def is_nested(value: Any) -> bool:
    """See `Backend`."""
    return bool(keras.tree.is_nested(value))


# -- variables and training -------------------------------------------------------------------------------------------


def variable(tensor: Any) -> Any:
    """See `Backend`."""
    return keras.Variable(jnp.ones_like(tensor))


def is_trained(variable: Any) -> bool:
    """See `Backend`."""
    return isinstance(variable, jax.Array) and is_floating(variable)


def train_step(model: Any, data: Any) -> Any:
    """See `Backend`. The step gets the state and gives it back, as Keras's trainer for JAX has it."""
    model._symbolic_build(data_batch=data)  # as `fit` does first: the variables of the optimizer and of metrics
    variables = (
        model.trainable_variables,
        model.non_trainable_variables,
        model.optimizer.variables,
        model.metrics_variables,
    )
    logs, state = model.train_step(tuple([one.value for one in several] for several in variables), data)
    for several, values in zip(variables, state, strict=True):
        for one, value in zip(several, values, strict=True):
            one.assign(value)
    return logs


def replicas() -> int:
    """See `Backend`."""
    return 1


def converted(frame: FrameType) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """See `Backend`."""
    return None
