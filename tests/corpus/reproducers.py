"""Judges reports on programs from public issues by the compiler: each is run, and linted by itself.

    python -m tests.corpus.reproducers FOLDER [--programs N] [--seed N] [--results FILE]

A program is a file that defines `my_model_function()` and `GetInput()` (HBTGen has 2,686 from issues of TensorFlow, in
`data/tensorflow-issue`). Its model is called line by line, and in a compiled function; it counts where the first works.
It fails, or not, and the report has an error whose effect is `fails`, or not: the table counts these, and what is told
wrongly or not at all is listed. This runs the code. With `--results` a second run goes on where the first ended.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import copy
from typing import Any, Final

from xlalint.findings.findings import Effect, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

_SECONDS: Final = 90


@dataclass(frozen=True)
class Program:
    """What became of one: `left_out` is why it does not count, `raised` what compiling it does, `told` the codes of the
    errors that say it would."""

    name: str
    left_out: str = ""
    raised: str = ""
    told: tuple[str, ...] = ()

    @property
    def row(self) -> str:
        """Its line of the table."""
        if self.left_out:
            return "does not run"
        return f"{'fails' if self.raised else 'compiles'}, {'told to fail' if self.told else 'nothing told'}"


def programs(folder: Path, seed: int) -> list[Path]:
    """The programs of a folder, in an order that the seed makes."""
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.py"))}
    found = [path for path, text in texts.items() if "def my_model_function" in text and "def GetInput" in text]
    random.Random(seed).shuffle(found)
    return found


def told(path: Path) -> tuple[str, ...]:
    """The errors that the report on a file has, of what fails."""
    with tempfile.TemporaryDirectory() as alone:
        copy(path, alone)
        report = check([alone], Settings(target="cpu", cache_dir=None, jobs=1))
    fails = (one for one in report.findings if one.severity is Severity.ERROR and one.effect is Effect.FAILS)
    return tuple(sorted({one.code for one in fails}))


def measured(path: Path) -> tuple[str, str]:
    """Why a program does not count, and what compiling it raises; in a process of its own, which may end on the way."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        silent = os.open(os.devnull, os.O_RDWR)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        signal.alarm(_SECONDS)
        os.write(sending, json.dumps(_run(path)).encode())
        os._exit(0)
    os.close(sending)
    with open(receiving, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    left_out, raised = json.loads(data) if data else ("its process ended early", "")
    return left_out, raised


def _run(path: Path) -> tuple[str, str]:
    import tensorflow as tf  # type: ignore[import-untyped]

    names: dict[str, Any] = {"__name__": "program", "__file__": str(path)}
    tf.config.run_functions_eagerly(True)
    try:
        exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
        model, given = names["my_model_function"](), names["GetInput"]()
        given = given if isinstance(given, tuple) else (given,)
        model(*given)
    except BaseException as error:
        return _shown(error), ""
    tf.config.run_functions_eagerly(False)
    try:
        tf.function(lambda *inputs: model(*inputs), jit_compile=True)(*given)
    except BaseException as error:
        return "", _shown(error)
    return "", ""


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:600]}"


def judged(paths: list[Path], results: Path | None) -> Iterator[Program]:
    """Run and lint programs, but for those that the results have."""
    known: dict[str, Program] = {}
    if results is not None and results.exists():
        for line in results.read_text(encoding="utf-8").splitlines():
            kept = json.loads(line)
            known[kept["name"]] = Program(**kept | {"told": tuple(kept["told"])})
    for path in paths:
        if path.name not in known:
            left_out, raised = measured(path)
            program = Program(path.name, left_out, raised, () if left_out else told(path))
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(program)) + "\n")
            known[path.name] = program
        yield known[path.name]


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.reproducers")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf

    _ = tf.keras.layers.Dense, tf.compat.v1.Session  # loaded once, before the processes part
    table = Counter[str]()
    for program in judged(programs(given.folder, given.seed)[: given.programs], given.results):
        table[program.row] += 1
        if not program.left_out and bool(program.raised) != bool(program.told):
            raised = program.raised.replace("\n", " ") or "compiles"
            print(f"{program.name}: {' '.join(program.told) or 'nothing told'}: {raised}")
    for row, count in sorted(table.items()):
        print(f"{row:30}{count:6}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
