"""Definitions in an imported module, by their qualified names; fragments, which get a file of their own."""

from __future__ import annotations

import inspect
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from xlalint.probe.fragments import wrapped
from xlalint.probe.target import Target

from ..code.importing import Loaded
from ..code.messages import first_line
from .driven import NotDrivenError


def looked_up(loaded: Loaded, qualname: str) -> tuple[type | None, Any]:
    """What a module holds under a qualified name, and the class that it is in."""
    owner, found = None, loaded.module
    for part in qualname.split("."):
        owner = found if inspect.isclass(found) else None
        name = inside(owner, part)
        if not hasattr(found, name):
            raise NotDrivenError(f"the imported module has no `{qualname}`")
        found = getattr(found, name)
    return owner, found


def inside(owner: type | None, name: str) -> str:
    """A name as a class has it: Python writes the class before one that is private to it."""
    private = owner is not None and name.startswith("__") and not name.endswith("__")
    return f"_{owner.__name__.lstrip('_')}{name}" if private and owner is not None else name


def written(target: Target, stack: ExitStack) -> Path:
    """A fragment as a function in a file of its own."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="xlalint-fragment-")))
    path = folder / Path(target.file).with_suffix(".py").name
    try:
        path.write_text(wrapped(Path(target.file).read_text(encoding="utf-8")), encoding="utf-8")
    except (OSError, SyntaxError, ValueError) as error:
        raise NotDrivenError(f"it cannot be called: {first_line(error)}") from error
    return path
