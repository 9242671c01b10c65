"""A worker imports of what is installed only what it compiles with, and the user's code may import the rest."""

from __future__ import annotations

import subprocess
import sys

import pytest

from xlalint.probe.worker.backends.unneeded import OF_TENSORFLOW, left_out

CODE = f"""
import sys
from xlalint.probe.worker.backends import backend
assert backend.NAME == "tensorflow"
print(sorted(set({OF_TENSORFLOW!r}) & sys.modules.keys()))
import jax, keras, matplotlib.pyplot
print(jax.numpy.ones(3).shape, keras.ops.ones(3).shape, matplotlib.pyplot.__name__)
"""


@pytest.mark.compiler
def test_a_worker_starts_without_what_it_does_not_need() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "(3,) (3,) matplotlib.pyplot"]


def test_what_is_imported_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with left_out(("json", "colorsys")):
        import json

        with pytest.raises(ImportError):
            import colorsys
    import colorsys

    assert json.loads("[1]") == [1]
    assert colorsys.rgb_to_hsv(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
