"""The command, in the process of the test."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint.cli import run

QUIET: Final = ("-q", "--output-format", "concise")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], list[str]]:
    """The exit code and the lines of both streams; whatever is wrong is told as such, and as nothing else."""
    code = run([*QUIET, *arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert "internal error" not in err
    return code, out.splitlines(), err.splitlines()
