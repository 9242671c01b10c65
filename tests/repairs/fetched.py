"""The code of the functions: releases that pip downloads into a folder of the user's, and what is cut out of them."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import textwrap
import tomllib
import urllib.request
import zipfile
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

FOLDER: Final = Path(os.environ.get("XLALINT_REPAIRS", Path.home() / ".cache" / "xlalint-repairs"))
# Releases for another Python than the one that runs this: their code is read, not installed.
_TARGET: Final = ("--python-version", "3.10", "--platform", "manylinux2014_x86_64", "--only-binary", ":all:")
_REPOSITORY: Final = re.compile(r"github:(?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})")
_HEAD: Final = "from __future__ import annotations\n\nimport numpy as np\nimport tensorflow as tf\n\n"
# What the losses of `transformers` ask of the library around them.
_LOSSES: Final = """
class Config:
    tf_legacy_loss, pad_token_id = True, 0

    @property
    def generator(self):
        return self

def shape_list(tensor):
    dynamic, static = tf.shape(tensor), tensor.shape.as_list()
    return [dynamic[i] if s is None else s for i, s in enumerate(static)]

class Reduction:
    NONE, SUM = "none", "sum"

tf.keras.losses.Reduction = Reduction
"""

_GRAPHICS: Final = """
class shape:
    compare_batch_dimensions = staticmethod(lambda **checked: None)

class safe_ops:
    safe_signed_div = staticmethod(tf.math.divide_no_nan)
"""
_AROUND: Final = {"LOSSES": _LOSSES, "GRAPHICS": _GRAPHICS}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a package, and how it is driven."""

    name: str
    package: str
    path: str
    take: list[str]
    driver: str
    inputs: list[str]
    before: str = ""
    group: str = "first"  # by when it was chosen
    bounds: dict[str, int] = field(default_factory=dict)  # what a user says of its sizes

    @property
    def code(self) -> str:
        """A file with the function as it is published, and `f`, which is compiled."""
        parts = [_HEAD + _AROUND.get(self.before, self.before)]
        for path, names in groupby(self.take, self._file):
            source = (_release(self.package) / path).read_text(encoding="utf-8")
            parts += cut(source, [name.rpartition(":")[2] for name in names])
        return "\n\n".join([*parts, self.driver.strip("\n")]) + "\n"

    def _file(self, name: str) -> str:
        return name.rpartition(":")[0] or self.path


def functions() -> list[Function]:
    table = tomllib.loads(Path(__file__).with_name("functions.toml").read_text(encoding="utf-8"))
    return [Function(**entry) for entry in table["function"]]


def _release(requirement: str) -> Path:
    """Where the Python files of a release, or of a commit of a repository, are."""
    folder = FOLDER / requirement.replace("/", "+")
    repository = _REPOSITORY.fullmatch(requirement)
    if not folder.exists() and repository is not None:
        address = f"https://codeload.github.com/{repository['name']}/zip/{repository['commit']}"
        with urllib.request.urlopen(address) as answer, zipfile.ZipFile(io.BytesIO(answer.read())) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    path = folder / name.partition("/")[2]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.read(name))
    elif not folder.exists():
        wheels = FOLDER / "wheels"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels), *_TARGET]
        before = {*wheels.glob("*.whl")}
        subprocess.run([*command, requirement], check=True)
        (wheel,) = {*wheels.glob("*.whl")} - before
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".py")])
        wheel.unlink()
    return folder


def cut(source: str, names: list[str]) -> list[str]:
    """The definitions of these names, methods in a class of their own."""
    lines, found = source.split("\n"), dict[str, list[str]]()
    for name in names:
        owner, _, last = name.rpartition(".")
        body = ast.parse(source).body
        if owner:
            body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
        node = next(node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == last)
        first = min(part.lineno for part in (node, *node.decorator_list))
        text = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
        found.setdefault(owner, []).append(text)
    free = found.pop("", [])
    classes = [f"class {owner}:\n" + textwrap.indent("\n\n".join(methods), "    ") for owner, methods in found.items()]
    return [*free, *classes]
