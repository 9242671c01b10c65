"""`xlalint report`: what there is to find, as a page for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .console import CLEAN, FAILED, complain, own_rules, write


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--html", required=True, type=click.Path(), metavar="FILE", help="The file to write; `-`: print it.")
@click.option("--title", metavar="TEXT", help="The title of the page. Default: the name of the folder.")
@click.option("--diff-base", metavar="REV", help="Report only what the changes since a Git revision introduce.")
@click.option("--no-baseline", is_flag=True, help="Also report findings recorded in the baseline of the settings.")
@own_rules
@click.option("--config", multiple=True, metavar="KEY=VALUE|FILE", help="A setting in TOML syntax, or a settings file.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
def report(paths: tuple[str, ...], **given: Any) -> int:
    """Write a page about files and folders (default: the current one) that a browser shows without a network.

    \b
    Exit codes: 0 the page is written, 2 something could not be done.
    """
    from ..api import lint_paths
    from ..reports.page.page import whole_page
    from ..reports.progress import progress
    from ..reports.terminal import counted
    from ..settings import config
    from ..sources.lines import line_reader
    from ..sources.write import write_named
    from .narrowing import narrowing

    where = list(paths) or ["."]
    settings = config.load([Path(path) for path in where], config=given["config"], isolated=given["isolated"])
    narrow = narrowing(where, settings, given)
    with progress(quiet=False):
        found = narrow(lint_paths(where, settings), {})
    for problem in found.problems:
        complain(f"{problem.path}: {problem.message}" if problem.path else problem.message)
    page = whole_page(found, line_reader({}), given["title"] or Path.cwd().name or "/")
    if given["html"] == "-":
        write(page)
        return FAILED if found.problems else CLEAN
    try:
        write_named(Path(given["html"]), page.encode("utf-8", "backslashreplace"))
    except OSError as error:
        complain(f"{given['html']}: {error.strerror or error}")
        return FAILED
    write(f"Wrote {counted(len(found.findings), 'finding')} to {given['html']}.\n")
    return FAILED if found.problems else CLEAN
