"""The pages of the reference that the code writes: settings and output formats (Markdown)."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final

import xlalint

from ..settings import tables
from ..settings.choices import OUTPUT_FORMATS

_PAGES: Final = {"html": "page.page"}  # formats whose module has another name
_SETTINGS: Final = """\
# Settings

Settings are in the table `[tool.xlalint]` of the nearest `pyproject.toml`. You can also set every key with
`--config 'KEY = VALUE'`. An unknown key is an error. `xlalint schema` prints this as a JSON schema,
`xlalint --show-settings` the settings in force and where each comes from. [How to set it up](../how-to/settings.md)
has an example.
"""
_FORMATS: Final = """\
# Output formats

`--output-format NAME` prints the report in a format; `--output-file NAME=FILE`, as often as you like, writes further
ones in the same run. [Reports](../how-to/reports.md) says which to take.

| format | what it is |
| --- | --- |
"""


def pages() -> Iterator[tuple[str, str]]:
    """The file of each page and its text."""
    yield "reference/settings.md", _settings()
    yield "reference/output-formats.md", _FORMATS + "".join(_formats())


def _settings() -> str:
    schema = tables.schema()
    probe = schema["$defs"]["ProbeTable"]["properties"]
    tabled = {"[tool.xlalint]": schema["properties"], "[tool.xlalint.probe]": probe}
    parts = [_SETTINGS]
    for title, keys in tabled.items():
        parts += [f"## `{title}`\n\n", "| key | value | meaning |\n| --- | --- | --- |\n"]
        parts += [f"| `{key}` | {_kind(given)} | {_description(given)} |\n" for key, given in sorted(keys.items())]
        parts.append("\n")
    return "\n".join(parts[:1]) + "\n" + "".join(parts[1:])


def _description(given: Mapping[str, Any]) -> str:
    """What a key means; that of `$ref` stands beside it."""
    return str(given.get("description", "")).replace("|", "\\|")


def _kind(given: Mapping[str, Any]) -> str:
    """The type of a value as TOML has it, with its choices."""
    if "enum" in given:
        return ", ".join(f"`{value}`" for value in given["enum"])
    match given.get("type"):
        case "array":
            return "list of strings"
        case "object":
            return "table"
        case "boolean":
            return "`true` or `false`"
        case str(name):
            return name
        case _:
            return "table"


def _formats() -> Iterator[str]:
    for name in OUTPUT_FORMATS:
        module = importlib.import_module(f"xlalint.reports.{_PAGES.get(name, name.replace('jsonl', 'json'))}")
        told = (module.__doc__ or "").partition("\n")[0]
        yield f"| `{name}` | {told} |\n"


def api() -> str:
    """Everything in `xlalint.__all__`, functions first (Markdown)."""
    names = [name for name in xlalint.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(xlalint, name))]
    classes = [name for name in names if name not in functions]
    directives = [f".. autofunction:: xlalint.{name}" for name in functions]
    directives += [f".. autoclass:: xlalint.{name}\n   :members:\n   :undoc-members:" for name in classes]
    return "```{eval-rst}\n" + "\n\n".join(directives) + "\n```"
