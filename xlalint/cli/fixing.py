"""What `xlalint check` does with fixes: applies and writes them, or shows what they would change."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from ..findings.findings import Narrow, Report
from ..linter.fix_runs import Outcome, fix, fix_proven, written
from ..linter.run import Stdin
from ..reports.diff import diff, patch
from ..reports.summary import fixes_shown
from ..reports.terminal import Paint
from ..settings.config import Settings
from ..sources.text import display_path
from .console import coloured, complain, write_bytes
from .console import write as write_out


class Fixes:
    """A run that fixes, everything written where that is wanted. `report`: what remains; `stdin`: with its fixes."""

    def __init__(
        self, paths: Sequence[str], settings: Settings, stdin: Stdin | None, narrow: Narrow, given: dict[str, Any]
    ) -> None:
        self._given = given
        proven = given["prove"]
        self._outcome: Outcome = _proven(paths, settings, narrow) if proven else fix(paths, settings, stdin, narrow)
        self.report: Report = self._outcome.report
        self.stdin = stdin
        if given["diff"]:
            return
        if stdin is None:
            self._outcome = written(self._outcome, paths)
            self.report = self._outcome.report
        else:
            self.stdin = Stdin(stdin.path, next((change.after for change in self._outcome.changes), stdin.data))

    @property
    def only(self) -> bool:
        """Whether what remains is not to be reported."""
        return bool(self._given["fix_only"] or self._given["diff"])

    @property
    def fails(self) -> bool:
        """Whether the fixes themselves make the exit code 1."""
        if self._given["diff"]:
            return bool(self._outcome.changes)
        return bool(self._given["exit_non_zero_on_fix"] and self.report.fixed)

    def show(self, rendered: str) -> None:
        """Print the report; where the standard output is taken by source or a diff, on the standard error."""
        paint = Paint(coloured(self._given["color"]))
        for proof in self._outcome.proofs:
            place = f"{display_path(proof.path)}: `{proof.qualname}`"
            complain(f"{place}: {proof.said}", label="proven" if proof.holds else "not proven, not fixed")
        for half in self._outcome.halves:
            why = f"would still fail ({', '.join(half.codes)}); --partial-fixes applies its unsafe fixes anyway"
            complain(f"{half.path}: `{half.qualname}` {why}", label="left as it is")
        if self.only and not self._given["quiet"]:
            rendered = fixes_shown(self.report, paint, would=self._given["diff"], by_rule=self._given["show_fixes"])
        if self._given["diff"]:
            self._show_changes(paint)
            sys.stderr.write(rendered)
        elif self.stdin is not None:
            write_bytes(self.stdin.data)
            sys.stderr.write(rendered)
        else:
            write_out(rendered)

    def _show_changes(self, paint: Paint) -> None:
        """Print what would change: to a terminal for reading, else as a patch."""
        changes = self._outcome.changes
        if sys.stdout.isatty() or paint.on:
            write_out("".join(diff(one.display, one.before, one.after, paint) for one in changes))
            return
        paths = [os.path.relpath(one.path).replace(os.sep, "/") for one in changes]
        write_bytes(b"".join(patch(path, one.before, one.after) for path, one in zip(paths, changes, strict=True)))
        for path, one in zip(paths, changes, strict=True):
            if path.startswith("../"):
                complain(f"{one.display}: outside the current folder, where `git apply` changes nothing", label="note")


def _proven(paths: Sequence[str], settings: Settings, narrow: Narrow) -> Outcome:
    from ..probe.cluster.gone import ClusterGoneError
    from ..probe.process import ProbeUnavailableError

    try:
        return fix_proven(paths, settings, narrow)
    except (ProbeUnavailableError, ClusterGoneError) as error:
        raise click.ClickException(str(error)) from error
