"""Packages below folders that are none themselves, which the files of their project name all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.targets import Targets
from xlalint.sources.packages import imported_name, project_of

_REGISTER = """\
NAMES = []

def add(cls):
    assert cls.__name__ not in NAMES
    NAMES.append(cls.__name__)
    return cls
"""
_BASE = """\
from pipe.register import add
from pipe.data.sizes import SIZE

@add
class Base:
    size = SIZE
"""
_FILES = {
    "README.md": "A project.\n",
    "pipe/register.py": _REGISTER,
    "pipe/data/__init__.py": "from .base import Base\n",
    "pipe/data/base.py": _BASE,
    "pipe/data/sizes.py": "SIZE = 3\n",
    "pipe/data/kinds/__init__.py": "",
    "pipe/data/kinds/scaled.py": "from pipe.data.base import Base\n\ndef scaled(x):\n    return x * Base.size\n",
    "plain/data_of/__init__.py": "",
    "plain/data_of/scaled.py": "def scaled(x):\n    return x * 2.0\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in _FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_name_has_the_folders_that_the_project_names(project: Path) -> None:
    inner = project / "pipe" / "data" / "kinds" / "scaled.py"
    assert imported_name(inner) == ("pipe.data.kinds.scaled", project)
    assert project_of(inner) == project
    other = project / "plain" / "data_of" / "scaled.py"
    assert imported_name(other) == ("data_of.scaled", project / "plain")  # nobody calls it otherwise
    installed = project / "env" / "site-packages" / "data_of" / "scaled.py"
    installed.parent.mkdir(parents=True)
    installed.with_name("__init__.py").touch()
    installed.touch()
    assert project_of(installed) == installed.parent  # whatever is around an environment


@pytest.mark.compiler
def test_it_is_imported_once(worker: Worker, project: Path) -> None:
    target = Targets().at(project / "pipe" / "data" / "kinds" / "scaled.py", "scaled")
    outcome = worker.ask(target, Plan(drive_only=True), Limits())
    assert outcome.not_run is None, outcome


@pytest.mark.compiler
def test_a_package_that_fails_stands_empty_around_a_file_that_does_not_need_it(worker: Worker, tmp_path: Path) -> None:
    package = tmp_path / "older"
    (package / "parts").mkdir(parents=True)
    (package / "__init__.py").write_text("import keras\nkeras.no_such_name()\n")
    (package / "parts" / "__init__.py").write_text("")
    (package / "parts" / "sizes.py").write_text("SIZE = 3.0\n")
    (package / "parts" / "scaled.py").write_text("from .sizes import SIZE\ndef scaled(x):\n    return x * SIZE\n")
    (package / "fails.py").write_text("def scaled(x):\n    return x\nraise LookupError('its own')\n")
    outcome = worker.ask(Targets().at(package / "parts" / "scaled.py", "scaled"), Plan(gradients=False), Limits())
    assert outcome.not_run is None, outcome
    [note] = [one for one in outcome.notes if one.startswith("imported without what its packages do")]
    assert "no_such_name" in note
    other = worker.ask(Targets().at(package / "fails.py", "scaled"), Plan(drive_only=True), Limits())
    assert "its own" in (other.not_run or "")
