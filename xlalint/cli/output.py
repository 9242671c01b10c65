"""Where reports go: the standard output, files, or both, each in its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .console import OutputError, coloured

if TYPE_CHECKING:
    from ..findings.findings import Report
    from ..linter.run import Stdin
    from ..settings.config import Settings


@dataclass(frozen=True, slots=True)
class Target:
    """A file for a report. `format` None: in the format of --output-format, and then not on the standard output."""

    format: str | None
    path: Path


def targets_of(written: Sequence[str], formats: Sequence[str]) -> list[Target]:
    """What `--output-file` says: FILE, or FORMAT=FILE. Raises click.UsageError."""
    targets = []
    for text in written:
        head, equals, rest = text.partition("=")
        if equals and head.isalpha():
            if head not in formats:
                raise click.UsageError(f"--output-file: {head!r} is not one of {', '.join(formats)}")
            targets.append(Target(head, Path(rest)))
        else:
            targets.append(Target(None, Path(text)))
        if not targets[-1].path.name:
            raise click.UsageError(f"--output-file: no file is named in {text!r}")
    if sum(target.format is None for target in targets) > 1:
        raise click.UsageError("--output-file: all files but one need their format: FORMAT=FILE")
    return targets


def deliver(
    report: Report, settings: Settings, targets: Sequence[Target], stdin: Stdin | None, given: dict[str, Any]
) -> str:
    """Write the files; the text that is left for the standard output. Raises OutputError for a file that cannot be
    written."""
    from ..reports.around import Around
    from ..reports.formats import render
    from ..reports.terminal import Paint
    from ..sources.lines import line_reader
    from ..sources.text import display_path
    from ..sources.views import viewer
    from ..sources.write import write_named

    overlay = {display_path(stdin.path): stdin.data} if stdin else {}
    options = {name: given[name] for name in ("statistics", "quiet", "show_fixes")}
    around = Around(
        Paint(coloured(given["color"])), line_reader(overlay), viewer(overlay), settings.unsafe_fixes, **options
    )
    plain = replace(around, paint=Paint(given["color"] == "always"))
    for target in targets:
        text = render(target.format or settings.output_format, report, plain)
        try:
            write_named(target.path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise OutputError(f"{target.path}: {error.strerror or error}") from error
    if any(target.format is None for target in targets):
        return ""
    return render(settings.output_format, report, around)
