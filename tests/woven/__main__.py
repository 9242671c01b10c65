"""`python -m tests.woven [COUNT] [--seed N] [--keep]`: weaves pairs of programs, has the compiler and the linter judge
them, and says what is missed, flagged wrongly, or found with another effect, by step, entry, statement and number
of steps.

`--keep` records the verdicts and what is not met of them in `judged.json`, for the tests.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from .judge import by_compiler, by_linter
from .outcome import Outcome, keep
from .weave import pairs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.woven", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=500, help="pairs of programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=5, help="the most steps of a program")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true", help="name every program that is not met")
    chosen = parser.parse_args()
    programs = dict.fromkeys(program for pair in pairs(chosen.seed, chosen.count, chosen.steps) for program in pair)
    verdicts = dict(by_compiler(programs))
    found = dict(zip(verdicts, by_linter(list(verdicts)), strict=True))
    outcomes = [Outcome(program, verdict, found[program]) for program, verdict in verdicts.items()]
    report(outcomes, chosen.list)
    if chosen.keep:
        keep(outcomes)


def report(outcomes: list[Outcome], listed: bool) -> None:
    print(Counter(outcome.verdict.partition(":")[0] for outcome in outcomes))
    for reason, count in Counter(
        (part, outcome.verdict) for outcome in outcomes if outcome.broken for part in outcome.program.parts
    ).most_common(12):
        print("   broken", count, *reason)
    print("all:", rates(outcomes))
    by(outcomes, "steps", lambda outcome: [str(len(outcome.program.steps))])
    for kind in ("entry", "statement", "value", "call"):
        by(outcomes, kind, lambda outcome, kind=kind: outcome.program.names(kind))  # type: ignore[misc]
    for outcome in outcomes if listed else ():
        if outcome.missed or outcome.wrong or outcome.misjudged:
            kind = "missed" if outcome.missed else "effect" if outcome.misjudged else "wrong"
            print(f"{kind:6}", outcome.verdict, *outcome.program.parts, outcome.found)


def by(outcomes: list[Outcome], kind: str, names: Callable[[Outcome], Iterable[str]]) -> None:
    """The rates of what the names stand in, the worst first."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        for name in names(outcome):
            groups[name].append(outcome)
    print(f"\nby {kind}")
    for name, group in sorted(groups.items(), key=lambda item: (-unmet(item[1]), item[0])):
        print(f"   {name:45} {rates(group)}")


def unmet(outcomes: list[Outcome]) -> int:
    return sum(outcome.missed or outcome.wrong for outcome in outcomes)


def rates(outcomes: list[Outcome]) -> str:
    bad = [outcome for outcome in outcomes if outcome.bad]
    hits = sum(not outcome.missed for outcome in bad)
    wrong = sum(outcome.wrong for outcome in outcomes)
    recall = f"{hits / len(bad):.2f}" if bad else "-"
    precision = f"{hits / (hits + wrong):.2f}" if hits + wrong else "-"
    effect = f"{1 - sum(outcome.misjudged for outcome in bad) / hits:.2f}" if hits else "-"
    return f"recall {recall} of {len(bad)}, precision {precision}, wrong {wrong} of {len(outcomes)}, effects {effect}"


if __name__ == "__main__":
    main()
