"""What a driven function is: something to call, and what to call it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backends import backend
from ..inputs.search import Solution
from ..inputs.tensors import Arguments


@dataclass(frozen=True)
class Partly:
    """How to run a function eagerly as far as it goes. `ready`: of the number of a set of values, what it is called
    with, and the call; `extremes`: the same, of values that it may not be made for; `autograph`: as of what is
    driven."""

    ready: Callable[[int], tuple[Any, Callable[[], Any]]]
    extremes: Sequence[Callable[[], tuple[Any, Callable[[], Any]]]]
    autograph: bool


class NotDrivenError(Exception):
    """The target cannot be called. The text is one line, and names what the user can write to help; `by_keras`: whether
    Keras raised what it is about; `partly`: how to come to lines in question all the same; `in_no_way`: whatever calls
    it."""

    def __init__(
        self, text: str, *, by_keras: bool = False, partly: Partly | None = None, in_no_way: bool = False
    ) -> None:
        super().__init__(text)
        self.by_keras, self.partly, self.in_no_way = by_keras, partly, in_no_way


@dataclass
class Driven:
    """Something to call and what to call it with; the same values at every `make` of a set and a variant.

    `value_sets`: how many sets of values of one shape, `variants`: how many shapes; `state`: the variables to put back
    before each call; `how`, `inputs`: what was done, in words, and the inputs in the grammar of `specs`; `reached`:
    the lines of the user's files that eager execution ran; `moved`: files that stand for the user's, each with that and
    the lines to subtract; `close` forgets what was imported; `found`: the inputs of each step on the way, for another
    that is to be called with the same; `extremes`: what makes, of a variant, arguments of values that it may not be
    made for; `anew`: another object, as it is made, and the call of it; `looped`: it runs inside of a loop.
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
    extremes: Sequence[Callable[[int], Arguments]] = ()
    anew: Callable[[], tuple[Any, Callable[[], Any]]] | None = None
    looped: bool = False


def holds_tensors(result: Any, asked: bool) -> bool:
    """Whether a function that is compiled may return this, and a tensor among it; `asked`: where a line in question
    ran, numbers will do, which that may have read from one."""
    if result is None:
        return True  # it may change variables
    try:
        leaves = backend.leaves(result)
    except (TypeError, ValueError):
        return False
    plain_values = (bool, int, float, complex, str, bytes, type(None))
    numbers = (np.ndarray, np.generic, float) if asked else ()
    return any(backend.is_tensor(leaf) or isinstance(leaf, numbers) for leaf in leaves) and all(
        backend.is_tensor(leaf) or hasattr(leaf, "shape") or isinstance(leaf, (*plain_values, *backend.ARRAYS))
        for leaf in leaves
    )
