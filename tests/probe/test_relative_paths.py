"""Modules of relative folders of `sys.path` are found from the folders in which a program may be started."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

from xlalint.probe.worker.code.relative_paths import look_from


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "start").mkdir()
    monkeypatch.chdir(tmp_path / "start")  # where the worker runs code
    (tmp_path / "top" / "models").mkdir(parents=True)
    (tmp_path / "top" / "models" / "relative_generator.py").write_text("MADE = 1\n")
    (tmp_path / "top" / "relative_backbone").mkdir()
    (tmp_path / "top" / "relative_backbone" / "relative_small.py").write_text("from relative_top import TOP\n")
    (tmp_path / "top" / "relative_top.py").write_text("TOP = 2\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in ("relative_generator", "relative_small", "relative_top"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path / "top"


def test_what_lies_beside_or_below_where_a_program_is_started(project: Path) -> None:
    look_from([project / "models", project])
    sys.path += ["../", "relative_backbone"]
    assert importlib.import_module("relative_small").TOP == 2
    assert importlib.util.find_spec("relative_generator") is None  # no folder says that it is there


def test_only_folders_that_a_program_names(project: Path) -> None:
    look_from([project, project / "models"])
    sys.path += [str(project / "models"), ""]
    assert importlib.util.find_spec("relative_top") is None
    assert importlib.import_module("relative_generator").MADE == 1


def test_the_folders_of_the_last_program_count(project: Path) -> None:
    sys.path.append("models")
    look_from([project])
    look_from([project / "models"])
    assert importlib.util.find_spec("relative_generator") is None
    look_from([project])
    assert importlib.util.find_spec("relative_generator") is not None
