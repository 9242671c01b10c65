"""A driven function as a backend compiles it: what the measurement asks for, whatever the backend is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from xlalint.probe.protocol import Observation, Spot, Trouble

from ..driving.state import State
from ..inputs.tensors import Arguments
from .evidence import Line, LineValues
from .interpretation import Locate, Made


class Compilations(Protocol):
    """What the compiler leaves behind."""

    def taken(self) -> list[str]:
        """The programs that were compiled since the last time, oldest first; empty texts where only their number is
        known."""


class Watcher(Protocol):
    """Who is told what happens while code runs eagerly."""

    def ran(self, kind: str, inputs: Any, attributes: Any, outputs: Any, frame: FrameType) -> None:
        """An operation ran, asked for by what `frame` executes."""

    def read(self, how: str, tensor: Any, frame: FrameType) -> None:
        """Python reads a tensor, by the method `how`."""


class Witness(Watcher, Protocol):
    """Who collects what fails besides the first thing."""

    @property
    def seen(self) -> dict[Observation, None]: ...


@dataclass(frozen=True)
class Parting:
    """Where compiled and eager execution part: the lines, innermost first, the operation, and the selections by data
    and the arrays from which it is computed."""

    spots: tuple[Spot, ...]
    op: str
    sources: tuple[Spot, ...] = ()


class Program(Protocol):
    """One driven function. `random`: it draws random numbers, `by_chance`: which nobody asks to repeat; `signs`: a
    change of sign is a difference."""

    random: bool
    by_chance: bool
    signs: bool

    def trace(self, given: Arguments, **further: Any) -> None:
        """Trace it. Raises what that raises."""

    def run(self, given: Arguments) -> Any:
        """Compile it, where that is not done, and call it. Raises what that raises."""

    def of_gradient(self, state: State) -> tuple[Callable[..., Any], Program]:
        """The gradient of the sum of all floating results, by all floating inputs and trained variables: a function,
        and that compiled."""

    def inexactly(self, given: Arguments, seed: int) -> Any:
        """What it gives as a graph that is not compiled, with each result of arithmetic changed in its last digit
        by chance. Raises NotImplementedError where the backend has no such graphs."""

    def variables(self) -> list[Any]:
        """Those that the traced function uses."""

    # -- where things are made ----------------------------------------------------------------------------------------

    def trouble(self, error: BaseException, stage: str) -> Trouble:
        """An error, brought back to the user's line."""

    def failure(self, error: Trouble, of: str, gradient: bool) -> Observation:
        """What cannot be traced or compiled, as something that was seen."""

    def made_on(self, lines: frozenset[Line]) -> tuple[tuple[Spot, tuple[str, ...]], ...]:
        """The operations that the traced function makes on certain lines, by line."""

    @property
    def locate(self) -> Locate: ...

    def constants(self) -> Made:
        """The operations that want a constant which is computed from what the function is called with, by the user's
        lines that made them: the function is compiled for each value of it."""

    # -- what else is known -------------------------------------------------------------------------------------------

    def values(self, lines: frozenset[Line]) -> LineValues:
        """What collects which values the operations of certain lines get."""

    def watching(self, watcher: Watcher) -> AbstractContextManager[None]:
        """Tell a watcher of all that runs eagerly in the body."""

    def lacking(self) -> Iterator[Observation]:
        """The operations of the traced function that have no kernel."""

    def witness(self, given: Arguments) -> Witness:
        """What watches an eager call of these arguments for what tracing or the compiler would refuse."""

    def parting(
        self, given: Arguments, restore: Callable[[], None], bounded: frozenset[str], *, skip_random: bool
    ) -> Parting | None:
        """Where results part, if that is found; `bounded`: the operations with bounded shapes; `skip_random`: random
        numbers may differ. Raises whatever the compiler does."""

    def lines(self) -> Iterator[tuple[Parting, Callable[..., Any], Callable[..., Any]]]:
        """What each of the user's lines makes by itself, as functions: not compiled, and compiled."""
