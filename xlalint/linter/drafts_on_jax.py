"""What the drafts of a rule say of a place where Keras runs on JAX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..analysis.interpreter.contexts import Context, ContextKind
from ..analysis.interpreter.events import Event
from ..findings.findings import Backend, Effect, Severity
from .on_backends import OnJax, Said
from .rule import Draft
from .severities import severity_of

_TRACED: Final = (ContextKind.XLA, ContextKind.OPEN)


def said_on_jax(drafts: Iterable[tuple[Draft, Event]], severity: Severity | None) -> Said | None:
    """The gravest that drafts of one rule say of one place where JAX runs it, None where they say nothing; `severity`:
    that which is set."""
    found = [
        _judged(draft, draft.jax, event.context, severity)
        for draft, event in drafts
        if draft.jax is not None and _is_on_jax(event)
    ]
    return max(found, key=lambda said: said.gravity, default=None)


def _is_on_jax(event: Event) -> bool:
    """Whether JAX may run code: Keras or JAX calls it, or nobody is seen to. What `tf.function` compiles is
    TensorFlow's."""
    context = event.context
    is_called = context.keras is not None or context.kind is ContextKind.OPEN or (event.of_host and context.by_keras)
    is_called = is_called or context.is_for_jax
    return context.kind in _TRACED and is_called and context.runs_on(Backend.JAX)


def _judged(draft: Draft, on_jax: OnJax, context: Context, severity: Severity | None) -> Said:
    effect = on_jax.effect
    if effect is None:
        return Said(on_jax, Severity.INFO, Severity.INFO)
    judged = severity_of(effect, context.kind)
    if context.behind or context.aside:
        judged = min(judged, Severity.WARNING)
    if on_jax.at_most is not None:
        judged = min(judged, on_jax.at_most)
    elif effect is draft.effect:
        judged = min(judged, draft.at_most)
    # Keras traces all that it runs on JAX, whether or not XLA compiles it; what JAX itself compiles asks for it.
    unexposed = min(judged, Severity.WARNING if effect is Effect.FAILS else Severity.INFO)
    if context.kind is ContextKind.XLA and context.is_for_jax and not context.by_keras:
        unexposed = judged
    return Said(on_jax, judged if severity is None else severity, unexposed if severity is None else severity)
