"""What tests of the probe share: TensorFlow is imported once in each for all that they ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from xlalint.probe import pool
from xlalint.probe.process import Interpreter, Worker

from .driver import Driver
from .processes import Processes


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    made = Driver()
    yield made
    made.process.kill()
    made.process.communicate()


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    made = Worker(Interpreter())
    yield made
    made.close()


@pytest.fixture(scope="session")
def processes() -> Iterator[Processes]:
    made = Processes()
    yield made
    made.close()


@pytest.fixture
def lasting_processes(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the commands of a test run, they run in processes that outlive them."""
    monkeypatch.setattr(pool, "Worker", processes.lend)
    monkeypatch.setattr(pool.Slot, "close", lambda slot: processes.take_back(slot))
