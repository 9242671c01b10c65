"""What pages show: commands with what they print, commands to run, and commands that are only named."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests import ROOT

README: Final = ROOT / "README.md"
SITE: Final = ROOT / "xlalint" / "docs"
PAGES: Final = (README, *sorted(SITE.rglob("*.md")))
# The commands of such a page run one after the other in an empty folder, in which its files are written before.
_OWN_FOLDER: Final = "<!-- in a folder of its own -->\n"
_BLOCK: Final = re.compile(
    r"^```python\n(?P<code># (?P<file>\w+\.py)\n(?:.*\n)*?)```$"
    r"|^```console\n\$ xlalint (?P<arguments>.*)\n(?:.*\n)*?```$",
    re.MULTILINE,
)
_FENCE: Final = re.compile(r"^(?P<before><!-- not run: .* -->\n)?```(?P<language>\w+)\n(?P<code>(?:.*\n)*?)```$", re.M)
_NAMED: Final = re.compile(r"`xlalint ([^`]+)`")


def rendered(text: str) -> str:
    """The text with what each command prints now. Raises RuntimeError for one that says something on its standard
    error."""
    with ExitStack() as stack:
        folder = ROOT
        if text.startswith(_OWN_FOLDER):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return _BLOCK.sub(lambda match: _block(match, folder), text)


def _block(match: re.Match[str], folder: Path) -> str:
    if match["file"] is not None:
        if folder != ROOT:
            (folder / match["file"]).write_text(match["code"], "utf-8")
        return match[0]
    done = run(match["arguments"], folder)
    if done.stderr:
        raise RuntimeError(done.stderr)
    return f"```console\n$ xlalint {match['arguments']}\n{done.stdout}```"


def run(arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of xlalint, as it is written after that word."""
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")}
    return subprocess.run(
        [sys.executable, "-m", "xlalint", *shlex.split(arguments, comments=True)],
        cwd=folder,
        env=environment | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def to_run(text: str) -> Iterator[str]:
    """The commands of `sh` blocks, but for blocks under a comment that says why they are not run."""
    for fence in _FENCE.finditer(text):
        if fence["language"] == "sh" and fence["before"] is None:
            for line in fence["code"].splitlines():
                if line.startswith("xlalint "):
                    yield line.removeprefix("xlalint ")


def named(text: str) -> Iterator[str]:
    """The commands that prose and tables name, and those of blocks that are not run."""
    yield from _NAMED.findall(text)
    for fence in _FENCE.finditer(text):
        if fence["language"] == "sh" and fence["before"] is not None:
            yield from re.findall(r"^xlalint (.*)$", fence["code"], re.MULTILINE)
