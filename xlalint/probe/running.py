"""A run of the probe: from targets to outcomes, from the store where they still hold, else from workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from ..settings.config import ProbeSettings
from ..tpu import stack
from ..tpu.chips import chip_of
from .pool import Pool
from .process import START_LIMIT, Interpreter, Limits, ProbeUnavailableError
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
    limits = Limits(*settings.limits)
    plan = Plan(seconds=limits.function * _SHARE)
    if settings.target == "tpu":
        plan = replace(plan, topology=settings.topology, batch=settings.batch or 0)
    elif settings.target == "gpu":
        plan = replace(plan, gpu=True)
    store = Store(cache_dir, interpreter) if cache_dir else None
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

    def done(location: int, outcome: Outcome) -> None:
        if store is not None:
            store.save(targets[left[location]], plan, outcome)
        keep(left[location], outcome)

    try:
        if left:
            Pool(interpreter, limits, plan, settings.processes).run([targets[index] for index in left], done)
    except KeyboardInterrupt:
        pass  # what was seen until then is told
    runs = [Run(target, found.get(index, _INTERRUPTED)) for index, target in enumerate(targets)]
    return runs, all(run.outcome.not_run != _INTERRUPTED.not_run for run in runs)


def _gpu() -> dict[str, str]:
    """One GPU, of which TensorFlow takes what it needs: other processes may use it, too."""
    return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0"), "TF_FORCE_GPU_ALLOW_GROWTH": "true"}


@cache
def _has_gpu_kernels(program: str) -> bool:
    """Whether an interpreter's TensorFlow was built for GPUs: another one says of each operation that it has no kernel.
    True where it has none: what is missing is said when it is started."""
    code = "import tensorflow as tf; print(tf.test.is_built_with_gpu_support())"
    return (Interpreter(program).told(code, timeout=START_LIMIT) or "").strip() != "False"


def check_available(settings: ProbeSettings) -> None:
    """Whether the compiler of the target can be asked. Raises ProbeUnavailableError, with one line that says what to
    do."""
    _interpreter(settings)


def _interpreter(settings: ProbeSettings) -> Interpreter:
    """What runs the code. For a TPU it is the environment of the TPU's compiler, with the packages of what would run it
    otherwise behind its own; for a GPU, it sees one. Raises ProbeUnavailableError."""
    program = settings.python or sys.executable
    if settings.target == "gpu" and not _has_gpu_kernels(program):
        raise ProbeUnavailableError(
            f"TensorFlow of {program} was built without kernels for GPUs: --python names an interpreter that has the "
            "wheel `tensorflow` for Linux on x86-64"
        )
    if settings.target != "tpu":
        gpu = settings.target == "gpu"
        return Interpreter(program, settings.environment, _gpu() if gpu else {}, settings.sandbox, devices=gpu)
    try:
        chip_of(settings.topology)
        fixed = {**stack.ENVIRONMENT, PACKAGES: stack.packages_of(settings.python)}
        return Interpreter(str(stack.program()), settings.environment, fixed, settings.sandbox)
    except (stack.StackError, ValueError) as error:
        raise ProbeUnavailableError(str(error)) from error
