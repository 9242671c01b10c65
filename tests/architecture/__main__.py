"""Draws the rooms of the package into the guide (`xlalint/docs/inside.md`).

python -m tests.architecture
"""

from tests import ROOT
from tests.architecture.rooms import GUIDE, draw

print(f"{GUIDE.relative_to(ROOT)}: {'drawn again' if draw() else 'is as it should be'}")
