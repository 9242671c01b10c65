"""How often JAX compiles what is measured, by JAX's own events."""

from __future__ import annotations

from typing import Any, Final

import jax

NAME: Final = "xlalint_measured"
"""What a function is called that is measured; eager operations are compiled as well, each by itself."""

_COMPILED: Final = "/jax/core/compile/backend_compile_duration"


class Counted:
    """See `Compilations`. JAX says that something was compiled, and leaves no text."""

    def __init__(self) -> None:
        self._count = 0
        jax.monitoring.register_event_duration_secs_listener(self._heard)

    def _heard(self, event: str, seconds: float, **of: Any) -> None:
        if event == _COMPILED and NAME in str(of.get("fun_name")):
            self._count += 1

    def taken(self) -> list[str]:
        """See `Compilations`."""
        count, self._count = self._count, 0
        return [""] * count
