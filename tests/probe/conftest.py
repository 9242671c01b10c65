"""What tests of the probe share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .driver import Driver


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    made = Driver()
    yield made
    made.process.kill()
    made.process.communicate()
