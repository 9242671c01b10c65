"""`xlalint server`: the language server."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout

import click

from .console import CLEAN, FAILED, own_rules


@click.command()
@click.option("--stdio", is_flag=True, help="Use the standard input and output, which is the default.")
@own_rules
def server(stdio: bool) -> int:
    """Serve editors that speak the Language Server Protocol, on the standard input and output."""
    try:
        from ..server.serve import made
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs"):
            raise
        raise click.ClickException("the server needs pygls: pip install 'xlalint[server]'") from error
    serving = made()
    # The streams are closed in the end, and whatever else is printed must not come between the messages.
    with os.fdopen(os.dup(0), "rb") as given, os.fdopen(os.dup(1), "wb") as told, redirect_stdout(sys.stderr):
        serving.start_io(given, told)
    return CLEAN if serving.stopped else FAILED
