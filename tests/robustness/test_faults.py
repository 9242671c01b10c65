"""Faults of the system and interruptions: one clear line, the right exit code, every file old or new and never half."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.robustness.command import said
from tests.robustness.system import forked
from tests.samples import FIXABLE, FIXED, HAZARD
from xlalint.analysis.fixpoint import partitions as parts
from xlalint.analysis.fixpoint import processes
from xlalint.cli import run
from xlalint.linter import run as engine
from xlalint.linter.cache import Cache
from xlalint.linter.run import check
from xlalint.settings.config import Settings

posix = pytest.mark.skipif(not processes.CAN_FORK, reason="the system cannot fork")


def refuse(code: int) -> Callable[..., NoReturn]:
    def act(*_: object, **__: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    return act


# -- what cannot be read ----------------------------------------------------------------------------------------------


def test_links_that_lead_in_circles_or_nowhere(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "folder").mkdir()
    (project / "folder" / "above").symlink_to(project)
    (project / "folder" / "self.py").symlink_to("self.py")
    (project / "one.py").symlink_to("two.py")
    (project / "two.py").symlink_to("one.py")
    code, out, err = said(capsys, "--no-cache", ".", "one.py")
    assert code == 2
    assert [line.partition(":")[0] for line in out] == ["a.py", "folder/self.py", "one.py", "two.py"]
    assert err == [
        "xlalint: error: one.py: no such file or directory",  # as it was asked for, and as it was found
        *(f"xlalint: error: {name}: no such file" for name in ("folder/self.py", "one.py", "two.py")),
    ]


@pytest.mark.parametrize("named", [True, False])
def test_what_would_block_is_not_opened(named: bool, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(project / "pipe.py")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("socket.py")
    (project / "zero.py").symlink_to("/dev/zero")
    names = ["pipe.py", "socket.py", "zero.py"]
    code, out, err = said(capsys, "--no-cache", *(names if named else ["."]))
    listening.close()
    assert code == 2
    assert err == [f"xlalint: error: {name}: not a regular file" for name in names]
    assert [line for line in out if "XLA903" in line] == [f"{name}:1:1: XLA903 not a regular file" for name in names]


def test_a_file_that_vanishes_or_changes_while_it_is_read(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "gone.py").write_text(HAZARD)
    listed = engine.files_to_check

    def vanish(*arguments: Any) -> Any:
        found = listed(*arguments)
        (project / "gone.py").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(engine, "files_to_check", vanish)
    code, out, err = said(capsys, "--no-cache", ".")
    assert (code, err) == (2, ["xlalint: error: gone.py: no such file"])
    assert [line.split()[1] for line in out] == ["XLA104", "XLA903"]


def test_a_file_that_vanishes_before_it_is_shown(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed = engine._analyse

    def then_vanish(*arguments: Any, **options: Any) -> Any:
        found = analysed(*arguments, **options)
        (project / "a.py").unlink()
        return found

    monkeypatch.setattr(engine, "_analyse", then_vanish)
    for output_format in ("full", "sarif", "rdjson", "github", "gitlab", "markdown"):
        (project / "a.py").write_text(FIXABLE)
        assert run(["--no-cache", "-q", "--output-format", output_format]) == 1
        out, err = capsys.readouterr()
        assert "XLA104" in out
        assert err == ""


def test_names_that_the_system_refuses(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "--no-cache", "a" * 5_000, "no\nsuch\x1b[2J.py", "a.py/b.py", "")
    assert code == 2
    assert len(err) == 3
    assert "File name too long" in err[0]
    assert err[1] == r"xlalint: error: no\nsuch\x1b[2J.py: no such file or directory"


# -- what cannot be written -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT])
def test_fixes_that_cannot_be_written_leave_the_file(
    code: int, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fdopen", refuse(code))
    status, out, err = said(capsys, "--fix", ".")
    assert (status, out) == (2, ["a.py:7:20: XLA104 " + out[0].partition("XLA104 ")[2]] if out else [])
    assert err == [f"xlalint: error: a.py: not fixed: {os.strerror(code)}"]
    assert (project / "a.py").read_text() == FIXABLE


@posix
def test_a_full_disk_leaves_every_file_whole(project: Path) -> None:
    (project / "long.py").write_text(FIXABLE + "#" * 100_000)

    def act() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        return run(["--no-cache", "-q", "--fix", "."])

    assert forked(act) == 2
    assert (project / "a.py").read_text() == FIXED
    assert (project / "long.py").read_text() == FIXABLE + "#" * 100_000
    assert sorted(path.name for path in project.iterdir()) == [".git", "a.py", "long.py"]


@posix
@pytest.mark.parametrize("call", ["fdopen", "fchmod", "replace"])
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_leaves_every_file_old_or_new(call: str, after: bool, project: Path) -> None:
    files = [project / f"{name}.py" for name in "abc"]
    for file in files:
        file.write_text(FIXABLE)

    def act() -> int:
        whole, calls = getattr(os, call), 0

        def die(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 2 and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = whole(*arguments, **options)
            if calls == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        setattr(os, call, die)
        return run(["--no-cache", "-q", "--fix", "."])

    assert forked(act) == -signal.SIGKILL
    assert all(file.read_text() in (FIXABLE, FIXED) for file in files)
    assert files[0].read_text() == FIXED
    assert files[2].read_text() == FIXABLE
    left = list(project.glob(".xlalint-*"))
    assert len(left) == (call != "replace" or not after)
    for file in left:
        os.utime(file, (0, 0))
    (project / ".xlalint-mine.tmp").write_text("not ours")
    assert forked(lambda: run(["--no-cache", "-q", "--fix", "."])) == 0
    assert sorted(project.iterdir()) == [project / ".git", project / ".xlalint-mine.tmp", *files], "the next run tidies"
    assert all(file.read_text() == FIXED for file in files)


@posix
def test_what_another_run_writes_is_left_to_it(project: Path) -> None:
    other = project / ".xlalint-0123456789abcdef.tmp"
    with other.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        os.utime(other, (0, 0))
        assert forked(lambda: run(["--no-cache", "-q", "--fix", "."])) == 0
        assert other.exists()


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_request_to_end_leaves_no_temporary_file(number: signal.Signals, project: Path) -> None:
    """It comes while a file is written, before it takes its place."""
    program = (
        "import os, signal, sys\n"
        # Whoever started the tests may have had them ignore signals.
        f"signal.signal({int(number)}, signal.default_int_handler if {number == signal.SIGINT} else signal.SIG_DFL)\n"
        "whole = os.replace\n"
        f"os.replace = lambda *given: (os.kill(os.getpid(), {int(number)}), whole(*given))\n"
        "sys.argv = ['xlalint', '--no-cache', '-q', '--fix', '.']\n"
        "from xlalint.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")
    assert sorted(path.name for path in project.iterdir()) == [".git", "a.py"]
    assert (project / "a.py").read_text() == FIXABLE


def test_a_report_that_cannot_be_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "--no-cache", "--output-file", "json=/nowhere/report.json", ".")
    assert (code, err) == (2, ["xlalint: error: /nowhere/report.json: No such file or directory"])
    assert out == []


# -- the cache --------------------------------------------------------------------------------------------------------


def test_a_cache_that_is_something_else(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = said(capsys, ".")
    entries = list(project.glob(".xlalint_cache/*.json"))
    assert entries
    for spoil in (os.mkfifo, os.mkdir, lambda file: file.symlink_to(file), lambda file: file.symlink_to("/dev/zero")):
        for entry in entries:
            entry.rmdir() if entry.is_dir() else entry.unlink(missing_ok=True)
            spoil(entry)
        assert said(capsys, ".") == first


@posix
def test_two_runs_at_once_on_one_cache(project: Path) -> None:
    """Many processes write, read and clear away the same few entries."""
    for number in range(12):
        (project / f"m{number}.py").write_text(HAZARD)

    def act() -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("xlalint.linter.cache._KEPT", 1)
            for round_number in range(12):
                found = check([f"m{round_number}.py"], Settings(cache_dir=project / "cache"))
                if [finding.code for finding in found.findings] != ["XLA101"] or found.problems:
                    return 1
        return 0

    children = [os.fork() for _ in range(3) if os.getpid() == parent] if (parent := os.getpid()) else []
    if os.getpid() != parent:
        os._exit(act())
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    assert not list((project / "cache").glob("*.tmp"))
    assert Cache(project / "cache").load("nothing") is None


BETWEEN = 99  # the process was not yet in the command, or had left it


# -- interruptions ----------------------------------------------------------------------------------------------------


@posix
def test_ctrl_c_ends_a_run_quietly_whenever_it_comes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole group of processes is interrupted, as a terminal does it."""
    for number in range(6):
        (project / f"m{number}.py").write_text(HAZARD * 40)
    monkeypatch.setattr(parts, "_TEXT_OF_A_PART", 2_000)
    codes = set()
    for delay in (0.0, 0.05, 0.2):
        group, there = os.pipe()
        child = os.fork()
        if child == 0:
            code = BETWEEN
            try:
                os.setpgid(0, 0)
                os.dup2(os.open(project / "said", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
                os.dup2(2, 1)
                os.write(there, b".")
                code = run(["--no-cache", "-q", "--jobs", "2", "."])
            finally:
                os._exit(code)
        os.read(group, 1)
        time.sleep(delay)
        os.killpg(child, signal.SIGINT)
        codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        with pytest.raises(ProcessLookupError):
            os.killpg(child, 0)  # nobody is left
    assert codes <= {130, 1, BETWEEN}
    assert "Traceback" not in (project / "said").read_text()


def interrupted_at(call: int, arguments: list[str]) -> int:
    """The exit code of a command that is interrupted when it calls its n-th function; what calls there are depends on
    the program alone."""
    left = call

    def profile(frame: Any, event: str, argument: object) -> None:
        nonlocal left
        if event == "call":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        return run(arguments)
    except KeyboardInterrupt:  # before the command began: who called it makes the same of it
        return 130
    finally:
        sys.setprofile(None)


def test_an_interruption_anywhere_is_quiet_and_leaves_every_file_whole(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--no-cache", "-q", "--fix", "--jobs", "1", "."]
    codes = []
    for call in (5, 20, 100, 300, 1_000, 3_000, 10_000, 20_000, 30_000, 40_000, 60_000, 1_000_000):
        (project / "a.py").write_text(FIXABLE)
        codes.append(interrupted_at(call, arguments))
        assert (project / "a.py").read_text() in (FIXABLE, FIXED)
        assert capsys.readouterr().err.strip() == "", "nothing but the end of a line"
    assert codes[0] == 130
    assert set(codes) == {130, 0}


# -- where it runs ----------------------------------------------------------------------------------------------------

BARE = {"PATH": os.environ.get("PATH", ""), "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")}


@pytest.fixture
def started(project: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the command line as a process, through a shell that opens and closes streams."""

    def start(shell: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        command = f"{sys.executable} -m xlalint --no-cache -q --output-format concise"
        return subprocess.run(
            ["sh", "-c", shell.replace("XLALINT", command)],
            cwd=project, env={**BARE, **environment}, capture_output=True, check=False,
        )  # fmt: skip

    return start


@posix
def test_closed_and_full_streams(started: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    full = "XLALINT a.py >/dev/full; echo $?; XLALINT --help >/dev/full; echo $?;"
    done = started(
        "XLALINT a.py >&-; echo $?; XLALINT nowhere.py 2>&-; echo $?; XLALINT a.py >&- 2>&- <&-; echo $?;"
        + (f" {full}" if os.path.exists("/dev/full") else " for n in 1 2; do echo full >&2; echo 2; done;")
        + " XLALINT check --help | true; mkdir gone; cd gone; rmdir ../gone; XLALINT .; echo $?"
    )
    assert done.stdout.split() == [b"2"] * 6
    assert [line.partition(b"error: ")[2] for line in done.stderr.splitlines()] == [
        b"standard output: not writable",
        *([b"standard output: No space left on device" if os.path.exists("/dev/full") else b""] * 2),
        b"the working directory does not exist any more",
    ]


@posix
def test_no_home_no_locale_no_terminal(
    project: Path, started: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    (project / "é ß.py").write_text(FIXABLE.replace("step", "größe"), "utf-8")
    (project / os.fsdecode(b"\xff.py")).write_text(FIXABLE)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONWARNINGS": "error", "TERM": "dumb"}
    done = started("XLALINT . --fix --diff", **plain)
    assert done.returncode == 1
    assert b"+    return tf.cast(tf.logical_not(m), x.dtype)" in done.stdout
    assert b"Traceback" not in done.stderr
    assert b"--- a/\xff.py\n" in done.stdout
