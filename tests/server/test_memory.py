"""A server runs for days: what runs leave is freed while nobody types."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from tests.samples import HAZARD
from xlalint.analysis.files.session import Session
from xlalint.analysis.program.modules import ProjectModule
from xlalint.linter import garbage
from xlalint.linter.run import check
from xlalint.server import serve
from xlalint.server.documents import Document
from xlalint.settings.config import Settings

METHODS = """
class Scaled(tf.keras.layers.Layer):
    def __init__(self, rate):
        super().__init__()
        self.rate = tf.constant(rate)
        self.counted(0)

    def counted(self, number):
        self.number = number

    def call(self, x):
        self.number = self.number + 1
        return x * self.rate


print(Scaled(0.5)(tf.ones([2])))
"""


def test_of_an_analysis_a_session_keeps_no_module(tmp_path: Path) -> None:
    file, session = tmp_path / "a.py", Session()
    for number in range(3):
        file.write_text(f"{HAZARD}{METHODS}kept = {number}\n")
        assert check([file], Settings(jobs=1), session=session).findings
    gc.collect()
    modules = [one for one in gc.get_objects() if isinstance(one, ProjectModule)]
    assert [one for one in modules if one.path == file] == []


class Empty(serve.Server):
    """With nothing open."""

    def documents(self) -> list[Document]:
        return []


@pytest.fixture
def freed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is freed, in the order of time; the server waits for a moment only."""
    found: list[str] = []
    monkeypatch.setattr(serve, "_IDLE", 0.1)
    monkeypatch.setattr(serve, "_QUIET", 0.1)
    monkeypatch.setattr(garbage, "collect", lambda: found.append("some"))
    monkeypatch.setattr(garbage, "collect_all", lambda: found.append("all"))
    return found


def type_on(*pauses: float, stop: bool = False) -> None:
    async def typing() -> None:
        server = Empty()
        for pause in pauses:
            server.refresh()
            await server.settled()
            await asyncio.sleep(pause)
        if stop:
            server.stop()
            await asyncio.sleep(0.5)

    asyncio.run(typing())


def test_what_runs_left_is_freed_once_nobody_types(freed: list[str]) -> None:
    type_on(0.0, 0.0, 2.0)
    assert freed == ["some", "all"]


def test_while_somebody_types_only_what_is_too_much(freed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_IDLE", 60.0)
    type_on(0.1, 0.1)
    assert freed == []
    monkeypatch.setattr(garbage, "left", lambda: 10_000_000)
    monkeypatch.setattr(serve, "_QUIET", 60.0)
    type_on(0.1, 0.1)
    assert freed == ["some", "some"]


def test_a_server_that_has_stopped_frees_nothing(freed: list[str]) -> None:
    type_on(0.0, stop=True)
    assert freed == []
