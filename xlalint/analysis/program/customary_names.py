"""Which libraries the analyser knows by name, and the names that fragments of documentation take for granted."""

from __future__ import annotations

from typing import Final

from ..domain.values import Api, Static, Value

MODULE_STRING: Final = Static()

_CUSTOMARY: Final = {
    "tf": "tf",
    "tensorflow": "tf",
    "np": "np",
    "numpy": "np",
    "keras": "keras",
    "K": "keras.backend",
    "layers": "keras.layers",
    "tnp": "tnp",
    "tfp": "tfp",
}


def default_name(name: str) -> Value | None:
    """What a customary name means where nothing binds it."""
    return Api(_CUSTOMARY[name]) if name in _CUSTOMARY else None
