"""Compares the trees of real files with libcst's.

    python -m tests.syntax PATH ..     # every Python file below the paths

Says of each file where the two part for the first time. What Python or libcst refuses is counted; the exit code is 1
when anything differs.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

import libcst

from tests.syntax.against import DifferenceError, compare
from xlalint.sources.reading import read_source
from xlalint.sources.text import UnreadableSource
from xlalint.syntax.expression_builder import NestedTooDeepError


def main() -> None:
    warnings.simplefilter("ignore")  # of the code that is read
    sys.setrecursionlimit(20_000)
    told, nodes = Counter[str](), 0
    given = map(Path, sys.argv[1:])
    for path in (file for one in given for file in (one, *sorted(one.rglob("*.py"))) if file.is_file()):
        told["files"] += 1
        try:
            nodes += compare(read_source(path, str(path)).text)
            told["the same"] += 1
        except (UnreadableSource, SyntaxError, ValueError, NestedTooDeepError):
            told["refused by Python or by the linter"] += 1
        except libcst.ParserSyntaxError:
            told["refused by libcst alone"] += 1
        except DifferenceError as error:
            told["different"] += 1
            print(f"{path}: {error}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in told.items()), f"{nodes} places compared", sep="; ")
    sys.exit(told["different"] > 0)


if __name__ == "__main__":
    main()
