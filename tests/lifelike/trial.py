"""Programs as people write them, their safe fixes, and what becomes of both forms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from xlalint.findings.findings import Finding, Safety
from xlalint.fixes.apply import apply_fixes
from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .write import Program, program

WORKER: Final = Path(__file__).with_name("worker.py")
ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class Fixed:
    """A program that safe fixes change. `rules`: whose fixes they are."""

    seed: int
    before: Program
    after: str
    rules: tuple[str, ...]

    @property
    def shown(self) -> str:
        return f"# seed {self.seed}, {', '.join(self.rules)}\n{self.before.code}\n# fixed:\n{self.after}"


def fixed(seeds: Sequence[int]) -> list[Fixed]:
    """The programs of some seeds that safe fixes change, all of them made."""
    with tempfile.TemporaryDirectory(prefix="lifelike-") as folder:
        programs = {Path(folder, f"program_{seed}.py"): (seed, program(seed)) for seed in seeds}
        rules: dict[Path, list[str]] = {path: [] for path in programs}
        for path, (_, one) in programs.items():
            path.write_text(one.code, encoding="utf-8")
        for _ in range(ROUNDS):
            report = check([Path(folder)], Settings(jobs=1))
            assert report.problems == (), report.problems
            by_path: dict[Path, list[Finding]] = {}
            for finding in report.findings:
                if finding.fix is not None and finding.fix.safety is Safety.SAFE:
                    by_path.setdefault(Path(finding.path).resolve(), []).append(finding)
            if not by_path:
                break
            for path, findings in by_path.items():
                fixes = [finding.fix for finding in findings if finding.fix is not None]
                data, applied, broken = apply_fixes(path.read_bytes(), fixes, path)
                assert broken == [], f"{broken}\n{path.read_text(encoding='utf-8')}"
                rules[path.resolve()] += [one.code for one in findings if one.fix in applied]
                path.write_bytes(data)
        return [
            Fixed(seed, one, path.read_text(encoding="utf-8"), tuple(dict.fromkeys(rules[path.resolve()])))
            for path, (seed, one) in programs.items()
            if rules[path.resolve()]
        ]


class Worker:
    """The process that runs TensorFlow; begun anew where it has died."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="lifelike-")
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()
        self._folder.cleanup()

    def compare(self, one: Fixed) -> dict[str, Any]:
        """What a working program would notice of the fixes; None for "difference" where that is nothing."""
        answer = self._ask({"before": one.before.code, "after": one.after, "calls": one.before.calls})
        if answer is None:  # XLA ends the process for some programs: so it should have for the original
            crashed = (
                self._ask({"before": one.before.code, "after": one.before.code, "calls": one.before.calls}) is None
            )
            answer = {"difference": None if crashed else "the process ends", "ran": 0}
        return answer

    def _ask(self, job: dict[str, Any]) -> dict[str, Any] | None:
        process = self._process or self._begin()
        assert process.stdin is not None
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        return self._answer(process)

    def _begin(self) -> subprocess.Popen[str]:
        environment = os.environ | {
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TMPDIR": self._folder.name,  # a process that is killed leaves what AutoGraph writes for each function
        }
        self._process = subprocess.Popen(
            [sys.executable, "-u", str(WORKER), self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        assert self._answer(self._process) == {"ready": True}
        return self._process

    def _answer(self, process: subprocess.Popen[str]) -> dict[str, Any] | None:
        assert process.stdout is not None
        line = process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._end()
        return None

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def tried(seeds: Sequence[int], worker: Worker) -> Iterator[tuple[Fixed, dict[str, Any]]]:
    """Each program of the seeds that safe fixes change, and what a working program would notice."""
    for one in fixed(seeds):
        yield one, worker.compare(one)
