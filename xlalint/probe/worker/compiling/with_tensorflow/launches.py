"""Host code run as host code: which of its lines call compiled functions, and how often each call compiles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import COMPILE, FAILS, RECOMPILES, Launch, Observation, Spot

from ...backends.with_tensorflow import TensorFunction, eager_execution
from ...code.user_lines import UserLines
from ..program import Compilations

_MOST: Final = 100  # characters of an argument that are compared


@dataclass(frozen=True)
class _Call:
    """One call of a `tf.function` from outside of any. `shapes`: of its tensors; `values`: of all else."""

    spot: Spot
    function: int
    code: object
    name: str
    programs: int
    shapes: str
    values: str


@dataclass
class Launches:
    """Collects the calls of functions that TensorFlow compiles, while `watching`."""

    user_lines: UserLines
    dump: Compilations
    failures: list[Observation] = field(default_factory=list)
    compilations: int = 0
    _calls: list[_Call] = field(default_factory=list)
    _created: dict[int, Spot] = field(default_factory=dict)
    _alive: list[Any] = field(default_factory=list)  # so that no other function gets the identity of one
    _inside: bool = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Collect those of the body."""
        call, create = TensorFunction.__call__, TensorFunction.__init__

        def created(function: Any, *arguments: Any, **keywords: Any) -> None:
            create(function, *arguments, **keywords)
            if not self._inside and (spot := self.user_lines.innermost(sys._getframe(1))) is not None:
                self._alive.append(function)
                self._created[id(function)] = spot

        def called(function: Any, *arguments: Any, **keywords: Any) -> Any:
            if self._inside:
                return call(function, *arguments, **keywords)
            return self._called(call, function, sys._getframe(1), arguments, keywords)

        TensorFunction.__call__, TensorFunction.__init__ = called, created
        try:
            yield
        finally:
            TensorFunction.__call__, TensorFunction.__init__ = call, create

    def _called(
        self, call: Callable[..., Any], function: Any, frame: FrameType, arguments: Any, keywords: dict[str, Any]
    ) -> Any:
        self._inside = True
        self.dump.taken()  # what was compiled before is nobody's
        try:
            return call(function, *arguments, **keywords)
        except Exception as error:
            self._failed(function, arguments, keywords, error)
            raise
        finally:
            self._inside = False
            programs = len(self.dump.taken())
            self.compilations += programs
            spot = self.user_lines.innermost(frame)
            python = getattr(function, "python_function", None)
            code = getattr(python, "__code__", None)
            if spot is not None:
                name = getattr(python, "__name__", "it")
                parts = tf.nest.flatten((arguments, keywords), expand_composites=True)
                shapes, values = ", ".join(map(_shape, parts)), ", ".join(map(_value, parts))
                self._alive.append(function)
                self._calls.append(_Call(spot, id(function), code, name, programs, shapes, values))

    def _failed(self, function: Any, arguments: Any, keywords: dict[str, Any], error: Exception) -> None:
        """A call that raises: of interest where it does not raise in eager execution as well."""
        try:
            with eager_execution():
                function(*arguments, **keywords)
        except Exception:  # of any kind: it is no matter of the compiler's
            return
        trouble = self.user_lines.trouble(error, COMPILE)
        self.failures.append(Observation(FAILS, f"{trouble.kind}: {trouble.message}", trouble.spots, ops=trouble.ops))

    # -- what they mean -----------------------------------------------------------------------------------------------

    def launches(self) -> tuple[Launch, ...]:
        """The lines that call, each with how many calls there were, how many compilations, and other Python values."""
        return tuple(
            Launch(spot, len(calls), sum(one.programs for one in calls), len({one.values for one in calls}))
            for (spot, _), calls in self._grouped()
        )

    def observations(self) -> Iterator[Observation]:
        """What failed, and what compiled again."""
        yield from self.failures
        for (spot, _), calls in self._grouped():
            compiled = [one for one in calls if one.programs]
            if len(compiled) < 2:
                continue
            count, name = sum(one.programs for one in compiled), calls[0].name
            made = [self._created[one.function] for one in compiled if one.function in self._created]
            if len({one.function for one in compiled}) > 1:
                said = f"{count} compilations for {len(calls)} calls of `{name}`, which is another function each time"
                yield Observation(RECOMPILES, said, tuple(dict.fromkeys((*made[:1], spot))), "value")
            elif len({one.shapes for one in compiled}) < len(compiled):
                said = f"{count} compilations for {len(calls)} calls of `{name}` with tensors of the same shapes"
                yield Observation(RECOMPILES, said, (spot,), "value")
            else:
                said = f"{count} compilations for {len(calls)} calls of `{name}` with tensors of other shapes"
                yield Observation(RECOMPILES, said, (spot,), "shape")

    def _grouped(self) -> Iterator[tuple[tuple[Spot, object], Sequence[_Call]]]:
        """The calls by line and code."""
        found: dict[tuple[Spot, object], list[_Call]] = {}
        for one in self._calls:
            found.setdefault((one.spot, one.code), []).append(one)
        yield from found.items()


def _shape(part: Any) -> str:
    """The shape of an argument that is a tensor when a function is traced."""
    if tf.is_tensor(part) or isinstance(part, np.ndarray | np.generic | tf.Variable):
        return f"{part.dtype} {tuple(part.shape)}"
    return ""


def _value(part: Any) -> str:
    """An argument that is no tensor, as text."""
    return "" if _shape(part) else repr(part)[:_MOST]
