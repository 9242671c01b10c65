"""What the programs are called that are compiled for another device."""

from __future__ import annotations

from typing import Final

FUNCTION: Final = "the function"
ITS_GRADIENT: Final = "its gradient"
ADAM: Final = "a step of Adam on the summed outputs"
