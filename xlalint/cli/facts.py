"""`xlalint facts`: what was measured of calls and operations."""

from __future__ import annotations

import re

import click

from .console import CLEAN, write


@click.command()
@click.argument("names", nargs=-1)
@click.option("--unsupported", is_flag=True, help="List the calls for which XLA has no kernel.")
@click.option("--tensorflow", metavar="VERSION", help="The version to ask for. Default: the newest that was measured.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
def facts(names: tuple[str, ...], unsupported: bool, tensorflow: str | None, output_format: str) -> int:
    """Print what was measured of calls (in any spelling) and operations, or list what XLA cannot compile."""
    if unsupported == bool(names):
        raise click.UsageError("name calls or operations, or ask for --unsupported")
    import json

    from ..facts import describe

    if tensorflow is not None and not re.fullmatch(r"\d+(\.\d+)*", tensorflow):
        raise click.UsageError(f"not a version: {tensorflow!r}")
    found = [describe.find(name, tensorflow) for name in names]
    for name, (api, op) in zip(names, found, strict=True):
        if api is None and op is None:
            raise click.UsageError(describe.unknown(name))
    if output_format == "json":
        listed = [(fact, None) for fact in describe.unsupported(tensorflow)] if unsupported else found
        write(json.dumps([describe.record(api, op) for api, op in listed], indent=2) + "\n")
    elif unsupported:
        write(describe.unsupported_text(tensorflow))
    else:
        texts = [describe.api_text(api, tensorflow) for api, _ in found if api is not None]
        texts += [describe.op_text(op) for _, op in found if op is not None]
        write("\n".join(texts))
    return CLEAN
