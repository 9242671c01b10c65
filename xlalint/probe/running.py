"""A run of the probe: from targets to outcomes, from the store where they still hold, else from workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..config import ProbeSettings
from ..tpu import stack
from ..tpu.chips import chip_of
from .pool import Interpreter, Limits, Pool, ProbeUnavailableError
from .protocol import PACKAGES, Outcome, Plan
from .store import Store
from .target import Target
from .verdicts import Run

_INTERRUPTED: Final = Outcome(not_run="it was interrupted")
_SHARE: Final = 0.5  # of a function's time, after which nothing further is begun


def run_targets(
    targets: Sequence[Target],
    settings: ProbeSettings,
    cache_dir: Path | None,
    heard: Callable[[Run], None] = lambda run: None,
) -> tuple[list[Run], bool]:
    """What becomes of each target, in their order, and whether all were run: an interruption by the user ends it early.
    `heard` of each when it is known.

    Raises ProbeUnavailableError. However it ends, nothing that was started goes on.
    """
    interpreter = _interpreter(settings)
    limits = Limits(settings.timeout, settings.total_timeout, settings.memory)
    plan = Plan(seconds=settings.timeout * _SHARE)
    if settings.target == "tpu":
        plan = replace(plan, topology=settings.topology, batch=settings.batch or 0)
    store = Store(cache_dir / "probe", interpreter) if cache_dir else None
    found: dict[int, Outcome] = {}

    def keep(index: int, outcome: Outcome) -> None:
        found[index] = outcome
        heard(Run(targets[index], outcome))

    for index, target in enumerate(targets):
        if target.refused:
            keep(index, Outcome(not_run=target.refused))
        elif store is not None and (known := store.load(target, plan)) is not None:
            keep(index, known)
    left = [index for index in range(len(targets)) if index not in found]

    def done(place: int, outcome: Outcome) -> None:
        if store is not None:
            store.save(targets[left[place]], plan, outcome)
        keep(left[place], outcome)

    try:
        if left:
            Pool(interpreter, limits, plan, settings.processes).run([targets[index] for index in left], done)
    except KeyboardInterrupt:
        pass  # what was seen until then is told
    runs = [Run(target, found.get(index, _INTERRUPTED)) for index, target in enumerate(targets)]
    return runs, len(found) == len(targets)


def check_available(settings: ProbeSettings) -> None:
    """Whether a TPU's compiler can be asked. Raises ProbeUnavailableError, with one line that says what to do."""
    _interpreter(replace(settings, target="tpu"))


def _interpreter(settings: ProbeSettings) -> Interpreter:
    """What runs the code. For a TPU it is the environment of the TPU's compiler, with the packages of what would run it
    otherwise behind its own. Raises ProbeUnavailableError."""
    if settings.target != "tpu":
        return Interpreter(settings.python or sys.executable, settings.environment)
    try:
        chip_of(settings.topology)
        fixed = {**stack.ENVIRONMENT, PACKAGES: stack.packages_of(settings.python)}
        return Interpreter(str(stack.program()), settings.environment, fixed)
    except (stack.StackError, ValueError) as error:
        raise ProbeUnavailableError(str(error)) from error
