"""A driven function as `jax.jit` compiles it, in the way of Keras's trainer for JAX: the variables that it may change
go in and come out, and stand in a `StatelessScope` for what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import keras  # type: ignore[import-untyped]
import numpy as np

from xlalint.probe.protocol import Observation, Spot, Trouble

from ...backends import backend
from ...code.user_lines import UserLines
from ...driving.driven import Driven
from ...driving.state import State
from ...inputs.tensors import Arguments
from ..evidence import Line, LineValues
from ..interpretation import Locate, Made, failure
from ..program import Parting, Program, Watcher, Witness
from .compilations import NAME
from .eager_watch import Refused, content_of, names_of, watching
from .jaxprs import SIGNLESS, departing, equations, spots_of


@dataclass(frozen=True, eq=False)
class _Static:
    """Of a structure all but its arrays, which `jax.jit` compiles again for where it is another."""

    tree: Any
    parts: tuple[Any, ...]  # None where an array is

    def __hash__(self) -> int:
        return hash(self.tree)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Static) or self.tree != other.tree:
            return False
        return all(one is two or _equal(one, two) for one, two in zip(self.parts, other.parts, strict=True))

    def filled(self, arrays: Iterable[Any]) -> Any:
        """The structure with arrays."""
        following = iter(arrays)
        parts = [next(following) if part is None else part[0] for part in self.parts]
        return jax.tree.unflatten(self.tree, parts)


def _equal(one: Any, other: Any) -> bool:
    return one is not None and other is not None and type(one[0]) is type(other[0]) and bool(one[0] == other[0])


def _parted(structure: Any) -> tuple[list[Any], _Static]:
    """The arrays of a structure, and the rest."""
    parts, tree = jax.tree.flatten(structure, is_leaf=lambda one: one is None)
    dynamic = [isinstance(part, jax.Array | np.ndarray) for part in parts]
    arrays = [part for part, chosen in zip(parts, dynamic, strict=True) if chosen]
    return arrays, _Static(
        tree, tuple(None if chosen else (part,) for part, chosen in zip(parts, dynamic, strict=True))
    )


class JaxProgram:
    """See `Program`. Random numbers repeat: what they are drawn from is among the variables."""

    def __init__(self, driven: Driven, user_lines: UserLines) -> None:
        self.random = self.by_chance = False
        self.signs = True
        self._driven, self._user_lines = driven, user_lines
        self._results: dict[_Static, _Static] = {}  # what of the result is no array, by what of the inputs is none
        self._closed: Any = None  # the traced function
        self._known: list[Any] | None = None

        def measured(static: _Static, state: Sequence[Any], arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            positional, keywords = static.filled(arrays)
            with keras.StatelessScope(state_mapping=list(zip(self.variables(), state, strict=True))) as scope:
                result = driven.call(*positional, **keywords)
                result = jax.tree.map(_held, result, is_leaf=_is_variable)
            found, self._results[static] = _parted(result)
            after = [scope.get_current_value(one) for one in self.variables()]
            return found, [old if new is None else new for old, new in zip(state, after, strict=True)]

        measured.__name__ = measured.__qualname__ = NAME
        self.measured = measured
        self._function = jax.jit(measured, static_argnums=0)

    def inexactly(self, given: Arguments, seed: int) -> Any:
        """See `Program`."""
        raise NotImplementedError

    def variables(self) -> list[Any]:
        """See `Program`. All that a call may change."""
        if self._known is None:
            self._known = [one for one in {id(one): one for one in self._driven.state()}.values() if _is_variable(one)]
        return self._known

    def given(self, given: Arguments) -> tuple[_Static, list[Any], list[Any]]:
        """What the compiled function takes: what is no array, what the variables hold, and the arrays."""
        arrays, static = _parted(given)
        return static, [one.value for one in self.variables()], arrays

    def trace(self, given: Arguments, **further: Any) -> None:
        """See `Program`."""
        positional, keywords = given
        self._closed = self._function.trace(*self.given((positional, further | keywords))).jaxpr
        self.signs = SIGNLESS.isdisjoint(one.primitive.name for one in equations(self._closed.jaxpr))

    def run(self, given: Arguments) -> Any:
        """See `Program`."""
        static, state, arrays = self.given(given)
        found, after = self._function(static, state, arrays)
        for variable, value in zip(self.variables(), after, strict=True):
            variable.assign(value)
        return self._results[static].filled(found)

    def of_gradient(self, state: State) -> tuple[Callable[..., Any], Program]:
        """See `Program`."""
        program = self.gradients()
        return program._driven.call, program

    def gradients(self, **further: Any) -> JaxProgram:
        """The gradient of the sum of all floating results, by all floating inputs and trained variables; these come
        last. `further`: arguments of the function."""
        call = partial(_gradients, partial(self._driven.call, **further), self.variables())
        return JaxProgram(replace(self._driven, call=call), self._user_lines)

    # -- where things are made ----------------------------------------------------------------------------------------

    def trouble(self, error: BaseException, stage: str) -> Trouble:
        """See `Program`."""
        return self._user_lines.trouble(error, stage)

    def failure(self, error: Trouble, of: str, gradient: bool) -> Observation:
        """See `Program`."""
        return failure(error, of, "", gradient)

    def made_on(self, lines: frozenset[Line]) -> tuple[tuple[Spot, tuple[str, ...]], ...]:
        """See `Program`."""
        found: dict[Spot, dict[str, None]] = {}
        for one in equations(self._closed.jaxpr) if self._closed is not None else ():
            for spot in spots_of(one, self._user_lines)[:1]:
                if (spot.path, spot.line) in lines:
                    found.setdefault(spot, {})[one.primitive.name] = None
        return tuple((spot, tuple(kinds)) for spot, kinds in found.items())

    @property
    def locate(self) -> Locate:
        """See `Program`. Programs are not read, of which it would be the names."""
        return _nowhere

    def constants(self) -> Made:
        """See `Program`. What JAX wants to know it asks for while it traces."""
        return {}

    # -- what else is known -------------------------------------------------------------------------------------------

    def values(self, lines: frozenset[Line]) -> LineValues:
        """See `Program`."""
        return LineValues(self._user_lines, lines, names_of, content_of)

    def watching(self, watcher: Watcher) -> AbstractContextManager[None]:
        """See `Program`."""
        return watching(watcher)

    def lacking(self) -> Iterator[Observation]:
        """See `Program`. JAX has no operation that is not compiled."""
        return iter(())

    def witness(self, given: Arguments) -> Witness:
        """See `Program`."""
        return Refused(self._user_lines, _parted(given)[0])

    def parting(
        self, given: Arguments, restore: Callable[[], None], bounded: frozenset[str], *, skip_random: bool
    ) -> Parting | None:
        """See `Program`."""
        if self._closed is None:
            return None
        restore()
        _, state, arrays = self.given(given)
        found = departing(self._closed, jax.tree.leaves((state, arrays)))
        spots = () if found is None else spots_of(found, self._user_lines)
        return Parting(spots, found.primitive.name) if spots else None

    def lines(self) -> Iterator[tuple[Parting, Callable[..., Any], Callable[..., Any]]]:
        """See `Program`. Nothing of it is compiled by itself."""
        return iter(())


def _nowhere(names: Iterable[Iterable[str]]) -> Made:
    return {(): ()}


def _is_variable(value: Any) -> bool:
    return isinstance(value, keras.Variable)


def _held(part: Any) -> Any:
    """What a variable holds that is returned."""
    return part.value if _is_variable(part) else part


def trained_places(variables: Sequence[Any]) -> list[int]:
    """Which variables a gradient is asked for."""
    return [place for place, one in enumerate(variables) if one.trainable and backend.is_floating(one.value)]


def _gradients(call: Callable[..., Any], variables: Sequence[Any], *positional: Any, **keywords: Any) -> list[Any]:
    """Of the sum of all floating results, the gradients by all floating inputs and trained variables."""
    arrays, static = _parted((positional, keywords))
    places = [place for place, one in enumerate(arrays) if backend.is_floating(jnp.asarray(one))]
    values = [one.value for one in variables]
    trained = trained_places(variables)

    def total(inputs: Sequence[Any], weights: Sequence[Any]) -> Any:
        given, state = list(arrays), list(values)
        for place, one in zip(places, inputs, strict=True):
            given[place] = one
        for place, one in zip(trained, weights, strict=True):
            state[place] = one
        first, others = static.filled(given)
        with keras.StatelessScope(state_mapping=list(zip(variables, state, strict=True))):
            result = jax.tree.map(_held, call(*first, **others), is_leaf=_is_variable)
        parts = [one for one in _parted(result)[0] if backend.is_floating(one)]
        return sum((jnp.sum(one.astype(jnp.float32)) for one in parts), start=jnp.float32(0.0))

    if not places and not trained:
        return []
    inputs = [jnp.asarray(arrays[place]) for place in places]
    by_inputs, by_weights = jax.grad(total, argnums=(0, 1))(inputs, [values[place] for place in trained])
    return [*by_inputs, *by_weights]
