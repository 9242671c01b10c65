"""Host code, run as the program that it is: a driven function, or a whole file."""

from __future__ import annotations

import time
from pathlib import Path

from xlalint.probe.protocol import FAILS, RUN, Call, Observation, Outcome
from xlalint.probe.target import Target

from ..backends import backend
from ..code.importing import LoadError, load
from ..code.line_tracing import TooLongError
from ..code.messages import brief
from ..driving.driven import Driven
from ..driving.state import State
from .hlo import compiled_for
from .meter import EagerError, Instruments
from .with_tensorflow.launches import Launches


def run_as_host(driven: Driven, tools: Instruments) -> Outcome:
    """Call a function as its program does, and see what it has compiled. Raises EagerError."""
    tools.progress.note("host")
    started = time.monotonic()
    State(driven.state()).restore()
    launches, notes = Launches(tools.user_lines, tools.dump), list(driven.notes)
    arguments, keywords = driven.make(0, 0)
    try:
        with tools.tracer.tracing(tools.plan.seconds), launches.watching():
            driven.call(*arguments, **keywords)
    except TooLongError:
        notes.append(f"stopped early, after {tools.plan.seconds:g} s")
    except Exception as error:  # what a compiled function in it raised is among the observations
        if not launches.failures:
            raise EagerError(f"run as a program it raises {type(error).__name__}: {brief(str(error))}") from error
    seconds = round(time.monotonic() - started, 3)
    return Outcome(
        how=f"{driven.how}, as host code",
        inputs=tuple(driven.inputs),
        calls=(Call(0, 0, launches.compilations, seconds=seconds),),
        observations=tuple(launches.observations()),
        notes=tuple(notes),
        reached=tools.user_lines.lines(tools.tracer.lines()),
        launches=launches.launches(),
    )


def run_program(target: Target, tools: Instruments) -> Outcome:
    """Run a whole file, as one call: what it compiled by itself, and the error that ended it."""
    tools.dump.taken()
    started = time.monotonic()
    error = None
    backend.hide_library_frames(True)  # an error is told as whoever runs the program sees it
    try:
        load(Path(target.file), target.search).close()
    except LoadError as raised:
        error = tools.user_lines.trouble(raised.__cause__ or raised, RUN)
    finally:
        backend.hide_library_frames(False)
    count, inside, bounded = compiled_for(tools.dump.taken())
    call = Call(0, 0, count, inside, bounded, error=error, seconds=round(time.monotonic() - started, 3))
    observations = () if error is None else (Observation(FAILS, f"{error.kind}: {error.message}", error.spots),)
    return Outcome(how="run as a program", calls=(call,), observations=observations)


def run_top(target: Target, tools: Instruments) -> Outcome:
    """Run what stands at the top of a file, and see what it has compiled."""
    started = time.monotonic()
    launches, notes, ended = Launches(tools.user_lines, tools.dump), [], None
    try:
        with tools.tracer.tracing(tools.plan.seconds), launches.watching():
            load(Path(target.file), target.search).close()
    except LoadError as raised:
        if isinstance(raised.__cause__, TooLongError):
            notes.append(f"stopped early, after {tools.plan.seconds:g} s")
        elif not launches.failures:
            ended = f"the program ends with {raised}"
            notes.append(ended)
    calls = (Call(0, 0, launches.compilations, seconds=round(time.monotonic() - started, 3)),)
    return Outcome(
        not_run=None if launches.compilations or launches.failures else ended,
        how="run as a program",
        calls=calls,
        observations=tuple(launches.observations()),
        notes=tuple(notes),
        reached=tools.user_lines.lines(tools.tracer.lines()),
        launches=launches.launches(),
    )
