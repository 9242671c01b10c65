"""`xlalint baseline`: the findings that a project lives with for now, and those that are new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .console import CLEAN, FAILED, FOUND, coloured, complain, own_rules, write

if TYPE_CHECKING:
    from ..findings.findings import Report
    from ..history.baseline import Baseline, Comparison
    from ..settings.config import Settings


def _options(command: Callable[..., int]) -> Callable[..., int]:
    for option in (
        own_rules,
        click.option("--isolated", is_flag=True, help="Read no settings file."),
        click.option("--config", multiple=True, metavar="KEY=VALUE|FILE", help="A setting in TOML syntax, or a file."),
        click.option(
            "--baseline", type=click.Path(), metavar="FILE", help="Default: the setting, else xlalint-baseline.json."
        ),
        click.argument("paths", nargs=-1, type=click.Path()),
    ):
        command = option(command)
    return command


@click.group(no_args_is_help=False)
def baseline() -> None:
    """Record known findings, so that only new ones are reported.

    An entry contains the path, the rule and the reported code, but no line
    numbers: it survives reformatting, moves within the file and a new name of
    the file. With `baseline = "FILE"` in the settings, `xlalint check` hides
    the findings recorded in it.
    """


@baseline.command("write")
@_options
def write_baseline(paths: tuple[str, ...], **given: Any) -> int:
    """Write the current findings; entries for files that are not checked stay."""
    from ..history.baseline import Baseline
    from ..history.marks import contents
    from ..sources.text import display_path

    run = _Run(paths, given)
    if run.report.problems:
        return FAILED
    old = run.compared() if run.file.exists() else None
    marks = Baseline(run.file).marks(run.report.findings, contents({}))
    made = Baseline(run.file, (*marks, *(old.unseen if old else ())))
    _write(made)
    write(f"Wrote {_entries(len(made.entries))} to {display_path(run.file)}.\n")
    return CLEAN


@baseline.command("check")
@_options
def check_baseline(paths: tuple[str, ...], **given: Any) -> int:
    """Report findings that are not in the baseline, and stale entries.

    \b
    Exit codes: 0 nothing new at or above the fail level, 1 something new,
    2 the tool could not do what was asked.
    """
    from ..reports.full import full
    from ..reports.summary import summary
    from ..reports.terminal import Paint, safe
    from ..sources.lines import line_reader

    run = _Run(paths, given)
    compared = run.compared()
    paint = Paint(coloured("auto"))
    known = (f"{_entries(len(compared.kept))} of the baseline still found.",) if compared.kept else ()
    report = replace(run.report, findings=compared.fresh, remarks=known)
    write(full(report, paint, line_reader({})))
    for mark in compared.stale:
        scope = f" in `{mark.scope}`" if mark.scope else ""
        write(safe(f"stale: {mark.path}: {mark.code}{scope}: {mark.source}") + "\n")
    write(summary(report, paint))
    if report.problems:
        return FAILED
    return FOUND if any(map(run.settings.fails_on, report.findings)) else CLEAN


@baseline.command("prune")
@_options
def prune(paths: tuple[str, ...], **given: Any) -> int:
    """Remove stale entries and update the others; add nothing."""
    from ..history.baseline import Baseline

    run = _Run(paths, given)
    if run.report.problems:
        return FAILED
    compared = run.compared()
    _write(Baseline(run.file, (*compared.kept, *compared.unseen)))
    write(f"Removed {_entries(len(compared.stale))}; {len(compared.kept) + len(compared.unseen)} left.\n")
    return CLEAN


class _Run:
    """What was found, and where the baseline is."""

    def __init__(self, paths: Sequence[str], given: dict[str, Any]) -> None:
        from ..history.baseline import DEFAULT_FILE
        from ..linter.run import check
        from ..reports.progress import progress
        from ..settings import config

        self._paths = [Path(path) for path in paths or ["."]]
        options = {"baseline": given["baseline"]} if given["baseline"] else {}
        self.settings: Settings = config.load(
            self._paths, options=options, config=given["config"], isolated=given["isolated"]
        )
        self.file: Path = self.settings.baseline or Path(DEFAULT_FILE)
        with progress(quiet=False):
            self.report: Report = check(self._paths, self.settings)
        for problem in self.report.problems:
            complain(f"{problem.path}: {problem.message}" if problem.path else problem.message)

    def compared(self) -> Comparison:
        from ..history.marks import contents

        return self._read().compare(self.report.findings, contents({}), self._paths, self.settings.codes)

    def _read(self) -> Baseline:
        from ..history.baseline import Baseline, BaselineError

        try:
            return Baseline.read(self.file)
        except BaselineError as error:
            raise click.ClickException(str(error)) from error


def _write(made: Baseline) -> None:
    from ..history.baseline import BaselineError

    try:
        made.write()
    except BaselineError as error:
        raise click.ClickException(str(error)) from error


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"
