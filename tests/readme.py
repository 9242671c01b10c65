"""Brings the output that README.md shows up to date: each `console` block is its command and what that prints.

python -m tests.readme
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import Final

from tests import ROOT

README: Final = ROOT / "README.md"
_BLOCK: Final = re.compile(r"^```console\n\$ xlalint (?P<arguments>.*)\n(?:.*\n)*?```$", re.MULTILINE)


def rendered(text: str) -> str:
    """The text with what each command prints now."""
    return _BLOCK.sub(lambda match: _block(match["arguments"]), text)


def _block(arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")}
    done = subprocess.run(
        [sys.executable, "-m", "xlalint", *shlex.split(arguments)],
        cwd=README.parent,
        env=environment | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.stderr:
        raise RuntimeError(done.stderr)
    return f"```console\n$ xlalint {arguments}\n{done.stdout}```"


if __name__ == "__main__":
    README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
