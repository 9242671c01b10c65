"""Files of settings in TOML, which somebody else may have written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from .text import MOST_SETTINGS, UnreadableSource, read_bytes, read_own

_MOST_PARTS: Final = 200  # of a key; the parser's memory grows with their square
_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"?' r"|'[^'\n]*'?")


def read_toml(file: Path, *, own: bool = False) -> dict[str, Any]:
    """The content of a TOML file; `own`: of one that whoever runs the command named. Raises UnreadableSource."""
    import tomllib

    try:
        text = (read_own if own else read_bytes)(file, MOST_SETTINGS).decode("utf-8")
        if any(line.count(".") > _MOST_PARTS < _QUOTED.sub("", line).count(".") for line in text.splitlines()):
            raise UnreadableSource(f"a key of more than {_MOST_PARTS} parts")
        return tomllib.loads(text)
    except ValueError as error:  # not UTF-8, or not TOML
        raise UnreadableSource(str(error)) from error
    except RecursionError as error:
        raise UnreadableSource("nested too deeply") from error
