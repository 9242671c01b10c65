"""A driven function as `tf.function` compiles it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import Observation, Spot, Trouble

from ...backends.with_tensorflow import TensorFunction
from ...code.graphs import all_graphs, find_op, scope_of
from ...code.user_lines import UserLines
from ...driving.driven import Driven
from ...driving.state import State
from ...inputs.tensors import Arguments
from ..evidence import Line, LineValues
from ..interpretation import Locate, Made, failure
from ..program import Parting, Program, Watcher, Witness
from .constant_operands import constant_operands
from .divergence import departing, made_at, reserved_for, results_at, selections_before
from .eager_watch import content_of, names_of, watching
from .further_failures import Refused, lacking, lacking_in
from .gradients import gradients_of
from .inexact import inexactly
from .randomness import SIGNLESS, is_random, repeats

_AN_OPERATION: Final = "return value of type Operation"


def compiled(driven: Driven) -> Callable[..., Any]:
    """The function as XLA compiles it. What already is compiled stays as it is."""
    call = driven.call
    if isinstance(call, TensorFunction) and getattr(call, "_jit_compile", None):
        return call  # type: ignore[no-any-return]
    if isinstance(call, TensorFunction) or not inspect.isroutine(call):

        def called(*positional: Any, **keywords: Any) -> Any:
            return call(*positional, **keywords)

        # What a partial binds may be nothing that can be traced. Objects are converted where AutoGraph is on around
        # them, those of Keras 2 by Keras.
        return tf.function(called, jit_compile=True, autograph=autograph_of(driven))  # type: ignore[no-any-return]
    return tf.function(call, jit_compile=True, autograph=driven.autograph)  # type: ignore[no-any-return]


def _without_operations(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call that returns nothing for each operation that the other one returns."""

    def called(*positional: Any, **keywords: Any) -> Any:
        result = call(*positional, **keywords)
        return tf.nest.map_structure(lambda one: None if isinstance(one, tf.Operation) else one, result)

    return called


def autograph_of(driven: Driven) -> bool:
    """Whether a function around the driven one is to be converted; a `tf.function` decides for itself."""
    return driven.autograph and not isinstance(driven.call, TensorFunction)


class TensorFlowProgram:
    """See `Program`."""

    def __init__(self, driven: Driven, user_lines: UserLines) -> None:
        self.random = self.by_chance = False
        self.signs = True
        self._driven, self._user_lines = driven, user_lines
        self._function = compiled(driven)
        self._concrete: Any = None  # the traced function

    def trace(self, given: Arguments, **further: Any) -> None:
        """See `Program`."""
        try:
            self._concrete = self._traced(given, further)
        except TypeError as error:
            if _AN_OPERATION not in str(error) or isinstance(self._driven.call, TensorFunction):
                raise
            # As Keras 2 does for `update_state`: nothing is returned eagerly, and in a larger function it is no matter.
            self._driven = replace(self._driven, call=_without_operations(self._driven.call))
            self._function = compiled(self._driven)
            self._concrete = self._traced(given, further)
        ops = [op for graph in all_graphs(self._concrete.graph) for op in graph.get_operations()]
        self.random = any(is_random(op) for op in ops)
        self.by_chance = self.random and not any(repeats(op) for op in ops)
        self.signs = not SIGNLESS.intersection(op.type for op in ops)

    def _traced(self, given: Arguments, further: dict[str, Any]) -> Any:
        return self._function.get_concrete_function(*given[0], **further | given[1])  # type: ignore[attr-defined]

    def run(self, given: Arguments) -> Any:
        """See `Program`."""
        return self._function(*given[0], **given[1])

    def of_gradient(self, state: State) -> tuple[Callable[..., Any], Program]:
        """See `Program`."""
        # Of a `tf.function` the Python function: the one that was traced has a program of its own for its gradient.
        call, autograph = self._plainly()
        gradients = gradients_of(call, state.trained)
        driven = replace(self._driven, call=gradients, autograph=autograph)
        return gradients, TensorFlowProgram(driven, self._user_lines)

    def inexactly(self, given: Arguments, seed: int) -> Any:
        """See `Program`."""
        call, autograph = self._plainly()
        return inexactly(call, given, seed, autograph=autograph)

    def variables(self) -> list[Any]:
        """See `Program`."""
        return list(self._concrete.graph.variables)

    @property
    def _graph(self) -> Any:
        return None if self._concrete is None else self._concrete.graph

    # -- where things are made ----------------------------------------------------------------------------------------

    def trouble(self, error: BaseException, stage: str) -> Trouble:
        """See `Program`."""
        return self._user_lines.trouble(error, stage, self._graph)

    def failure(self, error: Trouble, of: str, gradient: bool) -> Observation:
        """See `Program`."""
        lost = error.ops and not error.spots and self._graph is not None
        return failure(error, of, scope_of(self._graph, error.ops) if lost else "", gradient)

    def made_on(self, lines: frozenset[Line]) -> tuple[tuple[Spot, tuple[str, ...]], ...]:
        """See `Program`."""
        found: dict[Spot, dict[str, None]] = {}
        for inner in all_graphs(self._graph) if self._concrete is not None else ():
            for op in inner.get_operations():
                for spot in self._user_lines.of_op(op)[:1]:
                    if (spot.path, spot.line) in lines:
                        found.setdefault(spot, {})[op.type] = None
        return tuple((spot, tuple(kinds)) for spot, kinds in found.items())

    @property
    def locate(self) -> Locate:
        """See `Program`."""
        return self._located

    def _located(self, names: Iterable[Iterable[str]]) -> Made:
        """The user's lines that made operations, with what these are; no lines where none is known."""
        found: dict[tuple[Spot, ...], dict[str, None]] = {}
        for name in dict.fromkeys(name for several in names for name in several) if self._concrete is not None else ():
            spots, kind = self._user_lines.of_named_op(self._graph, name)
            if spots:
                found.setdefault(spots, {})[kind] = None
        return {spots: tuple(kinds) for spots, kinds in found.items()} or {(): ()}

    def constants(self) -> Made:
        """See `Program`."""
        found: dict[tuple[Spot, ...], dict[str, None]] = {}
        for op in constant_operands(self._graph) if self._concrete is not None else ():
            if spots := self._user_lines.of_op(op):
                found.setdefault(spots, {})[op.type] = None
        return {spots: tuple(kinds) for spots, kinds in found.items()}

    # -- what else is known -------------------------------------------------------------------------------------------

    def values(self, lines: frozenset[Line]) -> LineValues:
        """See `Program`."""
        return LineValues(self._user_lines, lines, names_of, content_of)

    def watching(self, watcher: Watcher) -> AbstractContextManager[None]:
        """See `Program`."""
        return watching(watcher)

    def lacking(self) -> Iterator[Observation]:
        """See `Program`."""
        for op in lacking_in(self._graph) if self._concrete is not None else ():
            if spots := self._user_lines.of_op(op):
                yield lacking(op.type, spots)

    def witness(self, given: Arguments) -> Witness:
        """See `Program`."""
        tensors = [one for one in tf.nest.flatten(given) if tf.is_tensor(one)]
        return Refused(self._user_lines, tensors, self._driven.autograph)

    def parting(
        self, given: Arguments, restore: Callable[[], None], bounded: frozenset[str], *, skip_random: bool
    ) -> Parting | None:
        """See `Program`."""
        call, autograph = self._plainly()
        several = departing(call, given, restore, autograph=autograph, skip_random=skip_random)
        if not several or not (spots := self._user_lines.of_op(several[0])):
            return None
        found = find_op(self._graph, several[0].name)  # the one that was found is of another trace
        selections = self._selections([] if found is None else [found], bounded)
        arrays = self._user_lines.made_first(reserved_for(several))
        return Parting(spots, several[0].type, (*selections, *arrays))

    def lines(self) -> Iterator[tuple[Parting, Callable[..., Any], Callable[..., Any]]]:
        """See `Program`. In the order of the lines in the graph."""
        call, autograph = self._plainly()
        for spot in made_at(self._graph, self._user_lines):
            here = [op for op in self._graph.get_operations() if spot in self._user_lines.of_op(op)[:1]]
            plain, function = (
                results_at(call, spot, self._user_lines, autograph=autograph, compiled=one) for one in (False, True)
            )
            yield Parting((spot,), here[-1].type, self._selections(here, frozenset())), plain, function

    def _selections(self, ops: Iterable[Any], bounded: frozenset[str]) -> tuple[Spot, ...]:
        """The user's lines with the selections by data from which operations are computed."""
        return self._user_lines.made_first(selections_before(ops, bounded))

    def _plainly(self) -> tuple[Callable[..., Any], bool]:
        """The call without a `tf.function` around it, and whether it is to be converted."""
        call = self._driven.call
        if isinstance(call, TensorFunction):
            return call.python_function, getattr(call, "_autograph", True)
        return call, self._driven.autograph
