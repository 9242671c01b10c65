"""Runs the linter over the corpus and writes one table per package, `.corpus/tables/PACKAGE.tsv`, to read by hand.

    python -m tests.corpus.scan [PACKAGE ..]

The first column is the reader's verdict: `right`, `wrong` or `arguable`. A later scan keeps the verdicts of the
findings that are still there. The exit code is 1 when the linter broke on a file or itself.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .packages import CORPUS, TABLES, Package, packages

COLUMNS = ("verdict", "severity", "code", "effect", "context", "place", "source", "message")
Row = Mapping[str, str]


def lint(package: Package) -> tuple[dict[str, Any], str]:
    """The linter's report on a package and what it wrote to standard error."""
    command = [sys.executable, "-m", "xlalint", "check", "--isolated", "--no-cache", "--output-format", "json"]
    done = subprocess.run(
        [*command, str(package.folder)], cwd=CORPUS, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if not done.stdout:
        return {"findings": [], "errors": []}, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report, done.stderr


def source_line(path: Path, line: int) -> str:
    """A line of a file on one line of a table."""
    return " ".join(path.read_text(encoding="utf-8", errors="replace").split("\n")[line - 1].split())


def row_of(finding: Mapping[str, Any], verdicts: Mapping[tuple[str, str, str], list[str]]) -> Row:
    context = finding["context"] or {"kind": "-", "trail": []}
    row = {
        "severity": finding["severity"],
        "code": finding["code"],
        "effect": finding["effect"] or "-",
        "context": context["kind"] + "".join(f" > {step['name']}" for step in context["trail"]),
        "place": f"{finding['path']}:{finding['line']}",
        "source": source_line(CORPUS / finding["path"], finding["line"]),
        "message": finding["message"],
    }
    known = verdicts.get(identity(row), [])
    return {"verdict": known.pop(0) if known else "", **row}


def identity(row: Row) -> tuple[str, str, str]:
    """What stays when lines move: the code, the file and the source text."""
    return row["code"], row["place"].rpartition(":")[0], row["source"]


def read_table(path: Path) -> list[Row]:
    """The rows of a table; none when it has not been written."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, dialect="excel-tab"))


def write_table(path: Path, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, dialect="excel-tab")
        writer.writeheader()
        writer.writerows(rows)


def scan(package: Package) -> bool:
    """Write the table of one package; whether the linter got through it."""
    started = time.perf_counter()
    report, complaints = lint(package)
    seconds = time.perf_counter() - started
    verdicts: dict[tuple[str, str, str], list[str]] = {}
    for row in read_table(package.table):
        verdicts.setdefault(identity(row), []).append(row["verdict"])
    rows = [row_of(finding, verdicts) for finding in report["findings"]]
    write_table(package.table, sorted(rows, key=lambda row: (row["severity"], row["code"])))
    counts = Counter(f"{row['severity']} {row['code']}" for row in rows)
    print(f"{package.name} {package.version}: {len(rows)} findings in {seconds:.1f} s", dict(sorted(counts.items())))
    for error in report["errors"]:
        print(f"  error: {error['path']}: {error['message']}")
    if complaints:
        print(f"  {complaints.strip()}")
    return not complaints and not report["errors"]


def main() -> None:
    wanted = [package for package in packages() if not sys.argv[1:] or package.name in sys.argv[1:]]
    missing = [package.name for package in wanted if not package.folder.exists()]
    if missing or not wanted:
        sys.exit(f"not there (run python -m tests.corpus.fetch): {', '.join(missing or sys.argv[1:])}")
    fine = [scan(package) for package in wanted]
    print(f"tables: {TABLES}")
    sys.exit(not all(fine))


if __name__ == "__main__":
    main()
