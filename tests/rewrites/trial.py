"""One trial: a program is linted and rewritten, and both forms run on inputs that hold every special value."""

from __future__ import annotations

import atexit
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from xlalint.findings.findings import Safety
from xlalint.fixes.apply import apply_fixes
from xlalint.linter.run import check
from xlalint.settings.config import Settings

WORKER: Final = Path(__file__).with_name("worker.py")
ROUNDS: Final = 8  # of rewriting: branches stand inside of each other
KINDS: Final = (
    *("ordinary", "positive", "negative", "special", "ordinary", "special", "equal", "large", "zero", "special"),
)
FINITE: Final = tuple(kind for kind in KINDS if kind != "special")
_SPECIAL: Final = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0)


@dataclass(frozen=True, slots=True)
class Input:
    """A parameter of a program. `dtype` as TensorFlow names it; `low` and `high` bound integers."""

    dtype: str
    shape: tuple[int, ...]
    low: int = -4
    high: int = 5


@dataclass(frozen=True, slots=True)
class Program:
    """A file that defines the compiled function `f`, what it takes, and the rule that rewrites it. `author`: what an
    author puts into a rewrite that is shown only, word by word. `kinds`: the samples on which it must agree.
    `gradients`: are compared, too."""

    code: str
    inputs: tuple[Input, ...]
    rule: str
    author: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = KINDS  # of samples
    gradients: bool = True


def function(parameters: str, *lines: str) -> str:
    """A file with the compiled function `f`."""
    head = f"import tensorflow as tf\n\n\n@tf.function(jit_compile=True, autograph=False)\ndef f({parameters}):\n"
    return head + "".join(f"    {line}\n" for line in lines)


@dataclass(slots=True)
class Counts:
    """What was tried of one rewrite. `excused`: XLA computes the same of the original, and eager execution differs."""

    programs: int = 0
    safe: int = 0
    inputs: int = 0
    agreed: int = 0
    excused: int = 0
    once: int = 0
    kept: int = 0  # programs that the linter left as they are
    differences: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A program after rewriting, and the least safety among its rewrites; None where there was none."""

    code: str
    safety: Safety | None
    left: int  # findings of the rule that remain


def rewritten(program: Program) -> Rewritten:
    """Apply the fixes of the program's rule until none is left."""
    code, safeties = program.code, list[Safety]()
    with tempfile.TemporaryDirectory(prefix="program-") as folder:
        path = Path(folder, "program.py")
        for _ in range(ROUNDS):
            path.write_text(code, encoding="utf-8")
            report = check([path], Settings())
            assert report.problems == (), report.problems
            own = [finding for finding in report.findings if finding.code == program.rule]
            shown = (Safety.DISPLAY,) if not program.author else ()
            fixes = [one.fix for one in own if one.fix is not None and one.fix.safety not in shown]
            if not fixes:
                return Rewritten(code, _least(safeties), len(own))
            data, applied, broken = apply_fixes(code.encode(), fixes, path)
            assert broken == []
            safeties += [fix.safety for fix in applied]
            code = data.decode()
            for word, text in program.author.items():
                code = code.replace(word, text)
    raise AssertionError(f"rewriting does not end:\n{code}")


def _least(safeties: Sequence[Safety]) -> Safety | None:
    return min(safeties, key=[*Safety].index, default=None)


def samples(program: Program, seed: int, number: int) -> list[list[dict[str, Any]]]:
    """Values for the inputs: ordinary ones, all of one sign, all equal, and with NaN, infinities and signed zeros."""
    draw = random.Random(seed)
    kinds = program.kinds
    return [[_values(one, kinds[at % len(kinds)], draw) for one in program.inputs] for at in range(number)]


def _values(one: Input, kind: str, draw: random.Random) -> dict[str, Any]:
    count = 1
    for size in one.shape:
        count *= size
    if one.dtype == "bool":
        chances = {"positive": 1.0, "equal": 1.0, "negative": 0.0, "zero": 0.0}
        values = [float(draw.random() < chances.get(kind, 0.5)) for _ in range(count)]
    elif one.dtype.startswith(("int", "uint")):
        values = [float(draw.randint(one.low, one.high)) for _ in range(count)]
        if kind == "equal":
            values = values[:1] * count
    else:
        values = [draw.choice((0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)) for _ in range(count)]
        signs = {"positive": (1.0,), "negative": (-1.0,)}.get(kind, (1.0, -1.0))
        values = [value * draw.choice(signs) for value in values]
        if kind == "special":
            values = [draw.choice(_SPECIAL) if draw.random() < 0.3 else value for value in values]
        elif kind == "equal":
            values = values[:1] * count
        elif kind == "large":
            # Beyond its largest number, half precision in XLA is not that of eager execution.
            values = [value * (10.0 if one.dtype == "float16" else 1000.0) for value in values]
        elif kind == "zero":
            values = [0.0] * count
    return {"dtype": one.dtype, "shape": one.shape, "values": values}


class _Worker:
    """The process that runs TensorFlow."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rewrites-")
        dump = Path(self._folder.name, "dump")
        environment = os.environ | {
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "XLA_FLAGS": f"--xla_dump_to={dump} --xla_dump_hlo_as_text",
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
        assert self._answer() == {"ready": True}

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"failure": f"the process ended with {self._process.wait()}"}

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._folder.cleanup()


_running: list[_Worker] = []


def _stop() -> None:
    while _running:
        _running.pop().close()


atexit.register(_stop)


def compared(program: Program, after: str, number: int, seed: int) -> dict[str, Any]:
    """What the worker says of both forms of a program on a number of inputs."""
    if not _running:
        _running.append(_Worker())
    job: dict[str, Any] = {"original": program.code, "rewritten": after, "samples": samples(program, seed, number)}
    job |= {"gradients": program.gradients, "autograph": "autograph=False" not in program.code}
    answer = _running[0].ask(job)
    if "failure" in answer:
        _stop()
    return answer


def tried(program: Program, counts: Counts, inputs: int = 10, seed: int = 0) -> None:
    """Rewrite a program, run both forms, and count. Raises AssertionError where they differ."""
    after = rewritten(program)
    if after.safety is None:
        counts.kept += 1
        return
    counts.programs += 1
    counts.safe += after.safety is Safety.SAFE
    answer = compared(program, after.code, inputs, seed)
    shown = f"{after.safety}\n{program.code}\n# rewritten:\n{after.code}"
    assert "failure" not in answer, f"{answer['failure']}\n{shown}"
    measured = [one for one in answer["answers"] if one["unmeasured"] is None]
    assert measured, f"eager execution refuses every input: {answer['answers'][0]['unmeasured']}\n{program.code}"
    counts.inputs += len(measured)
    for at, one in enumerate(answer["answers"]):
        if one["unmeasured"] is not None:
            continue
        if one["difference"] is None:
            counts.agreed += 1
        elif one["excused"]:
            counts.excused += 1
        else:
            values = samples(program, seed, inputs)[at]
            raise AssertionError(f"{one['difference']}\n{values}\n{program.inputs}\n{shown}")
    assert after.left == 0, f"still flagged:\n{shown}"
    assert answer["compilations"] == 1, f"{answer['compilations']} compilations:\n{shown}"
    counts.once += 1
