"""What the rules share that speak of elements of datasets whose rank is not known while tracing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from xlalint.analysis.domain.kinds import LOST_RANKS, options
from xlalint.analysis.domain.values import NONE, ApiObject, Variation
from xlalint.analysis.domain.varying_shapes import variations_of
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import FeedCompiled
from xlalint.analysis.library.datasets import is_dataset
from xlalint.fixes.rewrite import Rewriter
from xlalint.linter.rule import Draft, DraftNote, Effect, Severity

REFUSED = "Keras 3 cannot train on elements of unknown rank, and a `TPUStrategy` refuses them"


def lost(event: FeedCompiled, kind: str) -> Iterator[Variation]:
    """What of this kind loses the ranks of the elements, each once, where Keras takes the dataset itself: a loop
    in Python passes tensors whose shapes are known."""
    if event.context.by_keras:
        whole = [value for value in event.values if is_dataset(value)]
        elements = [each for value in whole if isinstance(value, ApiObject) for each in options(value.payload or NONE)]
        found = [[each for each in variations_of(element) if each.kind in LOST_RANKS] for element in elements]
        if all(found):  # what is another dataset elsewhere has the rank of that
            yield from dict.fromkeys(each for each in chain.from_iterable(found) if each.kind == kind)


def refused(event: FeedCompiled, location: Location, what: str, help: str | None, rewrite: Rewriter | None) -> Draft:
    """A finding where the rank is lost, which names the place where Keras takes the dataset."""
    return Draft(
        f"{what}: {REFUSED}",
        Effect.FAILS,
        help,
        location=location,
        notes=(DraftNote(event.location, f"this reaches {event.context.reached}"),),
        at_most=Severity.WARNING,
        rewrite=rewrite,
    )
