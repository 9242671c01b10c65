"""README.md shows what the commands really print, and names only what exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.readme import README, rendered
from xlalint.findings.codes import rule_names
from xlalint.settings.config import load

TEXT = README.read_text(encoding="utf-8")


def test_the_output_shown_is_what_the_commands_print() -> None:
    assert TEXT.count("```console\n$ xlalint ") == TEXT.count("```console") > 0
    assert rendered(TEXT) == TEXT, "run `python -m tests.readme`"


def test_every_rule_is_listed() -> None:
    _, _, after = TEXT.partition("$ xlalint rules\n")
    listed = [line.split()[:2] for line in after.partition("```")[0].splitlines()]
    assert dict(listed) == rule_names()


def test_the_settings_shown_are_accepted(tmp_path: Path) -> None:
    [shown] = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert tomllib.loads(shown)
    (tmp_path / "pyproject.toml").write_text(shown)
    settings = load([tmp_path], options={}, config=[], isolated=False)
    assert all(origin == "default" or "pyproject" in origin for _, _, origin in settings.shown)
    assert "XLA101" in settings.codes


def test_the_check_that_ci_runs_is_there() -> None:
    [command] = re.findall(r"<!-- test -->\n```sh\n(.*?)```", TEXT, re.DOTALL)
    for step in ("pip install", "ruff check", "mypy", "pytest"):
        assert step in command
