"""`xlalint probe` and `xlalint check --probe` from end to end: arguments, output, exit codes, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands import ran
from tests.probe.functions import FUNCTIONS

CODE = f"""{FUNCTIONS}

# xlalint: probe(x: nonsense)
@tf.function(jit_compile=True)
def astray(x):
    if tf.reduce_sum(x) > 10.0:
        raise ValueError("too much")
    return tf.strings.as_string(x)
"""
COMMAND = [sys.executable, "-m", "xlalint"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text(CODE)
    return tmp_path


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.usefixtures("lasting_processes")
def test_verdicts_stand_beside_findings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "--probe", "a.py", "--output-format", "json")
    assert code == 1
    assert "executes the code" in err
    report = json.loads(out)
    verdicts = {one["line"]: one["verdict"] for one in report["findings"]}
    assert (verdicts[7]["status"], verdicts[7]["outcome"], verdicts[7]["per"]) == ("confirmed", "recompiles", "value")
    assert (verdicts[13]["status"], verdicts[13]["outcome"], verdicts[13]["line"]) == ("confirmed", "fails", 13)
    assert verdicts[13]["inputs"] == ["x: f32[6]"]
    assert verdicts[13]["versions"].keys() == {"tensorflow", "keras", "python"}
    assert {verdicts[line]["status"] for line in verdicts if line > 20} == {"open"}
    assert {verdicts[line]["outcome"] for line in verdicts if line > 20} == {"not run"}
    assert {one["function"]: one["outcome"] for one in report["functions"]}.items() >= {
        ("size", "recompiles"),
        ("step", "fails"),
    }

    # The other command finds the same, and the verdicts of the first run are still there.
    began = time.monotonic()
    code, out, err = ran(capsys, "probe", "a.py::size", "a.py::step", "-q")
    assert (code, err) == (1, "")
    assert "recompiles: size (a.py:5)\n" in out
    assert "  = fails at a.py:13: tracing it fails with OperatorNotAllowedInGraphError" in out
    assert "a.py:7:26: XLA205 size-from-value: confirmed" in out
    assert time.monotonic() - began < 60

    code, out, _ = ran(
        capsys, "--probe=confirmed-only", "a.py", "--output-format", "concise", "--select", "XLA101,XLA205"
    )
    assert [line.split(" ", 1)[0] for line in out.splitlines()[:2]] == ["a.py:7:26:", "a.py:13:8:"]
    assert "[confirmed: 3 compilations for " in out
    assert "Probed " in out

    code, out, _ = ran(capsys, "probe", "a.py::fine", "--inputs", "x: f32[2..4]")
    assert code == 0, out
    assert out.startswith("compiles: fine (a.py:")
    assert "x: f32[2..4]" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["probe", "gone.py::f"], "gone.py: there is no such file"),
        (["probe", "a.py::"], "the name of a function is missing"),
        (["probe", "a.py::stpe"], "did you mean"),
        (["probe", "a.py::step", "--inputs", "x: f99[2]"], "`f99` is not a dtype"),
        (["probe", "a.py::step", "a.py::size", "--inputs", "x: f32[2]"], "--inputs needs exactly one function"),
        (["probe", "a.py::step", "--python", "/no/such/python"], "/no/such/python"),
        (["check", "--probe", "--diff", "a.py"], "fix first"),
        (["check", "--probe", "-"], "--probe runs files"),
        (["check", "--probe=some", "a.py"], "'some' is not one of"),
        (["check", "a.py", "--config", "probe.memory = 'much'"], "probe.memory: expected an integer"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = ran(capsys, *arguments)
    assert code == 2
    assert message in err
    assert out == ""
    assert len([line for line in err.splitlines() if "executes the code" not in line]) == 1


@pytest.fixture
def bare_python(project: Path) -> Path:
    """An interpreter without any package."""
    script = project / "python"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    script.chmod(0o755)
    return script


def test_without_tensorflow_one_line_names_the_extra(
    project: Path, bare_python: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = ran(capsys, "probe", "a.py::fine", "--python", str(bare_python))
    assert code == 2
    assert f"{bare_python} cannot run the probe" in err
    monkeypatch.setattr(sys, "executable", str(bare_python))
    code, _, err = ran(capsys, "check", "--probe", "a.py")
    assert code == 2
    assert "pip install 'xlalint[probe]'" in err


def started_for(folder: Path) -> set[int]:
    """The marked processes that know a folder from their environment."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = entry.read_bytes()
        except OSError:
            continue  # it has ended, or is another user's
        if b"XLALINT_PROBE=" in environment and os.fsencode(folder) in environment:
            found.add(int(entry.parent.name))
    return found


# A worker that answers the first job, and is busy with the second for ever.
BUSY = """\
#!/bin/sh
echo '{"ready": {"tensorflow": "2.21.0"}}'
read job
echo '{"outcome": {"how": "as it is", "calls": [{"variant": 0, "values": 0, "compilations": 1}]}}'
read job
touch busy
sleep 600
"""


@pytest.mark.parametrize("command", [["probe", "a.py::fine", "a.py::step"], ["check", "--probe=all", "a.py"]])
def test_an_interruption_tells_what_is_known_by_then(project: Path, command: list[str]) -> None:
    busy = project / "python"
    busy.write_text(BUSY.replace("busy", str(project / "busy")))
    busy.chmod(0o755)
    whole = [*COMMAND, *command, "--python", str(busy), "--no-cache", "--output-format", "json"]
    process = subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (project / "busy").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    functions = json.loads(out)["functions"]
    assert [one["outcome"] for one in functions].count("compiles") == 1
    assert {one["text"] for one in functions if one["outcome"] == "not run"} >= {"the probe was interrupted"}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_an_interruption_leaves_nothing_behind(project: Path, end: signal.Signals) -> None:
    sleeping = project / "python"
    sleeping.write_text("#!/bin/sh\nsleep 600 &\nsleep 600\n")
    sleeping.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(project)}
    command = [*COMMAND, "probe", "a.py::fine", "--python", str(sleeping), "--no-cache"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True)
    while len(started_for(project)) < 3:  # the shell and both of what it starts
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(end)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert not started_for(project)
    assert list(project.glob("xlalint-probe-*")) == []
