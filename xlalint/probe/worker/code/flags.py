"""absl's flags, which programs define while they are imported and parse in a `main` that the probe does not run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any


def use_defaults() -> None:
    """Let the flags that are defined have their defaults, as if the command named none."""
    flags = _flags()
    if flags is not None and not flags.is_parsed():
        flags.mark_as_parsed()


def forget(modules: Iterable[str]) -> None:
    """Remove the flags of modules that are forgotten, which will define them again."""
    flags = _flags()
    if flags is not None:
        by_module = flags.flags_by_module_dict()
        names = {flag.name for module in modules for flag in by_module.get(module, ())}
        flags.remove_flag_values(names & set(flags))


def _flags() -> Any:
    """All flags; None where nothing has imported absl's."""
    module = sys.modules.get("absl.flags")
    return None if module is None else module.FLAGS
