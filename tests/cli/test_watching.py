"""`--watch`: what is seen, and what a mistake on the way does to it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.samples import HAZARD
from xlalint.cli import run


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "step.py").write_text(HAZARD)
    command = [sys.executable, "-m", "xlalint", "-w", "--output-format", "concise", "."]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    yield process
    process.kill()
    process.communicate()


def shown(process: subprocess.Popen[str]) -> str:
    """What is printed until the next change is waited for."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        if line.startswith("xlalint: watching . for changes"):
            return text
        text += line
    raise AssertionError(f"it ended: {text}")


def test_each_change_is_checked(watcher: subprocess.Popen[str], tmp_path: Path) -> None:
    assert "step.py:6:8: XLA101" in shown(watcher)
    (tmp_path / "step.py").write_text("import tensorflow as tf\n")
    assert shown(watcher) == "No findings (1 file checked).\n"
    (tmp_path / "new.py").write_text(HAZARD)
    assert "new.py:6:8: XLA101" in shown(watcher)
    (tmp_path / "xlalint.toml").write_text("selekt = []")
    assert shown(watcher) == "xlalint: error: xlalint.toml: unknown setting 'selekt'; did you mean 'select'?\n"
    (tmp_path / "xlalint.toml").write_text('ignore = ["XLA101"]')
    assert shown(watcher) == "No findings (2 files checked).\n"
    watcher.send_signal(signal.SIGINT)
    assert watcher.wait() == 130


@pytest.mark.parametrize("arguments", [["-"], [".", "--probe"]])
def test_what_cannot_be_watched(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--watch", *arguments]) == 2
    assert "--watch needs files" in capsys.readouterr().err
