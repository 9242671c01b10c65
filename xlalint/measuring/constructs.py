"""Measures constructs (`xlalint.facts.constructs`): on a CPU, by a TPU's compiler, and what the rules say of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from xlalint.authoring import lowered
from xlalint.authoring.measured import Measured, measure
from xlalint.facts.constructs import OnCpu, Program
from xlalint.facts.tables import Outcome
from xlalint.facts.tpu import told
from xlalint.findings.codes import rule_names
from xlalint.findings.findings import Finding
from xlalint.linter.run import Stdin, check
from xlalint.measuring.outcome import reason
from xlalint.settings.config import Settings

# Programs are linted as files of a folder that is not there, so that nothing beside them is found.
_PATH: Final = Path(os.sep, "xlalint", "construct.py")
# The error among the frames of AutoGraph ("in user code: ..."), and what it advises.
_IN_USER_CODE: Final = re.compile(r"^ {4}(\w+: .+)$", re.MULTILINE)
_ADVICE: Final = re.compile(r" You can attempt the following .*")
_OWN: Final = "XLA9"  # the family of the linter itself


def rows(programs: Iterable[Program]) -> Iterator[tuple[str, dict[str, Any]]]:
    """By name what was measured, as entries of the table. Raises `stack.StackError`, and as `ran` does."""
    for program, there in lowered.measure(programs):
        found = here(program)
        yield program.name, msgspec.to_builtins({"digest": program.digest, "cpu": found, "tpu": there})


def here(program: Program, interpreter: str = sys.executable, gpu: bool = False) -> OnCpu:
    """What becomes of it on the CPU, or a GPU that the interpreter's TensorFlow sees: of what is in words of every
    backend also that TensorFlow does not take it."""
    try:
        return ran(program, interpreter, gpu)
    except ValueError as error:
        if program.code.startswith("import tensorflow"):
            raise
        return OnCpu(Outcome.FAILS, told(reason(str(error).removeprefix(f"{program.name}: "))), eager=True)


def older_rows(programs: Iterable[Program], interpreter: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """By name what becomes of each on the CPU with another interpreter's TensorFlow: untested, where that one's eager
    execution does not take it."""
    for program in programs:
        try:
            found = ran(program, interpreter)
        except ValueError as error:
            found = OnCpu(Outcome.UNTESTED, told(reason(str(error).removeprefix(f"{program.name}: "))))
        yield program.name, msgspec.to_builtins({"digest": program.digest, "cpu": found})


def ran(program: Program, interpreter: str = sys.executable, gpu: bool = False) -> OnCpu:
    """What becomes of a program on the CPU, or a GPU. Raises ValueError where eager execution does not take it."""
    found = measure(program.code, program.inputs, program=interpreter, gpu=gpu)
    if found.failure is not None:
        raise ValueError(f"{program.name}: {found.failure}")
    return OnCpu(_outcome(found), "" if found.error is None else _why(found.error))


def _why(error: str) -> str:
    inside = _IN_USER_CODE.findall(error) if "in user code:" in error else []
    return told(reason(_ADVICE.sub("", inside[-1] if inside else error)))


def _outcome(found: Measured) -> Outcome:
    if found.error is not None:
        return Outcome.FAILS
    if not found.equal:
        return Outcome.DIVERGES
    if found.recompiles_per_value:
        return Outcome.RECOMPILES
    return Outcome.BOUNDED if found.bounded else Outcome.OK


def findings(program: Program) -> tuple[Finding, ...]:
    """What the rules say of it. Raises ValueError where it cannot be linted."""
    codes = frozenset(code for code in rule_names() if not code.startswith(_OWN))
    report = check([_PATH], Settings(codes=codes), Stdin(_PATH, program.code.encode()))
    if report.problems:
        raise ValueError(f"{program.name}: {report.problems[0].message}")
    return report.findings


def flagged_by(program: Program) -> list[str]:
    """The codes of the rules that flag it."""
    return sorted({finding.code for finding in findings(program)})
