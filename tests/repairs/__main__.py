"""Repair real functions that XLA breaks as `--fix --unsafe-fixes` does, and print what became of each.

python -m tests.repairs                      # downloads the releases, prints the table
python -m tests.repairs --broken             # without any fix: what XLA makes of them
python -m tests.repairs --show unwrap        # some of them, with what was changed
python -m tests.repairs --unbounded          # without what a user says of sizes that data decides (`--bound`)

A function is broken where its step with gradients, compiled, fails, gives something else than it does eagerly, or is
compiled more than once for three samples of one shape. It is repaired where none of that is left, and eager execution
gives what it gave; worse where eager execution gives something else, what compiled well no longer does, or what
failed now gives something else. Under a bound, results may be padded at the end.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from xlalint.linter.fix_runs import fix
from xlalint.settings.config import Settings

from .fetched import Function, functions

JUDGE: Final = Path(__file__).with_name("judge.py")


def fixed(code: str, bounds: dict[str, int]) -> tuple[str, list[str]]:
    """A file as `--fix --unsafe-fixes` makes it under these bounds, and the rules that speak of it."""
    with tempfile.TemporaryDirectory(prefix="repairs-") as folder:
        path = Path(folder, "program.py")
        path.write_text(code, encoding="utf-8")
        outcome = fix([path], Settings(unsafe_fixes=True, bounds=bounds))
        assert outcome.report.problems == (), outcome.report.problems
        found = [finding.code for finding in (*outcome.report.fixed, *outcome.report.findings)]
        after = next((change.after.decode() for change in outcome.changes), code)
        return after, list(dict.fromkeys(found))


def judged(function: Function, before: str, after: str) -> dict[str, Any]:
    """What the judge says of both forms."""
    with tempfile.TemporaryDirectory(prefix="repairs-") as folder:
        Path(folder, "dump").mkdir()
        quiet = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        flags = {"XLA_FLAGS": f"--xla_dump_to={folder}/dump --xla_dump_hlo_as_text"}
        job = {"before": before, "after": after, "inputs": function.inputs, "padded": bool(function.bounds)}
        done = subprocess.run(
            [sys.executable, str(JUDGE), folder],
            input=json.dumps(job),
            env=os.environ | quiet | flags,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode == 0:
            answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return answer
        if after != before:  # which of the two ends the process?
            return judged(function, before, before) | {"after": {"changed": "the process ends"}}
        return {"fails": (done.stderr or "the process ends").strip().splitlines()[-1], "before": None}


def trouble(outcome: dict[str, Any]) -> str:
    """What is wrong with a form, in a few words; nothing where it does well."""
    if outcome["trouble"]:
        return str(outcome["trouble"])
    return f"{outcome['compilations']} compilations" if outcome["compilations"] > 1 else ""


def verdict(answer: dict[str, Any]) -> str:
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.repairs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the functions' names; default: all")
    parser.add_argument("--broken", action="store_true", help="make no fix")
    parser.add_argument("--unbounded", action="store_true", help="say nothing of sizes (`--bound`)")
    parser.add_argument("--group", help="only those that were chosen together")
    parser.add_argument("--show", action="store_true", help="print what was changed, too")
    options = parser.parse_args()
    counts, groups = Counter[str](), dict[str, Counter[str]]()
    print("| package | function | flagged | verdict | XLA, before | after |\n|" + " --- |" * 6)
    for function in functions():
        if options.names and not any(part in function.name for part in options.names):
            continue
        if options.group not in (None, function.group):
            continue
        code = function.code
        after, rules = (code, []) if options.broken else fixed(code, {} if options.unbounded else function.bounds)
        answer = judged(function, code, after)
        if answer["fails"]:
            cells = [", ".join(rules), "eager execution fails", answer["fails"], ""]
        else:
            now = answer.get("after")
            left = "" if now is None else now["changed"] or trouble(now)
            said = verdict(answer)
            if said == "repaired" and function.bounds and not options.unbounded:
                said = "repaired under a bound"
            cells = [", ".join(rules), said, trouble(answer["before"]), left]
        counts[cells[1]] += 1
        groups.setdefault(function.group, Counter())[cells[1]] += 1
        texts = [text.replace("|", "/").replace("\n", " ")[:90] for text in cells]
        print(f"| {' | '.join([function.package.partition('==')[0], function.name, *texts])} |", flush=True)
        if options.show:
            print("".join(difflib.unified_diff(code.splitlines(True), after.splitlines(True), n=1)))
    for group, found in (*groups.items(), ("all", counts)):
        print(f"\n{group}: {dict(found)}", end="")
    print()
    return 1 if counts["worse"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
