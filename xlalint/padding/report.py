"""The ways to pad side by side: as text, as JSON, as a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..reports.terminal import Paint, joined, safe
from .advice import code_of
from .lengths import Histogram
from .plans import Plan, Prices, Way

VERSION = 1
_SHOWN_BUCKETS = frozenset((2, 4, 8, 16, 32, 64))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, and the plan that costs least. `origin`: where the prices are from."""

    name: str
    histogram: Histogram
    plans: Sequence[Plan]
    prices: Prices
    origin: str

    @property
    def best(self) -> Plan:
        """The plan with the least expected cost; of equal ones that with fewer compilations."""
        return min(self.plans, key=lambda plan: (self.prices.total(plan), plan.compilations))

    @property
    def shown(self) -> list[Plan]:
        """The plans worth a line: not each number of buckets."""
        return [
            plan
            for plan in self.plans
            if plan.way is not Way.BUCKETS or plan.count in _SHOWN_BUCKETS or plan is self.best
        ]


class PlotError(Exception):
    """Why there is no picture; one line."""


def text_report(comparison: Comparison, paint: Paint) -> str:
    """A table, what it rests on, and the best plan as code."""
    prices, best = comparison.prices, comparison.best
    rows = [("padding", "compilations", "padding tokens", "to compile", "to compute", "expected cost")]
    rows += [
        (
            plan.name,
            f"{plan.compilations:,}",
            f"{plan.padding_percent:.1f} %",
            duration(prices.compiling(plan)),
            duration(prices.computing(plan)),
            duration(prices.total(plan)) + (" <- least" if plan is best else ""),
        )
        for plan in comparison.shown
    ]
    widths = [max(len(row[column].removesuffix(" <- least")) for row in rows) for column in range(len(rows[0]))]
    lines = [*_described(comparison), ""]
    for row in rows:
        first, *others = row
        cells = [f"{cell.removesuffix(' <- least'):>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        line = "  ".join([f"{first:<{widths[0]}}", *cells]) + (" <- least" if row[-1].endswith("least") else "")
        lines.append(paint(line, "bold") if row[-1].endswith("least") else line)
    epochs = f", {prices.epochs} epochs" if prices.epochs > 1 else ""
    lines += [
        "",
        f"Expected cost: {_seconds(prices.compile_seconds)} for each compilation and {_seconds(prices.token_seconds)}"
        f" for each token{epochs} ({comparison.origin}).",
    ]
    for reader, code in code_of(best).items():
        lines += ["", paint(f"{best.name}, for {reader}:", "bold"), "", *(f"    {x}" for x in code.splitlines())]
    return joined(line.rstrip() for line in lines)


def _described(comparison: Comparison) -> list[str]:
    histogram = comparison.histogram
    spans = []
    for index in range(histogram.columns):
        column = histogram.column(index)
        mean = sum(length * times for length, times in column.items()) / histogram.total
        spans.append(f"{min(column):,} to {max(column):,}, {mean:,.1f} on average, {len(column):,} different ones")
    return [f"{safe(comparison.name)}: {_counted(histogram)}: {'; '.join(spans)}"]


def _counted(histogram: Histogram) -> str:
    return f"{histogram.total:,} {'lengths' if histogram.columns == 1 else 'pairs of lengths'}"


def duration(seconds: float) -> str:
    """Seconds as a person counts them, in two figures or more: `0.83 s`, `12 s`, `3.4 min`, `12 h`."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size * 59.5 / 60:
            return f"{seconds / size:.1f} {unit}" if seconds < 10 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def _seconds(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def json_report(comparison: Comparison) -> str:
    """The same for programs; every plan is in it."""
    histogram, prices = comparison.histogram, comparison.prices
    columns = [histogram.column(index) for index in range(histogram.columns)]
    document = {
        "version": VERSION,
        "lengths": {
            "source": comparison.name,
            "count": histogram.total,
            "columns": [
                {
                    "shortest": min(column),
                    "longest": max(column),
                    "mean": sum(length * times for length, times in column.items()) / histogram.total,
                    "distinct": len(column),
                }
                for column in columns
            ],
        },
        "prices": {
            "compile_seconds": prices.compile_seconds,
            "token_seconds": prices.token_seconds,
            "epochs": prices.epochs,
            "origin": comparison.origin,
        },
        "plans": [_plan(plan, prices) for plan in comparison.plans],
        "best": {**_plan(comparison.best, prices), "code": code_of(comparison.best)},
    }
    return json.dumps(document, indent=2) + "\n"


def _plan(plan: Plan, prices: Prices) -> dict[str, Any]:
    return {
        "name": plan.name,
        "way": plan.way,
        "count": plan.count or None,
        "sizes": plan.sizes if plan.way in (Way.MAXIMUM, Way.BUCKETS) else None,
        "compilations": plan.compilations,
        "tokens": plan.tokens,
        "padding_tokens": plan.padding,
        "padding_percent": round(plan.padding_percent, 4),
        "compile_seconds": prices.compiling(plan),
        "compute_seconds": prices.computing(plan),
        "cost_seconds": prices.total(plan),
    }


def plot(comparison: Comparison, file: Path) -> None:
    """Draw compilations against padding, with the cost in colour; the name's ending says in which format.

    Raises PlotError where matplotlib is missing or cannot write the file.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise PlotError(f"--plot needs matplotlib ({error}): pip install 'xlalint[plot]'") from error
    matplotlib.use("agg")
    from matplotlib import pyplot

    best = comparison.best
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for ways, label, style in (
        ((Way.MAXIMUM, Way.BUCKETS), "best buckets", "o-"),
        ((Way.MULTIPLES,), "multiples", "s--"),
        ((Way.NONE,), "none", "D"),
    ):
        plans = [plan for plan in comparison.plans if plan.way in ways]
        points = [(plan.compilations, plan.padding_percent) for plan in plans]
        axes.plot(*zip(*points, strict=True), style, label=label, markersize=4, linewidth=1)
        for plan, point in zip(plans, points, strict=True):
            if plan.way in (Way.MAXIMUM, Way.MULTIPLES):
                text = plan.name.removeprefix("multiples of ")
                axes.annotate(text, point, textcoords="offset points", xytext=(5, 5), fontsize=8)
    axes.plot(
        [best.compilations],
        [best.padding_percent],
        "*",
        color="black",
        markersize=13,
        label=f"least cost: {best.name}, {duration(comparison.prices.total(best))}",
    )
    axes.set_xscale("log")
    axes.set_xlabel("compilations")
    axes.set_ylabel("padding, percent of all tokens")
    axes.set_title(_counted(comparison.histogram), fontsize=10)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    try:
        figure.savefig(file)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).split(" (supported")[0]
        raise PlotError(f"{file}: {reason}") from error
    finally:
        pyplot.close(figure)
