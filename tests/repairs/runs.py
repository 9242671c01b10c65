"""One function of the table: fixed, and judged before and after. What was judged once is not run again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from xlalint.linter.fix_runs import fix, fix_proven
from xlalint.settings.config import ProbeSettings, Settings

from .fetched import FOLDER, Function

JUDGE: Final = Path(__file__).with_name("judge.py")
_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file after its fixes, the rules that speak of it, and what was said of proofs, a line for each function."""

    code: str
    rules: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a function: its verdict, what was wrong with it before and is afterwards."""

    verdict: str
    fixed: Fixed
    before: str
    after: str


def fixed(function: Function, *, bounded: bool, proven: bool) -> Fixed:
    """A function as `--fix --unsafe-fixes` makes it, under what its user says of sizes if `bounded`."""
    with tempfile.TemporaryDirectory(prefix="repairs-") as folder:
        path = Path(folder, "program.py")
        path.write_text(function.code, encoding="utf-8")
        probe = ProbeSettings(inputs=_inputs(function))
        settings = Settings(unsafe_fixes=True, bounds=function.bounds if bounded else {}, probe=probe)
        outcome = fix_proven([path], settings) if proven else fix([path], settings)
        assert outcome.report.problems == (), outcome.report.problems
        found = [finding.code for finding in (*outcome.report.fixed, *outcome.report.findings)]
        after = next((change.after.decode() for change in outcome.changes), function.code)
        said = tuple(f"{one.qualname}: {one.said}" for one in outcome.proofs)
        return Fixed(after, tuple(dict.fromkeys(found)), said)


def _inputs(function: Function) -> dict[str, str]:
    """What a user of `--prove` says of the inputs of `f`, or of what has that name when compiled."""
    said = ", ".join(re.sub(r"<(\d+)", r" below\1", text) for text in function.inputs)
    found = re.search(r"^def f\(|^f = tf\.function\((\w+)", function.driver, re.MULTILINE)
    return {} if found is None else {f"program.{found[1] or 'f'}": said}


def row(function: Function, *, bounded: bool, proven: bool, broken: bool) -> Row:
    """Fix a function, unless it is only asked whether it is `broken`, and judge it."""
    made = Fixed(function.code) if broken else fixed(function, bounded=bounded, proven=proven)
    answer = judged(function, function.code, made.code)
    if answer["fails"]:
        return Row("eager execution fails", made, answer["fails"], "")
    now = answer.get("after")
    left = "" if now is None else now["changed"] or trouble(now)
    said = verdict(answer)
    if said == "repaired" and function.bounds and bounded:
        said = "repaired under a bound"
    return Row(said, made, trouble(answer["before"]), left)


def judged(function: Function, before: str, after: str) -> dict[str, Any]:
    """What the judge says of both forms; where it has said so before, that."""
    job = {"before": before, "after": after, "inputs": function.inputs, "padded": bool(function.bounds)}
    key = hashlib.sha256(json.dumps([job, JUDGE.read_text(encoding="utf-8")]).encode()).hexdigest()
    known = FOLDER / "judged" / f"{key}.json"
    if known.exists():
        answer: dict[str, Any] = json.loads(known.read_text(encoding="utf-8"))
        return answer
    answer = _judged(function, job)
    known.parent.mkdir(parents=True, exist_ok=True)
    written = known.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps(answer), encoding="utf-8")
    written.replace(known)
    return answer


def _judged(function: Function, job: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="repairs-") as folder:
        Path(folder, "dump").mkdir()
        quiet = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        flags = {"XLA_FLAGS": f"--xla_dump_to={folder}/dump --xla_dump_hlo_as_text"}
        done = subprocess.run(
            [sys.executable, str(JUDGE), folder],
            input=json.dumps(job),
            env=os.environ | quiet | flags,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    if done.returncode == 0:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer
    if job["after"] != job["before"]:  # which of the two ends the process?
        return judged(function, job["before"], job["before"]) | {"after": {"changed": "the process ends"}}
    return {"fails": (done.stderr or "the process ends").strip().splitlines()[-1], "before": None}


def trouble(outcome: dict[str, Any]) -> str:
    """What is wrong with a form, in a few words; nothing where it does well."""
    if outcome["trouble"]:
        return str(outcome["trouble"])
    return f"{outcome['compilations']} compilations" if outcome["compilations"] > 1 else ""


def verdict(answer: dict[str, Any]) -> str:
    """What became of a function."""
    before, after = trouble(answer["before"]), answer.get("after")
    if not before:
        return "not broken" if after is None or not (after["changed"] or trouble(after)) else "worse"
    if after is None:
        return "unchanged"
    if after["changed"]:
        return "worse"
    if not trouble(after):
        return "repaired"
    if after["trouble"]:
        failed, fails = (one["trouble"] is not None and one["fails"] for one in (answer["before"], after))
        # What failed and now gives something else is worse: nobody is told.
        return "unchanged" if answer["before"]["trouble"] and failed <= fails else "worse"
    return "partly" if answer["before"]["trouble"] else "unchanged"
