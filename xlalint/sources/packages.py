"""Files as members of packages. Standard library only: the probe's worker reads it, too."""

from __future__ import annotations

from pathlib import Path


def dotted_name(path: Path) -> tuple[str, Path]:
    """The dotted name of a file, and the folder that the name is relative to (the parent of its outermost package)."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder
