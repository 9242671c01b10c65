"""What people read uses the words of the style guide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

import click
import pytest

from tests import ROOT
from tests.documentation.shown import PAGES, SITE
from xlalint.cli import cli
from xlalint.linter.rule import all_rules

GUIDE: Final = SITE / "style.md"
CODE: Final = re.compile(r"```.*?```|^ {4}.*$|`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”", re.MULTILINE | re.DOTALL)
# Where strings are code or data: programs that measure, Python's library as code.
DATA: Final = ("xlalint/measuring/", "xlalint/analysis/program/python/", "xlalint/analysis/library/")


def refused() -> Mapping[str, str]:
    """The phrases that the guide refuses, with what it says to write instead."""
    _, _, table = GUIDE.read_text("utf-8").partition("## Words that a test refuses")
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", table, re.MULTILINE)
    return {phrase: instead for phrases, instead in rows for phrase in re.findall(r"`([^`]+)`", phrases)}


REFUSED: Final = refused()
PATTERN: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, REFUSED))})(?![\w-])", re.IGNORECASE)


def found(text: str) -> list[str]:
    """The refused phrases in a text, with what to write instead."""
    words = [match[0] for match in PATTERN.finditer(" ".join(text.split()))]
    return [f"{word}: write {REFUSED.get(word.lower()) or REFUSED[word]}" for word in words]


def strings() -> Iterator[tuple[str, str]]:
    """The strings of the code that are no docstrings, by file and line."""
    for folder in ("rules", "xlalint"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if not name.startswith(DATA):
                yield from ((f"{name}:{line}", text) for line, text in _constants(file.read_text("utf-8")))


def _constants(text: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(text)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.lineno, node.value


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command, of its options, and of the commands below it."""
    yield name, command.help or ""
    for option in command.params:
        yield f"{name} {option.name}", getattr(option, "help", None) or ""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            one = command.get_command(context, below)
            assert one is not None
            yield from helps(one, f"{name} {below}")


def prose() -> Iterator[tuple[str, str]]:
    """The pages without their code and quotations."""
    pages = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in PAGES if page != GUIDE}
    for name, text in {**pages, **{rule.code: rule.documentation() for rule in all_rules()}}.items():
        yield name, CODE.sub("", text)


@pytest.mark.parametrize("kind", ["strings", "helps", "pages"])
def test_no_refused_word_is_read(kind: str) -> None:
    texts = {"strings": strings, "helps": lambda: helps(cli, "xlalint"), "pages": prose}[kind]
    complaints = {where: words for where, text in texts() if (words := found(text))}
    assert complaints == {}


def test_rule_pages_begin_with_what_they_report() -> None:
    pages = {rule.code: rule.documentation().partition("## What it does\n")[2] for rule in all_rules()}
    begins = re.compile(r"Reports\b|When the probe runs")
    assert [code for code, text in pages.items() if not begins.match(text)] == []


@pytest.mark.parametrize("phrase", REFUSED)
def test_each_refused_word_is_found(phrase: str) -> None:
    assert found(f"Something {phrase} something.") == [f"{phrase}: write {REFUSED[phrase]}"]
    assert found(f"Some{phrase.replace(' ', '')}thing") == []
