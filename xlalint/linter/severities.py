"""How grave an effect is, by who runs the code."""

from __future__ import annotations

from typing import Final

from ..analysis.interpreter.contexts import Context, ContextKind
from ..findings.findings import Effect, Severity

# From the least grave to the gravest.
GRAVITY: Final = {
    effect: rank
    for rank, effect in enumerate((Effect.NAMED, Effect.TPU, Effect.RECOMPILES, Effect.DIVERGES, Effect.FAILS))
}
_BREAKING: Final = frozenset((Effect.FAILS, Effect.DIVERGES))
# By who runs the code: what breaks it, and anything else. What sets a program up decides that by itself.
_SEVERITIES: Final = {
    ContextKind.XLA: (Severity.ERROR, Severity.WARNING),
    ContextKind.GRAPH: (Severity.WARNING, Severity.WARNING),
    ContextKind.OPEN: (Severity.WARNING, Severity.WARNING),
    ContextKind.HOST: (Severity.INFO, Severity.INFO),
}


def severity_of(effect: Effect, kind: ContextKind, about_setup: bool = False) -> Severity:
    """An error breaks code that XLA compiles for certain, or the program that is set up so; other code that stays on
    the host is only information."""
    breaking, other = _SEVERITIES[ContextKind.XLA if about_setup else kind]
    return breaking if effect in _BREAKING else other


def unexposed_severity(effect: Effect, context: Context, traced: bool) -> Severity:
    """The same where nothing shows that XLA compiles the program: no more than information, but for what is refused
    while Keras 3 traces the code. `traced`: the rule is about that."""
    refused = traced and effect is Effect.FAILS and not context.converted and context.kind is not ContextKind.HOST
    return Severity.WARNING if refused else Severity.INFO
