"""A run of the probe: from targets to outcomes, from the store where they still hold, else from workers here or on the
machines of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ..settings.config import ProbeSettings
from .cluster.gone import ClusterGoneError
from .interpreters import interpreter_of
from .pool import Pool, Runner
from .process import Limits, ProbeUnavailableError
from .protocol import Outcome, Plan
from .store import Store
from .target import Target
from .verdicts import Run

_INTERRUPTED: Final = Outcome(not_run="the probe was interrupted")
_SHARE: Final = 0.5  # of a function's time, after which nothing further is begun


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of each target, in their order. `complete`: no interruption by the user ended the run early;
    `trouble`: what else did, in one line."""

    runs: list[Run]
    complete: bool
    trouble: str = ""


def run_targets(
    targets: Sequence[Target],
    settings: ProbeSettings,
    cache_dir: Path | None,
    heard: Callable[[Run], None] = lambda run: None,
    told: Callable[[str], None] = lambda line: None,
) -> Ran:
    """What becomes of each target. `heard` of each when it is known; `told` what is worth a line before.

    Raises ProbeUnavailableError. However it ends, nothing that was started goes on.
    """
    found: dict[int, Outcome] = {}

    def keep(index: int, outcome: Outcome) -> None:
        found[index] = outcome
        heard(Run(targets[index], outcome))

    lost, trouble = _INTERRUPTED, ""
    limits = Limits(*settings.limits)
    plan = plan_of(settings, limits)
    try:
        with runner_of(settings, limits, plan, told) as runner:
            store = Store(cache_dir, runner.identity) if cache_dir else None
            for index, target in enumerate(targets):
                if target.refused:
                    keep(index, Outcome(not_run=target.refused))
                elif store is not None and (known := store.load(target, plan)) is not None:
                    keep(index, known)
            left = [index for index in range(len(targets)) if index not in found]

            def done(location: int, outcome: Outcome) -> None:
                if store is not None:
                    store.save(targets[left[location]], plan, outcome)
                keep(left[location], outcome)

            if left:
                runner.run([targets[index] for index in left], done)
    except KeyboardInterrupt:
        pass  # what was seen until then is told
    except ClusterGoneError as error:
        trouble = str(error)
        lost = Outcome(not_run=trouble)
    runs = [Run(target, found.get(index, lost)) for index, target in enumerate(targets)]
    return Ran(runs, all(run.outcome.not_run != _INTERRUPTED.not_run for run in runs), trouble)


def plan_of(settings: ProbeSettings, limits: Limits) -> Plan:
    """How a function is measured for a target."""
    plan = Plan(seconds=limits.function * _SHARE)
    match settings.target:
        case "tpu":
            return replace(plan, topology=settings.topology, batch=settings.batch or 0)
        case "gpu":
            return replace(plan, gpu=True)
        case _:
            return plan


@contextmanager
def runner_of(
    settings: ProbeSettings, limits: Limits, plan: Plan, told: Callable[[str], None] = lambda line: None
) -> Iterator[Runner]:
    """What runs targets as the settings say. Raises ProbeUnavailableError."""
    if settings.cluster is None:
        yield Pool(interpreter_of(settings), limits, plan, settings.processes)
        return
    try:
        from .cluster.client import connected
    except ModuleNotFoundError as error:
        raise ProbeUnavailableError(f"--cluster needs Dask ({error}): pip install 'xlalint[cluster]'") from error
    with connected(settings.cluster, settings, limits, plan, told) as cluster:
        yield cluster


def check_available(settings: ProbeSettings) -> None:
    """Whether the compiler of the target can be asked. Raises ProbeUnavailableError, with one line that says what to
    do. A cluster is asked when it is needed."""
    if settings.cluster is None:
        interpreter_of(settings)
