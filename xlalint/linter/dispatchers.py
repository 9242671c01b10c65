"""The rules as the settings of each file want them: for another TensorFlow, or with eager code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeAlias

from ..analysis.budget import Clock
from ..analysis.files.troubles import InternalTrouble
from ..analysis.interpreter.contexts import ContextKind, Run
from ..analysis.interpreter.events import Event, FeedForeign
from ..analysis.interpreter.setup_events import Program, Setup
from ..settings.config import Settings
from .dispatch import Dispatcher
from .gravest import Candidate
from .policies import Policy

_Rules: TypeAlias = tuple[str | None, int]  # what rules are told: the TensorFlow, and which loops are long


class Dispatchers:
    """A dispatcher for each way in which rules are to judge. `settings`: of the run; `near`: of the folders that go by
    others; `at`: those of a file, by its path."""

    def __init__(self, settings: Settings, near: Iterable[Settings], at: Callable[[str], Settings]) -> None:
        every = [settings, *near]
        codes = frozenset[str]().union(*(one.codes for one in every))
        self._at = at
        self._by_rules = {rules: Dispatcher.of_codes(codes, *rules) for rules in dict.fromkeys(map(_rules_of, every))}
        self.include_host = any(one.include_host for one in every)
        self._some_host = self.include_host and not all(one.include_host for one in every)

    def handle(self, event: Event, run: Run) -> None:
        """Ask the rules as the file has them in which the event is."""
        settings = self._at(event.location.path)
        if self._some_host and not settings.include_host and _is_eager(event):
            return
        self._by_rules[_rules_of(settings)].handle(event, run)

    def candidates(
        self, linted: Callable[[str], bool], clock: Clock, may_run_on_jax: Callable[[str], bool]
    ) -> Iterator[Candidate]:
        """As those of each dispatcher."""

        def policy_of(path: str) -> Policy:
            settings = self._at(path)
            return Policy(settings.codes, settings.severities, settings.target, settings.bounds)

        return chain.from_iterable(
            one.candidates(linted, policy_of, clock, may_run_on_jax) for one in self._by_rules.values()
        )

    @property
    def wanted_apis(self) -> frozenset[str]:
        """The library functions whose calls some rule handles."""
        return frozenset[str]().union(*(one.wanted_apis for one in self._by_rules.values()))

    @property
    def failures(self) -> list[InternalTrouble]:
        """What rules failed with."""
        return [failure for one in self._by_rules.values() for failure in one.failures]

    @property
    def tpu(self) -> bool:
        """Whether a strategy for TPUs is made."""
        return any(one.tpu for one in self._by_rules.values())


def _rules_of(settings: Settings) -> _Rules:
    return settings.tensorflow, settings.unrolled_rounds


def _is_eager(event: Event) -> bool:
    """Whether an event is heard of only where eager code is to be reported on."""
    return event.context.kind is ContextKind.HOST and not isinstance(event, FeedForeign | Program | Setup)
