"""A command of xlalint, run in this process."""

from __future__ import annotations

import pytest

from xlalint.cli import run


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = run(arguments)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err
