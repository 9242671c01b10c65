"""What the rules about recompilation share: what varies, where it reaches the compiler, and how grave that is."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from xlalint.fixes.masked import one_line
from xlalint.rule import Draft, DraftNote, Effect, Severity
from xlalint.semantics.events import FeedCompiled
from xlalint.semantics.values import Variation
from xlalint.semantics.variations import variations_of

PER_SHAPE = "XLA compiles again for every new shape"


def varying(event: FeedCompiled, *kinds: str) -> Iterator[Variation]:
    """The variations of these kinds in what is handed over, each once."""
    seen = set()
    for value in event.values:
        for variation in variations_of(value):
            if variation.kind in kinds and variation not in seen:
                seen.add(variation)
                yield variation


def fed(
    event: FeedCompiled, variation: Variation, message: str, help: str | None = None, likely: bool = False
) -> Draft:
    """A finding where the variation comes from, which names the place where it reaches the compiler. It is information
    only where that is not certain to happen, or to happen again."""
    certain = event.certain and event.often and not likely
    return Draft(
        message,
        Effect.RECOMPILES,
        help,
        place=variation.place,
        notes=(DraftNote(event.place, f"this reaches {event.context.entry}"),),
        at_most=Severity.WARNING if certain else Severity.INFO,
    )


def with_arguments(node: cst.CSTNode, **settings: str) -> str | None:
    """A call with these keyword arguments, in place of those that it has; None for what is no call."""
    if not isinstance(node, cst.Call):
        return None
    kept = [arg for arg in node.args if arg.keyword is None or arg.keyword.value not in settings]
    given = [
        cst.Arg(
            cst.parse_expression(text),
            keyword=cst.Name(name),
            equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        )
        for name, text in settings.items()
    ]
    last = [arg.with_changes(comma=cst.MaybeSentinel.DEFAULT) for arg in kept[-1:]]
    return one_line(node.with_changes(args=[*kept[:-1], *last, *given]))
