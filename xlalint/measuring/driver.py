"""Measures callables in a worker process: none that dies or hangs loses the rest, and nothing is measured twice.

What is done goes to `apis-VERSION.jsonl` in the working folder at once; a run that is started again goes on from there.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias

from xlalint.measuring.variations import DIES
from xlalint.tpu.stack import ENVIRONMENT

ROOT: Final = Path(__file__).parents[2]  # what holds the package, for interpreters that do not have it installed
MODULES: Final = {"tensorflow": "xlalint.measuring.worker", "jax": "xlalint.measuring.jax_worker"}  # by backend
# With JAX compilations are counted otherwise, and what each runs once need not run fast.
FLAGS: Final = {
    "tensorflow": "--xla_dump_to={folder}/dump --xla_dump_hlo_as_text",
    "jax": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
}
START_LIMIT: Final = 180.0  # seconds for TensorFlow's import
STEP_LIMITS: Final = {"tensorflow": 60.0, "jax": 300.0}  # seconds for one step of a measurement
PER_WORKER: Final = 120  # callables; compiled code is never freed
MOST_DEATHS: Final = 6  # of one callable


class Measured(NamedTuple):
    """The row of a callable, and the seconds that it took."""

    row: dict[str, Any] | None
    seconds: float


Rows: TypeAlias = Generator[tuple[str, Measured], None, None]
# Measures callables, given by name with what is known of them, by a task of the worker for a backend.
Elsewhere: TypeAlias = Callable[[Sequence[str], Mapping[str, Any], str, str], Rows]


class Driver:
    """Hands callables to a worker, and starts another when it dies."""

    def __init__(
        self, log: Path | None = None, program: str = sys.executable, backend: str = "tensorflow", gpu: bool = False
    ) -> None:
        self._log, self._program, self._backend, self._gpu = log, program, backend, gpu
        self._worker: _Worker | None = None

    def row(self, name: str, plan: Mapping[str, Any] | None, task: str = "row") -> dict[str, Any] | None:
        """What `worker.Worker.row`, or another task of the worker, says of a callable."""
        dead: dict[str, tuple[str, str]] = {}
        for _ in range(MOST_DEATHS):
            if self._worker is None or self._worker.served >= PER_WORKER:
                self.close()
                self._worker = _Worker(self._log, self._program, self._backend, self._gpu)
            answer, at, how = self._worker.ask({"task": task, "name": name, "plan": plan, "dead": dead})
            if answer is not None:
                row: dict[str, Any] | None = answer["row"]
                return row
            self.close()
            if at is None:
                raise RuntimeError(f"the worker {how} before it began with {name}")
            stage = "eager" if at["at"].startswith("eager") and "gradient" not in at["at"] else at["at"]
            dead[at["call"]] = (stage.split()[0] if stage.startswith("blame") else stage, how)
        return {"untested": f"the process died {MOST_DEATHS} times"}

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def _on_gpu() -> dict[str, str]:
    from xlalint.probe.interpreters import on_gpu  # with packages that the interpreters of workers need not have

    return on_gpu()


class _Worker:
    """One worker process, with a folder of its own for what the compiler dumps."""

    def __init__(self, log: Path | None, program: str, backend: str, gpu: bool) -> None:
        self.served = 0
        self._limit = STEP_LIMITS[backend]
        self._read = b""  # of the worker's answers, what is no whole line yet or not asked for yet
        self._folder = tempfile.TemporaryDirectory(prefix="xlalint-facts-")
        self._log: IO[str] | None = log.open("a", encoding="utf-8") if log else None
        environment = os.environ | {
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "AUTOGRAPH_VERBOSITY": "0",
            "KERAS_BACKEND": backend,
            "JAX_PLATFORMS": "cpu",
            "TF_ENABLE_ONEDNN_OPTS": "1",  # else the processor decides whether eager execution takes "channels_first"
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
            **ENVIRONMENT,
            "TMPDIR": self._folder.name,  # a process that is killed leaves what AutoGraph writes for each function
            "XLA_FLAGS": FLAGS[backend].format(folder=self._folder.name),
            **(_on_gpu() if gpu else {}),
        }
        self._process = subprocess.Popen(
            [program, "-u", "-m", MODULES[backend], self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log or subprocess.DEVNULL,
            env=environment,
            cwd=self._folder.name,
            text=True,
        )
        if self._line(START_LIMIT) != {"ready": True}:
            self.close()
            raise RuntimeError(f"the worker did not start; is what Keras needs for {backend} installed?")

    def ask(self, job: Mapping[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None, str]:
        """The answer; or, when the worker died, what it was about to do, and how it died."""
        self.served += 1
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        at = None
        while True:
            line = self._line(self._limit)
            if line is None:
                return None, at, self._death()
            if "at" not in line:
                return line, at, ""
            at = line

    def _line(self, limit: float) -> dict[str, Any] | None:
        """The next line of the worker; None when it died or was too slow."""
        assert self._process.stdout is not None
        while b"\n" not in self._read:
            with selectors.DefaultSelector() as selector:
                selector.register(self._process.stdout, selectors.EVENT_READ)
                more = os.read(self._process.stdout.fileno(), 65536) if selector.select(limit) else b""
            if not more:
                return None
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _death(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return f"not finished after {self._limit:g} s"
        return f"{DIES} ({signal.Signals(-code).name if code < 0 else f'exit code {code}'})"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                pipe.close()
        self._folder.cleanup()


# -- a whole run ------------------------------------------------------------------------------------------------------


def plans(table: Mapping[str, Any], complete: bool) -> dict[str, dict[str, Any]]:
    """By callable: the plain call and what was varied, of the newest version in `apis.json`.

    Unless `complete`, without what changed nothing there.
    """
    found = {}
    for name, row in table["apis"].items():
        if row and row.get("cases"):
            plain, *others = row["cases"]
            varied = [list(pair) for case in others for pair in case["varied"].items()]
            if complete:
                varied += [[parameter, text] for parameter, texts in row.get("same", {}).items() for text in texts]
            found[name] = {"call": plain["call"], "varied": varied}
    return found


def lowered(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By callable: the calls of the newest version in `apis.json` and whether they have a gradient; first those of
    which the shapes or the values decide what XLA does."""
    calls = {
        name: [[case["call"], case.get("gradient", "none") != "none"] for case in row["cases"]]
        for name, row in table["apis"].items()
        if row and row.get("cases")
    }
    first = [
        name
        for name in calls
        if any(case.get("outcome") == "recompiles" or case.get("bounded") for case in table["apis"][name]["cases"])
    ]
    return {name: {"calls": calls[name]} for name in dict.fromkeys((*first, *calls))}


def journal(path: Path) -> dict[str, Any]:
    """What a run has written so far: by name, the last row."""
    if not path.exists():
        return {}
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {entry["name"]: entry["row"] for entry in entries}


def run(
    names: Sequence[str],
    path: Path,
    known: Mapping[str, Any],
    again: bool,
    task: str = "row",
    backend: str = "tensorflow",
    program: str = sys.executable,
    gpu: bool = False,
    elsewhere: Elsewhere | None = None,
) -> Iterator[tuple[str, Any]]:
    """Measure what the journal does not hold yet, or holds as untested when `again`; yields each row. `elsewhere`: who
    does so, if not a process here."""
    done = journal(path)
    left = [name for name in names if name not in done or (again and (done[name] or {}).get("untested"))]
    if elsewhere is None:
        found = _here(left, Driver(path.with_suffix(".log"), program, backend, gpu), known, task)
    else:
        found = elsewhere(left, known, task, backend)
    with path.open("a", encoding="utf-8") as out, closing(found):
        for name, (row, seconds) in found:
            print(json.dumps({"name": name, "row": row, "seconds": seconds}), file=out, flush=True)
            yield name, row


def _here(names: Sequence[str], driver: Driver, known: Mapping[str, Any], task: str) -> Rows:
    try:
        for name in names:
            yield name, timed(driver, name, known.get(name), task)
    finally:
        driver.close()


def timed(driver: Driver, name: str, plan: Mapping[str, Any] | None, task: str) -> Measured:
    """What a driver measures of a callable."""
    started = time.monotonic()
    row = driver.row(name, plan, task)
    return Measured(row, round(time.monotonic() - started, 2))
