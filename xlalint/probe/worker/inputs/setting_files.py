"""Settings that a project keeps in files of their own: JSON and YAML, templates of them included.

model:
  units: 256               Model(units=256, rate=0.1), for a class that asks for both
  rate: 0.1
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from xlalint.sources.packages import files_below
from xlalint.sources.specs import Form, Keyed, Literal

from .configurations import as_form, small_form

_MOST: Final = 400  # files of a project
_LONGEST: Final = 1 << 16  # characters
_JSON: Final = ".json"
_YAML: Final = (".yml", ".yaml", ".yml.j2", ".yaml.j2")
# Of a template: statements and comments, and what it fills in.
_LEFT_OUT: Final = re.compile(r"^\s*\{[%#].*$|\{\{.*?\}\}", re.MULTILINE)
_DEEPEST: Final = 8


def settings_with(roots: Sequence[str], names: frozenset[str]) -> Iterator[Mapping[str, Any]]:
    """The mappings of the project's files that have all of some names, each once."""
    seen: list[Mapping[str, Any]] = []
    for path, text in _texts(tuple(roots)):
        if all(name in text for name in names):
            for one in _mappings(_read(path, text), 0):
                if names <= one.keys() and one not in seen:
                    seen.append(one)
                    yield one


def as_settings(value: Any, *, small: bool) -> Form | None:
    """A value of such a file as an input; None where it says nothing. `small`: with smaller numbers where they are
    great."""
    if isinstance(value, Mapping):
        entries = [(name, as_settings(one, small=small)) for name, one in value.items() if isinstance(name, str)]
        return Keyed(tuple((name, form or Literal(None)) for name, form in entries))
    return small_form(value) if small else as_form(value)


@lru_cache(maxsize=8)
def _texts(folders: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The files of settings below some folders, with their texts."""
    found = []
    for path in islice((one for folder in folders for one in files_below(Path(folder), _JSON, *_YAML)), _MOST):
        try:
            if path.stat().st_size <= _LONGEST:
                found.append((str(path), path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            continue
    return tuple(found)


@lru_cache(maxsize=32)
def _read(path: str, text: str) -> Any:
    """What a file holds; None where nothing reads it here."""
    try:
        if path.endswith(_JSON):
            return json.loads(text)
        return importlib.import_module("yaml").safe_load(_LEFT_OUT.sub("", text))
    except Exception:  # of any kind: it is something else
        return None


def _mappings(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """The mappings in a value, the outer ones first."""
    if isinstance(value, Mapping):
        yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for one in inner if depth < _DEEPEST else ():
        yield from _mappings(one, depth + 1)
