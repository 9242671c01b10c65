"""Keras 2 as code that is written for it finds it: under the name `keras`, which is another one's in this process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import ModuleType


def take_the_name() -> None:
    """From now on `keras` and its modules are those of `tf_keras`."""
    sys.meta_path.insert(0, _Renamed())


class _Renamed(MetaPathFinder, Loader):
    def __init__(self) -> None:
        self._own: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "keras" or find_spec(f"tf_{fullname}") is None:
            return None
        return spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"tf_{spec.name}")
        self._own[module.__name__] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own.pop(module.__name__)  # the import system has put its own there
