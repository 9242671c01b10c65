"""Asks a process under Keras's JAX backend what becomes of programs. One that dies over a program is told of, and the
next program gets a new one."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]  # what holds the package
START_LIMIT: Final = 180.0  # seconds for JAX's import
ENVIRONMENT: Final = {
    "KERAS_BACKEND": "jax",
    "JAX_PLATFORMS": "cpu",
    "CUDA_VISIBLE_DEVICES": "-1",
    "XLA_FLAGS": "--xla_backend_optimization_level=0",  # what each program runs a few times need not run fast
}


class LostError(Exception):
    """The process died, or did not answer in time; the text says how."""


class Process:
    """A process of `module`, which reads JSON lines and answers with JSON lines."""

    def __init__(
        self,
        module: str = "xlalint.authoring.jax.worker",
        program: str = sys.executable,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.served = 0
        self._read = b""
        self._folder = tempfile.TemporaryDirectory(prefix="xlalint-jax-")
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [program, "-u", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ENVIRONMENT, **environment, "PYTHONPATH": path, "TMPDIR": self._folder.name},
            cwd=self._folder.name,
        )
        try:
            self.versions: Mapping[str, str] = self._line(START_LIMIT)["ready"]
        except LostError as error:
            self.close()
            raise LostError(
                f"{program}: no process with JAX started ({error}); is `xlalint[jax]` installed?"
            ) from error

    def ask(self, job: Mapping[str, Any], limit: float) -> Any:
        """The answer to a job within `limit` seconds. Raises LostError; the process is closed then."""
        self.served += 1
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
            return self._line(limit)
        except (BrokenPipeError, LostError) as error:
            self.close()
            raise LostError(str(error)) from error

    def _line(self, limit: float) -> Any:
        """The next line of the process."""
        assert self._process.stdout is not None
        end = time.monotonic() + limit
        while b"\n" not in self._read:
            with selectors.DefaultSelector() as selector:
                selector.register(self._process.stdout, selectors.EVENT_READ)
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise LostError(f"did not finish within {limit:g} s")
            more = os.read(self._process.stdout.fileno(), 65536)
            if not more:
                raise LostError(self._ending())
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return json.loads(line)

    def _ending(self) -> str:
        code = self._process.wait()
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    @property
    def dead(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._folder.cleanup()


def program(path: Path, entry: str, inputs: Sequence[str], value_sets: int) -> dict[str, Any]:
    """A program as a job of the worker."""
    return {"path": str(path), "entry": entry, "inputs": list(inputs), "value_sets": value_sets}
