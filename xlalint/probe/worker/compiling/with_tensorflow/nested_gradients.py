"""Whether the gradient of what has a `tf.function` inside is compiled again for other values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.protocol import NESTED, RECOMPILES, Observation, Spot

from ...driving.driven import Driven
from ...driving.state import State
from ..evidence import Line
from ..program import Compilations
from .gradients import gradients_of

_MOST: Final = 3  # sets of values


def compiled_again(driven: Driven, dump: Compilations, decorators: Iterable[Line]) -> Iterator[Observation]:
    """What is seen of a driven function, with its `tf.function` as it is, at the lines of its decorators."""
    state, counts = State(driven.state()), list[int]()
    function = tf.function(gradients_of(driven.call, state.trained), jit_compile=True, autograph=False)
    try:
        for number in range(min(driven.value_sets, _MOST)):
            state.restore()
            dump.taken()
            positional, keywords = driven.make(number, 0)
            function(*positional, **keywords)
            counts.append(len(dump.taken()))
    except Exception:  # of any kind: nothing is known of it
        return
    if counts[:1] != [0] and any(counts[1:]):
        said = f"{sum(counts)} compilations of its gradient for {len(counts)} sets of values of one shape"
        yield from (Observation(RECOMPILES, said, (Spot(*one),), per=NESTED) for one in decorators)
