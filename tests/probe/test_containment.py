"""What the code that the probe runs cannot reach."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import sys
from pathlib import Path

import pytest

from tests.robustness.system import forked
from xlalint.probe.containment import hide_environment
from xlalint.probe.process import Interpreter, Limits, ProbeUnavailableError, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.target import Target
from xlalint.settings.config import load

linux = pytest.mark.skipif(sys.platform != "linux", reason="the system shows no environment of others")
# Says what it could reach, where everything that it tries should be refused.
PRYING = """
import os, pathlib, socket
import tensorflow as tf

reached = []
for process in pathlib.Path("/proc").glob("[0-9]*/environ"):
    try:
        if b"A_SECRET=7" in process.read_bytes():
            reached.append(str(process))
    except OSError:
        pass
try:
    pathlib.Path(__file__).with_name("written").write_text("")
    reached.append("the folder of the code")
except OSError:
    pass
try:
    socket.create_connection(("127.0.0.1", PORT), 2)
    reached.append("the network")
except OSError:
    pass
pathlib.Path("own").write_text("this is allowed")
if reached:
    raise RuntimeError(f"reached: {reached}")


def f(x):
    return x + tf.ones_like(x)
"""


@linux
@pytest.mark.parametrize("hidden", [False, True])
def test_the_environment_is_hidden_from_the_same_user(hidden: bool) -> None:
    def act() -> int:
        if os.geteuid() == 0:  # whom nothing is hidden from
            os.setresuid(65534, 65534, 65534)
            ctypes.CDLL(None).prctl(4, 1)  # as a program that such a user starts
        if hidden:
            hide_environment()
        parent = os.getpid()

        def read() -> int:
            try:
                return 0 if Path(f"/proc/{parent}/environ").read_bytes() else 1
            except PermissionError:
                return 2

        return forked(read)

    assert forked(act) == (2 if hidden else 0)


@pytest.mark.compiler
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_code_in_a_sandbox_reaches_nothing_but_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "7")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        file = tmp_path / "prying.py"
        file.write_text(PRYING.replace("PORT", str(listening.getsockname()[1])))
        lines = PRYING.count("\n") - 1, PRYING.count("\n")
        told = []
        for sandbox in (True, False):
            worker = Worker(Interpreter(sandbox=sandbox))
            try:
                told.append(worker.ask(Target(str(file), "f", lines), Plan(), Limits()))
            finally:
                worker.close()
    assert told[0].not_run is None
    assert told[0].calls
    assert "the network" in str(told[1].not_run), "what the code tries works elsewhere"
    assert "the folder of the code" in str(told[1].not_run)


@pytest.mark.compiler
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_death_in_a_sandbox_is_told_as_one_outside(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("import os, tensorflow as tf\ndef f(x):\n    os.kill(os.getpid(), 11)\n    return tf.abs(x)\n")
    worker = Worker(Interpreter(sandbox=True))
    try:
        outcome = worker.ask(Target(str(file), "f", (2, 4)), Plan(), Limits())
    finally:
        worker.close()
    assert outcome.death == "died of SIGSEGV"


def test_a_machine_without_a_sandbox_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProbeUnavailableError, match="--sandbox needs bubblewrap: there is no `bwrap` on the path"):
        Worker(Interpreter(sandbox=True))


def test_what_an_interpreter_is_asked_imports_nothing_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_SECRET", "7")
    (tmp_path / "json.py").write_text("print('run')")
    code = "import json, os; print('A_SECRET' in os.environ)"
    assert Interpreter().told(code, timeout=60) == "False\n"


def test_a_path_to_an_interpreter_is_that_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.xlalint.probe]\npython = ".venv/bin/python"\n')
    monkeypatch.chdir(tmp_path / "sub")
    assert load().probe.python == str(tmp_path / ".venv" / "bin" / "python")
    assert load(config=['probe.python = "python3.12"']).probe.python == "python3.12"
