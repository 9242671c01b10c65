"""The tally of what was read by hand: of the findings on the corpus, how many are right, wrong or arguable.

python -m tests.corpus.tally             print the tally per rule and severity
python -m tests.corpus.tally --update    count the verdicts in `.corpus/tables` into tally.toml first
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from .packages import HERE, packages
from .scan import read_table

TALLY = HERE / "tally.toml"
VERDICTS = ("right", "wrong", "arguable")
TARGETS = {"error": 0.97, "warning": 0.90}  # the share of right ones among those judged right or wrong
HEADER = """\
# Findings on the corpus, read by hand: one entry per package, rule and severity. `found` is what the scan listed;
# `right`, `wrong` and `arguable` count the ones read. Every error is read. A wrong one is explained in `note`.
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of one rule at one severity in one package."""

    package: str
    version: str
    code: str
    severity: str
    found: int
    right: int = 0
    wrong: int = 0
    arguable: int = 0
    note: str = ""

    @property
    def read(self) -> int:
        return self.right + self.wrong + self.arguable

    @property
    def key(self) -> tuple[str, str, str]:
        return self.package, self.code, self.severity


def load(text: str) -> list[Reading]:
    """The readings of a tally; a key that it may not have is a TypeError."""
    return [Reading(**entry) for entry in tomllib.loads(text).get("reading", [])]


def dump(readings: Iterable[Reading]) -> str:
    """The tally as text. JSON's strings are TOML's, too."""
    entries = [
        "".join(f"{key} = {_toml(value)}\n" for key, value in asdict(reading).items() if value != "")
        for reading in sorted(readings, key=lambda reading: reading.key)
    ]
    return HEADER + "".join(f"\n[[reading]]\n{entry}" for entry in entries)


def _toml(value: str | int) -> str:
    return str(value) if isinstance(value, int) else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def inconsistencies(readings: Sequence[Reading], codes: Iterable[str]) -> list[str]:
    """What is wrong with a tally, in words."""
    pinned = {package.name: package.version for package in packages()}
    known = set(codes)
    found: list[str] = []
    for reading in readings:
        name = " ".join(reading.key)
        checks = {
            "not a version of the corpus": pinned.get(reading.package) == reading.version,
            "no such rule": reading.code in known,
            "no such severity": reading.severity in TARGETS,
            "a negative count": min(reading.found, reading.right, reading.wrong, reading.arguable) >= 0,
            "more read than found": reading.read <= reading.found,
            "an error was not read": reading.severity != "error" or reading.read == reading.found,
            "a wrong finding without a note": not reading.wrong or bool(reading.note),
        }
        found += [f"{name}: {complaint}" for complaint, fine in checks.items() if not fine]
    repeated = Counter(reading.key for reading in readings)
    return found + [f"{' '.join(key)}: twice" for key, times in repeated.items() if times > 1]


def from_tables(notes: dict[tuple[str, str, str], str]) -> list[Reading]:
    """Count the verdicts in the tables of the last scan; notes are carried over. What only informs is not judged."""
    readings: list[Reading] = []
    for package in packages():
        rows = [row for row in read_table(package.table) if row["severity"] in TARGETS]
        for code, severity in sorted({(row["code"], row["severity"]) for row in rows}):
            counted = Counter(row["verdict"] for row in rows if (row["code"], row["severity"]) == (code, severity))
            if unknown := set(counted) - {"", *VERDICTS}:
                raise SystemExit(f"{package.table}: not a verdict: {', '.join(sorted(unknown))}")
            judged = {verdict: counted[verdict] for verdict in VERDICTS}
            note = notes.get((package.name, code, severity), "")
            readings.append(
                Reading(package.name, package.version, code, severity, counted.total(), **judged, note=note)
            )
    return readings


def share(readings: Sequence[Reading]) -> float | None:
    """The share of right findings among those judged right or wrong; None when nothing was."""
    right, wrong = sum(reading.right for reading in readings), sum(reading.wrong for reading in readings)
    return right / (right + wrong) if right + wrong else None


def summary(readings: Sequence[Reading]) -> str:
    """A table: per severity and rule, then per severity, with the target."""
    lines = [f"{'':17}{'found':>7}{'read':>7}{'right':>7}{'wrong':>7}{'arguable':>10}{'right of judged':>17}"]
    for severity, target in TARGETS.items():
        chosen = [reading for reading in readings if reading.severity == severity]
        lines += [
            _line(f"{severity} {code}", [reading for reading in chosen if reading.code == code])
            for code in sorted({reading.code for reading in chosen})
        ]
        lines.append(f"{_line(f'all {severity}s', chosen)}  (target {target:.0%})")
    return "\n".join([*lines, _line("all", readings)])


def _line(title: str, readings: Sequence[Reading]) -> str:
    fields = ("found", "read", "right", "wrong", "arguable")
    sums = [sum(getattr(reading, field) for reading in readings) for field in fields]
    right = share(readings)
    numbers = "".join(f"{number:>{width}}" for number, width in zip(sums, (7, 7, 7, 7, 10), strict=True))
    return f"{title:17}{numbers}{'-' if right is None else f'{right:.1%}':>17}"


def main() -> None:
    readings = load(TALLY.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--update"]:
        readings = from_tables({reading.key: reading.note for reading in readings})
        TALLY.write_text(dump(readings), encoding="utf-8")
    print(summary(readings))


if __name__ == "__main__":
    main()
