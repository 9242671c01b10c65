"""Fixes copies of the corpus' packages, unsafe fixes too, and writes what changed to `.corpus/fixes/PACKAGE.diff`.

    python -m tests.corpus.fixes [PACKAGE ..]

Each line of the table is a package: findings fixed, files changed, and what went wrong. The exit code is 1 when a
changed file does not parse, uses a name that nothing binds or imports what is not there, when fixing again changes
something, or when the linter broke.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from xlalint.linter.fix_runs import Change, Outcome, fix, write
from xlalint.reports.diff import diff
from xlalint.reports.terminal import Paint
from xlalint.settings.config import Settings

from .packages import CORPUS, packages

DIFFS = CORPUS / "fixes"
SETTINGS = Settings(unsafe_fixes=True)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one package: findings fixed by rule and safety, files changed, and complaints."""

    fixed: Counter[tuple[str, str]]
    files: int
    wrong: tuple[str, ...]


def tried(folder: Path, name: str) -> Result:
    """Fix a copy of a package twice."""
    with tempfile.TemporaryDirectory(prefix="fixes-") as copy:
        os.chdir(copy)
        shutil.copytree(folder, name)
        first = fix([name], SETTINGS)
        wrong = [problem.message for problem in first.report.problems]
        DIFFS.mkdir(exist_ok=True)
        changes = (diff(change.display, change.before, change.after, Paint()) for change in first.changes)
        (DIFFS / f"{name}.diff").write_text("".join(changes), encoding="utf-8")
        wrong += [problem.message for problem in write(first.changes, [name])]
        wrong += unreadable(first) or [
            f"{change.display}: {one}" for change in first.changes for one in unresolved(change, folder)
        ]
        second = fix([name], SETTINGS)
        wrong += [f"{change.display} changes again" for change in second.changes]
    fixed = Counter((one.code, str(one.fix.safety)) for one in first.report.fixed if one.fix is not None)
    return Result(fixed, len(first.changes), tuple(wrong))


def unreadable(outcome: Outcome) -> list[str]:
    """The changed files that are no Python."""
    found = []
    for change in outcome.changes:
        try:
            ast.parse(change.after)
        except SyntaxError as error:
            found.append(f"{change.display}: {error}")
    return found


def unresolved(change: Change, folder: Path) -> list[str]:
    """The names of a changed file that nothing binds, and the modules that it imports and that are not there, as far as
    they are new."""
    found = unbound(change.after) - unbound(change.before)
    for module in imported(change.after) - imported(change.before):
        top = module.partition(".")[0]
        if find_spec(top) is None and not (folder / top).exists():
            found[f"no module {module}"] += 1
    return sorted(found)


def unbound(data: bytes) -> Counter[str]:
    """Uses of names that are bound nowhere, or too late."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select", "F821,F823", "-"]
    done = subprocess.run([*command, "--output-format", "json"], input=data, capture_output=True, check=False)
    return Counter(one["message"] for one in json.loads(done.stdout))


def imported(data: bytes) -> set[str]:
    """The modules that a file imports by their whole name."""
    modules = set()
    for node in ast.walk(ast.parse(data)):
        match node:
            case ast.Import(names=names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(module=str() as module, level=0):
                modules.add(module)
    return modules


def main(names: Sequence[str]) -> int:
    failed = False
    for package in packages():
        if names and package.name not in names:
            continue
        result = tried(package.folder, package.name)
        failed |= bool(result.wrong)
        rules = ", ".join(f"{code} {safety} {count}" for (code, safety), count in sorted(result.fixed.items()))
        print(f"{package.name}: {result.fixed.total()} fixed in {result.files} files: {rules or '-'}", flush=True)
        for complaint in result.wrong:
            print(f"    {complaint}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
