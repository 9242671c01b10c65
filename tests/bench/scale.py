"""Measures how time and memory grow with the number of files, on trees made of copies of real packages.

    python -m tests.bench.scale [--counts 1000 10000 ..] [--jobs N] [--plot FILE.svg] PACKAGE ..

A tree holds as many copies of the packages (folders) as it takes; in each copy the packages have names of their own,
and so do the imports between their files. It is made below a temporary folder, linted cold and then once more, where
the cache answers, and deleted. Whole processes are timed, by their processor time, which other work on the machine
disturbs less.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from .run import Contender, Run, timed


@dataclass(frozen=True, slots=True)
class Point:
    """What a number of files cost."""

    files: int
    megabytes: float  # of text
    cold: Run
    warm: Run


def copies(packages: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Files without end: their paths, and their texts."""
    own = re.compile(rf"(?<!\w)({'|'.join(re.escape(package.name) for package in packages)})(?!\w)")
    given = [(package, file) for package in packages for file in sorted(package.rglob("*.py")) if file.is_file()]
    texts = [(package, file, file.read_text("utf-8", "replace")) for package, file in given]
    for number in count():
        for package, file, text in texts:
            path = f"{package.name}_{number}/{file.relative_to(package)}"
            yield path, own.sub(lambda found, number=number: f"{found[1]}_{number}", text)  # type: ignore[misc]


def grown(folder: Path, packages: Sequence[Path], counts: Sequence[int], jobs: int) -> Iterator[Point]:
    """A tree in a folder grows from count to count, and is linted each time."""
    made, size, files = 0, 0, copies(packages)
    for wanted in sorted(counts):
        while made < wanted:
            name, text = next(files)
            path = folder / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            made, size = made + 1, size + len(text)
        command = [sys.executable, "-m", "xlalint", "check", "--isolated", "--quiet", "--output-format", "json"]
        command += ["--jobs", str(jobs), "--cache-dir", str(folder / "cache"), str(folder / "tree")]
        shutil.rmtree(folder / "cache", ignore_errors=True)
        cold, warm = (timed(Contender(name, command)) for name in ("cold", "warm"))
        yield Point(made, size / 1e6, cold, warm)


def svg(points: Sequence[Point]) -> str:
    """The plot of seconds and of megabytes over the number of files; both axes begin at zero."""
    panels = (
        ("processor time, cold", "s", [point.cold.processor for point in points]),
        ("processor time, nothing changed", "s", [point.warm.processor for point in points]),
        ("largest process, cold", "MB", [point.cold.megabytes for point in points]),
    )
    width, height, most = 220, 150, max(point.files for point in points)
    parts = []
    for number, (title, unit, values) in enumerate(panels):
        top = max(values)
        locations = [
            (point.files / most * width, height - value / top * height)
            for point, value in zip(points, values, strict=True)
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in locations)
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in locations)
        parts.append(
            f'<g transform="translate({20 + number * (width + 60)},40)">'
            f'<text x="0" y="-18" font-weight="bold">{title}</text><text x="0" y="-3">{top:.3g} {unit}</text>'
            f'<path d="M0 0V{height}H{width}" fill="none" stroke="#999"/>'
            f'<polyline points="0,{height} {line}" fill="none" stroke="#2563eb" stroke-width="2"/>'
            f'<g fill="#2563eb">{dots}</g><text x="0" y="{height + 16}">0</text>'
            f'<text x="{width}" y="{height + 16}" text-anchor="end">{most:,} files</text></g>'
        )
    whole = len(panels) * (width + 60)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height + 70}" width="{whole}" '
        f'font-family="sans-serif" font-size="12" fill="#555">{"".join(parts)}</svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[3_000, 10_000, 30_000, 100_000])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the plot as SVG")
    parser.add_argument("packages", nargs="+", type=Path, metavar="PACKAGE")
    options = parser.parse_args()

    points = []
    print(
        "| files | MB | cold, processor s | s per 1000 files | largest process | warm, processor s | largest process |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for point in grown(Path(folder), options.packages, options.counts, options.jobs):
            points.append(point)
            cold, warm = point.cold, point.warm
            print(
                f"| {point.files:,} | {point.megabytes:.0f} | {cold.processor:.1f} | "
                f"{cold.processor / point.files * 1000:.2f} | {cold.megabytes:.0f} MB | {warm.processor:.1f} | "
                f"{warm.megabytes:.0f} MB |",
                flush=True,
            )
    if options.plot is not None:
        options.plot.write_text(svg(points), "utf-8")


if __name__ == "__main__":
    main()
