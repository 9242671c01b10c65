"""Runs something eagerly and in `jax.jit` under Keras's JAX backend, compares both, and counts compilations.

Variables of Keras's objects go in and come out of what is compiled (`keras.StatelessScope`), as Keras's own trainer
has it. Compilations are those that JAX's monitoring tells of while the compiled function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras  # type: ignore[import-untyped]
import numpy as np

from xlalint.probe.worker.compiling.compare import Leaf

_COMPILED: Final = "/jax/core/compile/backend_compile_duration"
_NUMBERS: Final = (bool, int, float, complex, np.ndarray, np.generic)


class Counter:
    """Counts what this process's JAX compiles."""

    def __init__(self) -> None:
        self.count = 0
        self._watching = False
        jax.monitoring.register_event_duration_secs_listener(self._heard)

    def _heard(self, event: str, duration_secs: float, **more: Any) -> None:
        if self._watching and event == _COMPILED:
            self.count += 1

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count from zero, while the block runs; what JAX compiles for eager calls around it does not count."""
        self.count, self._watching = 0, True
        try:
            yield
        finally:
            self._watching = False


@dataclass
class Subject:
    """What runs: a call of arrays, and the objects of Keras's that it uses. `jitted`: it is a `jax.jit` already, and
    runs as it is."""

    call: Callable[..., Any]
    owners: Sequence[Any] = ()
    jitted: bool = False
    _compiled: Callable[..., Any] | None = None
    _saved: list[Any] = field(default_factory=list)

    def eager(self, *arguments: Any) -> list[Leaf]:
        """The parts of the result of an eager call. Raises what it does."""
        with jax.disable_jit(self.jitted):
            return leaves(self.call(*arguments))

    def save(self) -> None:
        """Keep the values of variables, which eager calls have made by now."""
        self._saved = [np.asarray(variable.value) for variable in self.variables]

    def restore(self) -> None:
        """Put the values of variables back."""
        for variable, value in zip(self.variables, self._saved, strict=True):
            variable.assign(value)

    @property
    def variables(self) -> list[Any]:
        """The variables of all objects, each once."""
        found = {id(variable): variable for owner in self.owners for variable in variables_of(owner)}
        return list(found.values())

    def compiled(self, *arguments: Any) -> list[Leaf]:
        """The parts of the result of the compiled call. Raises what tracing, compiling and running do."""
        if self.jitted:
            return self._as_it_is(*arguments)
        variables = self.variables

        def stateless(values: Sequence[Any], *given: Any) -> tuple[list[Any], list[Any]]:
            with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))) as scope:
                parts = arrays(self.call(*given))
            changed = [scope.get_current_value(variable) for variable in variables]
            return parts, [new if new is not None else old for new, old in zip(changed, values, strict=True)]

        self._compiled = self._compiled or jax.jit(stateless)
        parts, _ = self._compiled([variable.value for variable in variables], *arguments)
        return leaves(parts)

    def _as_it_is(self, *arguments: Any) -> list[Leaf]:
        found = leaves(self.call(*arguments))
        for variable in self.variables:  # one that holds a tracer by now raises when it is used
            jnp.asarray(variable.value) + 0
        return found


def variables_of(owner: Any) -> list[Any]:
    """The variables of an object of Keras's, seeds and those of a layer's metrics among them."""
    if isinstance(owner, keras.Variable):
        return [owner]
    if isinstance(owner, keras.random.SeedGenerator):
        return [owner.state]
    owned = getattr(owner, "variables", ())
    metrics = owner.metrics_variables if isinstance(owner, keras.layers.Layer) else ()
    return [*(owned() if callable(owned) else owned), *metrics]


def owners_in(values: Iterable[Any]) -> list[Any]:
    """The objects with variables of Keras's among some values."""
    kinds = (keras.layers.Layer, keras.metrics.Metric, keras.optimizers.Optimizer)
    return [one for one in values if isinstance(one, (*kinds, keras.Variable, keras.random.SeedGenerator))]


def arrays(result: Any) -> list[Any]:
    """The arrays and numbers of a result in order, whatever it is made of."""
    found = []
    for part in jax.tree.leaves(result, is_leaf=lambda one: isinstance(one, keras.Variable)):
        if isinstance(part, keras.Variable):
            found.append(part.value)
        elif isinstance(part, (jax.Array, *_NUMBERS)):
            found.append(part)
    return found


def leaves(result: Any) -> list[Leaf]:
    """The same, to be compared."""
    parts = ((part, _content(part)) for part in arrays(result))
    return [Leaf(array.dtype.name, array, tensor=isinstance(part, jax.Array)) for part, array in parts]


def _content(part: Any) -> np.ndarray[Any, Any]:
    if isinstance(part, jax.Array) and jnp.issubdtype(part.dtype, jax.dtypes.prng_key):
        part = jax.random.key_data(part)
    return np.asarray(part)


def brief(error: BaseException) -> str:
    """Kind and text of an error."""
    return f"{type(error).__name__}: {error}"
