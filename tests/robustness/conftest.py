"""What the tests of faults share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import FIXABLE


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one file to mend, in which the test runs."""
    folder = tmp_path / "project"
    (folder / ".git" / "info").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "a.py").write_text(FIXABLE)
    return folder
