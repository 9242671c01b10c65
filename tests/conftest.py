"""Tests marked `compiler` need TensorFlow; where it is not installed they are skipped, and said to be. So are claims
about the compiler to which it has agreed before (`tests.compiler.claims`), but for a sample. Files with slow tests come
first, so that no process waits for another's at the end; whole, so that what their tests share is made once."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from threading import current_thread, main_thread

import pytest
from hypothesis import settings

from tests import sampling
from tests.compiler import claims

# How long an example takes says something of the machine's load only.
settings.register_profile("xlalint", deadline=None, derandomize=sampling.IS_USUAL)
settings.load_profile("xlalint")

# The many programs that tests start need not each compile all that they import.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that runs the tests in the background has them, and every program that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and current_thread() is main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="keep which claims the compiler agrees to")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--record"):
        return
    if config.getoption("keyword"):
        raise pytest.UsageError("--record keeps what all cases of a test claim, and -k may leave some out")
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist
        config.pluginmanager.register(claims.Recorder())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """All tests and what they import stay until the end: nobody searches them for garbage, now or while they run."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    if find_spec("tensorflow") is None:
        missing = pytest.mark.skip(reason="TensorFlow is not installed")
        for item in items:
            if item.get_closest_marker("compiler"):
                item.add_marker(missing)
        return
    for item in items:
        claims.announce(item)
    known = pytest.mark.skip(reason="known of the compiler; XLALINT_SAMPLE=9999 asks again")
    for item in claims.left_out(items):
        item.add_marker(known)


@pytest.fixture(scope="session", autouse=True)
def own_folder_for_temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is found that another run left behind, and what processes leave that are killed goes with this one."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield
