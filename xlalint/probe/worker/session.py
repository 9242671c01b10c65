"""One job after another: from a target to an outcome."""

from __future__ import annotations

import dataclasses
import math
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xlalint.probe.protocol import (
    COMPILE,
    DIVERGES,
    FAILS,
    GPU,
    OF_NESTED,
    OF_XLA,
    PROGRAM,
    RECOMPILES,
    TPU,
    TRAINING,
    Observation,
    Outcome,
    Plan,
)
from xlalint.probe.target import Target

from .backends import backend
from .code.line_tracing import LineTracer
from .code.user_lines import UserLines
from .compiling.chosen import compilations
from .compiling.evidence import whole_statements
from .compiling.meter import EagerError, Instruments, Meter, Progress
from .driving.driven import Driven, NotDrivenError, Partly
from .driving.driver import drive
from .driving.keras_objects import learning_of
from .inputs.numbers import VALUE_SETS
from .inputs.tensors import Arguments
from .pipe import Pipe

if TYPE_CHECKING:
    from .devices.libtpu import TpuCompiler
    from .devices.lowering import Lowerer, Stateless

# The share of a function's time after which its whole may not be compiled before the end.
_LATE: Final = 0.5


class Session:
    """What one worker keeps from job to job: the functions that ran on the way to a call, while modules were imported,
    say, which a later job finds imported.
    """

    def __init__(self, folder: Path, pipe: Pipe) -> None:
        self._dump = compilations(folder / "dump")
        self._pipe = pipe
        self._before: dict[str, set[int]] = {}
        self._tpu: TpuCompiler | None = None

    def outcome(self, job: dict[str, Any]) -> Outcome:
        """What became of one job; whatever goes wrong on our way is said, and never taken for a result."""
        started = time.monotonic()
        target = Target.of_json(job["target"])
        original = None if job["original"] is None else Target.of_json(job["original"])
        owners = (target,) if original is None else (target, original)
        user_lines = UserLines([root for one in owners for root in (one.file, *one.roots)])
        driving, calling = LineTracer(user_lines.owns), LineTracer(user_lines.owns)
        wanted = whole_statements({(target.file, line) for line in target.wanted})
        progress = Progress(self._note, self._keep)
        tools = Instruments(Plan(**job["plan"]), user_lines, self._dump, calling, progress, wanted, target.extreme)
        backend.forget_earlier()
        try:
            found = self._measured(target, original, tools, driving)
        except SystemExit:
            found = Outcome(not_run="it ends the program (SystemExit)")
        except Exception as error:
            traceback.print_exc()
            found = Outcome(not_run=f"the probe failed: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
        for path, lines in driving.functions().items():
            self._before.setdefault(path, set()).update(lines)
        files = {target.file, *driving.functions(), *calling.functions(), *_imported(user_lines)}
        ran = {path: tuple(sorted({*self._before.get(path, ()), *calling.functions().get(path, ())})) for path in files}
        return dataclasses.replace(found, ran=ran, seconds=round(time.monotonic() - started, 3))

    def _measured(self, target: Target, original: Target | None, tools: Instruments, driving: LineTracer) -> Outcome:
        plan, user_lines, started = tools.plan, tools.user_lines, time.monotonic()
        if target.host and (plan.topology or plan.gpu):
            return Outcome(not_run="it is host code")
        if backend.NAME == "jax" and (target.host or target.kind == PROGRAM):
            return Outcome(not_run="it is host code, and what that compiles is followed with TensorFlow only")
        if target.kind == PROGRAM:
            self._note("host" if target.host else COMPILE)
            from .compiling.host_run import run_program, run_top

            return run_top(target, tools) if target.host else run_program(target, tools)
        early: list[tuple[Observation, ...]] = []  # what statements show, where little time is left for the rest

        def is_late() -> bool:
            return bool(target.wanted) and not early and time.monotonic() - started > _LATE * plan.seconds

        def before_others(partly: Partly) -> None:
            if is_late():
                early.append(self._early(Outcome(not_run=""), target, partly, tools))

        with ExitStack() as stack:
            try:
                with driving.tracing(math.inf):
                    reference = None if original is None else drive(original, self._note, seconds=plan.seconds)
                    if reference is not None:
                        stack.callback(reference.close)
                    driven = drive(target, self._note, reference, plan.seconds, before_others)
                    stack.callback(driven.close)
                    user_lines.moved.update(driven.moved)
            except NotDrivenError as error:
                found = Outcome(not_run=str(error), by_keras=error.by_keras)
                if early:
                    return dataclasses.replace(found, observations=early[0])
                return found if error.partly is None else self._of_statements(found, target, error.partly, tools)
            if plan.drive_only:
                return Outcome(how=driven.how, inputs=tuple(driven.inputs))
            extremes = [partial(_called, driven, one) for one in driven.extremes]
            partly = Partly(partial(_ready, driven), extremes, driven.autograph)
            if is_late():
                begun = Outcome(how=driven.how, inputs=tuple(driven.inputs), not_run="", notes=driven.notes)
                early.append(self._early(begun, target, partly, tools, driven))
            meter = Meter(driven, reference or driven, self._keeping(early[0], tools) if early else tools)
            try:
                if target.host:
                    from .compiling.host_run import run_as_host

                    return run_as_host(driven, tools)
                if plan.topology or plan.gpu:
                    return self._elsewhere(driven, meter, tools)
                found = self._trained(meter.measure(), driven, tools)
            except EagerError as error:
                found = dataclasses.replace(meter.outcome(), not_run=str(error))
                if target.host or plan.topology or plan.gpu:
                    return found
            found = self._of_statements(found, target, partly, tools, driven)
            return self._of_rules(found, target, driven, tools)

    def _of_rules(self, found: Outcome, target: Target, driven: Driven, tools: Instruments) -> Outcome:
        """What was seen of a function, with what is measured for findings of some rules: what the object of a method
        keeps of a trace, and whether a gradient is compiled again."""
        if not target.rules or backend.NAME == "jax" or tools.plan.by_lines:
            return found
        from .compiling.with_tensorflow.kept_state import kept
        from .compiling.with_tensorflow.nested_gradients import compiled_again

        self._keep(found)
        self._note("state")
        wanted = [(target.file, line) for line in target.wanted]
        decorators = [(path, line) for path, line in wanted if line not in found.reached.get(path, ())]
        seen = [*kept(driven, target.rules, wanted, decorators)]
        if OF_NESTED in target.rules and all(one.per != "value" for one in found.observations):
            seen += compiled_again(driven, self._dump, decorators)
        return dataclasses.replace(found, observations=(*found.observations, *seen))

    def _of_statements(
        self, found: Outcome, target: Target, partly: Partly, tools: Instruments, driven: Driven | None = None
    ) -> Outcome:
        """What was seen of a function, with what the statements in question show by themselves: where it was not run as
        a whole, or where something else fails, differs or is compiled again before them."""
        plan, seen = tools.plan, found.observations
        hidden = any(
            one.kind in (FAILS, DIVERGES, RECOMPILES) and not (one.gradient or one.extreme or one.per == "shape")
            for one in seen
        )
        if backend.NAME == "jax" or plan.drive_only or plan.by_lines or plan.topology or plan.gpu:
            return found
        if not hidden and driven is not None and found.not_run is None:
            return found
        from .compiling.alone import Alone

        self._keep(found)
        self._note("statements")
        sets = range(min(driven.value_sets if driven is not None else VALUE_SETS, plan.value_sets))
        state = driven.state if driven is not None else list
        alone = Alone(partly, sets, state, tools)
        return dataclasses.replace(found, observations=(*seen, *alone.seen(target.file, tools.wanted, seen)))

    def _early(
        self, begun: Outcome, target: Target, partly: Partly, tools: Instruments, driven: Driven | None = None
    ) -> tuple[Observation, ...]:
        """What the statements in question show by themselves: known, too, if the function does not get as far as to be
        compiled."""
        seen = self._of_statements(begun, target, partly, tools, driven).observations
        self._keep(dataclasses.replace(begun, not_run=None, observations=seen))
        return seen

    def _keeping(self, early: Sequence[Observation], tools: Instruments) -> Instruments:
        """What is measured with, so that this is known as long as nothing is compiled."""

        def keep(seen: Outcome) -> None:
            self._keep(seen if seen.calls else dataclasses.replace(seen, observations=(*early, *seen.observations)))

        return dataclasses.replace(tools, progress=Progress(self._note, keep))

    def _trained(self, found: Outcome, driven: Driven, tools: Instruments) -> Outcome:
        """What was seen of a function, with what is seen of the step that the model which it gives trains with."""
        plan = tools.plan
        if driven.training is None or plan.by_lines or any(one.kind == FAILS for one in found.observations):
            return found
        if found.seconds > plan.seconds:
            note = f"its train step did not start within {plan.seconds:g} s: --timeout allows more"
            return dataclasses.replace(found, notes=(*found.notes, note))
        self._keep(found)
        with tools.tracer.tracing(math.inf):
            step = driven.training()
        if isinstance(step, str):
            return dataclasses.replace(found, notes=(*found.notes, step))

        def both(seen: Outcome) -> Outcome:
            return dataclasses.replace(
                found,
                how=", trained with ".join((found.how, *seen.inputs)),
                observations=(*found.observations, *seen.observations),
                inputs=(*found.inputs, *seen.inputs),
                notes=tuple(dict.fromkeys((*found.notes, *seen.notes))),
                reached=_joined(found.reached, seen.reached),
                training=_told(step, seen),
            )

        def at(stage: str) -> None:
            self._note(TRAINING if stage in OF_XLA else stage)

        progress = Progress(at, lambda seen: self._keep(both(seen)))
        meter = Meter(
            step,
            step,
            dataclasses.replace(tools, plan=dataclasses.replace(plan, gradients=False), progress=progress),
        )
        try:
            return both(meter.measure())
        except EagerError as error:
            return dataclasses.replace(found, notes=(*found.notes, f"its train step is not run: {error}"))

    def _elsewhere(self, driven: Driven, meter: Meter, tools: Instruments) -> Outcome:
        """What the compiler of another device says. The CPU's is not asked: beside a TPU's it does not work."""
        from .devices import gpu

        plan, user_lines = tools.plan, tools.user_lines
        traced = meter.traced(**learning_of(driven.call))
        if traced is None:
            [error] = (call.error for call in meter.outcome().calls if call.error is not None)
            return dataclasses.replace(meter.outcome(), not_run=f"tracing it raises {error.kind}")
        if backend.NAME == "jax":
            return self._elsewhere_by_jax(driven, meter, tools)
        step, behind, notes = self._step(driven, meter, tools)

        def seen() -> Outcome:
            found, further = meter.outcome(), behind.outcome()
            return dataclasses.replace(
                found,
                inputs=tuple(dict.fromkeys((*found.inputs, *further.inputs))),
                observations=(*further.observations, *lowerer.observations),
                programs=tuple(lowerer.programs),
                notes=tuple(dict.fromkeys((*found.notes, *further.notes, *notes))),
            )

        def next_up() -> None:
            self._keep(seen())
            self._note(lowerer.stage)

        self._note(GPU if plan.gpu else TPU)
        lowerer = gpu.GpuLowerer(user_lines, next_up, plan) if plan.gpu else self._for_tpu(user_lines, next_up, plan)
        lowerer.all_of(driven, *traced, step=step, adam=behind is meter)
        if not plan.gpu or lowerer.observations:
            return seen()
        for one in (meter, behind)[: 1 if step is None else 2]:
            next_up()
            differing, note = gpu.run_where_there_is_one(one.driven, user_lines, random=one.outcome().random)
            lowerer.observations += differing
            notes.append(note)
        return seen()

    def _elsewhere_by_jax(self, driven: Driven, meter: Meter, tools: Instruments) -> Outcome:
        """What the compiler of a TPU says of what JAX lowers."""
        from .devices.jax_tpu import JaxLowerer

        notes: list[str] = []
        training = driven.training() if driven.training is not None else None
        if isinstance(training, str):
            notes.append(training)

        def seen() -> Outcome:
            found = meter.outcome()
            return dataclasses.replace(
                found,
                observations=tuple(lowerer.observations),
                programs=tuple(lowerer.programs),
                notes=tuple(dict.fromkeys((*found.notes, *notes))),
            )

        def next_up() -> None:
            self._keep(seen())
            self._note(TPU)

        self._note(TPU)
        lowerer = JaxLowerer(self._compiler(tools.plan), tools.user_lines, next_up, tools.plan)
        lowerer.all_of(driven, training if isinstance(training, Driven) else None)
        return seen()

    def _step(self, driven: Driven, meter: Meter, tools: Instruments) -> tuple[Stateless | None, Meter, list[str]]:
        """How a compiled model is trained, where it is and can be traced; what measures that, else the function; and
        what is to be said."""
        from .devices.lowering import Stateless

        if driven.training is None:
            return None, meter, []
        with tools.tracer.tracing(math.inf):
            training = driven.training()
        if isinstance(training, str):
            return None, meter, [training]
        quiet = dataclasses.replace(tools, progress=Progress(self._note, lambda seen: None))
        behind = Meter(training, training, quiet)
        traced = behind.traced()
        return None if traced is None else Stateless(training, traced[0]), behind, []

    def _for_tpu(self, user_lines: UserLines, next_up: Callable[[], None], plan: Plan) -> Lowerer:
        from .devices.tpu import TpuLowerer

        return TpuLowerer(self._compiler(plan), user_lines, next_up, plan)

    def _compiler(self, plan: Plan) -> TpuCompiler:
        from .devices.libtpu import TpuCompiler

        if self._tpu is None or self._tpu.topology != plan.topology:
            self._tpu = TpuCompiler(plan.topology)
        return self._tpu

    def _note(self, stage: str) -> None:
        self._pipe.send({"at": stage})

    def _keep(self, outcome: Outcome) -> None:
        self._pipe.send({"so far": dataclasses.asdict(outcome)})


def _ready(driven: Driven, number: int) -> tuple[Any, Callable[[], Any]]:
    """A call with one set of values."""
    return _called(driven, partial(driven.make, number))


def _called(driven: Driven, make: Callable[[int], Arguments]) -> tuple[Any, Callable[[], Any]]:
    """A call of the largest shapes: more of them tell values apart."""
    positional, keywords = given = make(driven.variants - 1)
    return given, partial(driven.call, *positional, **keywords)


def _joined(one: dict[str, tuple[int, ...]], other: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Lines by file, those of both."""
    paths = dict.fromkeys((*one, *other))
    return {path: tuple(sorted({*one.get(path, ()), *other.get(path, ())})) for path in paths}


def _told(step: Driven, seen: Outcome) -> str:
    """What a step of training did where nothing is wrong with it; nothing before it was called."""
    if not seen.calls or any(call.error or call.difference for call in seen.calls):
        return ""
    count = sum(call.compilations for call in seen.calls)
    equal = "it draws random numbers, and was not compared" if seen.random else "each equals eager"
    return f"{step.of}: {count} of {len(seen.calls)} calls compiled, {equal}"


def _imported(user_lines: UserLines) -> set[str]:
    """The user's files that are imported, and stay so."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {file for file in files if isinstance(file, str) and user_lines.owns(file)}
