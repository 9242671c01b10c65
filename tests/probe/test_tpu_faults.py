"""Whatever happens while a TPU's compiler is asked costs one function only; with a stand-in for JAX and libtpu that
does its worst, and TensorFlow's ordinary wheel, which has no kernel for a TPU.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.probe.test_faults import alive
from xlalint.probe.pool import Pool
from xlalint.probe.process import Interpreter, Limits
from xlalint.probe.protocol import FAILS, TPU, TPU_FAILS, Outcome, Plan
from xlalint.probe.target import Given, Target
from xlalint.tpu import stack

pytestmark = [pytest.mark.compiler, pytest.mark.slow]

CODE = """
import tensorflow as tf


def plain(x):
    return tf.reduce_sum(tf.matmul(x, x))


def untraced(x):
    if not tf.executing_eagerly():
        raise TypeError("not in a graph")
    return x
"""
# What a compiler does for each topology.
JAX = """
import os, subprocess, sys, time

class Description:
    devices = (None,)

def get_topology_desc(topology, platform):
    if topology == "v2:2x2":
        os.kill(os.getpid(), 11)
    if topology == "v3:2x2":
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        with open(PIDS, "a") as file:
            print(child.pid, os.getpid(), file=file)
        time.sleep(600)
    if topology == "v4:2x2x1":
        kept = []
        while True:
            kept.append(b"x" * (1 << 28))
    print('{"outcome": {}}' * 9, flush=True)
    os.write(1, b"\\xff{" * 500_000)
    os.write(2, b"\\xff" * 500_000)
    return Description()
"""


@pytest.fixture
def standing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    """This interpreter, with a stand-in for the part of JAX that reaches libtpu."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "standing_in.py").write_text(JAX.replace("PIDS", repr(str(tmp_path / "pids"))))
    (folder / "sitecustomize.py").write_text(
        "import sys, standing_in\nsys.modules['jax.experimental.topologies'] = standing_in\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return Interpreter()


def asked(interpreter: Interpreter, folder: Path, topology: str, limits: Limits, *names: str) -> list[Outcome]:
    file = folder / "m.py"
    file.write_text(CODE)
    targets = [Target(str(file), name, given=(Given(None, "f32[4, 4]"),), roots=(str(folder),)) for name in names]
    heard: dict[int, Outcome] = {}
    Pool(interpreter, limits, Plan(topology=topology)).run(targets, heard.__setitem__)
    return [heard[index] for index in range(len(names))]


def test_the_compiler_s_death_is_said_and_the_next_function_is_asked_of_another(
    standing_in: Interpreter, tmp_path: Path
) -> None:
    dead, untraced = asked(standing_in, tmp_path, "v2:2x2", Limits(120.0, 600.0), "plain", "untraced")
    assert (dead.death, dead.died_at, dead.not_run) == ("died of SIGSEGV", TPU, None)
    assert [(one.kind, one.text) for one in dead.observations] == [
        (FAILS, "the process died of SIGSEGV when it is compiled for a TPU")
    ]
    assert untraced.not_run == "tracing it raises TypeError"


@pytest.mark.parametrize(
    ("topology", "limits", "why"),
    [
        ("v3:2x2", Limits(function=8.0), "it did not finish within 8 s; --timeout allows more"),
        ("v4:2x2x1", Limits(function=120.0, memory=1500), " MB of memory (allowed: 1500); --memory allows more"),
    ],
)
def test_limits_hold_for_the_compiler(
    standing_in: Interpreter, tmp_path: Path, topology: str, limits: Limits, why: str
) -> None:
    [outcome] = asked(standing_in, tmp_path, topology, limits, "plain")
    assert why in (outcome.not_run or "")
    assert not outcome.observations
    assert not outcome.programs


def test_what_a_compiler_prints_is_no_answer(standing_in: Interpreter, tmp_path: Path) -> None:
    [outcome] = asked(standing_in, tmp_path, "v5e:2x2", Limits(120.0, 600.0), "plain")
    assert (outcome.not_run, outcome.death) == (None, None)
    [refusal] = outcome.observations
    assert refusal.kind == TPU_FAILS
    assert "no kernel for " in refusal.text
    assert refusal.spots[0].line == 6
    assert not any(program.compiles for program in outcome.programs)


def test_an_interruption_ends_the_compiler(standing_in: Interpreter, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("# xlalint: probe(x: f32[4, 4])\n" + CODE.lstrip())
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    command = [sys.executable, "-m", "xlalint", "probe", "m.py::plain", "--target", "tpu", "--topology", "v3:2x2"]
    environment = {**os.environ, stack.HOME: str(home)}
    with subprocess.Popen(
        [*command, "--inputs", "x: f32[4, 4]", "--isolated", "--no-cache", "--timeout", "300"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        pids = tmp_path / "pids"
        while process.poll() is None and not (pids.exists() and pids.read_text().endswith("\n")):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "compiles: plain" in out  # what the CPU said is kept
    assert not any(alive(int(pid)) for pid in pids.read_text().split())
