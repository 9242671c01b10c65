"""Where settings are written: a project's file and what it extends, `--config`, the command line; each checked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from msgspec import UNSET

from ..findings.codes import suggestion
from ..sources.checkout import repository_root
from ..sources.discovery import SETTINGS_FILES
from ..sources.text import MOST_SETTINGS, UnreadableSource, read_bytes
from ..sources.toml import read_toml
from .choices import AUTO, BACKENDS, LEVELS, OUTPUT_FORMATS, Target
from .tables import CEILINGS, FileSettings, ProbeTable

_CHOICES: Final[dict[str, tuple[object, ...]]] = {
    "output-format": OUTPUT_FORMATS,
    "fail-on": LEVELS,
    "severity": LEVELS,
    "keras": (2, 3),
    "target": get_args(Target),
    "exposure": ("certain",),
    "backend": (AUTO, *BACKENDS),
}
# What msgspec calls the types, and what TOML does.
_TOML_TYPES: Final = {
    "array": "a list",
    "bool": "true or false",
    "float": "a float",
    "int": "an integer",
    "object": "a table",
    "str": "a string",
}
_PYPROJECT: Final = "pyproject.toml"
_MOST_EXTENDED: Final = 20  # files, one by another

_FIELDS: Final = {
    key: field
    for key, field in zip(FileSettings.__struct_encode_fields__, FileSettings.__struct_fields__, strict=True)
    if key != "extend"  # which names a file and is no setting of a run
}
KEYS: Final = tuple(_FIELDS)  # as written in TOML


class ConfigurationError(Exception):
    """A setting that cannot be used; the message is one line that says which, where and why."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place. `base`: the folder that its patterns and paths are relative to."""

    origin: str
    base: Path
    values: FileSettings
    trusted: bool  # written by the person who runs the command, not by the code that is checked

    def items(self) -> list[tuple[str, Any]]:
        """The settings that are there, by the names that TOML has for them."""
        values = ((key, getattr(self.values, field)) for key, field in _FIELDS.items())
        return [(key, value) for key, value in values if value is not UNSET]


def nearest_file(folder: Path, known: dict[Path, Path | None]) -> Path | None:
    """The settings file that is nearest upward; `known`: what was found for folders before. A pyproject.toml without
    [tool.xlalint] is none. Raises ConfigurationError."""
    passed = []
    found = None
    for place in (folder, *folder.parents):
        if place in known:
            found = known[place]
            break
        passed.append(place)
        found = next((file for name in SETTINGS_FILES if _is_settings(file := place / name)), None)
        if found is not None:
            break
    known |= dict.fromkeys(passed, found)
    return found


def _is_settings(file: Path) -> bool:
    if not os.path.isfile(file):
        return False
    if file.name != _PYPROJECT:
        return True
    try:
        return b"xlalint" in read_bytes(file, MOST_SETTINGS) and _table_of(file, own=False) is not None
    except UnreadableSource as error:
        raise ConfigurationError(f"{shown(file)}: {error}") from error


def layers_of(file: Path, *, trusted: bool = False) -> list[Layer]:
    """What a settings file says, below it what it extends. `trusted`: whoever runs the command named it. Raises
    ConfigurationError."""
    layers: list[Layer] = []
    seen: dict[Path, None] = {}
    while True:
        seen[file] = None
        table = _table_of(file, own=trusted)
        if table is None:
            raise ConfigurationError(f"{shown(file)}: there is no [tool.xlalint] in it")
        values = checked(table, shown(file))
        if not trusted:
            _refuse_what_lifts_limits(values, shown(file))
        layers.insert(0, Layer(shown(file), file.parent, values, trusted))
        if values.extend is UNSET:
            return layers
        said = f"{shown(file)}: extend: {values.extend!r}"
        base, file = file.parent, Path(os.path.normpath(file.parent / values.extend))
        if not (trusted or _may_extend(base, file)):
            raise ConfigurationError(f"{said} is outside the project")
        if not file.is_file():
            raise ConfigurationError(f"{said}: there is no such file")
        if file in seen or len(seen) > _MOST_EXTENDED:
            raise ConfigurationError(f"{said}: it is extended already")


def _may_extend(base: Path, file: Path) -> bool:
    """Whether settings in a folder may name a file: one in their repository, or one further up, as if they were not
    there."""
    repository = repository_root(base)
    return base.is_relative_to(file.parent) or (repository is not None and file.is_relative_to(repository))


def is_file_argument(text: str) -> bool:
    """Whether a value of `--config` names a file."""
    return "=" not in text or Path(text).is_file()


def shown(path: Path) -> str:
    """A path as messages show it: from the working directory, where it lies there."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith(os.pardir) else str(path)


def _table_of(file: Path, *, own: bool) -> dict[str, Any] | None:
    """The settings in a TOML file: all of it, or `[tool.xlalint]` of one that is about other tools, too."""
    try:
        content = read_toml(file, own=own)
    except UnreadableSource as error:
        raise ConfigurationError(f"{shown(file)}: {error}") from error
    if file.name != _PYPROJECT and "tool" not in content:
        return content
    tool = content.get("tool", {})
    table = tool.get("xlalint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigurationError(f"{shown(file)}: tool.xlalint must be a table")
    return table


def parse_override(text: str) -> dict[str, Any]:
    """What `--config KEY=VALUE` says. Raises ConfigurationError."""
    import tomllib

    key, _, value = text.partition("=")
    try:
        parsed = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"--config {text}: {value.strip() or 'nothing'} is not a TOML value (strings need quotes)"
        ) from error
    table, dot, _ = key.strip().partition(".")
    if list(parsed) != [key.strip()] and not (dot and list(parsed) == [table] == ["probe"]):
        raise ConfigurationError(f"--config {text}: expected KEY=VALUE with one of the keys of [tool.xlalint]")
    return parsed


def checked(table: Mapping[str, Any], origin: str) -> FileSettings:
    """`table` with every key and type checked. Raises ConfigurationError."""
    for key in table:
        if key == "rules":  # rules are code that runs, and a stranger's settings must not bring any
            raise ConfigurationError(f"{origin}: rules: rules of your own are named on the command line only (--rules)")
        if key not in _FIELDS and key != "extend":
            raise ConfigurationError(f"{origin}: unknown setting {key!r}{suggestion(key, (*KEYS, 'extend'))}")
    try:
        return msgspec.convert(dict(table), FileSettings)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$.")
        location = where.rstrip("`")
        choices = _CHOICES.get(location.partition("[")[0])
        if choices and message.startswith("Invalid enum value"):
            message = f"expected one of {', '.join(map(str, choices))}"
        message = re.sub(r"`(\w+)`", lambda match: _TOML_TYPES.get(match[1], match[1]), message)
        raise ConfigurationError(f"{origin}: {location}: {message[:1].lower()}{message[1:]}") from error


def _refuse_what_lifts_limits(values: FileSettings, origin: str) -> None:
    """Hold the settings of the code that is checked to what a stranger may decide."""
    probe = values.probe if isinstance(values.probe, ProbeTable) else ProbeTable()
    for key, most in CEILINGS.items():
        *table, name = key.split(".")
        value = getattr(probe if table else values, name.replace("-", "_"))
        if value is not UNSET and value > most:
            raise ConfigurationError(
                f"{origin}: {key}: at most {most:g}; only the command line and --config may exceed this"
            )
    if probe.environment:
        raise ConfigurationError(f"{origin}: probe.environment: only --config can let code see the environment")
    if probe.cluster is not UNSET:
        raise ConfigurationError(f"{origin}: probe.cluster: only the command line and --config can send code elsewhere")
