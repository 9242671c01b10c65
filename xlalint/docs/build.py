"""Builds the site: the pages of this folder, those that the code writes, and the pages of calls."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..findings.site import FRONT
from . import calls, constructs, reference, rules, two_tracers

HERE: Final = Path(__file__).parent
_NEEDED: Final = ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_click")
_ASIDE: Final = ("*.py", "*.pyc", "__pycache__", "static")
# What is written into pages of this folder, in place of a comment.
_INTO: Final[dict[str, tuple[str, Callable[[], str]]]] = {
    "xla/index.md": ("<!-- the table of calls -->", calls.table),
    "xla/jax.md": ("<!-- the table of two tracers -->", two_tracers.table),
    "reference/api.md": ("<!-- the names of the Python API -->", reference.api),
}


class DocumentationError(Exception):
    """The site cannot be built; the message is one line, or what Sphinx printed."""


def build(output: Path, only: str = "") -> Path:
    """Build the site into a folder; its front page. A warning of Sphinx is an error. `only`: a pattern that the names
    of calls and operations match which get their pages, of all by default. Raises DocumentationError."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise DocumentationError(f"{', '.join(missing)} is not installed: pip install 'xlalint[docs]'")
    with tempfile.TemporaryDirectory(prefix="xlalint-docs-") as folder:
        sources, doctrees = Path(folder, "sources"), Path(folder, "doctrees")
        write_sources(sources)
        command = [
            "-W",
            "--keep-going",
            "-q",
            "-E",
            "-b",
            "html",
            "-c",
            HERE,
            "-d",
            doctrees,
            "-D",
            f"calls_with_pages={only}",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", *map(str, [*command, sources, output])],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise DocumentationError(f"Sphinx: {done.stderr.strip() or done.stdout.strip()}")
    return output / FRONT


def write_sources(folder: Path) -> None:
    """What Sphinx reads: the pages of this folder, and those that the code writes."""
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns(*_ASIDE))
    for written in (rules.pages(), constructs.pages(), reference.pages()):
        for name, text in written:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for name, (comment, made) in _INTO.items():
        page = folder / name
        page.write_text(page.read_text("utf-8").replace(comment, made()), "utf-8")
