"""Whatever a function does, it costs that function only: nothing is lost, and nothing is left running."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from xlalint.probe.pool import Pool
from xlalint.probe.process import Interpreter, Limits, Worker
from xlalint.probe.protocol import FAILS, RECOMPILES, Outcome, Plan
from xlalint.probe.target import Frame, Given, Target

CODE = """
import os
import subprocess
import sys
import time
import urllib.request

import numpy as np
import tensorflow as tf


calls = []


def first(name):
    calls.append(name)
    return tf.executing_eagerly() and calls.count(name) == 1


def leaves(x):
    sys.exit(3)


def exits(x):
    os._exit(3)


def crashes_when_compiled(x):
    if not tf.executing_eagerly():
        os.kill(os.getpid(), 11)
    return x


def dies_of_xla(x):
    kept = tf.boolean_mask(x * 2.0, x > 0.0)
    summed = tf.cumsum(kept)
    return x + 1.0, summed


def eats(x):
    return np.ones(1 << 28)  # in one line: how long it takes is asked between two


def forks(x):
    if first("forks"):
        child = os.fork()
        other = subprocess.Popen(["sleep", "600"], start_new_session=True)
        if child:
            with open("PIDS", "a") as file:
                print(child, other.pid, file=file)
        else:
            time.sleep(600)
    return x * 2.0


def forks_and_returns(x):
    if first("forks_and_returns"):
        os.fork()
    return x * 2.0


def prints(x):
    sys.stdout.write("o" * 3_000_000)
    os.write(1, b"w" * 3_000_000)
    sys.stderr.write("e" * 3_000_000)
    print(sys.stdin.read())
    return x * 2.0


def moves(x):
    os.chdir("/")
    return x * 2.0


def needs_a_gpu(x):
    tf.debugging.assert_greater(len(tf.config.list_physical_devices("GPU")), 0, "a GPU is needed")
    return x


def downloads(x):
    return x + float(len(urllib.request.urlopen("http://127.0.0.1:9/weights").read()))


def plain(x):
    return x * 2.0
"""
NOT_RUN = {
    "leaves": "SystemExit",
    "exits": "exit code 3",
    "eats": "of memory (allowed: 1500); --memory allows more",
    "needs_a_gpu": "a GPU is needed",
    "downloads": "URLError",
}
RUN = ("forks", "forks_and_returns", "prints", "moves", "plain")
LIMITS = Limits(function=120.0, total=600.0, memory=1500)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def probed(file: Path, names: Sequence[str], limits: Limits) -> dict[str, Outcome]:
    targets = [Target(str(file), name, given=(Given(None, "f32[4]"),), roots=(str(file.parent),)) for name in names]
    heard: dict[str, Outcome] = {}

    def done(index: int, outcome: Outcome) -> None:
        heard[names[index]] = outcome

    Pool(Interpreter(), limits, Plan(gradients=False)).run(targets, done)
    return heard


@pytest.mark.slow
@pytest.mark.compiler
def test_a_fault_costs_its_function_only(tmp_path: Path) -> None:
    file, pids = tmp_path / "faults.py", tmp_path / "pids"
    file.write_text(CODE.replace("PIDS", str(pids)))
    names = [*RUN, *NOT_RUN, "crashes_when_compiled", "dies_of_xla"]
    heard = probed(file, names, LIMITS)
    assert set(heard) == set(names)
    for name, reason in NOT_RUN.items():
        assert reason in (heard[name].not_run or ""), (name, heard[name])
        assert heard[name].observations == ()
    for name in RUN:
        assert heard[name].not_run is None, (name, heard[name].not_run)
        assert heard[name].observations == (), name
        assert {call.difference for call in heard[name].calls} == {""}
    [death] = heard["crashes_when_compiled"].observations
    assert (death.kind, heard["crashes_when_compiled"].not_run) == (FAILS, None)
    assert "SIGSEGV" in death.text
    assert not death.spots
    [blamed] = heard["dies_of_xla"].observations
    assert CODE.split("\n")[blamed.spots[0].line - 1] == "    summed = tf.cumsum(kept)"
    left = [int(pid) for pid in pids.read_text().split()]
    assert left
    assert not any(map(alive, left))


@pytest.mark.compiler
def test_others_are_tried_for_inputs_that_take_all_memory(tmp_path: Path) -> None:
    file = tmp_path / "hungry.py"
    file.write_text(
        "held = []\n\n\ndef f(x):\n    if len(x.shape) == 2:\n        while True:\n"
        "            held.append(bytearray(50_000_000))\n    return x * 2.0\n"
    )
    found: list[Outcome] = []
    Pool(Interpreter(), LIMITS, Plan(drive_only=True)).run(
        [Target(str(file), "f", roots=(str(file),))], lambda index, outcome: found.append(outcome)
    )
    assert found[0].not_run is None, found


@pytest.mark.compiler
def test_nothing_is_left_in_the_folder_of_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AutoGraph writes each function that it converts to a file, which only a process that ends by itself removes."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setenv("TMPDIR", str(scratch))
    file = tmp_path / "branches.py"
    file.write_text(
        "import time\n\ndef f(x):\n    if x[0] > 0.0:\n        x = x * 2.0\n    return x\n\n"
        "def hangs(x):\n    time.sleep(600)\n    return x\n"
    )
    worker = Worker(Interpreter())
    try:
        outcome = worker.ask(Target(str(file), "f", (3, 6), given=(Given("x", "f32[4]"),)), Plan(), Limits(function=60))
        assert list(scratch.rglob("__autograph_generated_file*")), "AutoGraph has converted it"
        late = worker.ask(Target(str(file), "hangs"), Plan(), Limits(function=2.0))
        assert "it did not finish within 2 s; --timeout allows more" in (late.not_run or "")
        assert late.observations == ()
    finally:
        worker.close()
    assert outcome.calls
    assert list(scratch.iterdir()) == []


@pytest.mark.compiler
def test_statements_are_known_of_what_is_driven_late_and_ends_before_it_is_compiled(tmp_path: Path) -> None:
    file = tmp_path / "endless.py"
    file.write_text(
        "import time\nimport tensorflow as tf\n\ndef f(n):\n    ids = tf.range(n)\n"
        "    time.sleep(0.2 if tf.executing_eagerly() else 600.0)\n    return ids\n"
    )
    target = Target(str(file), "f", (4, 7), given=(Given("n", "i32[]"),), wanted=(5,))
    worker = Worker(Interpreter())
    try:
        outcome = worker.ask(target, Plan(seconds=0.2), Limits(function=4.0))
    finally:
        worker.close()
    assert "it did not finish within 4 s; --timeout allows more" in (outcome.not_run or "")
    assert [(one.kind, one.spots[0].line) for one in outcome.observations] == [(RECOMPILES, 5)]
    assert outcome.inputs == ("n: i32[]",)


@pytest.mark.compiler
def test_statements_are_known_before_another_way_to_call_a_function_that_takes_too_long(tmp_path: Path) -> None:
    file = tmp_path / "caller.py"
    file.write_text(
        "import time\nimport tensorflow as tf\n\ndef f(n):\n    ids = tf.range(n)\n    time.sleep(0.2)\n"
        "    raise ValueError(ids.shape)\n\ndef called(n):\n    time.sleep(600.0)\n    return f(n)\n"
    )
    given = (Given("n", "i32[]"),)
    target = Target(str(file), "f", (4, 7), wanted=(5,), callers=(Frame(str(file), "called"),), given=given)
    worker = Worker(Interpreter())
    try:
        outcome = worker.ask(target, Plan(seconds=0.2), Limits(function=5.0))
    finally:
        worker.close()
    assert "it did not finish within 5 s; --timeout allows more" in (outcome.not_run or "")
    assert [(one.kind, one.spots[0].line) for one in outcome.observations] == [(RECOMPILES, 5)]
