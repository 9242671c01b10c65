"""`xlalint facts`: what was measured of calls and operations."""

from __future__ import annotations

import re

import click

from .console import CLEAN, write


@click.command()
@click.argument("names", nargs=-1)
@click.option("--unsupported", is_flag=True, help="List the calls for which XLA has no kernel.")
@click.option("--on-tpu", is_flag=True, help="List the calls that a TPU's compiler takes otherwise than a CPU's.")
@click.option("--tensorflow", metavar="VERSION", help="The version to ask for. Default: the newest that was measured.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
def facts(names: tuple[str, ...], unsupported: bool, on_tpu: bool, tensorflow: str | None, output_format: str) -> int:
    """Print what was measured of calls (in any spelling) and operations, or list what XLA cannot compile."""
    if [unsupported, on_tpu, bool(names)].count(True) != 1:
        raise click.UsageError("name calls or operations, or ask for --unsupported or --on-tpu")
    if on_tpu and tensorflow is not None:
        raise click.UsageError("--on-tpu tells of the newest version that was measured")
    import json

    from ..facts import describe

    if tensorflow is not None and not re.fullmatch(r"\d+(\.\d+)*", tensorflow):
        raise click.UsageError(f"not a version: {tensorflow!r}")
    found = [describe.find(name, tensorflow) for name in names]
    for name, (api, op) in zip(names, found, strict=True):
        if api is None and op is None:
            raise click.UsageError(describe.unknown(name))
    if on_tpu:
        listing = describe.otherwise_record() if output_format == "json" else None
        write(describe.otherwise_on_tpu_text() if listing is None else json.dumps(listing, indent=2) + "\n")
    elif output_format == "json":
        listed = [(fact, None) for fact in describe.unsupported(tensorflow)] if unsupported else found
        write(json.dumps([describe.record(api, op) for api, op in listed], indent=2) + "\n")
    elif unsupported:
        write(describe.unsupported_text(tensorflow))
    else:
        texts = [describe.api_text(api, tensorflow) for api, _ in found if api is not None]
        texts += [describe.op_text(op) for _, op in found if op is not None]
        write("\n".join(texts))
    return CLEAN
