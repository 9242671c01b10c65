"""What a session keeps of the files that are imported and not checked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xlalint.analysis.files.session import Session
from xlalint.sources.reading import read_source
from xlalint.sources.text import Source, UnreadableSource


class Reading:
    """The file `a.py` of a folder as a session has it, and how often it was read for that."""

    def __init__(self, folder: Path) -> None:
        self.path, self.session, self.times = folder / "a.py", Session(), 0

    def write(self, text: str, at: int = 1_000_000_000) -> None:
        self.path.write_text(text, encoding="utf-8")
        os.utime(self.path, (at, at))

    def text(self) -> str:
        return self.session.source(self.path, self._read).text

    def _read(self) -> Source:
        self.times += 1
        return read_source(self.path, "a.py", linted=False)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written a moment ago counts as written long ago."""
    monkeypatch.setattr("xlalint.sources.versions._GRAIN", -3_600_000_000_000)


@pytest.mark.usefixtures("settled")
def test_a_file_is_read_again_only_where_it_has_changed(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.write("a = 1\n")
    assert [reading.text(), reading.text(), reading.times] == ["a = 1\n", "a = 1\n", 1]
    reading.write("a = 2\n", at=1_000_000_001)
    assert [reading.text(), reading.times] == ["a = 2\n", 2]


@pytest.mark.usefixtures("settled")
def test_a_file_of_the_same_size_and_time_that_takes_its_place_is_read(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.write("a = 1\n")
    assert reading.text() == "a = 1\n"
    other = tmp_path / "other"
    other.write_text("a = 2\n", encoding="utf-8")
    os.utime(other, (1_000_000_000, 1_000_000_000))
    other.replace(reading.path)
    assert reading.text() == "a = 2\n"


def test_a_file_that_was_written_a_moment_ago_is_read_each_time(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.path.write_text("a = 1\n", encoding="utf-8")
    assert [reading.text(), reading.text(), reading.times] == ["a = 1\n", "a = 1\n", 2]


@pytest.mark.usefixtures("settled")
def test_a_file_that_has_gone_is_not_known_any_more(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.write("a = 1\n")
    assert reading.text() == "a = 1\n"
    reading.path.unlink()
    with pytest.raises(UnreadableSource):
        reading.text()
