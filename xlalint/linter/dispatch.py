"""From events to candidates: the rules that listen are asked, and what one says of one place becomes one candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ..analysis.budget import Clock, Work
from ..analysis.files.troubles import InternalTrouble
from ..analysis.files.unit import Location, QuotedUnit
from ..analysis.interpreter.contexts import Context, ContextKind, Run, Tracing
from ..analysis.interpreter.events import ApiCall, Event, FeedForeign
from ..analysis.interpreter.setup_events import Program, Setup, SetupCall
from ..analysis.library import raw_ops
from ..analysis.library.strategies import is_tpu
from ..findings.codes import UNROLLED_ROUNDS, is_own
from ..findings.findings import (
    Backend,
    Effect,
    Finding,
    FindingContext,
    Fix,
    Note,
    Safety,
    Severity,
    Span,
)
from ..fixes.edits import fix_of
from ..fixes.keras_ops import help_without_tensorflow, without_tensorflow
from ..fixes.names import Names, NoNameError
from .drafts_on_jax import said_on_jax
from .gravest import Candidate, agreed_fix
from .lowering import (
    CONVERTED,
    DIRECT,
    INFERRED,
    OFF,
    ON_HOST,
    PERHAPS_COMPILED,
    PLAIN,
    TAKEN,
    UNASKED,
    UNCOMPILED,
    UNSEEN,
    UNTRACED,
    UNTRAINED,
    UNUSED,
)
from .on_backends import OnJax
from .policies import NOTHING_SET, Policy
from .rule import RAW_OPS, Draft, Rule, Told, TpuOutcome, all_rules
from .severities import GRAVITY, severity_of, unexposed_severity
from .ways import starts_of, steps

# Where a rewrite differs that is not asked for in every analysis of its function.
_SOMETIMES: Final = "where a caller passes something other than a tensor"
TPU: Final = frozenset(("tpu",))
ELSEWHERE: Final = frozenset(("cpu", "gpu"))  # what code is for of which nothing else is known
_BY_TPU: Final = (Told.FOR_TPU, Told.FOR_GPU, Told.NOT_FOR_TPU_ALONE)
# What becomes under a TPU's strategy of that for which XLA compiles again, by value: its effect, and what is said.
_BY_SHAPES: Final = {
    TpuOutcome.OK: (Effect.RECOMPILES, "; under a TPU strategy it compiles once"),
    TpuOutcome.BOUNDED: (Effect.NAMED, "; under a TPU strategy it compiles once, with a bounded dynamic shape"),
    TpuOutcome.FAILS: (Effect.FAILS, "; under a TPU strategy it does not compile"),
}


@dataclass(frozen=True, slots=True)
class _Handled:
    """A draft and the event that it answers."""

    draft: Draft
    event: Event
    run: Run
    traced: bool  # what the rule flags fails while it is traced, whoever compiles it
    lacks_kernel: bool  # the rule flags what has no kernel, on whatever compiles it
    is_own: bool  # the rule does not come with xlalint

    def judged(self, targets: frozenset[str]) -> _Judged:
        """How grave it is where the code is for these: "cpu", "gpu", "tpu"."""
        draft, effect, message, least = self.draft, self.draft.effect, self.draft.message, self.draft.at_most
        severe, on_tpu, nowhere_else = effect, "tpu" in targets, targets == TPU
        if effect is Effect.RECOMPILES and draft.on_tpu in _BY_SHAPES:
            there, said = _BY_SHAPES[draft.on_tpu]
            fails = there is Effect.FAILS
            message += said if on_tpu or (fails and targets == ELSEWHERE) else ""
            if nowhere_else or (fails and on_tpu):
                severe = effect = there
            if nowhere_else and there is Effect.RECOMPILES:
                least = min(least, Severity.INFO)
        elif draft.on_tpu is TpuOutcome.FAILS and on_tpu:
            severe = Effect.FAILS
        elif effect is Effect.FAILS and draft.on_tpu is TpuOutcome.OK and nowhere_else:
            least = min(least, Severity.INFO)  # elsewhere alone
        elif effect is Effect.TPU and targets < ELSEWHERE:
            least = min(least, Severity.INFO)
        if draft.told is Told.FOR_GPU and "cpu" in targets:
            least = min(least, Severity.WARNING)  # where it is not said that a GPU runs it
        about_setup = isinstance(self.event, FeedForeign | Program | Setup)
        context = self.event.context
        alone = _is_of_a_step(context) or context.keras is Tracing.KERAS_2
        of_program = context.kind is ContextKind.GRAPH or (nowhere_else and alone)
        if self.traced and severe is Effect.NAMED and context.converted and of_program:
            least = min(least, Severity.INFO)  # its own `tf.function`, or its Keras, converts it, whoever compiles it
        if context.aside or context.eager:
            least = min(least, Severity.WARNING)  # it may be compiled, and mostly is not
        severity = min(severity_of(severe, context.kind, about_setup), least)
        unexposed = severity if about_setup else min(severity, unexposed_severity(severe, context, self.traced))
        return _Judged((severity, GRAVITY[effect]), unexposed, effect, message, self)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was handled, as it is told of some targets."""

    gravity: tuple[Severity, int]
    unexposed: Severity  # where nothing shows that XLA compiles the program
    effect: Effect
    message: str
    handled: _Handled


_REASONS: Final[dict[str, Callable[[_Handled], bool]]] = {
    UNUSED: lambda handled: handled.event.context.unused and not handled.event.context.by_keras,
    UNSEEN: lambda handled: handled.event.context.unused and handled.event.context.by_keras,
    INFERRED: lambda handled: handled.event.context.inferred,
    DIRECT: lambda handled: handled.event.context.direct,
    OFF: lambda handled: handled.event.context.off,
    UNTRACED: lambda handled: handled.event.context.by_keras,
    ON_HOST: lambda handled: handled.lacks_kernel,
    CONVERTED: lambda handled: handled.draft.unconverted and handled.event.context.keras is Tracing.EITHER,
    PLAIN: lambda handled: handled.event.context.kind is ContextKind.GRAPH,
    UNASKED: lambda handled: handled.draft.loses_xla,
    TAKEN: lambda handled: handled.draft.keras_3,
    PERHAPS_COMPILED: lambda handled: handled.draft.uncompiled,
    UNCOMPILED: lambda handled: handled.draft.loses_all,
    UNTRAINED: lambda handled: handled.draft.of_keras_step,
}


class Dispatcher:
    """Takes events as the analyser emits them; keeps drafts, and turns them into findings at the end."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._listeners: dict[type[Event], list[Rule]] = {}
        self._callers: dict[str, list[Rule]] = {}
        self._handled: dict[tuple[Rule, Location], list[_Handled]] = {}
        self.failures: list[InternalTrouble] = []
        self.tpu = False  # whether a strategy for TPUs is made
        for rule in rules:
            for kind in rule.handles:
                if kind is not ApiCall:
                    self._listeners.setdefault(kind, []).append(rule)
            if ApiCall in rule.handles:
                for api in rule.apis:
                    self._callers.setdefault(api, []).append(rule)

    @classmethod
    def of_codes(
        cls, codes: frozenset[str], tensorflow: str | None = None, unrolled_rounds: int = UNROLLED_ROUNDS
    ) -> Dispatcher:
        """With the rules of these codes, for code that this TensorFlow runs."""
        rules = [rule() for rule in all_rules() if rule.code in codes]
        for rule in rules:
            rule.tensorflow = tensorflow
            rule.unrolled_rounds = unrolled_rounds
        return cls(rules)

    @property
    def wanted_apis(self) -> frozenset[str]:
        """The library functions whose calls some rule handles."""
        return frozenset(self._callers)

    def handle(self, event: Event, run: Run) -> None:
        """Ask the rules that listen to this kind of event."""
        if isinstance(event, ApiCall):
            name = RAW_OPS if event.api.startswith(raw_ops.PREFIX) else event.api
            rules = self._callers.get(name, ())
        else:
            rules = self._listeners.get(type(event), ())
            self.tpu = self.tpu or (isinstance(event, SetupCall) and is_tpu(event.result))
        for rule in rules:
            try:
                for draft in rule.check(event):
                    self._handled.setdefault((rule, draft.location or event.location), []).append(
                        _Handled(draft, event, run, rule.traced, rule.lacks_kernel, is_own(rule.code))
                    )
            except Exception as error:
                self._note(error, rule, event.location, f"applying {rule.code}")

    def candidates(
        self,
        linted: Callable[[str], bool],
        policy_of: Callable[[str], Policy] = lambda path: NOTHING_SET,
        clock: Clock | None = None,
        may_run_on_jax: Callable[[str], bool] = lambda path: True,
    ) -> Iterator[Candidate]:
        """What each rule says of each place in the files that are `linted`; `policy_of`: what is set for a file, by
        its path; `may_run_on_jax`: whether JAX does. Without a fix where the file has had its time."""
        clock = clock or Clock()
        for (rule, location), handled in self._handled.items():
            policy = policy_of(location.path)
            matters = any(map(_is_on_tensorflow, handled)) or may_run_on_jax(location.path)
            if linted(location.path) and policy.runs(rule.code) and matters:
                target, severities = policy.target, policy.severities
                targets = ELSEWHERE if target is None else frozenset((target,))
                answers: dict[Fix | None, str] = {None: ""}
                with clock.spent_on(location.path, Work.FIXES):
                    clock.check()
                    answers = self._answers(rule, location, handled, policy.bounds)
                refused = None in answers
                fix = None if refused else agreed_fix(answers)
                help = answers.get(fix) or None
                if fix is not None and fix.safety is Safety.SAFE and not _handled_always(location, handled):
                    fix = replace(fix, safety=Safety.UNSAFE, differs=_SOMETIMES)
                told: dict[frozenset[str], Candidate] = {}
                differs = target is None and any(map(_depends_on_tpu, handled))
                for known in (targets, targets | TPU, TPU) if differs else (targets,):
                    said = [one for one in handled if one.draft.told.of(known) and not _is_set_alone(one, target)]
                    if said:
                        judged = [one.judged(known) for one in said if _is_on_tensorflow(one)] or [
                            one.judged(known) for one in said
                        ]
                        gravest = max(judged, key=lambda one: one.gravity)
                        finding = _finding(rule, location, said, gravest, severities.get(rule.code))
                        if finding.help and not _is_of_keras_2(handled):
                            said_so = help_without_tensorflow(finding.help, Names(location), _is_run_by_keras(handled))
                            finding = replace(finding, help=said_so)
                        finding = replace(finding, fix=fix, help=finding.help or help)
                        unexposed = severities.get(rule.code, max(one.unexposed for one in judged))
                        told[known] = Candidate(gravest.gravity, finding, refused, unexposed)
                if told:
                    lowered_by = tuple(reason for reason, holds in _REASONS.items() if all(map(holds, handled)))
                    on_jax = said_on_jax(map(_about_jax, handled), severities.get(rule.code))
                    by_target = {
                        known: replace(
                            one,
                            lowered_by=lowered_by,
                            on_tensorflow=any(map(_is_on_tensorflow, handled)),
                            on_jax=on_jax,
                            starts=starts_of(one.event for one in handled),
                        )
                        for known, one in told.items()
                    }
                    silent = replace(next(iter(by_target.values())), withheld=True)
                    yield replace(
                        by_target.get(targets, silent),
                        on_tpu=by_target.get(targets | TPU, silent) if differs else None,
                        on_tpu_alone=by_target.get(TPU, silent) if differs else None,
                    )

    def _answers(
        self, rule: Rule, location: Location, handled: Iterable[_Handled], bounds: Mapping[str, int]
    ) -> dict[Fix | None, str]:
        """What those who have a rewrite of a place make of it, each with its text; None where one of them has none
        for what it handled."""
        answers: dict[Fix | None, str] = {}
        names = Names(location, bounds)
        for one in handled:
            if one.draft.rewrite is None or isinstance(location.unit, QuotedUnit):
                continue
            try:
                names.renew()
                rewrite = one.draft.rewrite(names)
                if rewrite is not None and not _is_of_keras_2((one,)):
                    rewrite = without_tensorflow(rewrite, names, _is_run_by_keras((one,)))
                fix = None if rewrite is None else fix_of(rewrite, names, location)
                answers[fix] = "" if rewrite is None else rewrite.text
                if fix is None:  # no other one would be applied
                    break
            except NoNameError:
                answers[None] = ""
            except Exception as error:
                self._note(error, rule, location, f"building a fix of {rule.code}")
        return answers

    def _note(self, error: Exception, rule: Rule, location: Location, doing: str) -> None:
        """A rule failed: it costs what that rule would have said here."""
        self.failures.append(InternalTrouble.of(error, location.path, location.line, doing, rule.code))


def _is_of_keras_2(handled: Iterable[_Handled]) -> bool:
    """Whether Keras 2 runs the code, which has no `keras.ops`."""
    return any(one.event.context.keras is Tracing.KERAS_2 for one in handled)


def _is_run_by_keras(handled: Iterable[_Handled]) -> bool:
    return all(one.event.context.keras is not None for one in handled)


def _depends_on_tpu(handled: _Handled) -> bool:
    """Whether another thing is said of it where a strategy for TPUs is made."""
    draft, context = handled.draft, handled.event.context
    is_named = handled.traced and draft.effect is Effect.NAMED and context.converted and _is_of_a_step(context)
    return is_named or draft.on_tpu is not None or draft.told in _BY_TPU


def _is_of_a_step(context: Context) -> bool:
    """Whether XLA compiles it as a part of what a program has compiled itself, not of what Keras calls."""
    return context.kind is ContextKind.XLA and context.keras is None


def _is_set_alone(handled: _Handled, target: str | None) -> bool:
    """Whether it is told only where a setting says that the code is for TPUs alone, and none does."""
    return handled.draft.told is Told.FOR_TPU_ALONE and target is None


def _is_on_tensorflow(handled: _Handled) -> bool:
    return not handled.draft.on_jax_alone and handled.event.context.runs_on(Backend.TENSORFLOW)


def _about_jax(handled: _Handled) -> tuple[Draft, Event]:
    """A draft and its event; a rule of one's own that says nothing of JAX means it, too."""
    draft = handled.draft
    if handled.is_own and draft.jax is None:
        draft = replace(draft, jax=OnJax(draft.effect, draft.message, "too"))
    return draft, handled.event


def _handled_always(location: Location, handled: Iterable[_Handled]) -> bool:
    """Whether every analysis that gets to a place had a rewrite for it: what is right for tensors may be wrong for
    what another caller passes."""
    runs = {one.run for one in handled if one.draft.rewrite is not None}
    return all(run.reaching(location) <= runs for run in runs)


def _finding(
    rule: Rule, location: Location, handled: list[_Handled], gravest: _Judged, severity: Severity | None
) -> Finding:
    draft, event = gravest.handled.draft, gravest.handled.event
    notes = {
        (note.location, note.text, note.consumer): None
        for one in handled
        for note in one.draft.notes
        if (note.location.path, note.location.span) != (location.path, location.span)
    }  # a dict keeps the order
    return Finding(
        path=location.path,
        span=Span(*location.span),
        code=rule.code,
        name=rule.name,
        severity=gravest.gravity[0] if severity is None else severity,
        effect=gravest.effect,
        message=gravest.message,
        context=FindingContext(
            event.context.kind.value,
            event.context.autograph,
            steps(event.trail),
            shown=f"so far it is {event.context.entry}" if event.context.eager else "",
        ),
        help=draft.help or next((one.draft.help for one in handled if one.draft.help), None),
        notes=tuple(Note(where.path, Span(*where.span), text, consumer=consumer) for where, text, consumer in notes),
        api=next(
            (one.event.api for one in handled if isinstance(one.event, ApiCall) and one.event.location == location), ""
        ),
    )
