"""What `xlalint check` leaves out of its report: what a baseline holds, and what a revision had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..findings.findings import Narrow, Report, unchanged

if TYPE_CHECKING:
    from ..settings.config import Settings


def narrowing(paths: Sequence[str], settings: Settings, given: dict[str, Any]) -> Narrow:
    """What is to be left out, as the arguments and settings say."""
    narrows: list[Narrow] = []
    if settings.baseline is not None and not given["no_baseline"]:
        narrows.append(_without_known(settings.baseline, paths, settings))
    if given["diff_base"] is not None:
        narrows.append(_brought_since(given["diff_base"], paths, settings))

    def narrow(report: Report, overlay: Mapping[str, bytes]) -> Report:
        return reduce(lambda so_far, one: one(so_far, overlay), narrows, report)

    return narrow if narrows else unchanged


def _without_known(file: Path, paths: Sequence[str], settings: Settings) -> Narrow:
    from ..history.baseline import Baseline, BaselineError
    from ..history.marks import contents
    from ..reports.terminal import counted

    try:
        baseline = Baseline.read(file)
    except BaselineError as error:
        raise click.ClickException(str(error)) from error

    def narrow(report: Report, overlay: Mapping[str, bytes]) -> Report:
        asked = [Path(path) for path in paths]
        compared = baseline.compare(report.findings, contents(overlay), asked, settings.codes)
        remarks = list(report.remarks)
        if compared.kept:
            remarks.append(f"{counted(len(compared.kept), 'finding')} in the baseline not shown.")
        if compared.stale:
            entries = f"{len(compared.stale)} stale {'entry' if len(compared.stale) == 1 else 'entries'}"
            remarks.append(f"{entries} in the baseline: `xlalint baseline check` lists them, `prune` removes them.")
        return replace(report, findings=compared.fresh, remarks=tuple(remarks))

    return narrow


def _brought_since(revision: str, paths: Sequence[str], settings: Settings) -> Narrow:
    from ..history.changes import Since
    from ..history.isolated import GitError

    try:
        since = Since(revision, paths, settings)
    except GitError as error:
        raise click.ClickException(f"--diff-base: {error}") from error

    def narrow(report: Report, overlay: Mapping[str, bytes]) -> Report:
        try:
            return since.narrow(report, overlay)
        except GitError as error:
            raise click.ClickException(f"--diff-base: {error}") from error

    return narrow
