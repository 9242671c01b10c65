"""What settings and options may be, where that is one of a few words; light, for the command line imports it at once.

An output format is one of these words and a module of `reports` of that name.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

OutputFormat: TypeAlias = Literal[
    "full",
    "concise",
    "json",
    "jsonl",
    "sarif",
    "rdjson",
    "github",
    "gitlab",
    "azure",
    "pylint",
    "junit",
    "markdown",
    "html",
]
OUTPUT_FORMATS: Final[tuple[str, ...]] = get_args(OutputFormat)
Level: TypeAlias = Literal["error", "warning", "info"]
LEVELS: Final[tuple[str, ...]] = get_args(Level)
Target: TypeAlias = Literal["cpu", "gpu", "tpu"]
BackendName: TypeAlias = Literal["tensorflow", "jax"]
BACKENDS: Final[tuple[str, ...]] = get_args(BackendName)
AUTO: Final = "auto"
