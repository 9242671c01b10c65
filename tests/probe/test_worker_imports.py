"""A worker runs in environments that hold no package of xlalint's: what it imports comes with Python, or is what it
compiles with."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from typing import Final

import xlalint

ROOT: Final = Path(xlalint.__file__).parent.parent
START: Final = "xlalint.probe.worker"
COMPILES: Final = frozenset(("jax", "keras", "numpy", "tensorflow", "tf_keras"))


def test_a_worker_imports_nothing_else() -> None:
    pending = sorted((ROOT / START.replace(".", "/")).rglob("*.py"))
    seen, others = set(pending), dict[str, Path]()
    for path in pending:  # which grows
        for name in imported(path):
            file = file_of(name)
            if file is None:
                others.setdefault(name.partition(".")[0], path)
            elif file not in seen:
                seen.add(file)
                pending.append(file)
    assert "xlalint.probe.protocol" in {name_of(path) for path in seen}
    assert others.keys() - COMPILES - sys.stdlib_module_names == set(), others


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports as it is loaded."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    for node in pending:  # which grows
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case ast.If(test=ast.Name("TYPE_CHECKING"), orelse=orelse):
                pending += orelse
                continue
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                origin = resolve_name("." * level + (module or ""), package) if level else module or ""
                yield origin
                parts = (f"{origin}.{alias.name}" for alias in names)
                yield from (part for part in parts if origin.startswith("xlalint") and file_of(part) is not None)
        pending += ast.iter_child_nodes(node)


def file_of(name: str) -> Path | None:
    """The file of a module of xlalint's."""
    if name.partition(".")[0] != "xlalint":
        return None
    path = ROOT / name.replace(".", "/")
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.exists()), None)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
