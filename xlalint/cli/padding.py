"""`xlalint padding`: from the lengths of sequences to how to pad them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

import click

from .console import CLEAN, coloured, write

# Seen on two CPU cores with TensorFlow 2.21: the training step of a transformer of 4 layers and width 256, batch of 8.
_COMPILE_SECONDS: Final = 3.0
_TOKEN_SECONDS: Final = 0.000_25
_PRICE: Final = click.FloatRange(min=0)


@click.command()
@click.argument("lengths", type=click.Path())
@click.option("--column", multiple=True, metavar="NAME", help="A column of CSV or key of JSON lines; twice for pairs.")
@click.option("--compile-seconds", type=_PRICE, help=f"Seconds to compile one shape. Default: {_COMPILE_SECONDS:g}.")
@click.option("--token-seconds", type=_PRICE, help=f"Seconds to compute one token. Default: {_TOKEN_SECONDS:g}.")
@click.option("--epochs", type=click.IntRange(min=1), default=1, help="Number of epochs. Default: 1.")
@click.option("--buckets", type=click.IntRange(2, 64), default=16, help="The most buckets to try. Default: 16.")
@click.option("--measure", metavar="MODULE:FUNCTION", help="Run FUNCTION(length) on the CPU to measure both costs.")
@click.option("--batch-size", type=click.IntRange(min=1), default=1, help="Sequences in FUNCTION's batch. Default: 1.")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=600.0, help="Seconds for --measure. Default: 600.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw a plot: .svg, .png or .pdf.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the output.")
def padding(
    lengths: str,
    column: tuple[str, ...],
    compile_seconds: float | None,
    token_seconds: float | None,
    epochs: int,
    buckets: int,
    measure: str | None,
    batch_size: int,
    timeout: float,
    plot: Path | None,
    output_format: str,
    color: str,
) -> int:
    """Compare the ways to pad sequences of given lengths.

    LENGTHS is a file, or `-` for the standard input: one length a line, or two for pairs (source and target).
    For each way to pad: how many shapes XLA compiles, how many tokens are padding, and the expected cost. Each sequence
    is counted as if padded by itself; batches of similar lengths come close to that.

    \b
    The default prices were measured on a CPU. An accelerator computes a token much faster
    than that and compiles no faster: give your own, or measure them.
    """
    from ..padding.lengths import LengthsError, read_lengths
    from ..padding.measure import MeasureError
    from ..padding.measure import measure as run
    from ..padding.plans import Prices, plans_of
    from ..padding.report import Comparison, PlotError, json_report, text_report
    from ..padding.report import plot as draw
    from ..reports.terminal import Paint

    if len(column) > 2:
        raise click.UsageError("--column is given once, or twice for pairs")
    if measure is not None and (compile_seconds is not None or token_seconds is not None):
        raise click.UsageError("--measure replaces --compile-seconds and --token-seconds")
    name = "standard input" if lengths == "-" else lengths
    try:
        with _opened(lengths) as stream:
            histogram = read_lengths(stream, name, column)
        if measure is not None:
            measured = run(measure, histogram, batch_size, timeout)
            prices = Prices(measured.compile_seconds, measured.token_seconds, epochs)
            origin = f"measured with {measure}"
        else:
            prices = Prices(
                _COMPILE_SECONDS if compile_seconds is None else compile_seconds,
                _TOKEN_SECONDS if token_seconds is None else token_seconds,
                epochs,
            )
            given = (compile_seconds is not None) + (token_seconds is not None)
            origin = ("the defaults: a small transformer on a CPU", "one given, one the default", "as given")[given]
        comparison = Comparison(name, histogram, plans_of(histogram, buckets), prices, origin)
        if plot is not None:
            draw(comparison, plot)
    except (LengthsError, MeasureError, PlotError) as error:
        raise click.ClickException(str(error)) from error
    write(json_report(comparison) if output_format == "json" else text_report(comparison, Paint(coloured(color))))
    return CLEAN


@contextmanager
def _opened(path: str) -> Iterator[io.BufferedReader]:
    """The file, or the standard input."""
    if path == "-":
        yield cast(io.BufferedReader, sys.stdin.buffer)
        return
    try:
        if os.path.isdir(path):
            raise click.ClickException(f"{path}: is a directory")
        with open(path, "rb") as stream:
            yield stream
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error
