"""What is said of a place where Keras runs on JAX, beside what is said of TensorFlow, and what is left of both where it
is known what runs the code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..analysis.program.backends import Ran
from ..findings.findings import Backend, Effect, Finding, Severity
from .severities import GRAVITY


@dataclass(frozen=True, slots=True)
class OnJax:
    """What becomes of a place where JAX runs it. `effect` None: nothing, it compiles once. A message says `what` it is,
    and `reason`: what JAX does with it, in words that follow "on JAX". `at_most`: None: as the draft,
    where the effect is the same."""

    effect: Effect | None
    what: str
    reason: str
    at_most: Severity | None = None


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
