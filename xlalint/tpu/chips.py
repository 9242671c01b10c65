"""The TPUs that libtpu 0.0.19 compiles for, and the memory that a program gets on one of their cores.

Measured: a program whose arguments take 240 GiB is refused with the words "Used 240.00G of 15.75G hbm", for each chip
with its own number. What the runtime reserves for itself is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_GIB: Final = 2**30
_TOPOLOGY: Final = re.compile(r"(?P<chip>\w+):\d+(x\d+)+")
DEFAULT: Final = "v5e:2x2"


@dataclass(frozen=True)
class Chip:
    """A kind of TPU: a topology of one host, its cores, and the bytes of a core's memory that a program may use."""

    topology: str
    cores: int
    memory: int


CHIPS: Final = {
    "v2": Chip("v2:2x2", 8, round(7.48 * _GIB)),
    "v3": Chip("v3:2x2", 8, round(15.48 * _GIB)),
    "v4": Chip("v4:2x2x1", 4, round(15.25 * _GIB)),
    "v5e": Chip("v5e:2x2", 4, round(15.75 * _GIB)),
    "v5p": Chip("v5p:2x2x1", 4, round(95.74 * _GIB)),
    "v6e": Chip("v6e:2x2", 4, round(31.25 * _GIB)),
}


def chip_of(topology: str) -> Chip:
    """The chip of a topology such as `v5e:2x2`. Raises ValueError, with one line that says which there are."""
    match = _TOPOLOGY.fullmatch(topology)
    if match is None or match["chip"] not in CHIPS:
        known = ", ".join(chip.topology for chip in CHIPS.values())
        raise ValueError(f"{topology}: not a TPU topology (a chip and its layout, as in {known})")
    return CHIPS[match["chip"]]
