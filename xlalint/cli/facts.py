"""`xlalint facts`: what was measured of calls and operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .console import CLEAN, FAILED, complain, write

if TYPE_CHECKING:
    from ..facts.tables import ApiFact, OpFact


@click.command()
@click.argument("names", nargs=-1)
@click.option("--unsupported", is_flag=True, help="List the calls for which XLA has no kernel.")
@click.option("--on-tpu", is_flag=True, help="List the calls that compile differently for a TPU than for a CPU.")
@click.option(
    "--constructs",
    is_flag=True,
    help="List what XLA does with constructs: all, those named, or those of a rule (XLA205).",
)
@click.option("--on-gpu", is_flag=True, help="List the calls that behave differently on a GPU than on a CPU.")
@click.option("--open", "opened", is_flag=True, help="Open the pages of the calls in a browser.")
@click.option("--tensorflow", metavar="VERSION", help="The TensorFlow version. Default: the newest measured one.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="Default: text.")
def facts(
    names: tuple[str, ...],
    unsupported: bool,
    on_tpu: bool,
    on_gpu: bool,
    constructs: bool,
    opened: bool,
    tensorflow: str | None,
    output_format: str,
) -> int:
    """Print what was measured for calls (in any spelling) and operations, or list what XLA cannot compile."""
    if opened and (constructs or not names):
        raise click.UsageError("--open needs the names of calls or operations")
    if [unsupported, on_tpu, on_gpu, constructs or bool(names)].count(True) != 1:
        raise click.UsageError("name calls or operations, or ask for --unsupported, --on-tpu, --on-gpu or --constructs")
    if (on_tpu or on_gpu or constructs) and tensorflow is not None:
        asked = "--on-tpu" if on_tpu else "--on-gpu" if on_gpu else "--constructs"
        raise click.UsageError(f"{asked} shows the newest measured version only")
    if constructs:
        write(_of_constructs(names, output_format))
        return CLEAN
    import json

    from ..facts import describe

    if tensorflow is not None and not re.fullmatch(r"\d+(\.\d+)*", tensorflow):
        raise click.UsageError(f"not a version: {tensorflow!r}")
    found = [describe.find(name, tensorflow) for name in names]
    for name, (api, op) in zip(names, found, strict=True):
        if api is None and op is None:
            raise click.UsageError(describe.unknown(name))
    if opened:
        return _open(found)
    if on_tpu or on_gpu:
        listing = describe.otherwise_record("tpu" if on_tpu else "gpu") if output_format == "json" else None
        said = describe.otherwise_on_tpu_text if on_tpu else describe.otherwise_on_gpu_text
        write(said() if listing is None else json.dumps(listing, indent=2) + "\n")
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


def _open(found: Sequence[tuple[ApiFact | None, OpFact | None]]) -> int:
    """Print where the pages are, on the web or in the copy that is built here, and open them."""
    import webbrowser

    from ..docs.place import address
    from ..findings.site import call_page, operation_page

    for api, op in found:
        where = address(call_page(api.name) if api is not None else operation_page(op.name if op is not None else ""))
        if where is None:
            complain("the documentation is not built: `xlalint docs` builds it")
            return FAILED
        write(f"{where}\n")
        webbrowser.open(where)
    return CLEAN


def _of_constructs(words: tuple[str, ...], output_format: str) -> str:
    """All constructs, or those that words are about."""
    import json

    from ..facts.constructs import constructs, listing

    chosen = {word: listing.chosen(word) for word in words}
    for word, found in chosen.items():
        if not found:
            raise click.UsageError(f"no construct is about {word!r}: `xlalint facts --constructs` lists all")
    wanted = list(dict.fromkeys(one for found in chosen.values() for one in found))
    if output_format == "json":
        return json.dumps(listing.records(wanted or constructs()), indent=2) + "\n"
    return listing.details(wanted) if words else listing.overview()
