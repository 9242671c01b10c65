"""What tests of the probe share: TensorFlow is imported once in each for all that they ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from xlalint.probe.process import Interpreter, Worker

from .driver import Driver


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
