"""Runs by the process that stays: what they say is what a run by itself says, and nobody else can ask it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.incremental.project import EDITS, Edit, Written
from xlalint.resident import client, meeting, service

ASKED = ("check", meeting.OPTION, "--isolated", "--jobs", "1")


@pytest.fixture(autouse=True)
def meeting_place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for sockets; the processes end that listen in it when it is gone."""
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv("CI", raising=False)
    yield folder
    for file in folder.glob("xlalint/*"):
        file.unlink()


def output(folder: Path, *arguments: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run([sys.executable, "-m", "xlalint", *arguments], cwd=folder, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def waited_for(folder: Path) -> Path | None:
    """The socket of a process that stays, once it listens."""
    for _ in range(100):
        found = [file for file in folder.glob("xlalint/*") if file.is_socket()]
        if found:
            return found[0]
        time.sleep(0.05)
    return None


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(EDITS, min_size=1, max_size=3), form=st.sampled_from(["full", "json"]))
@pytest.mark.slow
def test_it_says_what_a_run_by_itself_says(
    edits: list[Edit], form: str, tmp_path_factory: pytest.TempPathFactory, meeting_place: Path
) -> None:
    folder = tmp_path_factory.mktemp("project")
    written = Written(folder)
    how = ("--output-format", form, "--project", ".", ".")
    for edit in [None, *edits]:
        if edit is not None:
            written.apply(edit)
        asked, by_itself = output(folder, *ASKED, *how), output(folder, "check", "--isolated", "--no-cache", *how)
        assert asked == by_itself
        assert waited_for(meeting_place) is not None


@pytest.mark.slow
def test_one_stays_that_does_the_next_run(tmp_path: Path, meeting_place: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")
    first = output(tmp_path, *ASKED, "--verbose", "a.py")
    path = waited_for(meeting_place)
    assert path is not None
    assert not path.stat().st_mode & 0o077
    before = path.stat().st_ino
    (tmp_path / "a.py").write_text("import tensorflow as tf\n\n\ndef f(:\n")
    code, out, _ = output(tmp_path, *ASKED, "a.py")
    assert (first[0], code) == (0, 1)
    assert b"XLA902" in out or b"syntax" in out
    assert path.stat().st_ino == before


@pytest.mark.parametrize(
    ("arguments", "possible"),
    [
        (["check", "--resident", "a.py"], True),
        (["--resident", "--fix"], True),
        (["check", "a.py"], False),
        (["check", "--resident", "--probe"], False),
        (["check", "--resident", "--probe=all"], False),
        (["check", "--resident", "--rules", "own"], False),
        (["check", "--resident", "--watch"], False),
    ],
)
def test_what_runs_code_or_does_not_end_is_done_here(arguments: list[str], possible: bool) -> None:
    assert meeting.is_possible(arguments) is (possible and sys.platform == "linux")


def test_none_stays_in_a_continuous_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert not meeting.is_possible(ASKED)


def test_a_folder_that_others_can_write_to_is_no_meeting_place(
    meeting_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert meeting.address() is not None
    (meeting_place / "xlalint").chmod(0o777)
    assert meeting.address() is None
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"xlalint-{os.getuid()}").symlink_to(meeting_place)
    assert meeting.address() is None


def test_runs_that_python_would_do_otherwise_meet_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {meeting.address()}
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        found.add(meeting.address())
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        found.add(meeting.address())
    assert len(found) == 3


def listening(path: str, state: object) -> threading.Thread:
    thread = threading.Thread(target=service._serve, args=(path, state, lambda arguments: 0))
    thread.start()
    while not os.path.exists(path) and thread.is_alive():
        time.sleep(0.01)
    return thread


def test_it_ends_when_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_IDLE", 0.1)
    monkeypatch.setattr(service, "_LOOK", 0.1)
    path = meeting.address()
    assert path is not None
    thread = listening(path, None)
    thread.join(10)
    assert not thread.is_alive()
    assert not os.path.exists(path)


def test_it_ends_where_something_else_is_installed() -> None:
    path = meeting.address()
    assert path is not None
    thread = listening(path, "what was installed")
    until = time.monotonic() + 30  # where the machine is busy, one that asks gives up before it is heard
    while thread.is_alive() and time.monotonic() < until:
        assert client.ask(["check", "a.py"]) is None
        thread.join(0.1)
    assert not thread.is_alive()


def test_nobody_waits_for_one_that_is_busy() -> None:
    path = meeting.address()
    assert path is not None
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(path)
        busy.listen()
        started = time.monotonic()
        assert client.ask(["check", "a.py"]) is None
        assert time.monotonic() - started < 5
