"""The calls whose gradient XLA compiles again for every value where a `tf.function` inside of a compiled function makes
them; read from `nested.json` on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

_FILE: Final = Path(__file__).with_name("nested.json")


class _Table(msgspec.Struct):
    """`nested.json`: `packages` were asked; `calls`, by callable, are the texts of its calls (`tables.Case.call`)."""

    packages: dict[str, str]
    calls: dict[str, tuple[str, ...]]


@cache
def _table() -> _Table:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Table)


def calls() -> Mapping[str, tuple[str, ...]]:
    """The calls of the tables that are compiled again, by the name of what is called."""
    return _table().calls
