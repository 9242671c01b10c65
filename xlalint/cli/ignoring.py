"""What `xlalint check --add-ignores` does: writes comments that switch off what is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..findings.findings import Narrow, Report
    from ..settings.config import Settings


def reason_of(given: dict[str, Any]) -> str | None:
    """The reason that the comments are to give. Raises click.UsageError."""
    reason: str | None = given["reason"]
    if reason is None:
        return None
    if not given["add_ignores"]:
        raise click.UsageError("--reason needs --add-ignores")
    if "#" in reason or not reason.isprintable() or not reason.strip():
        raise click.UsageError("--reason: a comment takes printable text of one line without `#`")
    return " ".join(reason.split())


def with_ignores(paths: Sequence[str], settings: Settings, reason: str | None, narrow: Narrow) -> Report:
    """Write comments for what is found; what remains to report."""
    from ..linter.fix_runs import written
    from ..linter.suppress_runs import suppress
    from ..reports.terminal import counted

    outcome = written(suppress(paths, settings, reason, narrow), paths, "suppressed")
    done = outcome.report.fixed
    files = counted(len({finding.path for finding in done}), "file")
    remark = f"Suppressed {counted(len(done), 'finding')} in {files}." if done else "Nothing to suppress."
    return replace(outcome.report, fixed=(), remarks=(*outcome.report.remarks, remark))
