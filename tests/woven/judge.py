"""What the compiler does with programs, and what the linter says of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from xlalint import api
from xlalint.findings.findings import Effect, Severity

from .outcome import Found
from .weave import HERE, Program


def by_compiler(programs: Iterable[Program]) -> Iterator[tuple[Program, str]]:
    """Each program with what the compiler does. A program that ends the process crashes; another process goes on."""
    pending = list(programs)
    while pending:
        done = 0
        for program, verdict in zip(pending, _judged(pending), strict=False):
            done += 1
            yield program, verdict
        if done < len(pending):
            yield pending[done], "crashes"
        pending = pending[done + 1 :]


def _judged(programs: Sequence[Program]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--xla_dump_to={folder}/dump --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=NONE"
        environment = {
            **os.environ,
            "XLA_FLAGS": flags,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "",
            "TMPDIR": folder,
        }
        lines = "\n".join(json.dumps({"files": program.files, "drive": program.drive}) for program in programs)
        source = Path(folder) / "programs"
        source.write_text(lines + "\n", "utf-8")
        with (
            source.open("rb") as stdin,
            subprocess.Popen(
                [sys.executable, HERE / "worker.py", folder],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                text=True,
            ) as worker,
        ):
            assert worker.stdout is not None
            for line in worker.stdout:
                yield json.loads(line)


def by_linter(programs: Sequence[Program]) -> list[list[Found]]:
    """For each program what is found that is more than a remark, and more than what a rule of XLA forbids that this
    TensorFlow compiles."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number, program in enumerate(programs):
            place = root / f"p{number}"
            place.mkdir()
            for name, text in program.files.items():
                (place / f"{name}.py").write_text(text, "utf-8")
        report = api.lint_paths([root], replace(api.load_settings([root], isolated=True), cache_dir=None))
    found: list[list[Found]] = [[] for _ in programs]
    for finding in report.findings:
        if finding.severity > Severity.INFO and finding.effect is not Effect.NAMED:
            path = Path(finding.path)
            at = f"{path.stem}:{finding.span.line} {finding.code}"
            found[int(path.parent.name[1:])].append(Found(at, str(finding.effect)))
    return found
