"""From events to findings: the rules that listen are asked, and what they say of one place becomes one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from .findings import Effect, Finding, FindingContext, Note, Severity, Span, TrailStep
from .rule import Draft, Rule, all_rules
from .semantics.events import ApiCall, ContextKind, Event, Trail
from .semantics.project import Place

# From the least grave to the gravest.
_GRAVITY: Final = {
    effect: rank
    for rank, effect in enumerate((Effect.NAMED, Effect.TPU, Effect.RECOMPILES, Effect.DIVERGES, Effect.FAILS))
}
_BREAKING: Final = frozenset((Effect.FAILS, Effect.DIVERGES))


def severity_of(effect: Effect, kind: ContextKind) -> Severity:
    """An error breaks code that XLA compiles for certain; code that stays on the host is only information."""
    if kind is ContextKind.HOST:
        return Severity.INFO
    return Severity.ERROR if kind is ContextKind.XLA and effect in _BREAKING else Severity.WARNING


@dataclass(frozen=True, slots=True)
class _Heard:
    """A draft and the event that it answers."""

    draft: Draft
    event: Event

    @property
    def severity(self) -> Severity:
        return severity_of(self.draft.effect, self.event.context.kind)

    @property
    def gravity(self) -> tuple[Severity, int]:
        return self.severity, _GRAVITY[self.draft.effect]


class Dispatcher:
    """Takes events as the analyser emits them; keeps drafts, and turns them into findings at the end."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._listeners: dict[type[Event], list[Rule]] = {}
        self._callers: dict[str, list[Rule]] = {}
        self._heard: dict[tuple[Rule, Place], list[_Heard]] = {}
        for rule in rules:
            for kind in rule.listens:
                if kind is not ApiCall:
                    self._listeners.setdefault(kind, []).append(rule)
            if ApiCall in rule.listens:
                for api in rule.apis:
                    self._callers.setdefault(api, []).append(rule)

    @classmethod
    def of_codes(cls, codes: frozenset[str]) -> Dispatcher:
        """With the rules of these codes."""
        return cls(rule() for rule in all_rules() if rule.code in codes)

    @property
    def wanted_apis(self) -> frozenset[str]:
        """The library functions whose calls some rule wants to hear of."""
        return frozenset(self._callers)

    def hear(self, event: Event) -> None:
        """Ask the rules that listen to this kind of event."""
        if isinstance(event, ApiCall):
            rules = self._callers.get(event.api, ())
        else:
            rules = self._listeners.get(type(event), ())
        for rule in rules:
            for draft in rule.check(event):
                self._heard.setdefault((rule, draft.place or event.place), []).append(_Heard(draft, event))

    def findings(self, linted: Callable[[str], bool], severities: Mapping[str, Severity]) -> Iterator[Finding]:
        """One finding for each place in the files that are `linted`; `severities` overrule by code.

        Where several rules flag one place, the gravest says why it must change; the others follow from the same code.
        """
        gravest: dict[Place, tuple[Severity, int]] = {}
        for (_, place), heard in self._heard.items():
            gravest[place] = max(gravest.get(place, (Severity.INFO, 0)), *(one.gravity for one in heard))
        told = set[Place]()
        for (rule, place), heard in self._heard.items():
            if place in told or max(one.gravity for one in heard) < gravest[place] or not linted(place.path):
                continue
            told.add(place)
            yield _finding(rule, place, heard, severities.get(rule.code))


def _finding(rule: Rule, place: Place, heard: list[_Heard], severity: Severity | None) -> Finding:
    gravest = max(heard, key=lambda one: one.gravity)
    draft, context = gravest.draft, gravest.event.context
    notes = {
        (note.place, note.text): None for one in heard for note in one.draft.notes if note.place != place
    }  # a dict keeps the order
    return Finding(
        path=place.path,
        span=Span(*place.span),
        code=rule.code,
        name=rule.name,
        severity=gravest.severity if severity is None else severity,
        effect=draft.effect,
        message=draft.message,
        context=FindingContext(context.kind.value, context.autograph, _steps(gravest.event.trail)),
        help=draft.help or next((one.draft.help for one in heard if one.draft.help), None),
        notes=tuple(Note(where.path, Span(*where.span), text) for where, text in notes),
    )


def _steps(trail: Trail | None) -> tuple[TrailStep, ...]:
    """The frames, outermost first."""
    steps = []
    while trail is not None:
        steps.append(TrailStep(trail.place.path, trail.place.span[0], trail.name))
        trail = trail.parent
    return tuple(reversed(steps))
