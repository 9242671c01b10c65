"""Runs on a scheduler with workers on this machine: the report is that of home, whatever happens to a worker."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

from tests.commands import ran
from tests.probe.functions import FUNCTIONS
from xlalint.probe.cluster import client

MANY = "".join(
    f"# xlalint: probe(x: f32[6])\n@tf.function(jit_compile=True)\ndef g{n}(x):\n    return x + {n}\n\n\n"
    for n in range(6)
)
# Stands for an interpreter with TensorFlow; what it does with a job is put in.
INTERPRETER = """\
#!{python}
import json, os, signal, sys, time
if "importlib.metadata" in sys.argv[2]:
    print('{{"python": "3.11", "tensorflow": "2.21.0"}}')
    sys.exit()
print('{{"ready": {{"tensorflow": "2.21.0"}}}}', flush=True)
for line in sys.stdin:
    target = json.loads(line)["target"]
    {does}
    call = {{"variant": 0, "values": 0, "compilations": 1}}
    ran = {{target["file"]: [target["lines"][0]]}}
    print(json.dumps({{"outcome": {{"how": "as it is", "calls": [call], "ran": ran}}}}), flush=True)
"""


def noted(seen: Path, what: str) -> str:
    """What writes a text into a file."""
    return f"open({str(seen)!r}, 'a').write({what} + '\\n')"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler with three workers, which soon takes one for dead."""
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "4 s"}),
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text(f"import tensorflow as tf\n\n\n{MANY}")
    return tmp_path


def interpreter(project: Path, does: str) -> str:
    file = project / "python"
    file.write_text(INTERPRETER.format(python=sys.executable, does=does))
    file.chmod(0o755)
    return str(file)


def outcomes(out: str) -> dict[str, tuple[str, str]]:
    return {one["function"]: (one["outcome"], one["text"]) for one in json.loads(out)["functions"]}


def workers(address: str) -> dict[int, str]:
    """The processes of the workers."""
    with Client(address, set_as_default=False) as asked:
        return {pid: name for name, pid in asked.run(os.getpid).items()}


def without_times(text: str) -> Any:
    return json.loads(re.sub(r'"seconds": [\d.]+|[\d.]+ s\b', '"seconds": 0', text))


@pytest.mark.compiler
@pytest.mark.slow
def test_the_report_is_that_of_home(project: Path, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.py").write_text(FUNCTIONS)
    command = ["check", "--probe", "a.py", "--output-format", "json", "--exit-zero", "--no-cache"]
    _, home, _ = ran(capsys, *command)
    _, there, told = ran(capsys, *command, "--cluster", address)
    assert without_times(there) == without_times(home)
    assert {one["outcome"] for one in json.loads(home)["functions"]} == {"fails", "recompiles"}
    assert "3 workers run 3 functions at once" in told


def test_a_worker_forgets_the_project_after_a_run(
    project: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = interpreter(project, noted(project / "seen", "os.getcwd()"))
    code, out, _ = ran(capsys, "probe", "a.py", "--cluster", address, "--python", program, "--output-format", "json")
    assert code == 0
    assert {outcome for outcome, _ in outcomes(out).values()} == {"compiles"}
    with Client(address, set_as_default=False) as asked:
        left = asked.run(lambda: list(__import__("xlalint.probe.cluster.remote", fromlist=["_"])._unpacked))
    assert set(map(tuple, left.values())) == {()}
    assert not any(Path(folder).exists() for folder in set((project / "seen").read_text().split()))


def test_only_named_variables_of_the_environment_are_sent(
    project: Path, address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANTED", "yes")
    monkeypatch.setenv("PRIVATE", "no")
    program = interpreter(project, noted(project / "seen", "str(dict(os.environ))"))
    given = ["--config", 'probe.environment = ["WANTED"]']
    code, _, _ = ran(capsys, "probe", "a.py", "--cluster", address, "--python", program, *given)
    seen = (project / "seen").read_text()
    assert code == 0
    assert "'WANTED': 'yes'" in seen
    assert "PRIVATE" not in seen


@pytest.mark.slow
def test_a_worker_that_dies_or_stops_costs_another_attempt(
    project: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = interpreter(project, "time.sleep(1); " + noted(project / "seen", "'x'"))
    killed, stopped, _ = workers(address)

    def disturb() -> None:
        while not (project / "seen").exists():
            time.sleep(0.05)
        os.kill(killed, signal.SIGKILL)
        os.kill(stopped, signal.SIGSTOP)

    thread = Thread(target=disturb)
    thread.start()
    try:
        code, out, _ = ran(
            capsys, "probe", "a.py", "--cluster", address, "--python", program, "--output-format", "json"
        )
    finally:
        thread.join()
        with contextlib.suppress(ProcessLookupError):  # the engine has ended it
            os.kill(stopped, signal.SIGCONT)
    assert code == 0
    assert {outcome for outcome, _ in outcomes(out).values()} == {"compiles"}
    assert len(outcomes(out)) == 6


@pytest.mark.slow
def test_a_function_that_ends_its_workers_is_told_of_and_what_they_had_besides_is_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = interpreter(project, "target['qualname'] == 'g3' and os.kill(os.getppid(), signal.SIGKILL)")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
    ):
        where = ["--cluster", cluster.scheduler_address]
        code, out, _ = ran(capsys, "probe", "a.py", *where, "--python", program, "--output-format", "json")
    found = outcomes(out)
    assert code == 2
    assert found.pop("g3") == ("not run", "1 worker of the cluster ended while it ran it")
    assert {outcome for outcome, _ in found.values()} == {"compiles"}


@pytest.mark.slow
def test_a_scheduler_that_goes_away_ends_the_run_and_another_goes_on_from_there(
    project: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = project / "seen"
    program = interpreter(project, "time.sleep(0.3); " + noted(seen, "target['qualname']"))
    command = ["probe", "a.py", "--python", program, "--output-format", "json", "--cluster"]
    first = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50)

    def close() -> None:
        while not seen.exists() or seen.read_text().count("g") < 2:
            time.sleep(0.05)
        first.close()

    thread = Thread(target=close)
    thread.start()
    try:
        code, out, told = ran(capsys, *command, first.scheduler_address)
    finally:
        thread.join()
    assert code == 2
    assert "the scheduler of the cluster is gone; a new run continues from here" in told
    known = {name for name, (outcome, _) in outcomes(out).items() if outcome == "compiles"}
    assert 0 < len(known) < 6
    seen.unlink()
    code, out, _ = ran(capsys, *command, address)
    assert code == 0
    assert {outcome for outcome, _ in outcomes(out).values()} == {"compiles"}
    assert not known & set(seen.read_text().split())


@pytest.mark.parametrize(
    ("address", "told"),
    [("nonsense", "--cluster nonsense: "), ("tcp://127.0.0.1:1", "--cluster tcp://127.0.0.1:1: ")],
)
def test_an_address_without_a_scheduler_is_told_in_a_line(
    project: Path, address: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_PATIENCE", 1.0)
    code, _, err = ran(capsys, "probe", "a.py", "--cluster", address)
    assert code == 2
    assert told in err


def test_other_versions_than_those_here_are_refused(
    project: Path, address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = interpreter(project, "pass")
    monkeypatch.setattr(client, "versions_of", lambda interpreter: {"tensorflow": "2.15.0"})
    code, _, err = ran(capsys, "probe", "a.py", "--cluster", address, "--python", program)
    assert code == 2
    assert "has tensorflow 2.21.0, and here there is tensorflow 2.15.0" in err
