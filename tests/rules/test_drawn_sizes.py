"""Sizes that are drawn from a list of numbers: as many compilations as there are numbers."""

from __future__ import annotations

from typing import Final

import pytest

from tests.rules.scripts import HEAD, JIT, Script, deserved, one

SIZES: Final = "[320, 416, 512]"
DRAWN: Final = "step(np.zeros((8, size, size, 3)))"
LOOP: Final = "import random\n\nfor _ in range(9):\n    size = {}\n    " + DRAWN + "\n"
ITERATOR: Final = """\
import random

class Pictures:
    def __init__(self, sizes):
        self.sizes, self.left = sizes, 9

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.size = {}
        return np.zeros((8, self.size, self.size, 3))

for pictures in Pictures([320, 416, 512]):
    step(pictures)
"""
SCRIPTS: Final = {
    **{
        drawn: one(f"{HEAD}{JIT}\n{LOOP.format(drawn)}", ("XLA308", DRAWN))
        for drawn in (f"random.choice({SIZES})", f"np.random.choice({SIZES})", "np.random.choice((320, 416))")
    },
    **{
        drawn: one(f"{HEAD}{JIT}\n{LOOP.format(drawn)}")
        for drawn in ("random.choice([320])", "random.choice([320, 320])", "320")
    },
    "an iterator": one(f"{HEAD}{JIT}\n{ITERATOR.format('random.choice(self.sizes)')}", ("XLA308", "step(pictures)")),
    "an iterator of one size": one(f"{HEAD}{JIT}\n{ITERATOR.format('self.sizes[0]')}"),
    "drawn once": one(
        f"{HEAD}{JIT}\nimport random\n\nsize = random.choice({SIZES})\nfor _ in range(9):\n    {DRAWN}\n"
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
