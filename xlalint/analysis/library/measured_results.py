"""What was measured of the results of the API's functions: `facts/signatures.json`, in the language of `api_tables`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from ...facts import FOLDER
from ..domain.values import Static, Value

_MEASURED: Final = FOLDER / "signatures.json"


@cache
def _tables() -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = json.loads(_MEASURED.read_text(encoding="utf-8"))
    return tables


def measured(name: str) -> str | None:
    """The result of a canonical name, whatever its options; a layer that is called is `keras.layers.Dense.__call__`.

    NumPy's functions return what TensorFlow's of the same name do. None for what was not measured, or not decided.
    """
    found = _row(name)
    return found if found is None or isinstance(found, str) else found[""]


def measured_with(name: str, arguments: Mapping[str, Value]) -> str | None:
    """The result where one of these arguments has a value that gives another form of result (`compute_uv=False`)."""
    found = _row(name)
    if isinstance(found, dict):
        for parameter, value in arguments.items():
            if isinstance(value, Static) and (text := found.get(f"{parameter}={value.constant!r}")):
                return str(text)
    return None


@cache
def _row(name: str) -> str | dict[str, str] | None:
    rows = _tables()["results"]
    found: str | dict[str, str] | None = rows.get(name)
    if found is None and name.startswith("np."):
        found = rows.get(f"tnp.{name.removeprefix('np.')}")
    return found


def built_with(name: str, arguments: Mapping[str, Value]) -> tuple[tuple[str, Static], ...]:
    """The constants that an object of a class is built with, of those that decide what becomes of its calls."""
    given = ((parameter, arguments.get(parameter)) for parameter in _deciding(name))
    return tuple((parameter, value) for parameter, value in given if isinstance(value, Static) and value.known)


@cache
def _deciding(name: str) -> tuple[str, ...]:
    return tuple(sorted(_tables()["options"].get(name, "").split()))


@cache
def shape_only(name: str) -> frozenset[str]:
    """The parameters of which only shape and dtype reach the result: their content does not."""
    return frozenset(_tables()["shapes"].get(name, "").split())
