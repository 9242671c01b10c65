"""What a driven function is: something to call, what to call it with, and how XLA compiles it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import tensorflow as tf  # type: ignore[import-untyped]

from ..code.eager import TensorFunction
from ..inputs.search import Solution
from ..inputs.tensors import Arguments


class NotDrivenError(Exception):
    """The target cannot be called. The text is one line, and names what the user can write to help."""


@dataclass
class Driven:
    """Something to call and what to call it with; the same values at every `make` of a set and a variant.

    `value_sets`: how many sets of values of one shape, `variants`: how many shapes; `state`: the variables to put back
    before each call; `how`, `inputs`: what was done, in words, and the inputs in the grammar of `specs`; `reached`:
    the lines of the user's files that eager execution ran; `moved`: files that stand for the user's, each with that and
    the lines to subtract; `close` forgets what was imported; `found`: the inputs of each step on the way, for another
    that is to be called with the same; `extreme`: arguments of values that it may not be made for.
    """

    call: Callable[..., Any]
    make: Callable[[int, int], Arguments]
    value_sets: int
    variants: int
    state: Callable[[], list[Any]]
    autograph: bool
    how: str
    inputs: tuple[str, ...]
    reached: frozenset[tuple[str, int]] = frozenset()
    moved: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None
    found: Sequence[Solution] = ()
    of: str = "it"
    training: Callable[[], Driven | str] | None = None
    is_step: bool = False
    notes: tuple[str, ...] = ()
    extreme: Callable[[int], Arguments] | None = None


def compiled(driven: Driven) -> Callable[..., Any]:
    """The function as XLA compiles it. What already is compiled stays as it is."""
    call = driven.call
    if isinstance(call, TensorFunction) and getattr(call, "_jit_compile", None):
        return call  # type: ignore[no-any-return]
    inner = call.func if isinstance(call, partial) else call
    if isinstance(call, TensorFunction) or not inspect.isroutine(inner):
        return tf.function(lambda *one, **two: call(*one, **two), jit_compile=True, autograph=False)  # type: ignore[no-any-return]
    return tf.function(call, jit_compile=True, autograph=driven.autograph)  # type: ignore[no-any-return]


def autograph_of(driven: Driven) -> bool:
    """Whether a function around the driven one is to be converted; a `tf.function` decides for itself."""
    return driven.autograph and not isinstance(driven.call, TensorFunction)
