"""Files that are called as a module of Python's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

USE = """\
import random

import tensorflow as tf


@tf.function(jit_compile=True)
def step(x):
    return x * random.random()
"""
OWN = "def random():\n    return 1.0\n"


def codes(files: dict[str, str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    monkeypatch.chdir(folder)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [finding.code for finding in check([folder], Settings(jobs=1)).findings]


def test_a_package_imports_pythons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"pkg/__init__.py": "", "pkg/inner/__init__.py": "", "pkg/inner/random.py": OWN, "pkg/inner/use.py": USE}
    assert codes(files, monkeypatch, tmp_path) == ["XLA603"]


def test_a_module_of_that_name_imports_pythons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"pkg/__init__.py": "", "pkg/inner/__init__.py": "", "pkg/inner/random.py": USE}
    assert codes(files, monkeypatch, tmp_path) == ["XLA603"]


def test_a_script_imports_the_file_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes({"random.py": OWN, "use.py": USE}, monkeypatch, tmp_path) == []
