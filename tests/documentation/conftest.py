"""The site, built once, and a browser to look at it."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests import sampling
from xlalint.docs.build import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The calls and operations whose pages Sphinx writes; all of them take it a minute.
WITH_PAGES: Final = "" if sampling.size(0) else r"crop_and_resize|TopKV2|^tf\.nn\."


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the built site; a warning of the build fails it. The processes of one run share it."""
    pytest.importorskip("sphinx", reason="xlalint[docs] is not installed")
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder if folder.is_dir() else build(folder, WITH_PAGES).parent


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium of the system: none is downloaded. As long as it is there, an event loop runs in this thread, which
    other modules start themselves."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()
