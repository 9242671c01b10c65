"""What became of a program: what the compiler does, and what the linter says; and those that are kept for the tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from .weave import HERE, Program

KEPT: Final = HERE / "judged.json"
BAD: Final = frozenset(("fails", "diverges", "recompiles", "crashes"))


# What a finding may say of what the compiler does with a program, besides that itself.
ALSO: Final = {"crashes": frozenset(("fails", "diverges"))}


@dataclass(frozen=True)
class Found:
    """A finding: its place with its code, and what it says that XLA does."""

    place: str
    effect: str


@dataclass(frozen=True)
class Outcome:
    """A program, what the compiler does with it, and what the linter finds that is more than a remark."""

    program: Program
    verdict: str
    found: Sequence[Found]

    @property
    def broken(self) -> bool:
        """Whether it does not even run eagerly."""
        return self.verdict.startswith("broken")

    @property
    def bad(self) -> bool:
        return self.verdict in BAD

    @property
    def missed(self) -> bool:
        return self.bad and not self.found

    @property
    def misjudged(self) -> bool:
        """Whether something is found, and nothing that says what the compiler does."""
        meant = {self.verdict} | ALSO.get(self.verdict, frozenset())
        return self.bad and bool(self.found) and meant.isdisjoint(one.effect for one in self.found)

    @property
    def wrong(self) -> bool:
        return self.verdict == "clean" and bool(self.found)


def keep(outcomes: Sequence[Outcome]) -> None:
    """Write the verdicts, with how much of them is not met."""
    judged = [outcome for outcome in outcomes if not outcome.broken]
    kept: dict[str, Any] = {
        "missed": sum(outcome.missed for outcome in judged),
        "wrong": sum(outcome.wrong for outcome in judged),
        "misjudged": sum(outcome.misjudged for outcome in judged),
        "programs": [[outcome.program.digest, outcome.verdict, *outcome.program.as_data] for outcome in judged],
    }
    lines = ",\n".join(json.dumps(row) for row in kept.pop("programs"))
    head = json.dumps(kept)[:-1]
    KEPT.write_text(f'{head}, "programs": [\n{lines}\n]}}\n', "utf-8")


@dataclass(frozen=True)
class Kept:
    """The programs with what the compiler does, and at most how many of them are missed, are flagged wrongly, and are
    found with another effect than they have."""

    missed: int
    wrong: int
    misjudged: int
    programs: list[tuple[Program, str]]


def kept() -> Kept:
    """What is kept; a program whose text is another now is left out."""
    data = json.loads(KEPT.read_text("utf-8"))
    programs = [
        (program, verdict)
        for digest, verdict, *parts in data["programs"]
        if (program := Program.of(parts)).digest == digest
    ]
    return Kept(data["missed"], data["wrong"], data["misjudged"], programs)
