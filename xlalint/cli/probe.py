"""`xlalint probe`: functions are run on the compiler; and what `xlalint check --probe` shares with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .console import CLEAN, FAILED, FOUND, INTERRUPTED, coloured, complain, own_rules, split, write

if TYPE_CHECKING:
    from ..findings.findings import Report
    from ..probe.checking import Job
    from ..probe.target import Target
    from ..probe.targets import Targets
    from ..probe.verdicts import Run
    from ..settings.config import Settings

_FORMATS: Final = ("full", "json")
_TARGETS: Final = ("cpu", "gpu", "tpu")
_WELL: Final = frozenset(("compiles", "bounded", "tpu-bounded"))


sandbox_option = click.option(
    "--sandbox",
    is_flag=True,
    default=None,
    help="Run the code without network, with write access to its own folder only (needs bubblewrap).",
)

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Run the code on the workers of this Dask scheduler (tcp://host:8786); `local` starts one here.",
)


def probe_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options about how the probe runs code."""
    options = (
        click.option("--python", metavar="INTERPRETER", help="The interpreter that runs the code. Default: this one."),
        click.option(
            "--timeout",
            type=click.FloatRange(0, min_open=True),
            metavar="S",
            help="Seconds of the processor for each function. Default: 60; for a TPU 1800.",
        ),
        click.option(
            "--target",
            type=click.Choice(_TARGETS),
            help="The device that the code is for: it decides severities, and the probe also compiles for it. Default: "
            "cpu; for `check` cpu and gpu, and tpu if the program creates a TPU strategy.",
        ),
        click.option("--topology", metavar="TPU", help="The TPU to compile for. Default: v5e:2x2."),
        click.option("--batch", type=click.IntRange(1), metavar="N", help="Batch size on the TPU."),
        click.option(
            "--memory",
            type=click.IntRange(1),
            metavar="MB",
            help="Memory limit of a process that runs code. Default: 4096; for a TPU 12288.",
        ),
        sandbox_option,
        cluster_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def probe_settings(given: dict[str, Any]) -> dict[str, Any]:
    """What `probe_options` say, as the table of the settings."""
    return {
        key: given[key]
        for key in ("python", "timeout", "target", "topology", "batch", "memory", "sandbox", "cluster")
        if given[key] is not None
    }


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="FILE[::QUALNAME]...")
@own_rules
@click.option("--inputs", metavar="INPUTS", help="Inputs of the function: 'x: f32[8, 128], training = True'.")
@probe_options
@click.option(
    "--backend",
    multiple=True,
    metavar="BACKENDS",
    help="What Keras 3 runs on: tensorflow, jax, or both. Default: auto, as the program shows.",
)
@click.option("--output-format", type=click.Choice(_FORMATS), default="full", help="Default: full.")
@click.option("--config", multiple=True, metavar="KEY=VALUE|FILE", help="A setting in TOML syntax, or a settings file.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--no-cache", is_flag=True, help="Do not read or write verdicts of earlier runs.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the output.")
@click.option("-q", "--quiet", is_flag=True, help="Print results only.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks of internal errors.")
def probe(places: tuple[str, ...], **given: Any) -> int:
    """RUN functions on the real compiler, and report what XLA does with them.

    FILE::QUALNAME is a function, a method (`Layer.call`) or a class; FILE alone is everything in it that uses tensors.
    The file is imported and the functions are executed, in processes of their own with limits of time and memory.

    \b
    Exit codes: 0 all compile and equal eager execution, 1 something fails, diverges or recompiles for every value,
    2 something was not run, or the tool could not do what was asked.
    """

    from ..linter.run import check as run
    from ..probe.checking import planned, within
    from ..probe.targets import Targets
    from ..settings import config

    named = [_place(place) for place in places]
    table = probe_settings(given)
    options: dict[str, Any] = {"probe": table} if table else {}
    if backends := split(given["backend"]):
        options["backend"] = backends
    files = list(dict.fromkeys(file for file, _ in named))
    settings = config.load(
        files, options=options, config=given["config"], isolated=given["isolated"], cached=not given["no_cache"]
    )
    known = Targets(settings.probe.inputs, settings.keras)
    targets = [target for file, qualname in named for target in _targets(file, qualname, known)]
    if given["inputs"] is not None:
        targets = [_with_inputs(target, given["inputs"], len(targets)) for target in targets]
    if not targets:
        raise click.UsageError(f"{', '.join(map(str, files))}: nothing in it uses tensors")
    report, pairs = within(run(files, settings), targets)
    report = _probed(report, planned(report, pairs, (), settings.backends), settings, files, given)
    _say(report, given)
    if report.interrupted:
        return INTERRUPTED
    outcomes = {function.verdict.outcome for function in report.functions}
    if report.problems or "not run" in outcomes:
        return FAILED
    return CLEAN if outcomes <= _WELL else FOUND


def _place(place: str) -> tuple[Path, str | None]:
    file, separator, qualname = place.partition("::")
    if not Path(file).is_file():
        raise click.UsageError(f"{file}: there is no such file")
    if separator and not qualname:
        raise click.UsageError(f"{place}: the name of a function is missing after `::`")
    return Path(file), qualname or None


def _targets(file: Path, qualname: str | None, known: Targets) -> Sequence[Target]:
    from ..probe.targets import TargetError

    if qualname is None:
        return known.all([file])
    try:
        return [known.at(file, qualname)]
    except TargetError as error:
        raise click.UsageError(str(error)) from error


def _with_inputs(target: Target, inputs: str, number: int) -> Target:
    from dataclasses import replace

    from ..probe.target import Given
    from ..sources.specs import SpecError, parse_inputs

    if number > 1:
        raise click.UsageError("--inputs needs exactly one function")
    try:
        return replace(target, given=tuple(Given(name, text) for name, text in parse_inputs(inputs)))
    except SpecError as error:
        raise click.UsageError(f"--inputs: {error}") from error


def _say(report: Report, given: dict[str, Any]) -> None:
    from ..reports.terminal import Paint

    for problem in report.problems:
        complain(f"{problem.path}: {problem.message}" if problem.path else problem.message)
    if given["output_format"] == "json":
        from ..reports.json import json_report

        write(json_report(report))
        return
    from ..reports.probed import probed

    write(probed(report, Paint(coloured(given["color"]))))


# -- beside the linter ------------------------------------------------------------------------------------------------


def with_probe(report: Report, settings: Settings, given: dict[str, Any], files: Sequence[Path]) -> Report:
    """The report of a check with the verdicts of its findings. `given["probe"]`: `flagged`, `all`, `confirmed-only`."""
    from ..probe.checking import planned
    from ..probe.notebooks import programs
    from ..probe.targets import Targets

    known = Targets(settings.probe.inputs, settings.keras)
    with programs() as notebooks:
        flat = notebooks.flat(report)
        measurable = [finding for finding in flat.findings if finding.effect is not None]
        pairs = notebooks.placed(known.of_findings(measurable))
        job = planned(flat, pairs, known.all(files) if given["probe"] == "all" else (), settings.backends)
        checked = [*files, *notebooks.paths]
        confirmed_only = given["probe"] == "confirmed-only"
        return notebooks.back(_probed(flat, job, settings, checked, given, confirmed_only=confirmed_only))


def _probed(
    report: Report,
    job: Job,
    settings: Settings,
    files: Sequence[Path],
    given: dict[str, Any],
    *,
    confirmed_only: bool = False,
) -> Report:
    from ..probe.checking import with_verdicts
    from ..probe.process import ProbeUnavailableError

    number = len(job.targets)
    steps = number * (1 if settings.probe.target == "cpu" else 2)
    try:
        with running(number, steps, quiet=given["quiet"]) as advance:

            def heard(run: Run) -> None:
                advance()

            checked = {file.absolute() for file in files}
            told = telling(quiet=given["quiet"])
            return with_verdicts(report, job, settings, heard, files=checked, confirmed_only=confirmed_only, told=told)
    except ProbeUnavailableError as error:
        raise click.ClickException(str(error)) from error


def telling(*, quiet: bool) -> Callable[[str], None]:
    """What says on the standard error what a run has to say before it ends."""
    return (lambda line: None) if quiet else partial(complain, label="xlalint")


@contextmanager
def running(functions: int, steps: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Around a run of the probe: it is said that code is executed, and how far it is. Yields what to call after each
    step."""
    from ..reports.progress import progress
    from ..reports.terminal import counted

    if functions and not quiet:
        told = f"the probe executes the code: {counted(functions, 'function')}, in separate processes"
        complain(told, label="xlalint")
    with progress(quiet=quiet, doing="running", total=steps) as advance:
        yield advance
