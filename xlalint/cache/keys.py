"""Keys of what is kept: digests of the tool itself, and of whatever else a result depends on."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from ..findings.rule_files import sources

_PACKAGE: Final = Path(__file__).parents[1]


def key_of(parts: Iterable[str]) -> str:
    """The key of a run: the digest of the tool and of `parts`."""
    digest = hashlib.blake2b(tool_digest(), digest_size=20)
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


@cache
def tool_digest() -> bytes:
    """What the tool's own code is: every file of it, the parser's, and the Python that runs it."""
    digest = hashlib.blake2b(sys.version.encode())
    parser = importlib.util.find_spec("libcst")
    files = [] if parser is None or parser.origin is None else [parser.origin]
    for file in (*files, *files_of_the_tool(), *map(str, sources())):
        found = os.stat(file)
        digest.update(f"{file} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size}\n".encode("utf-8", "replace"))
    return digest.digest()


@cache
def content_digest() -> str:
    """The digest of the tool's files by their content, which is the same on all machines with this version of it."""
    digest = hashlib.blake2b(digest_size=20)
    for file in files_of_the_tool():
        content = Path(file).read_bytes()
        digest.update(f"{os.path.relpath(file, _PACKAGE)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def files_of_the_tool() -> list[str]:
    """The sources and tables of which the tool is made."""
    return sorted(_files_below(str(_PACKAGE)))


def _files_below(folder: str) -> Iterator[str]:
    """The sources and tables in a folder and those in it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files_below(entry.path)
            elif entry.name.endswith((".py", ".json", ".toml")):
                yield entry.path
