"""Pretrained weights that cannot be fetched, or are not there: a model keeps those that it is made with. What XLA makes
of it does not depend on their values.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import wraps
from glob import escape, glob
from importlib.util import find_spec
from typing import Any, Final

# By package, the module with the function that fetches files, which the models look up there: that of Keras 3, of 2.
_FETCHING: Final = {
    "keras": ("keras.src.utils.file_utils", "keras.src.utils.data_utils"),
    "tf_keras": ("tf_keras.src.utils.data_utils",),
}

_lacking: dict[str, None] = {}


def keep_what_models_are_made_with() -> None:
    """From now on a model of Keras is made without weights that cannot be fetched."""
    for package, places in _FETCHING.items():
        library = sys.modules.get(package)
        if library is None or library.__name__ != package:  # Keras 2 under another's name
            continue
        module: Any = importlib.import_module(next(place for place in places if find_spec(place) is not None))
        module.get_file = library.utils.get_file = _fetching(module.get_file)
        library.Model.load_weights = _loading(library.Model.load_weights)


def lacking() -> tuple[str, ...]:
    """The files that could not be fetched, or were not there, since the last time."""
    found = tuple(_lacking)
    _lacking.clear()
    return found


def _fetching(plain: Callable[..., str]) -> Callable[..., str]:
    @wraps(plain)
    def get_file(*positional: Any, **keywords: Any) -> str:
        try:
            return plain(*positional, **keywords)
        except Exception:  # of any kind, by what fetches it
            name = str(keywords.get("fname") or next(iter(positional), "") or keywords.get("origin"))
            if not name.endswith((".h5", ".keras", ".npz")):
                raise
            _lacking[name] = None
            return name

    return get_file


def _loading(plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def load_weights(self: Any, filepath: Any, *positional: Any, **keywords: Any) -> Any:
        try:
            return None if str(filepath) in _lacking else plain(self, filepath, *positional, **keywords)
        except Exception:  # of any kind, by the format and the version
            if glob(f"{escape(str(filepath))}*"):  # of a checkpoint there are several files
                raise
            _lacking[str(filepath)] = None
            return None

    return load_weights
