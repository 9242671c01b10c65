"""Repair real functions that XLA breaks as `--fix --unsafe-fixes` does, and print what became of each.

python -m tests.repairs                      # downloads the releases, prints the table
python -m tests.repairs --prove              # the same with `--prove`, which runs what it changes
python -m tests.repairs --jobs 8             # several functions at once
python -m tests.repairs --part 2/3           # the second third of them, as another machine does
python -m tests.repairs --broken             # without any fix: what XLA makes of them
python -m tests.repairs --show unwrap        # some of them, with what was changed
python -m tests.repairs --unbounded          # without what a user says of sizes that data decides (`--bound`)

A function is broken where its step with gradients, compiled, fails, gives something else than it does eagerly, or is
compiled more than once for three samples of one shape. It is repaired where none of that is left, and eager execution
gives what it gave; worse where eager execution gives something else, what compiled well no longer does, or what
failed now gives something else. Under a bound, results may be padded at the end. Verdicts are kept beside the
downloads, by the text that was judged: a run that was stopped goes on, and what no fix changes is not run again.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from .fetched import Function, functions
from .runs import Row, row


def chosen(names: Sequence[str], group: str | None, part: tuple[int, int]) -> list[Function]:
    """The functions whose names contain one of these (all, if there are none), of a group, and of them every n-th."""
    found = [
        one
        for one in functions()
        if (not names or any(text in one.name for text in names)) and group in (None, one.group)
    ]
    return found[part[0] - 1 :: part[1]]


def _part(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not like 2/3")
    return int(found[1]), int(found[2])


def line(function: Function, found: Row, *, proven: bool) -> str:
    """A line of the table."""
    cells = [", ".join(found.fixed.rules), found.verdict, found.before, found.after]
    if proven:
        cells.insert(2, "; ".join(found.fixed.said))
    texts = [text.replace("|", "/").replace("\n", " ")[:90] for text in cells]
    return f"| {' | '.join([function.package.partition('==')[0], function.name, *texts])} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.repairs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the functions' names; default: all")
    parser.add_argument("--broken", action="store_true", help="make no fix")
    parser.add_argument("--prove", action="store_true", help="apply only what the compiler confirms")
    parser.add_argument("--unbounded", action="store_true", help="say nothing of sizes (`--bound`)")
    parser.add_argument("--group", help="only those that were chosen together")
    parser.add_argument("--jobs", type=int, default=1, help="how many functions at once")
    parser.add_argument("--part", type=_part, default=(1, 1), help="a share of the functions, such as 2/3")
    parser.add_argument("--show", action="store_true", help="print what was changed, too")
    options = parser.parse_args()
    counts, groups = Counter[str](), dict[str, Counter[str]]()
    heads = ["package", "function", "flagged", "verdict", "XLA, before", "after"]
    if options.prove:
        heads.insert(4, "proofs")
    print(f"| {' | '.join(heads)} |\n|" + " --- |" * len(heads))
    wanted = chosen(options.names, options.group, options.part)
    for function in wanted:
        assert function.code  # downloaded once, before several ask for it
    asked = partial(row, bounded=not options.unbounded, proven=options.prove, broken=options.broken)
    with ProcessPoolExecutor(options.jobs) as pool:
        for function, found in zip(wanted, pool.map(asked, wanted), strict=True):
            counts[found.verdict] += 1
            groups.setdefault(function.group, Counter())[found.verdict] += 1
            print(line(function, found, proven=options.prove), flush=True)
            if options.show:
                texts = (function.code.splitlines(True), found.fixed.code.splitlines(True))
                print("".join(difflib.unified_diff(*texts, n=1)), *found.fixed.said, sep="\n")
    for group, kinds in (*groups.items(), ("all", counts)):
        print(f"\n{group}: {dict(kinds)}", end="")
    print()
    return 1 if counts["worse"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
