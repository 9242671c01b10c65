"""Imports what `--fix --unsafe-fixes` changes in packages, before and after.

    python -m tests.corpus.imports [--safe] [--python INTERPRETER] [FOLDER ..]

A folder is one that packages are imported from; default: those of the corpus. Each line is one of them: how many files
were changed, how many of these are imported as they were, and how many of those still are. What no longer is, is told,
and the exit code is 1. This runs the code; what a package needs has to be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from shutil import copytree
from typing import Final

from xlalint.linter.fix_runs import fix, write
from xlalint.settings.config import Settings

from .packages import packages

_SECONDS: Final = 900.0
# Modules are imported in a process of their own, which may end on the way: each line is one that was tried.
_IMPORTING: Final = """
import importlib, json, sys
for name in json.load(sys.stdin):
    try:
        importlib.import_module(name)
        error = ""
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"
    print("\\0" + json.dumps([name, error]), flush=True)
"""


def imported(names: Sequence[str], folder: Path, python: str) -> dict[str, str]:
    """What importing modules from a folder raises, nothing where it does not; each in the order that is given."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    found: dict[str, str] = {}
    while left := [name for name in names if name not in found]:
        done = subprocess.run(
            [python, "-c", _IMPORTING],
            input=json.dumps(left),
            env=os.environ | {"PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        lines = [line.rpartition("\0")[2] for line in done.stdout.splitlines() if "\0" in line]
        found |= dict(map(json.loads, lines))
        if done.returncode:
            ended = next((name for name in left if name not in found), left[0])
            found[ended] = f"the process ends with {done.returncode}"
    return found


def module_name(path: Path) -> str:
    """The module that a file is, from the folder that it is imported from."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tried(source: Path, settings: Settings, python: str) -> tuple[int, dict[str, str], dict[str, str]]:
    """How many files of a folder are changed, and what importing them raised before and after."""
    with tempfile.TemporaryDirectory(prefix="imports-") as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        for copy in (before, after):
            copytree(source, copy)
        outcome = fix([after], settings)
        write(outcome.changes, [after])
        names = [module_name(change.path.relative_to(after)) for change in outcome.changes]
        return len(names), imported(names, before, python), imported(names, after, python)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.imports")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--safe", action="store_true", help="make safe fixes only")
    parser.add_argument("--python", default=sys.executable, metavar="INTERPRETER", help="what imports them")
    options = parser.parse_args()
    lost = 0
    for folder in options.folders or [package.folder for package in packages()]:
        changed, before, after = tried(folder, Settings(unsafe_fixes=not options.safe), options.python)
        worked = [name for name, error in before.items() if not error]
        broken = {name: after[name] for name in worked if after[name]}
        lost += len(broken)
        still = len(worked) - len(broken)
        print(
            f"{folder.name}: {changed} files changed, {len(worked)} of them imported before, {still} after", flush=True
        )
        for name, error in broken.items():
            print(f"    {name}: {error}", flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
