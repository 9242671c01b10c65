"""What a session remembers of imports, which must not outlive the files that are imported."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from xlalint.analysis.files.session import Session
from xlalint.analysis.program.project import Project
from xlalint.linter.run import check
from xlalint.settings.config import Settings

TF = "import tensorflow as tf\n"
STEP = "\n\n@tf.function(jit_compile=True)\ndef step(x):\n    return read(x)\n"
READ = TF + "def read(x):\n    return x.numpy()\n"


@pytest.fixture(autouse=True)
def sought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules whose files are looked for."""
    monkeypatch.chdir(tmp_path)
    found: list[str] = []
    work: Callable[..., Path | None] = Project._sought

    def seek(self: Project, name: str, beside: Path) -> Path | None:
        found.append(name)
        return work(self, name, beside)

    monkeypatch.setattr(Project, "_sought", seek)
    return found


def lint(session: Session, text: str) -> None:
    path = Path("user.py").absolute()
    check([path], Settings(jobs=1), overlay={path: text.encode()}, session=session)


def rest(folder: str = ".") -> None:
    """Have a folder not have changed for a while."""
    long_ago = time.time() - 1_000
    os.utime(folder, (long_ago, long_ago))


def test_what_a_file_imports_that_has_not_changed_is_sought_once(sought: list[str]) -> None:
    Path("user.py").touch()
    Path("ops.py").write_text(f"{READ}import plain, other\n")
    Path("plain.py").write_text("n = 1\n")
    rest()
    session = Session()
    for number in range(3):
        sought.clear()
        lint(session, f"{TF}from ops import read\nn = {number}{STEP}")
        assert ("other" in sought) == (not number)


@pytest.mark.parametrize("ago", [0, 500])
def test_it_is_sought_again_where_a_folder_has_changed(ago: int, sought: list[str]) -> None:
    Path("user.py").touch()
    Path("ops.py").write_text(f"{READ}import plain, other\n")
    rest()
    session, text = Session(), f"{TF}from ops import read{STEP}"
    lint(session, text)
    Path("other.py").write_text("n = 1\n")
    os.utime(".", (time.time() - ago, time.time() - ago))
    sought.clear()
    lint(session, text)
    assert "other" in sought
