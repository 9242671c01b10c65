"""What other programs call: typed, imported when used, and one path with the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import xlalint
from tests.samples import FIXABLE, FIXED, HAZARD
from xlalint.cli import run

NOTEBOOK = {
    "cells": [{"cell_type": "code", "source": HAZARD, "metadata": {}, "outputs": [], "execution_count": None}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "step.py").write_text(HAZARD)
    (tmp_path / "pkg" / "fixable.py").write_text(FIXABLE)
    return tmp_path


def locations(report: xlalint.Report) -> list[tuple[str, int, str]]:
    return [(finding.path, finding.span.line, finding.code) for finding in report.findings]


def test_importing_the_package_imports_nothing_else() -> None:
    program = "import sys, xlalint; print(*(name for name in sys.modules if name.startswith('xlalint')))"
    seen = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert seen.stdout.split() == ["xlalint"]


def test_every_public_name_is_there_and_no_other() -> None:
    assert set(xlalint.__all__) <= set(dir(xlalint))
    assert all(getattr(xlalint, name) is not None for name in xlalint.__all__)
    with pytest.raises(AttributeError, match="no attribute 'lint'"):
        _ = xlalint.lint


def test_files_are_linted_as_the_command_line_does(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = xlalint.lint_paths(["pkg"])
    assert locations(report) == [("pkg/fixable.py", 7, "XLA104"), ("pkg/step.py", 6, "XLA101")]
    assert (report.files_checked, report.problems) == (2, ())
    assert not (project / ".xlalint_cache").exists()
    assert run(["--output-format", "json", "pkg"]) == 1
    printed = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["path"], one["line"], one["code"]) for one in printed] == locations(report)


def test_one_path_will_do_and_a_severity_prints_as_a_word(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = xlalint.lint_paths(["pkg"])
    for path in ("pkg", Path("pkg")):
        assert xlalint.lint_paths(path) == listed
        assert xlalint.apply_fixes(path, write=False).changes
    assert [str(finding.severity) for finding in listed.findings] == ["error", "error"]
    run(["--output-format", "json", "pkg"])
    assert capsys.readouterr().out == xlalint.json_report(listed)


def test_the_settings_of_the_project_count(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.xlalint]\nignore = ["XLA101"]\n')
    assert locations(xlalint.lint_paths(["pkg"])) == [("pkg/fixable.py", 7, "XLA104")]
    every = xlalint.load_settings(["pkg"], options={"select": ["XLA101"]}, isolated=True)
    assert locations(xlalint.lint_paths(["pkg"], every)) == [("pkg/step.py", 6, "XLA101")]
    (project / "pyproject.toml").write_text("[tool.xlalint]\nselct = []\n")
    with pytest.raises(xlalint.ConfigurationError, match="did you mean 'select'"):
        xlalint.lint_paths(["pkg"])


def test_what_cannot_be_read_is_a_problem_and_no_exception(project: Path) -> None:
    [problem] = xlalint.lint_paths(["gone.py"]).problems
    assert (problem.path, problem.message) == ("gone.py", "no such file or directory")
    report = xlalint.lint_source(b"# coding: ascii\nx = '\xe9'\n", "a.py")
    assert [problem.path for problem in report.problems] == ["a.py"]
    assert locations(xlalint.lint_source("import tensorflow as tf\ndef f(:\n")) == [("source.py", 2, "XLA900")]


@pytest.mark.parametrize("source", [HAZARD, HAZARD.encode(), "# coding: latin-1\n# é\n" + HAZARD])
def test_text_is_linted_as_the_file_that_it_names(project: Path, source: str | bytes) -> None:
    [finding] = xlalint.lint_source(source, "pkg/new.py").findings
    assert (finding.path, finding.code, finding.severity) == ("pkg/new.py", "XLA101", xlalint.Severity.ERROR)
    assert not (project / "pkg" / "new.py").exists()


def test_text_finds_what_it_imports_beside_its_file(project: Path) -> None:
    (project / "pkg" / "__init__.py").touch()
    (project / "pkg" / "masks.py").write_text("import tensorflow as tf\n\n\ndef mask(x):\n    return x > 0.0\n")
    source = """\
import tensorflow as tf
from .masks import mask


@tf.function(jit_compile=True, autograph=False)
def f(x):
    if tf.reduce_any(mask(x)):
        return x
    return -x
"""
    assert locations(xlalint.lint_source(source, "pkg/uses.py")) == [("pkg/uses.py", 7, "XLA101")]


def test_a_notebook_is_known_by_its_name(project: Path) -> None:
    [finding] = xlalint.lint_source(json.dumps(NOTEBOOK), "a.ipynb").findings
    assert (finding.cell, finding.span.line) == (1, 6)


def test_fixes_are_written(project: Path) -> None:
    outcome = xlalint.apply_fixes(["pkg/fixable.py"], write=False)
    [change] = outcome.changes
    assert (change.display, change.after.decode()) == ("pkg/fixable.py", FIXED)
    assert (project / "pkg" / "fixable.py").read_text() == FIXABLE
    outcome = xlalint.apply_fixes(["pkg/fixable.py"])
    assert (project / "pkg" / "fixable.py").read_text() == FIXED
    assert [finding.code for finding in outcome.report.fixed] == ["XLA104"]
    assert outcome.report.findings == ()


def test_what_cannot_be_written_is_not_fixed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "fixable.py"
    elsewhere.write_text(FIXABLE)
    (project / "link").mkdir()
    (project / "link" / "fixable.py").symlink_to(elsewhere)
    outcome = xlalint.apply_fixes(["link"])
    assert (outcome.changes, outcome.report.fixed) == ((), ())
    [problem] = outcome.report.problems
    assert problem.message == "a link out of the project: it is not followed"
    assert elsewhere.read_text() == FIXABLE


def test_text_is_fixed(project: Path) -> None:
    after, report = xlalint.fix_source(FIXABLE, "pkg/new.py")
    assert after.decode() == FIXED
    assert [finding.code for finding in report.fixed] == ["XLA104"]
    assert xlalint.fix_source("x = 1\n")[0] == b"x = 1\n"


def test_unsafe_fixes_are_made_when_they_are_asked_for() -> None:
    source = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def f(x):
    length = tf.shape(x)[0]
    return x * tf.cast(max(length, 3), tf.float32)
"""
    kept, report = xlalint.fix_source(source)
    safeties = {finding.fix.safety for finding in report.findings if finding.fix is not None}
    assert safeties == {xlalint.Safety.UNSAFE}
    assert kept.decode() == source
    changed, report = xlalint.fix_source(source, unsafe=True)
    assert changed.decode() == source.replace("max(length, 3)", "tf.maximum(length, 3)")
    assert report.findings == ()
