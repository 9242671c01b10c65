"""Faults that the system itself makes, none of them imitated: the rest is checked, and no file is half written."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import ROOT
from tests.robustness.command import QUIET, said
from tests.robustness.system import busy, on_a_disk, without_rights
from tests.samples import FIXABLE, FIXED, HAZARD
from xlalint.analysis.fixpoint import partitions as parts
from xlalint.analysis.fixpoint import processes
from xlalint.cli import run
from xlalint.linter.run import check
from xlalint.settings.config import Settings

pytestmark = pytest.mark.skipif(not processes.CAN_FORK, reason="the system cannot fork")


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], list[str]]:
    """The exit code, the codes of what is reported, and the lines of the standard error."""
    code, out, err = said(capsys, *arguments)
    return code, [line.split()[1] for line in out], err


# -- files and folders that cannot be opened --------------------------------------------------------------------------


def test_what_the_modes_forbid(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "secret.py").write_text(HAZARD)
    (project / "secret.py").chmod(0)
    (project / "closed").mkdir(mode=0)
    with without_rights():
        code, out, err = found(capsys, "--no-cache", ".")
    assert (code, out) == (2, ["XLA104", "XLA903"])
    assert err == [f"xlalint: error: {name}: Permission denied" for name in ("closed", "secret.py")]


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="the system has no file that cannot be read")
def test_an_error_while_a_file_is_read(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = found(capsys, "--no-cache", ".", "/proc/self/mem")  # nothing is mapped where it begins
    assert (code, out, err) == (2, ["XLA903", "XLA104"], ["xlalint: error: /proc/self/mem: Input/output error"])


def endless(file: Path) -> None:
    file.touch()
    os.truncate(file, 2**40)


FAULTS: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "a folder": os.mkdir,
    "a file without end": endless,
    "a link to itself": lambda file: file.symlink_to(file.name),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_files_around_the_code_that_are_something_else(
    fault: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What Git ignores, and what a project requires: there is nothing of it then."""
    for name in (".gitignore", ".git/info/exclude", "requirements.txt", "setup.cfg"):
        FAULTS[fault](project / name)
    assert found(capsys, "--no-cache", ".") == (1, ["XLA104"], [])


@pytest.mark.parametrize("fault", FAULTS)
def test_settings_and_baselines_that_are_something_else(
    fault: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FAULTS[fault](project / "known.json")
    FAULTS[fault](project / "pyproject.toml")
    for option, name in (("--baseline", "known.json"), ("--config", "pyproject.toml")):
        code, out, err = found(capsys, "--no-cache", option, name, ".")
        assert (code, out, len(err)) == (2, [], 1)


def test_a_file_that_is_larger_than_the_memory(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b.py", "c.ipynb"):
        endless(project / name)
    for _ in range(2):  # cold and warm
        assert found(capsys, ".") == (1, ["XLA104", "XLA905", "XLA905"], [])
    assert list((project / ".xlalint_cache").glob("*.json"))


# -- disks ------------------------------------------------------------------------------------------------------------


def test_a_disk_that_is_full_and_then_read_only(tmp_path: Path) -> None:
    told = tmp_path / "told"
    files = {"a.py": FIXABLE, "long.py": FIXABLE + "#" * 60_000}

    def full() -> int:
        sys.stderr = told.open("w", buffering=1)
        for name, text in files.items():
            Path(name).write_text(text)
        Path("rest").write_bytes(bytes(os.statvfs(".").f_bavail * os.statvfs(".").f_frsize - 8192))
        code = run([*QUIET, "--fix", "."])
        assert Path("long.py").read_text() == files["long.py"]
        assert Path("a.py").read_text() in (FIXABLE, FIXED)
        Path("a.py").write_text(FIXABLE)
        assert not list(Path().glob("*.tmp"))
        return 0 if code == 2 else 1

    def read_only() -> int:
        code = run([*QUIET, "--fix", "."])
        assert {name: Path(name).read_text() for name in files} == files
        return 0 if (code, run([*QUIET, "."])) == (2, 1) else 1

    disk = tmp_path / "disk"
    disk.mkdir()
    assert on_a_disk(disk, full, 160_000, read_only) == 0
    lines = told.read_text().splitlines()
    assert "xlalint: error: long.py: not fixed: No space left on device" in lines
    assert lines[-2:] == [f"xlalint: error: {name}: not fixed: the file is write-protected" for name in files]


def test_fixes_that_the_modes_forbid(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "b").mkdir()
    (project / "b" / "b.py").write_text(FIXABLE)
    (project / "b").chmod(0o555)
    with without_rights():
        code, _, err = found(capsys, "--no-cache", "--fix", ".")
    assert (code, err) == (2, ["xlalint: error: b/b.py: not fixed: Permission denied"])
    assert [(project / name).read_text() for name in ("a.py", "b/b.py")] == [FIXED, FIXABLE]


# -- files that change ------------------------------------------------------------------------------------------------


def test_files_that_others_write_and_remove_meanwhile(project: Path) -> None:
    """At any moment there is one content or the other, part of one, a pipe, or no file at all."""
    other, file, pipe = project / "other", project / "b.py", project / "pipe"
    os.mkfifo(pipe)

    def change() -> None:
        for text in (HAZARD, FIXABLE):
            other.write_text(text)
            os.replace(other, file)
            file.unlink()
            os.link(pipe, file)
            file.unlink()
            file.write_text(text)

    settings = Settings(jobs=1, cache_dir=project / "cache")
    with busy(change):
        reports = [check(["."], settings) for _ in range(60)]
    for report in reports:
        told = [finding.code for finding in report.findings if finding.path == "b.py"]
        assert set(told) <= {"XLA101", "XLA104", "XLA900", "XLA903"}
        assert [finding.code for finding in report.findings if finding.path == "a.py"] == ["XLA104"]
        assert [problem.path for problem in report.problems] in ([], ["b.py"])
        assert not any(problem.detail for problem in report.problems)
    file.unlink(missing_ok=True)
    file.write_text(HAZARD)
    for _ in range(2):
        assert [finding.code for finding in check(["."], settings).findings] == ["XLA104", "XLA101"]


# -- the cache --------------------------------------------------------------------------------------------------------


def test_a_cache_that_others_hold_locked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cold = found(capsys, ".")
    cache = project / ".xlalint_cache"
    ready, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            held = [open(file, "r+b") for file in cache.rglob("*") if file.is_file()]  # noqa: SIM115
            for file in held:
                fcntl.flock(file, fcntl.LOCK_EX)
                fcntl.lockf(file, fcntl.LOCK_EX)
            os.write(there, b"%d" % (len(held) > 2))
            signal.pause()
        finally:
            os._exit(1)
    try:
        assert os.read(ready, 1) == b"1"
        assert found(capsys, ".") == cold
        (project / "b.py").write_text(HAZARD)
        assert found(capsys, ".") == (1, ["XLA104", "XLA101"], [])
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("mode", [0, 0o500])
def test_a_cache_that_the_modes_forbid(mode: int, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cold = found(capsys, ".")
    cache = project / ".xlalint_cache"
    files = [file for file in cache.rglob("*") if file.is_file()]
    (project / "b.py").write_text(HAZARD)
    before = {file: file.read_bytes() for file in files}
    folders = [cache, *(folder for folder in cache.rglob("*") if folder.is_dir())]
    for file in (*files, *reversed(folders)):
        file.chmod(mode)
    with without_rights():
        assert found(capsys, ".") == (1, ["XLA104", "XLA101"], [])
        (project / "b.py").unlink()
        assert found(capsys, ".") == cold
    for folder in folders:
        folder.chmod(0o700)
    assert {file: file.read_bytes() for file in files} == before


def test_a_cache_of_another_version(project: Path) -> None:
    """The linter and a copy of it that knows a rule less take turns."""
    other = project.parent / "other"
    shutil.copytree(ROOT / "xlalint", other / "xlalint", ignore=shutil.ignore_patterns("__pycache__", "rules"))
    shutil.copytree(ROOT / "rules", other / "xlalint" / "rules", ignore=shutil.ignore_patterns("__pycache__"))
    [rule] = (other / "xlalint" / "rules").glob("xla104_*.py")
    rule.unlink()
    told = [
        subprocess.run(
            [sys.executable, "-m", "xlalint", *QUIET, "."],
            capture_output=True, text=True, check=False, env={**os.environ, **chosen},
        )
        for chosen in ({}, {"PYTHONPATH": str(other)}) * 2
    ]  # fmt: skip
    assert [(done.returncode, done.stderr) for done in told] == [(1, ""), (0, "")] * 2
    assert told[0].stdout == told[2].stdout
    assert "XLA104" in told[0].stdout


# -- processes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0.0, 0.01])
def test_a_process_that_is_killed_at_its_work(
    after: float, project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process that is started for the analysis gets a signal that ends it once it has worked so long."""
    for number in range(6):
        (project / f"m{number}.py").write_text(HAZARD * 40)
    monkeypatch.setattr(parts, "_TEXT_OF_A_PART", 2_000)
    whole = [finding.sort_key for finding in check(["."], Settings(jobs=1)).findings]
    parent = os.getpid()

    def doom() -> None:
        if doomed and os.getppid() == parent:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            if after:
                signal.setitimer(signal.ITIMER_PROF, after)
            else:
                os.kill(os.getpid(), signal.SIGKILL)

    doomed = True
    os.register_at_fork(after_in_child=doom)
    try:
        report = check(["."], Settings(jobs=2))
    finally:
        doomed = False
    assert [finding.sort_key for finding in report.findings] == whole
    assert len(whole) == 241
    [problem] = report.problems
    assert "ended early" in problem.message
    assert f"exit code -{signal.SIGPROF if after else signal.SIGKILL}" in problem.detail


# -- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["the terminal", "the reader"])
def test_messages_that_nobody_can_read_cost_no_finding(gone: str, project: Path) -> None:
    reader, writer = os.openpty() if gone == "the terminal" else os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "xlalint", "--no-cache", *QUIET, "a.py", "nowhere.py"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, text=True, check=False)
    assert (done.returncode, "XLA104" in done.stdout) == (2, True)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "xlalint: error: nowhere.py: no such file or directory"
    why = ["xlalint: error: standard output: Input/output error"] if gone == "the terminal" else []
    assert done.stderr.splitlines()[1:] == why


def test_a_slow_reader_of_a_pipe_that_does_not_wait(project: Path) -> None:
    (project / "a.py").write_text(HAZARD * 130)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    command = [sys.executable, "-m", "xlalint", "--no-cache", "a.py"]
    with subprocess.Popen(command, stdout=writer, stderr=writer) as process:
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            told = stream.read()
        assert (process.wait(), told.count(b"error[XLA101]")) == (1, 130)
    assert len(told) > 2**16
