"""A file into which somebody types, and one that it imports: what the runs before it left never shows in what a run
finds, where it stands, and how it is mended."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.incremental.project import STATEMENTS, above
from tests.incremental.test_edits import told
from tests.rules.test_rules import LISTENERS
from tests.sampling import chance, size
from xlalint.analysis.files.session import Session
from xlalint.authoring.examples import with_import
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAMS = [with_import(bad.code) for rule in LISTENERS for bad in rule.bad if "__future__" not in bad.code]
TARGETS = (None, "tpu")


def typed(text: str, random: Random) -> str:
    """The text with a statement more, or with a line less, or with one that says nothing."""
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            del lines[at]
        case 1 if lines[at].strip():
            lines[at] = above(lines[at], "pass")
        case _:
            lines.insert(at, above(lines[at], random.choice(STATEMENTS[1:])))
    return "".join(lines) or "\n"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_session_finds_what_a_fresh_run_finds(
    tmp_path: Path, target: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random, session, found = chance(), Session(), 0
    main, beside = tmp_path / "main.py", tmp_path / "beside.py"
    settings = Settings(jobs=1, target=target)
    for _ in range(size(4)):
        written = "from beside import *\n" + "".join(random.choices(PROGRAMS, k=4))
        text = written
        beside.write_text(random.choice(PROGRAMS), encoding="utf-8")
        for _ in range(8):
            overlay = {main: text.encode()}
            report = check([main], settings, overlay=overlay, session=session)
            assert told(report) == told(check([main], settings, overlay=overlay)), text
            found += len(report.findings)
            if random.random() < 0.2:
                beside.write_text(typed(beside.read_text(encoding="utf-8"), random), encoding="utf-8")
            text = written if random.random() < 0.2 else typed(text, random)
    assert found
