"""Datasets that functions return which nothing is seen to call: their batches are for whoever trains on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..domain.kinds import options
from ..domain.values import ApiObject, Dict, Sequence, Value, Variation
from ..domain.varying_shapes import LAST, filtered, variations_of
from ..interpreter.contexts import Context, ContextKind
from ..interpreter.events import FeedCompiled
from ..interpreter.frames import Summary
from ..library.datasets import is_dataset

_OF_BATCHES: Final = (LAST, "padded batch")


def returned_batches(uncalled: Iterable[Summary]) -> Iterator[FeedCompiled]:
    """What the batches of such datasets do to a step that XLA compiles, if they are of several shapes."""
    for summary in uncalled:
        function = summary.function
        if function is None or function.module.is_test:
            continue
        values = tuple(filtered(each, _is_of_batches) for each in _elements(summary.value))
        if any(map(variations_of, values)):
            place, context = function.label, Context(ContextKind.OPEN, True, "whoever trains on what this returns")
            yield FeedCompiled(
                place,
                context,
                None,
                False,
                values=values,
                nodes=(place.node,) * len(values),
                target=function.identity,
                certain=False,
                often=False,
                traced=False,
                single=True,
                trains=True,
            )


def _is_of_batches(variation: Variation) -> bool:
    return variation.kind in _OF_BATCHES


def _elements(returned: Value) -> Iterator[Value]:
    """The elements of the datasets in what a function returns."""
    for option in options(returned):
        match option:
            case ApiObject(payload=payload) if payload is not None and is_dataset(option):
                yield payload
            case Sequence(items=tuple(items)):
                for item in items:
                    yield from _elements(item)
            case Dict(entries):
                for item in entries.values():
                    yield from _elements(item)
