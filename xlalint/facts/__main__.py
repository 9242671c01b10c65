"""`python -m xlalint.facts TABLE` measures a table with the installed TensorFlow and writes it beside this file."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Final

TABLES: Final = {"names": "every public name of the API: aliases and parameters"}


def main(arguments: list[str]) -> int:
    """Measure the tables that are named, all without a name."""
    unknown = [name for name in arguments if name not in TABLES]
    if unknown:
        listing = "\n".join(f"  {name}: {what}" for name, what in TABLES.items())
        print(f"unknown table: {', '.join(unknown)}; there are\n{listing}", file=sys.stderr)
        return 2
    for name in arguments or TABLES:
        target = Path(__file__).with_name(f"{name}.json")
        target.write_text(importlib.import_module(f"xlalint.facts.{name}").measure(), encoding="utf-8")
        print(f"{target.name}: {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
