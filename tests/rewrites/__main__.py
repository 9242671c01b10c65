"""Try rewrites on many random programs, and print what was counted.

python -m tests.rewrites                      # 100 programs of each rewrite
python -m tests.rewrites --programs 1000 mask # only those whose name holds "mask"
"""

from __future__ import annotations

import argparse
from typing import Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from .programs import PROGRAMS
from .trial import Counts, Program, tried

_COLUMNS: Final = ("rewrite", "programs", "safe", "inputs", "agreed", "XLA's own", "compiled once", "left alone")


def counted(strategy: st.SearchStrategy[Program], number: int, start: int) -> tuple[Counts, list[str]]:
    """The counts of a number of programs, and each difference that was found."""
    counts, differences = Counts(), []

    @seed(start)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def trial(program: Program) -> None:
        try:
            tried(program, counts, seed=start)
        except AssertionError as error:
            differences.append(str(error))

    trial()
    return counts, differences


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.rewrites", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the rewrites' names; default: all")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found: list[str] = []
    print("| " + " | ".join(_COLUMNS) + " |\n|" + " --- |" * len(_COLUMNS))
    for name, strategy in PROGRAMS.items():
        if options.names and not any(part in name for part in options.names):
            continue
        counts, differences = counted(strategy, options.programs, options.seed)
        cells = (counts.programs, counts.safe, counts.inputs, counts.agreed, counts.excused, counts.once, counts.kept)
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |", flush=True)
        found += differences
    for difference in dict.fromkeys(found):
        print(f"\n{difference}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
