"""`xlalint docs`: the documentation of the installed version."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from .console import CLEAN, FAILED, complain, write


@click.command()
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER", help="Build it in this folder."
)
@click.option("--no-open", is_flag=True, help="Only print its location.")
def docs(output: Path | None, no_open: bool) -> int:
    """Build the documentation, unless it is built, and open it in a browser.

    Needs the packages of `xlalint[docs]`, no network and no server. With --output it is always built, and not opened.

    \b
    Exit codes: 0 it is there, 2 it cannot be built.
    """
    from ..docs.build import DocumentationError, build
    from ..docs.place import built, home

    front = None if output is not None else built()
    try:
        front = front or build(output or home())
    except DocumentationError as error:
        complain(str(error))
        return FAILED
    write(f"{front}\n")
    if output is None and not no_open:
        webbrowser.open(front.as_uri())
    return CLEAN
