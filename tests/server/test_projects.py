"""The folders of open documents, without a server around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import HAZARD
from xlalint.analysis.files.files import Stopped
from xlalint.server import projects
from xlalint.server.documents import Document, Part
from xlalint.server.positions import Text
from xlalint.server.projects import Project
from xlalint.settings.config import home_of

CALLED = HAZARD.replace("@tf.function(jit_compile=True, autograph=False)\n", "").replace("(x)", "(x: tf.Tensor)", 1)
CALLER = "import tensorflow as tf\nfrom a import step\n\nf = tf.function(step, jit_compile=True, autograph=False)\n"


def document(path: Path) -> Document:
    text = path.read_text()
    return Document(path.as_uri(), path, 1, text.encode(), (Part(path.as_uri(), 1, Text(text, "utf-8")),))


@pytest.mark.parametrize(
    ("folders", "size", "severity"), [(1, 0, "error"), (projects._FEW, 0, "info"), (1, projects._SMALL, "info")]
)
def test_callers_count_in_projects_that_are_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: int, size: int, severity: str
) -> None:
    monkeypatch.chdir(tmp_path)  # a run goes elsewhere
    (tmp_path / "a.py").write_text(CALLED)
    (tmp_path / "b.py").write_text(CALLER)
    for number in range(folders):
        (tmp_path / f"data{number}").mkdir()
    (tmp_path / "data0" / "long.py").write_text("#" * size)
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "excluded.py").write_text("#" * 2 * projects._SMALL)
    report = Project(tmp_path).lint([document(tmp_path / "a.py")], lambda: False)
    assert [(one.path, one.code, one.severity.label) for one in report.findings] == [("a.py", "XLA101", severity)]


def test_a_run_ends_when_it_is_not_wanted_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(HAZARD)
    project, opened = Project(tmp_path), [document(tmp_path / "a.py")]
    with pytest.raises(Stopped):
        project.lint(opened, lambda: True)
    with pytest.raises(Stopped):
        project.fixed(opened[0], opened, lambda: True)
    assert [one.code for one in project.lint(opened, lambda: False).findings] == ["XLA101"]


def test_a_folder_that_is_gone_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAZARD)
    with pytest.raises(FileNotFoundError):
        Project(tmp_path / "gone").lint([document(tmp_path / "a.py")], lambda: False)


def test_settings_are_those_of_the_nearest_file_as_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with settings of its own is a project of its own; what another one sees of it goes by its settings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xlalint.toml").write_text('severity = { XLA101 = "warning" }')
    (tmp_path / "a.py").write_text(HAZARD)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / ".xlalint.toml").write_text('severity = { XLA101 = "info" }')
    (tmp_path / "part" / "b.py").write_text(HAZARD)
    for file, severity in (("a.py", "warning"), ("part/b.py", "info")):
        for root in {tmp_path, home_of((tmp_path / file).parent)}:
            project = Project(root)
            [finding] = project.lint([document(tmp_path / file)], lambda: False).findings
            assert (finding.severity.label, project.trouble) == (severity, None)
    assert home_of(tmp_path / "part") == tmp_path / "part"

    (tmp_path / "part" / ".xlalint.toml").write_text("select = 1")
    project = Project(tmp_path)
    [finding] = project.lint([document(tmp_path / "a.py")], lambda: False).findings
    assert finding.severity.label == "warning"
    assert project.trouble == "part/.xlalint.toml: select: expected a list, got an integer"
