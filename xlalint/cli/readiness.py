"""`xlalint readiness`: the checklist of a program that is to move to a TPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .console import CLEAN, FAILED, FOUND, INTERRUPTED, coloured, complain, own_rules, write
from .probe import cluster_option, running, sandbox_option, telling

if TYPE_CHECKING:
    from ..probe.verdicts import Run
    from ..readiness.checklist import Readiness
    from ..settings.config import Settings

_OF_THE_PROBE: Final = ("python", "topology", "batch", "timeout", "memory", "sandbox", "cluster")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@own_rules
@click.option("--prove", is_flag=True, help="Also run the code, and compile it for a TPU.")
@click.option(
    "--python", metavar="INTERPRETER", help="The interpreter whose packages the code uses. Default: this one."
)
@click.option("--topology", metavar="TPU", help="The TPU to compile for. Default: v5e:2x2.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Batch size on the TPU.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), metavar="S", help="Seconds for each function. Default: 1800."
)
@click.option("--memory", type=click.IntRange(1), metavar="MB", help="Memory limit of a process. Default: 12288.")
@sandbox_option
@cluster_option
@click.option("--no-cache", is_flag=True, help="With --prove: do not read or write verdicts of earlier runs.")
@click.option("--output-format", type=click.Choice(("text", "json", "markdown")), default="text", help="Default: text.")
@click.option("--config", multiple=True, metavar="KEY=VALUE|FILE", help="A setting in TOML syntax, or a settings file.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the output.")
def readiness(paths: tuple[str, ...], prove: bool, output_format: str, color: str, **given: Any) -> int:
    """Check what a program in files and folders (default: the current one) still needs to run on a TPU.

    \b
    Each line is `ok` (something was seen to be right), `attention`
    (something was found) or `not seen`. Exit codes: 0 nothing wants
    attention, 1 something does, 2 the tool could not do what was asked
    (with --prove also: something was not compiled).
    """

    from ..readiness.checklist import examine
    from ..readiness.report import FORMATS
    from ..reports.progress import progress
    from ..reports.terminal import Paint
    from ..settings import config as configuration

    where = list(paths) or ["."]
    table = {name: given[name] for name in _OF_THE_PROBE if given[name] is not None}
    if table and not prove:
        raise click.UsageError(f"--{next(iter(table))} is for --prove")
    options = {"probe": table} if table else {}
    files = [Path(path) for path in where]
    settings = configuration.load(
        files, options=options, config=given["config"], isolated=given["isolated"], cached=not given["no_cache"]
    )
    with progress(quiet=False):
        answered = examine(where, settings)
    ended = CLEAN
    if prove:
        answered, ended = _proven(answered, where, settings)
    for problem in answered.problems:
        complain(f"{problem.path}: {problem.message}" if problem.path else problem.message)
    if answered.files_checked or output_format == "json":
        write(FORMATS[output_format](answered, Paint(coloured(color))))
    if answered.problems or ended:
        return ended or FAILED
    return FOUND if answered.wants_attention else CLEAN


def _proven(readiness: Readiness, paths: Sequence[str], settings: Settings) -> tuple[Readiness, int]:
    """The list with what a TPU's compiler says, and the exit code where it did not say everything."""
    from dataclasses import replace

    from ..probe.process import ProbeUnavailableError
    from ..probe.running import check_available
    from ..probe.verdicts import NOT_RUN
    from ..readiness.proof import planned, prove, with_proofs

    try:
        check_available(replace(settings.probe, target="tpu"))
        job = planned(readiness, paths, settings)
        with running(len(job.targets), len(job.targets), quiet=False) as advance:

            def heard(run: Run) -> None:
                advance()

            proofs = prove(job, settings, heard, telling(quiet=False))
    except ProbeUnavailableError as error:
        complain(f"nothing was compiled for a TPU: {error}")
        return with_proofs(readiness, (), settings, str(error)), FAILED
    if proofs.trouble:
        complain(proofs.trouble)
    ended = CLEAN if proofs.complete else INTERRUPTED
    if proofs.complete and (not proofs.found or any(proof.outcome == NOT_RUN for proof in proofs.found)):
        ended = FAILED
    return with_proofs(readiness, proofs.found, settings), ended
