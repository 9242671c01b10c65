"""A signal is heard that does not wake the main thread, as one does not that comes just before it begins to wait."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from threading import Thread, get_ident

import pytest

from xlalint.probe.pool import Pool
from xlalint.probe.process import Interpreter, Limits
from xlalint.probe.protocol import Outcome, Plan
from xlalint.probe.target import Target


def nobody(index: int, outcome: Outcome) -> None:
    raise AssertionError((index, outcome))


def test_a_signal_that_another_thread_takes_ends_the_run(tmp_path: Path) -> None:
    started, ended, program = tmp_path / "started", tmp_path / "ended", tmp_path / "python"
    program.write_text(f"#!/bin/sh\ntouch '{started}'\nsleep 20\ntouch '{ended}'\n")
    program.chmod(0o755)

    def take() -> None:
        while not started.exists():
            time.sleep(0.05)
        signal.pthread_kill(get_ident(), signal.SIGINT)

    thread = Thread(target=take)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        Pool(Interpreter(str(program)), Limits(), Plan()).run([Target(str(tmp_path / "a.py"), "f")], nobody)
    thread.join()
    assert not ended.exists()
