"""Runs examples on the real compiler, in the worker of the probe.

`measure` hands an example to the worker and reads back one record per call. An example that kills the worker or does
not end in time is an outcome as well; the next example gets a new worker.
"""

from __future__ import annotations

import atexit
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from ..linter.rule import Behaviour, Breaks, Compiles, Diverges, Fails, Recompiles, Runs
from ..probe import protocol
from ..probe.interpreters import on_gpu
from ..probe.process import Interpreter, Limits, Worker
from ..probe.protocol import PROGRAM, Plan
from ..probe.target import Given, Target

CALL_LIMIT = 120.0  # seconds for one example, all its calls
_REPLICAS = re.compile(r"\bdistribute\b|Strategy\b")


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
            case Runs(compilations):
                made = sum(call.compilations for call in self.calls)
                return self.error is None and self.equal and compilations in (None, made)
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


_running: dict[tuple[str, bool], Worker] = {}  # by the interpreter's program, and whether it sees devices
_folder = tempfile.TemporaryDirectory(prefix="xlalint-compiler-")
_numbers = count()


def _stop() -> None:
    while _running:
        _running.popitem()[1].close()


atexit.register(_stop)


def measure(
    code: str,
    inputs: Sequence[str] = ("f32[4]",),
    *,
    original: str | None = None,
    entry: str | None = None,
    search: Sequence[Path] = (),
    limit: float = CALL_LIMIT,
    program: str = sys.executable,
    gpu: bool = False,
) -> Measured:
    """Compile and run `code` on several value sets of the inputs, and compare each call with eager execution.

    `inputs` are specs such as "f32[4, 3]", "i32[]", "bool[4]", "str[2]" or "f32[2..5, 3]" (shapes with 2, 3, 4 and 5).
    What runs is the function `f` or an instance of the class `L` (a Keras layer, model, loss or metric), or `entry`. A
    `tf.function` that is compiled runs as it is, any other function in `tf.function(jit_compile=True)`, a Keras object
    in one without AutoGraph, as Keras does it. `original`: code whose eager result counts instead of that of `code`.
    `search`: folders from which the code may import. `program`: the interpreter whose TensorFlow does it;
    `gpu`: where it sees one, which it then runs on.
    """
    target = _target(code, inputs, entry, search)
    before = None if original is None else _target(original, inputs, entry, search)
    fixed = on_gpu() if gpu else {}
    return _asked(target, limit, before, Interpreter(program, fixed=fixed, devices=gpu))


def run_program(code: str, *, search: Sequence[Path] = (), limit: float = CALL_LIMIT) -> Measured:
    """Run `code` as a whole, where TensorFlow has two CPU devices. It counts as one call."""
    folders = tuple(map(str, search))
    measured = _asked(Target(_written(code), "", kind=PROGRAM, search=folders, roots=folders), limit)
    if measured.error is not None and _REPLICAS.search(code):
        _stop()  # an error while replicas wait for each other leaves none to the programs that follow in a process
    return measured


def entry_of(code: str) -> str:
    """What of an example runs: its function `f`, else its class `L`."""
    return "f" if re.search(r"^(def f\b|f = )", code, re.MULTILINE) else "L"


def _target(code: str, inputs: Sequence[str], entry: str | None, search: Sequence[Path]) -> Target:
    name = entry or entry_of(code)
    folders = tuple(map(str, search))
    given = tuple(Given(None, text) for text in inputs)
    return Target(_written(code), name, given=given, search=folders, roots=folders)


def _written(code: str) -> str:
    """A file of the code: AutoGraph reads sources."""
    file = Path(_folder.name, f"example_{next(_numbers)}.py")
    file.write_text(code, encoding="utf-8")
    return str(file)


def _asked(
    target: Target, limit: float, original: Target | None = None, interpreter: Interpreter | None = None
) -> Measured:
    interpreter = interpreter or Interpreter()
    limits = Limits(function=limit, memory=8192)
    key = interpreter.program, interpreter.devices
    if (worker := _running.get(key)) is None or worker.spent(limits):
        _stop()
        worker = _running[key] = Worker(interpreter)
    plan = Plan(value_sets=4, gradients=False, locate=False, seconds=limit)
    outcome = worker.ask(target, plan, limits, original)
    calls = tuple(_call(call) for call in outcome.calls)
    return Measured(calls, None if outcome.death else outcome.not_run, outcome.death)


def _call(call: protocol.Call) -> Call:
    error = call.error
    return Call(
        variant=call.variant,
        compilations=call.compilations,
        bounded=call.inside,
        equal=error is None and not call.difference,
        error=f"{error.kind}: {error.text}" if error else None,
        trace=error.trace if error else None,
    )
