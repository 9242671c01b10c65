"""Code whose lines are marked where something is to be found: what is marked, and what is found."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from xlalint.linter.run import check
from xlalint.settings.config import Settings

MARK: Final = "  # flagged"


def flagged(folder: Path, code: str) -> set[tuple[int, str]]:
    (folder / "m.py").write_text(code, encoding="utf-8")
    return {(finding.span.line, finding.code) for finding in check([folder], Settings()).findings}


def marked(code: str) -> set[int]:
    return {number for number, line in enumerate(code.split("\n"), 1) if line.endswith(MARK)}
