"""What a rule says of a place where Keras runs on JAX, beside what it says of TensorFlow, and what is left of both
where it is known what runs the code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..analysis.interpreter.contexts import Context, ContextKind
from ..analysis.interpreter.events import Event
from ..analysis.program.backends import Ran
from ..findings.findings import Backend, Effect, Finding, Severity
from .rule import Draft, OnJax
from .severities import GRAVITY, severity_of

_TRACED: Final = (ContextKind.XLA, ContextKind.OPEN)


@dataclass(frozen=True, slots=True)
class Said:
    """What one rule says of one place where JAX runs it. `unexposed`: how grave that is where nothing shows that XLA
    compiles the program."""

    on_jax: OnJax
    severity: Severity
    unexposed: Severity

    @property
    def gravity(self) -> tuple[Severity, int]:
        return self.severity, -1 if self.on_jax.effect is None else GRAVITY[self.on_jax.effect]


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


def run_by(
    finding: Finding, said: Said | None, on_tensorflow: bool, ran: Ran
) -> tuple[Finding, Severity | None] | None:
    """A finding where it is known what runs its file, and, where JAX makes it what it is, how grave that is where
    nothing shows XLA; None where it is about something else. `on_tensorflow`: it is about TensorFlow, too."""
    on_tensorflow = on_tensorflow and ran.on_tensorflow
    if not ran.on_jax:
        return (finding, None) if on_tensorflow else None
    effect = None if said is None else said.on_jax.effect
    if not on_tensorflow and effect is None:
        return None
    on_both = [(Backend.TENSORFLOW, finding.effect)] if on_tensorflow else []
    if finding.context is not None:
        finding = replace(finding, context=replace(finding.context, backend=ran.shown))
    finding = replace(finding, backends=(*on_both, (Backend.JAX, effect)))
    if said is None:
        return finding, None
    reason = f"on JAX, {said.on_jax.reason}"
    if not on_tensorflow:
        finding = replace(finding, effect=effect, severity=said.severity, message=f"{said.on_jax.what}: {reason}")
        return finding, said.unexposed
    finding = replace(finding, message=f"{finding.message}; {reason}")
    known = -1 if finding.effect is None else GRAVITY[finding.effect]
    if effect is None or said.gravity <= (finding.severity, known):
        return finding, None
    return replace(finding, effect=effect, severity=max(finding.severity, said.severity)), said.unexposed


def of_all(finding: Finding, others: Sequence[Finding]) -> Finding:
    """A finding with what each backend makes of its place, whoever of those that are about it says so."""
    gravest: dict[Backend, Effect | None] = {}
    for backend, effect in (pair for other in others for pair in other.backends):
        known = gravest.get(backend)
        if known is None or (effect is not None and GRAVITY[effect] > GRAVITY[known]):
            gravest[backend] = effect
    pairs = tuple((backend, gravest[backend]) for backend in Backend if backend in gravest)
    return finding if pairs == finding.backends else replace(finding, backends=pairs)
