"""Keras 2 as code that is written for it finds it: under the name `keras`, which is another one's in this process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import ModuleType
from typing import Final

_KERAS_2: Final = "tf_keras"
_INSIDE: Final = "tf_keras.src"
_COPY: Final = "tensorflow.python.keras"  # of which TensorFlow itself has but a part


def take_the_name() -> None:
    """From now on `keras` and its modules are those of `tf_keras`; those that Keras 2 has moved below `src` are also
    where they were, and where TensorFlow had them."""
    sys.meta_path.insert(0, _Renamed(moved=False))
    sys.meta_path.append(_Renamed(moved=True))


class _Renamed(MetaPathFinder, Loader):
    """Finds modules below what their package really is. `moved`: those that nobody else finds, below `src`."""

    def __init__(self, *, moved: bool) -> None:
        self._moved = moved
        self._own: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = self._name(fullname)
        return None if name is None or find_spec(name) is None else spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name(spec.name) or spec.name)
        self._own[module.__name__] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own.pop(module.__name__)  # the import system has put its own there

    def _name(self, name: str) -> str | None:
        """What a module is called where it is; None for one that has no other name."""
        parent, _, last = name.rpartition(".")
        if name == "keras":
            return _KERAS_2
        if self._moved and name.startswith(f"{_COPY}."):
            return _INSIDE + name.removeprefix(_COPY)
        if name.partition(".")[0] not in ("keras", _KERAS_2) or parent not in sys.modules:
            return None
        real = sys.modules[parent].__name__
        if not self._moved:
            return None if real == parent else f"{real}.{last}"
        return None if real.startswith(_INSIDE) else f"{_INSIDE}{real.removeprefix(_KERAS_2)}.{last}"
