"""Runs examples on the real compiler, in one child process that imports TensorFlow once.

`measure` hands an example to the worker and reads back one record per call. An example that kills the worker or does
not end in time is an outcome as well; the next example gets a new worker.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from xlalint.rule import Behaviour, Breaks, Compiles, Diverges, Fails, Recompiles, Runs

WORKER = Path(__file__).with_name("worker.py")
START_LIMIT = 180.0  # seconds for TensorFlow's import
CALL_LIMIT = 120.0  # seconds for one example, all its calls


@dataclass(frozen=True, slots=True)
class Call:
    """One compiled call: which shape variant of the inputs, what was compiled for it, and how it compares to eager."""

    variant: int
    compilations: int
    bounded: bool  # a bounded dynamic shape (`f32[<=4]`) in what was compiled
    equal: bool
    error: str | None = None
    trace: str | None = None  # what Python prints of that error


@dataclass(frozen=True, slots=True)
class Measured:
    """What was seen. `failure` is an error before any compiled call: the example itself, or eager execution, broke."""

    calls: tuple[Call, ...] = ()
    failure: str | None = None
    death: str | None = None  # how the process died or that it did not end

    @property
    def error(self) -> str | None:
        """The first error of a compiled call, or how the process died."""
        return self.death or next((call.error for call in self.calls if call.error is not None), None)

    @property
    def trace(self) -> str | None:
        """What Python printed of the first error of a compiled call."""
        return next((call.trace for call in self.calls if call.trace is not None), None)

    @property
    def compilations(self) -> int:
        return sum(call.compilations for call in self.calls)

    @property
    def bounded(self) -> bool:
        return any(call.bounded for call in self.calls)

    @property
    def equal(self) -> bool:
        """Every call ended and returned what eager execution returns."""
        return self.error is None and self.failure is None and all(call.equal for call in self.calls)

    def _repeats(self) -> tuple[list[Call], list[Call]]:
        """The first call of every shape variant, and the calls that repeat a variant with other values."""
        first: dict[int, Call] = {}
        again = [call for call in self.calls if first.setdefault(call.variant, call) is not call]
        return list(first.values()), again

    @property
    def recompiles_per_value(self) -> bool:
        return any(call.compilations for call in self._repeats()[1])

    @property
    def recompiles_per_shape(self) -> bool:
        first, _ = self._repeats()
        return len(first) > 1 and all(call.compilations for call in first)

    def matches(self, behaviour: Behaviour) -> bool:
        """Whether what was seen is what `behaviour` claims."""
        if self.failure is not None:
            return False
        match behaviour:
            case Fails(text) | Breaks(text):
                return self.error is not None and text in self.error
            case Runs():
                return self.equal
            case Recompiles("value"):
                return self.equal and self.recompiles_per_value
            case Recompiles(_):
                return self.equal and self.recompiles_per_shape and not self.recompiles_per_value
            case Diverges():
                return self.error is None and not self.equal
            case Compiles(bounded):
                compiled = self.compilations > 0 and not self.recompiles_per_value
                return self.equal and compiled and self.bounded == bounded

    def __str__(self) -> str:
        if self.failure is not None:
            return f"not measured: {self.failure}"
        if self.error is not None:
            return f"fails: {self.error}"
        calls = ", ".join(
            f"variant {call.variant}: {call.compilations} compiled"
            + (", bounded" if call.bounded else "")
            + ("" if call.equal else ", differs from eager")
            for call in self.calls
        )
        return f"compiles ({calls})"


class _Worker:
    """The child process and the pipe of JSON lines to and from it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="xlalint-compiler-")
        dump = Path(self._folder.name, "dump")
        environment = os.environ | {
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "KERAS_BACKEND": "tensorflow",
            "XLA_FLAGS": f"--xla_dump_to={dump} --xla_dump_hlo_as_text",
        }
        self._log = Path(self._folder.name, "log")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-u", str(WORKER), self._folder.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
            )
        if self._answer(START_LIMIT) != {"ready": True}:
            raise RuntimeError(f"the compiler worker did not start:\n{self._tail()}")

    def ask(self, job: Mapping[str, object], limit: float) -> Measured:
        _pipe(self._process.stdin).write(json.dumps(job) + "\n")
        _pipe(self._process.stdin).flush()
        answer = self._answer(limit)
        if answer is None:
            return Measured(death=self._death(limit))
        return Measured(tuple(Call(**call) for call in answer["calls"]), answer["failure"])

    def _answer(self, limit: float) -> Any:
        """The next line of the worker as JSON; None when it died or was too slow."""
        with selectors.DefaultSelector() as selector:
            selector.register(_pipe(self._process.stdout), selectors.EVENT_READ)
            line = _pipe(self._process.stdout).readline() if selector.select(limit) else ""
        return json.loads(line) if line else None

    def _death(self, limit: float) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return f"not finished after {limit:g} s"
        return f"process died with code {code}: {self._tail()}"

    def _tail(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            _pipe(pipe).close()
        self._folder.cleanup()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


_running: list[_Worker] = []


def _stop() -> None:
    while _running:
        _running.pop().close()


atexit.register(_stop)


def measure(
    code: str,
    inputs: Sequence[str] = ("f32[4]",),
    *,
    original: str | None = None,
    entry: str | None = None,
    search: Sequence[Path] = (),
    limit: float = CALL_LIMIT,
) -> Measured:
    """Compile and run `code` on several value sets of the inputs, and compare each call with eager execution.

    `inputs` are specs such as "f32[4, 3]", "i32[]", "bool[4]", "str[2]" or "f32[2..5, 3]" (shapes with 2, 3, 4 and 5).
    What runs is the function `f` or an instance of the class `L` (a Keras layer, model, loss or metric), or `entry`. A
    `tf.function` runs as it is, any other function in `tf.function(jit_compile=True)`, a Keras object in one without
    AutoGraph, as Keras does it. `original`: code whose eager result counts instead of that of `code`. `search`: folders
    from which the code may import.
    """
    job = {
        "code": code,
        "original": original,
        "inputs": list(inputs),
        "entry": entry,
        "search": [str(folder) for folder in search],
    }
    return _asked(job, limit)


def run_program(code: str, *, search: Sequence[Path] = (), limit: float = CALL_LIMIT) -> Measured:
    """Run `code` as a whole, where TensorFlow has two CPU devices. It counts as one call."""
    return _asked({"program": code, "search": [str(folder) for folder in search]}, limit)


def _asked(job: Mapping[str, object], limit: float) -> Measured:
    if not _running:
        _running.append(_Worker())
    measured = _running[0].ask(job, limit)
    if measured.death is not None:
        _stop()
    return measured
