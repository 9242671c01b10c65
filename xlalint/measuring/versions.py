"""The rows of `apis.json` of each version in full, of which it holds what differs from the next newer one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rows_by_version(shipped: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By version, newest first, the rows of all callables that it has."""
    rows: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] = shipped["apis"]
    for version in shipped["versions"]:
        changes = shipped["changed"].get(version, {})
        current = {name: row for name, row in (current | changes).items() if row is not None}
        rows[version] = current
    return rows
