"""A worker process: started, watched and ended from here. Whatever the user's code does costs one function only.

Each worker is a process group of its own, with a folder of its own to work in, few variables of the environment, and
limits of time and memory. What it leaves behind (children that it forked, also those that left the group) is ended
with it: they are known by a variable of their environment.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import re
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any, Final

import msgspec

from ..sources.scratch import Scratch
from .containment import NoSandboxError, hide_environment, sandboxed
from .protocol import FAILS, GRADIENT, JAX, LEGACY, OF_XLA, SEARCH, TENSORFLOW, WAITING, Observation, Outcome, Plan
from .target import Target

START_LIMIT: Final = 180.0  # seconds for the import of TensorFlow or JAX
ENVIRONMENT: Final = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH",
    "VIRTUAL_ENV", "CONDA_PREFIX", "SYSTEMROOT",
)  # fmt: skip
"""What the user's code sees of the environment, besides what the settings let through."""

_FIXED: Final = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "AUTOGRAPH_VERBOSITY": "0",
    "JAX_PLATFORMS": "cpu",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}
# By backend, what it takes, and what installs that.
_NEEDS: Final = {TENSORFLOW: ("TensorFlow", "probe"), JAX: ("JAX and Keras 3", "jax")}
_MARK: Final = "XLALINT_PROBE"
_OF_SIGNALS: Final = 128  # an exit code above it is that of a signal
_POLL: Final = 0.1  # seconds between two looks at a worker
_GONE: Final = 2.0  # seconds that killed processes get to disappear
_LOG: Final = 16_384  # bytes of what a worker prints that are kept
_PER_WORKER: Final = 60  # functions; compiled code is never freed
_PACKAGE: Final = Path(__file__).parents[1]
# Makes this package importable, and nothing that is installed beside it: the interpreter may be another one's.
_BOOT: Final = """\
import importlib.util, runpy, sys
folder = sys.argv.pop(1)
if sys.version_info < (3, 10):
    print('{"broken": "the probe needs Python 3.10 or later"}', flush=True)
    raise SystemExit
spec = importlib.util.spec_from_file_location("xlalint", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["xlalint"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["xlalint"])
runpy.run_module("xlalint.probe.worker", run_name="__main__")
"""


class ProbeUnavailableError(Exception):
    """No worker can be started; the text is one line that says what to do."""


@dataclass(frozen=True)
class Limits:
    """Seconds for one function, of the processor (WAITING), and for all, and the megabytes that one process may hold;
    `raised_by`: what allows more seconds."""

    function: float = 60.0
    total: float = 1800.0
    memory: int = 4096
    raised_by: str = "--timeout"


@dataclass(frozen=True)
class Interpreter:
    """What runs the user's code: the program, names of the environment that it gets besides ENVIRONMENT, whether it
    runs in a sandbox, with the machine's devices or without, what Keras computes with, and whether it is Keras 2 though
    another one is installed."""

    program: str = sys.executable
    environment: tuple[str, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    sandbox: bool = False
    devices: bool = False
    backend: str = TENSORFLOW
    legacy: bool = False

    def variables(self) -> dict[str, str]:
        """What of this process's environment the program sees."""
        names = {*ENVIRONMENT, *self.environment}
        return {name: value for name, value in os.environ.items() if name in names}

    def told(self, code: str, *arguments: str, timeout: float) -> str | None:
        """What the program prints that runs code of ours, away from the code that is checked, which it imports nothing
        of; None where it cannot be run."""
        command = [self.program, "-c", code, *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=timeout, cwd=os.sep, env=self.variables()
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout


@dataclass(frozen=True)
class _Lost:
    """How a worker ended instead of answering. `limit`: by one of our limits, which something `more` raises; `full`: by
    that of memory."""

    how: str
    limit: bool = False
    more: str = ""
    full: bool = False


@dataclass(frozen=True)
class _Clock:
    """Seconds from now on: of the processor, where a process is known."""

    seconds: float
    pid: int | None = None
    _started: float = field(default_factory=time.monotonic)
    _before: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_before", self._used())

    @property
    def over(self) -> bool:
        """Whether they are over."""
        passed = time.monotonic() - self._started
        if passed < self.seconds:
            return False
        return passed > self.seconds * WAITING or self.pid is None or self._used() - self._before > self.seconds

    def _used(self) -> float:
        """Seconds that a process and its children have had of the processor; infinite where that is not told."""
        if self.pid is None:
            return 0.0
        try:
            return sum(map(_processor, _family(self.pid)))
        except OSError:
            return math.inf


class Worker:
    """One process, which runs one target after another."""

    def __init__(self, interpreter: Interpreter, stop: Event | None = None) -> None:
        self.served = 0
        self.kind = interpreter.backend, interpreter.legacy
        self.versions: dict[str, str] = {}
        self._stop = stop or Event()
        self._read = b""
        self._log = b""
        self._token = secrets.token_hex(8)
        self._folder = Scratch()
        environment = interpreter.variables()
        dump, scratch = Path(self._folder.name, "dump"), Path(self._folder.name, "tmp")
        scratch.mkdir()
        environment |= (
            _FIXED
            | dict(interpreter.fixed)
            | {
                _MARK: self._token,
                "TMPDIR": str(scratch),  # a process that is killed leaves what AutoGraph writes for each function
                "KERAS_BACKEND": interpreter.backend,
            }
        )
        if interpreter.backend == TENSORFLOW:
            environment["XLA_FLAGS"] = f"--xla_dump_to={dump} --xla_dump_hlo_as_text"
        if interpreter.legacy:
            environment[LEGACY] = "1"
        command = [interpreter.program, "-c", _BOOT, str(_PACKAGE), self._folder.name]
        self._in_sandbox = interpreter.sandbox
        try:
            hide_environment()
            if interpreter.sandbox:
                command = sandboxed(command, self._folder.name, devices=interpreter.devices)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd=self._folder.name,
                start_new_session=True,
            )
        except OSError as error:
            self._folder.cleanup()
            raise ProbeUnavailableError(f"{interpreter.program}: {error.strerror}") from error
        except NoSandboxError as error:
            self._folder.cleanup()
            raise ProbeUnavailableError(str(error)) from error
        self._drain = Thread(target=self._keep_log, daemon=True)
        self._drain.start()
        try:
            self._ready(interpreter)
        except BaseException:
            self.close()
            raise

    def _ready(self, interpreter: Interpreter) -> None:
        first = self._message(_Clock(START_LIMIT), None)
        if isinstance(first, dict) and "ready" in first:
            self.versions = first["ready"]
            return
        if isinstance(first, _Lost):
            raise ProbeUnavailableError(f"the worker process did not start: it {first.how}{self._last_line()}")
        missing = "No module named" in first["broken"]
        if missing and interpreter.program == sys.executable:
            library, extra = _NEEDS[interpreter.backend]
            raise ProbeUnavailableError(
                f"the probe needs {library} ({first['broken']}): pip install 'xlalint[{extra}]', or name an "
                "interpreter that has it with --python"
            )
        raise ProbeUnavailableError(f"{interpreter.program} cannot run the probe: {first['broken']}")

    # -- one function -------------------------------------------------------------------------------------------------

    def ask(self, target: Target, plan: Plan, limits: Limits, original: Target | None = None) -> Outcome:
        """Run one target. When the process dies over it, what was seen until then; the worker is `dead` then.

        `original`: a target whose eager results count instead of the target's own.
        """
        self.served += 1
        started = time.monotonic()
        parts = {"target": target.to_json(), "plan": dataclasses.asdict(plan)}
        job = json.dumps({**parts, "original": original and original.to_json()}) + "\n"
        stage, kept, clock = "", Outcome(), _Clock(limits.function, self._process.pid)
        with contextlib.suppress(BrokenPipeError):
            stdin = _pipe(self._process.stdin)
            stdin.write(job.encode())
            stdin.flush()
        while True:
            message = self._message(clock, limits)
            match message:
                case _Lost():
                    self.close()
                    return self._after_death(stage, kept, message, time.monotonic() - started)
                case {"at": at}:
                    stage = at
                case {"so far": seen}:
                    kept = msgspec.convert(seen, Outcome)
                case {"outcome": seen}:
                    return replace(msgspec.convert(seen, Outcome), versions=self.versions)

    def _after_death(self, stage: str, kept: Outcome, lost: _Lost, seconds: float) -> Outcome:
        """What a death means: before the compiler is asked, nothing was measured; later, that this was the end."""
        found = replace(kept, versions=self.versions, seconds=round(seconds, 3))
        if kept.calls and stage not in OF_XLA:
            note = f"ended early: the process {lost.how} at {stage}{lost.more}"
            return replace(found, notes=(*kept.notes, note), died_at="" if lost.limit else stage)
        found = replace(found, death=lost.how)
        if not lost.limit or (lost.full and stage.startswith(SEARCH)):
            found = replace(found, died_at=stage)  # other inputs may take less
        if lost.limit and not kept.calls:
            return replace(found, not_run=f"it {lost.how}{lost.more}")
        if stage in OF_XLA and not lost.limit:
            said = f"the process {lost.how} when it is {OF_XLA[stage]}"
            death = Observation(FAILS, said, gradient=stage == GRADIENT)
            return replace(found, observations=(*kept.observations, death))
        if not kept.calls:
            return replace(found, not_run=f"the process {lost.how} before it compiled anything")
        note = f"ended early: it {lost.how} when it was {OF_XLA[stage]}{lost.more}"
        return replace(found, notes=(*kept.notes, note))

    @property
    def dead(self) -> bool:
        return self._process.poll() is not None

    def spent(self, limits: Limits) -> bool:
        """Whether to start another for the next function: what a process holds of earlier ones is not held by it."""
        most = limits.memory // 2
        return self.dead or self.served >= _PER_WORKER or _memory(self._process.pid, most) > most

    # -- what comes back ----------------------------------------------------------------------------------------------

    def _message(self, clock: _Clock, limits: Limits | None) -> dict[str, Any] | _Lost:
        """The next line of the worker, or how it was lost."""
        stdout = _pipe(self._process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in self._read:
                if selector.select(_POLL):
                    more = os.read(stdout.fileno(), 65536)
                    if not more:
                        return _Lost(self._ending())
                    self._read += more
                elif self._stop.is_set():
                    return _Lost("was interrupted", limit=True)
                elif self.dead:  # a child that it forked may hold the pipe
                    return _Lost(self._ending())
                if clock.over:
                    if limits is None:
                        return _Lost(f"did not finish within {START_LIMIT:g} s", limit=True)
                    return _Lost(f"did not finish within {limits.function:.4g} s", True, more_by(limits.raised_by))
                if limits and (held := _memory(self._process.pid, limits.memory)) > limits.memory:
                    said = f"took {held} MB of memory (allowed: {limits.memory})"
                    return _Lost(said, True, more_by("--memory"), full=True)
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _ending(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "closed its connection"
        if self._in_sandbox and code > _OF_SIGNALS:  # as bubblewrap tells of a signal
            code = _OF_SIGNALS - code
        if code >= 0:
            return f"ended with exit code {code}"
        return f"died of {signal.Signals(-code).name}"

    def _keep_log(self) -> None:
        stderr = _pipe(self._process.stderr)
        while more := os.read(stderr.fileno(), 65536):
            self._log = (self._log + more)[-_LOG:]

    def _last_line(self) -> str:
        self._drain.join(1.0)
        lines = self._log.decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def close(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        gone = time.monotonic() + _GONE
        while (left := list(_marked(self._token))) and time.monotonic() < gone:  # a busy machine takes its time
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_POLL / 10)
        self._drain.join(1.0)
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                _pipe(pipe).close()
        self._folder.cleanup()


def more_by(setting: str) -> str:
    """Behind a limit: what raises it."""
    return f"; {setting} allows more"


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _marked(token: str) -> Iterator[int]:
    """The processes that have inherited a worker's mark (where /proc tells of processes)."""
    wanted = f"{_MARK}={token}".encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted in entry.read_bytes().split(b"\0"):
                yield int(entry.parent.name)


def _memory(pid: int, limit: int) -> int:
    """The megabytes that a process and its children hold; 0 where that is not told.

    What a forked child shares with its parent counts twice until it seems to be more than the limit.
    """
    pids = list(_family(pid))
    held = sum(_resident(Path(f"/proc/{one}/statm")) for one in pids)
    return held if held <= limit else sum(_proportional(Path(f"/proc/{one}/smaps_rollup")) for one in pids)


def _family(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in children.read_text().split():
                yield from _family(int(child))


def _processor(pid: int) -> float:
    """Seconds that a process has had of the processor (proc(5)). Raises OSError."""
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def _resident(statm: Path) -> int:
    with contextlib.suppress(OSError):
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 2**20
    return 0


def _proportional(rollup: Path) -> int:
    with contextlib.suppress(OSError):
        found = re.search(r"^Pss:\s+(\d+) kB", rollup.read_text(), re.MULTILINE)
        return int(found[1]) // 1024 if found else 0
    return 0
