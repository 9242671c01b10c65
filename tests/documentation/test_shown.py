"""The pages show what the commands really print, and name only what exists."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests import ROOT
from tests.documentation.shown import PAGES, README, SITE, named, rendered, run, to_run
from tests.repository import Repository
from tests.samples import HAZARD
from xlalint.cli import cli
from xlalint.findings.codes import FAMILIES
from xlalint.settings.config import load

TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in PAGES}
SHOWING = [name for name, text in TEXTS.items() if "```console" in text]
RUN = [(name, command) for name, text in TEXTS.items() for command in to_run(text)]
NAMED = sorted({command for text in TEXTS.values() for command in named(text)})


@pytest.mark.parametrize("name", SHOWING)
def test_the_output_shown_is_what_the_commands_print(name: str) -> None:
    text = TEXTS[name]
    assert text.count("```console\n$ xlalint ") == text.count("```console")
    assert rendered(text) == text, "run `python -m tests.documentation`"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the commands of the pages speak of: a repository with a branch of its own, whose code has a finding."""
    repository = Repository(tmp_path / "project")
    repository.write("src/model.py", HAZARD)
    repository.commit()
    repository.git("checkout", "--quiet", "-b", "work")
    return repository.folder


@pytest.mark.parametrize("page", sorted({page for page, _ in RUN}))
def test_the_commands_shown_run(page: str, project: Path) -> None:
    for command in (command for of, command in RUN if of == page):
        done = run(command, project)
        assert done.returncode in (0, 1), (command, done.stderr)
        assert not done.stderr, command


@pytest.mark.parametrize("command", NAMED)
def test_the_commands_named_exist(command: str) -> None:
    words = shlex.split(command, comments=True)
    if words[0] == "COMMAND":
        return
    known = {"--help", *(option for name in cli.list_commands(click.Context(cli)) for option in _options(name))}
    for word in words:
        if word.startswith("--"):
            assert word.partition("=")[0] in known, command
    if not words[0].startswith("-") and "/" not in words[0] and words[0] != "FILE":
        assert words[0] in cli.list_commands(click.Context(cli)), command


def _options(name: str) -> Iterator[str]:
    """The options of a command and of those below it."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    yield from _options_of(command)


def _options_of(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        yield from parameter.opts
    if isinstance(command, click.Group):
        for below in command.commands.values():
            yield from _options_of(below)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if "[tool.xlalint" in text])
def test_the_settings_shown_are_accepted(name: str, tmp_path: Path) -> None:
    for shown in re.findall(r"```toml\n(.*?)```", TEXTS[name], re.DOTALL):
        assert tomllib.loads(shown)
        (tmp_path / "pyproject.toml").write_text(shown)
        (tmp_path / "xlalint-baseline.json").write_text("{}")
        settings = load([tmp_path], options={}, config=[], isolated=False)
        assert all(origin == "default" or "pyproject" in origin for _, _, origin in settings.shown)
        assert "XLA101" in settings.codes


def test_the_readme_is_short_and_lists_the_families_of_rules() -> None:
    text = TEXTS["README.md"]
    assert text.count("\n") <= 150
    listed = re.findall(r"^\| XLA(\d)xx \| (.*) \|$", text, re.MULTILINE)
    assert dict(listed) == FAMILIES


@pytest.mark.parametrize("name", ["README.md", "xlalint/docs/contributing.md"])
def test_the_check_that_ci_runs_is_there(name: str) -> None:
    [command] = re.findall(r"<!-- test -->\n```sh\n(.*?)```", TEXTS[name], re.DOTALL)
    for step in ("pip install", "ruff check", "mypy", "pytest"):
        assert step in command


def test_what_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert SITE.is_dir()
