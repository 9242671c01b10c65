"""The names of TensorFlow and Keras that a worker uses, private ones too: each must be in the oldest TensorFlow that
the probe takes, which nothing here runs with. `tensorflow_names.txt` lists those that were looked up there.

    INTERPRETER -m tests.probe.tensorflow_names

prints those that the TensorFlow of an interpreter does not have; where it has them all, they go into the list.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

WORKER: Final = Path(__file__).parents[2] / "xlalint/probe/worker"
LIST: Final = Path(__file__).with_suffix(".txt")
_PACKAGES: Final = ("tensorflow", "keras", "tf_keras")
_OF_JAX: Final = "with_jax"  # which asks for Keras 3


def used() -> set[str]:
    """The names in the files of the worker, but for those that only JAX needs."""
    files = (path for path in WORKER.rglob("*.py") if not any(_OF_JAX in part for part in path.parts))
    return {name for path in files for name in names_in(path.read_text(encoding="utf-8"))}


def listed() -> set[str]:
    """The names that were looked up."""
    return {line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}


def names_in(text: str) -> Iterator[str]:
    """The names of the packages that a file uses, whole. An import that may fail is one that has something instead."""
    tree = ast.parse(text)
    instead = {id(node) for one in ast.walk(tree) if isinstance(one, ast.Try) for node in _may_fail(one)}
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    top = alias.name.partition(".")[0]
                    if top in _PACKAGES:
                        yield alias.name
                        known[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom(module=str(module), names=aliases, level=0) if (
                module.partition(".")[0] in _PACKAGES and id(node) not in instead
            ):
                for alias in aliases:
                    yield f"{module}.{alias.name}"
                    known[alias.asname or alias.name] = f"{module}.{alias.name}"
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            root, *parts = ast.unparse(node).split(".")
            if root in known and all(part.isidentifier() for part in parts):
                yield ".".join((known[root], *parts))


def _may_fail(node: ast.Try) -> Iterator[ast.stmt]:
    """What is tried where an import may fail."""
    if any(isinstance(one.type, ast.Name) and one.type.id == "ImportError" for one in node.handlers):
        yield from node.body


def missing(names: Iterable[str]) -> list[str]:
    """The names that the installed packages do not have."""
    return sorted(name for name in names if not _is_there(name))


def _is_there(name: str) -> bool:
    root, *parts = name.split(".")
    path, found = root, import_module(root)
    for part in parts:
        path = f"{path}.{part}"
        try:
            found = getattr(found, part) if hasattr(found, part) else import_module(path)
        except ImportError:
            return False
    return True


def main() -> None:
    lacking = missing(used())
    print(*lacking, sep="\n")
    sys.exit(bool(lacking))


if __name__ == "__main__":
    main()
