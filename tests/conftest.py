"""Tests marked `compiler` need TensorFlow; where it is not installed they are skipped, and said to be."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import settings

# How long an example takes says something of the machine's load only.
settings.register_profile("xlalint", deadline=None)
settings.load_profile("xlalint")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_spec("tensorflow") is not None:
        return
    missing = pytest.mark.skip(reason="TensorFlow is not installed")
    for item in items:
        if item.get_closest_marker("compiler"):
            item.add_marker(missing)
