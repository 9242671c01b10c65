"""Measures how the cost of one function grows with the number of its callers.

    python -m tests.bench.callers [--counts 1 8 64 ..] [--plot FILE.svg]

A program has one function of forty statements, and callers that each pass an object of a class of their own, so that
no two calls are alike: from host code, from functions that nobody calls, from plain `tf.function`s, or from compiled
code. Told are the executions of the function and their processor time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from xlalint.analysis.interpreter.frames import Frame
from xlalint.analysis.interpreter.functions import Functions
from xlalint.linter.run import check
from xlalint.settings.config import Settings

DECORATORS: Final = {"host": "", "open": "", "graph": "@tf.function\n", "xla": "@tf.function(jit_compile=True)\n"}
_STATEMENTS: Final = 40
_COLOURS: Final = {"host": "#2563eb", "open": "#ca8a04", "graph": "#16a34a", "xla": "#dc2626"}


def program(callers: int, kind: str, statements: int = _STATEMENTS) -> str:
    """A module in which so many callers of a kind call one function."""
    body = "".join(f"    x = tf.reshape(tf.matmul(x, x + part.size), [-1, {number}])\n" for number in range(statements))
    parts = [
        f"class Part{number}:\n    size = {number}\n\n\n"
        f"{DECORATORS[kind]}def caller{number}(x):\n    return common(Part{number}(), x)\n\n\n"
        for number in range(callers)
    ]
    calls = "".join(f"    caller{number}(tf.ones([2, 2]))\n" for number in range(callers))
    main = "" if kind == "open" else f"def main():\n{calls}\n\nif __name__ == '__main__':\n    main()\n"
    return f"import tensorflow as tf\n\n\ndef common(part, x):\n{body}    return x\n\n\n{''.join(parts)}{main}"


@dataclass(slots=True)
class Cost:
    """What one function cost."""

    executions: int = 0
    seconds: float = 0.0


def cost(folder: Path, text: str) -> Cost:
    """That of the function in a program."""
    (folder / "program.py").write_text(text, "utf-8")
    found, real = Cost(), Functions._run

    def measuring(self: Functions, frame: Frame, node: Any, env: Any) -> None:
        started = time.process_time()
        real(self, frame, node, env)
        if frame.summary.name == "common":
            found.executions += 1
            found.seconds += time.process_time() - started

    Functions._run = measuring  # type: ignore[method-assign]
    try:
        check([folder], Settings(jobs=1, file_timeout=3600))
    finally:
        Functions._run = real  # type: ignore[method-assign]
    return found


def svg(counts: Sequence[int], rows: dict[str, list[Cost]]) -> str:
    """The plot of milliseconds over the number of callers, a line a kind; both axes begin at zero."""
    width, height, most = 420, 180, max(counts)
    top = max(one.seconds for row in rows.values() for one in row)
    lines = []
    for number, (kind, row) in enumerate(rows.items()):
        points = [
            f"{count / most * width:.1f},{height - one.seconds / top * height:.1f}"
            for count, one in zip(counts, row, strict=True)
        ]
        lines.append(
            f'<polyline points="0,{height} {" ".join(points)}" fill="none" stroke="{_COLOURS[kind]}" stroke-width="2"/>'
            f'<text x="{width + 8}" y="{14 + 18 * number}" fill="{_COLOURS[kind]}">{kind}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 80} {height + 70}" width="{width + 80}" '
        f'font-family="sans-serif" font-size="12" fill="#555"><g transform="translate(20,30)">'
        f'<text x="0" y="-12" font-weight="bold">one function, processor time: {top * 1000:.0f} ms</text>'
        f'<path d="M0 0V{height}H{width}" fill="none" stroke="#999"/>{"".join(lines)}'
        f'<text x="{width}" y="{height + 16}" text-anchor="end">{most} callers</text></g></svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 8, 16, 24, 32, 64, 96, 128, 192])
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the plot as SVG")
    options = parser.parse_args()
    rows: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in DECORATORS:
            rows[kind] = [cost(Path(folder), program(callers, kind)) for callers in options.counts]
    print(f"| callers | {' | '.join(rows)} |")
    print("| --- " * (len(rows) + 1) + "|")
    for at, callers in enumerate(options.counts):
        cells = [f"{row[at].executions}, {row[at].seconds * 1e3:.0f} ms" for row in rows.values()]
        print(f"| {callers} | {' | '.join(cells)} |")
    if options.plot is not None:
        options.plot.write_text(svg(options.counts, rows), "utf-8")


if __name__ == "__main__":
    main()
