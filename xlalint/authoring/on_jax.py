"""Runs examples in `jax.jit` under Keras's JAX backend, in a process of its own, and says what became of them."""

from __future__ import annotations

import atexit
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ..facts.tables import Outcome
from ..probe.interpreters import on_gpu
from .jax.client import LostError, Process
from .jax.client import program as as_job
from .measured import CALL_LIMIT, Call, Measured, entry_of

_VALUE_SETS: Final = 4
_PER_PROCESS: Final = 80  # programs; compiled code is never freed
_running: dict[tuple[str, bool], Process] = {}  # by the interpreter's program, and whether on its GPU


def _stop() -> None:
    while _running:
        _running.popitem()[1].close()


atexit.register(_stop)


def measure(
    code: str,
    inputs: Sequence[str] = ("f32[4]",),
    *,
    entry: str | None = None,
    limit: float = CALL_LIMIT,
    program: str = sys.executable,
    gpu: bool = False,
) -> Measured:
    """Compile and run `code` on several value sets of the inputs, and compare each call with eager execution.

    As `measured.measure` does with TensorFlow: the function `f` or an object of the class `L` (a Keras layer, model,
    loss or metric), or `entry`. It runs in `jax.jit` with the variables of Keras's objects as inputs and outputs; a
    function that is a `jax.jit` itself as it is. Python values among the inputs are static. On this
    machine's GPU, if `gpu`. Raises `client.LostError` where JAX is not installed.
    """
    process = _process(program, gpu)
    with tempfile.TemporaryDirectory(prefix="xlalint-jax-") as folder:
        file = Path(folder, "example.py")
        file.write_text(code, encoding="utf-8")
        try:
            answer = process.ask(as_job(file, entry or entry_of(code), inputs, _VALUE_SETS), limit)
        except LostError as error:
            return Measured(death=str(error))
    calls = tuple(
        Call(one["variant"], one["compilations"], False, not one.get("difference"), one.get("error"), one.get("trace"))
        for one in answer.get("calls", ())
    )
    return Measured(calls, answer.get("failure"))


def versions(program: str = sys.executable) -> Mapping[str, str]:
    """What an interpreter runs with: the versions of "jax" and "keras". Raises `client.LostError`."""
    return _process(program).versions


def _process(program: str, gpu: bool = False) -> Process:
    process = _running.get((program, gpu))
    if process is None or process.dead or process.served >= _PER_PROCESS:
        _stop()
        process = _running[program, gpu] = Process(program=program, environment=on_gpu() if gpu else {})
    return process


def outcome(found: Measured) -> Outcome:
    """What became of a program, in a word. JAX has no bounded dynamic shapes."""
    if found.failure is not None:
        return Outcome.UNTESTED
    if found.error is not None:
        return Outcome.FAILS
    if not found.equal:
        return Outcome.DIVERGES
    return Outcome.RECOMPILES if found.recompiles_per_value else Outcome.OK
