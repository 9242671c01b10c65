"""`xlalint readiness`: the checklist of a program that is to move to a TPU."""

from __future__ import annotations

from pathlib import Path

import click

from .console import CLEAN, FAILED, FOUND, coloured, complain, own_rules, write


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@own_rules
@click.option("--output-format", type=click.Choice(("text", "json", "markdown")), default="text", help="Default: text.")
@click.option("--config", multiple=True, metavar="KEY=VALUE|FILE", help="A setting as in TOML, or a settings file.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the output.")
def readiness(paths: tuple[str, ...], output_format: str, config: tuple[str, ...], isolated: bool, color: str) -> int:
    """Say what a program in files and folders (default: the current one) still lacks to run on a TPU.

    \b
    Each line is `ok` (something was seen to be right), `attention`
    (something was found) or `not seen`. Exit codes: 0 nothing wants
    attention, 1 something does, 2 the tool could not do what was asked.
    """
    from .. import config as configuration
    from ..readiness.checklist import examine
    from ..readiness.report import FORMATS
    from ..reports.progress import progress
    from ..reports.terminal import Paint

    where = list(paths) or ["."]
    settings = configuration.load([Path(path) for path in where], options={}, config=config, isolated=isolated)
    with progress(quiet=False):
        answered = examine(where, settings)
    for problem in answered.problems:
        complain(f"{problem.path}: {problem.message}" if problem.path else problem.message)
    if answered.files_checked or output_format == "json":
        write(FORMATS[output_format](answered, Paint(coloured(color))))
    if answered.problems:
        return FAILED
    return FOUND if answered.wants_attention else CLEAN
