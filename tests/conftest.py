"""Tests marked `compiler` need TensorFlow; where it is not installed they are skipped, and said to be."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from threading import current_thread, main_thread

import pytest
from hypothesis import settings

from tests import sampling

# How long an example takes says something of the machine's load only.
settings.register_profile("xlalint", deadline=None, derandomize=sampling.IS_USUAL)
settings.load_profile("xlalint")

# A shell that runs the tests in the background has them, and every program that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and current_thread() is main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_spec("tensorflow") is not None:
        return
    missing = pytest.mark.skip(reason="TensorFlow is not installed")
    for item in items:
        if item.get_closest_marker("compiler"):
            item.add_marker(missing)
