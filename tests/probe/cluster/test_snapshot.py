"""What of a project is sent to a cluster, and under which paths it is there."""

from __future__ import annotations

import os
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.probe.cluster import snapshot
from xlalint.probe.cluster.snapshot import Snapshot, in_folder, out_of_folder, unpack
from xlalint.probe.process import ProbeUnavailableError
from xlalint.probe.target import Frame, Target


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package, beside it what is not for sending."""
    home = tmp_path / "home"
    for name, text in {
        "pkg/__init__.py": "",
        "pkg/ops.py": "def f(x): return x\n",
        "pkg/vocabulary.txt": "one\n",
        "pkg/weights.bin": "w" * (2**20 + 1),
        ".env": "TOKEN=1\n",
        ".gitignore": "ignored/\n*.secret\n",
        "a.secret": "TOKEN=1\n",
        "ignored/data.txt": "1\n",
        "node_modules/m/a.txt": "1\n",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / ".git").mkdir()
    return home


def target(home: Path) -> Target:
    return Target(str(home / "pkg" / "ops.py"), "f", roots=(str(home / "pkg"),))


def names(found: Snapshot) -> set[str]:
    return set(zipfile.ZipFile(BytesIO(found.archive)).namelist())


def test_code_and_small_files_are_sent_and_nothing_hidden_ignored_or_large(project: Path) -> None:
    assert names(Snapshot.of([target(project)])) == {"0/pkg/__init__.py", "0/pkg/ops.py", "0/pkg/vocabulary.txt"}


def test_equal_content_is_the_same_snapshot_wherever_and_whenever_it_was_written(project: Path, tmp_path: Path) -> None:
    first = Snapshot.of([target(project)])
    os.utime(project / "pkg" / "ops.py", (1, 1))
    project.rename(tmp_path / "elsewhere")
    moved = Snapshot.of([target(tmp_path / "elsewhere")])
    assert moved.digest == first.digest
    (tmp_path / "elsewhere" / "pkg" / "ops.py").write_text("def f(x): return -x\n")
    assert Snapshot.of([target(tmp_path / "elsewhere")]).digest != first.digest


def test_links_are_followed_to_what_is_sent_only(project: Path, tmp_path: Path) -> None:
    (tmp_path / "private.py").write_text("TOKEN = 1\n")
    (project / "pkg" / "leak.py").symlink_to(tmp_path / "private.py")
    (project / "pkg" / "same.py").symlink_to(project / "pkg" / "ops.py")
    (project / "pkg" / "circle").symlink_to(project)
    found = names(Snapshot.of([target(project)]))
    assert "0/pkg/same.py" in found
    assert not {name for name in found if "leak" in name or "circle" in name}


def test_folders_inside_of_others_are_sent_once(project: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import pkg\n")
    both = Snapshot.of([target(project), Target(str(tmp_path / "script.py"), "g", callers=(Frame(__file__, "h"),))])
    assert str(tmp_path) in both.roots
    assert str(project) not in both.roots
    assert len([name for name in names(both) if name.endswith("pkg/ops.py")]) == 1


def test_what_is_too_much_to_send_is_told_in_a_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_MOST", 10)
    with pytest.raises(ProbeUnavailableError, match="it holds more than"):
        Snapshot.of([target(project)])


def test_an_archive_that_is_not_what_its_digest_says_is_not_unpacked(project: Path, tmp_path: Path) -> None:
    found = Snapshot.of([target(project)])
    with pytest.raises(ValueError, match="damaged"):
        unpack(found.archive + b" ", found.digest, str(tmp_path / "there"))
    assert not (tmp_path / "there").exists()


def test_paths_go_and_come_back(project: Path, tmp_path: Path) -> None:
    found = Snapshot.of([target(project)])
    folder = str(tmp_path / "worker")
    unpack(found.archive, found.digest, folder)
    there = Target.of_json(in_folder(found.placed(target(project).to_json()), folder))
    assert Path(there.file).read_text() == (project / "pkg" / "ops.py").read_text()
    assert there.roots == (str(Path(there.file).parent),)
    told = {there.file: [f"raised in {there.file}:3", 3, None]}
    file = str(project / "pkg" / "ops.py")
    assert found.at_home(out_of_folder(told, folder)) == {file: [f"raised in {file}:3", 3, None]}


@given(st.lists(st.sampled_from(["/a", "/a/b", "/ab", "/c/d", "/c/de"]), min_size=1, unique=True), st.data())
def test_every_path_below_a_root_comes_back_as_it_was(folders: list[str], data: st.DataObject) -> None:
    roots = tuple(snapshot._outermost(folders))
    found = Snapshot(roots, b"", "")
    path = data.draw(st.sampled_from(folders)) + data.draw(st.sampled_from(["", "/x.py", "/0/y.py", "/1"]))
    there = in_folder(found.placed(path), "/tmp/worker")
    assert there.startswith("/tmp/worker/")
    assert found.at_home(out_of_folder(there, "/tmp/worker")) == path
