"""A smaller last batch of the same arrays is said once, whatever models are trained on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.scripts import HEAD
from xlalint.linter.run import check
from xlalint.settings.config import Settings

MODELS = """\
def made(units):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(units), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=True)
    return model

x, y = np.load("x.npy"), np.load("y.npy")
a, b = made(3), made(4)
a.fit(x, y, batch_size=64)
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("b.fit(x, y, epochs=4, batch_size=64)\n", 1),
        ("b.fit(x, y, 64)\n", 1),
        ("b.fit(x=x, y=y, batch_size=64)\n", 1),
        ("b.fit(x, y, batch_size=32)\n", 2),
        ("b.fit(x, y, batch_size=64, validation_split=0.2)\n", 2),
        ("b.fit(x[3:], y[3:], batch_size=64)\n", 2),
        ("x = x[5:]\nb.fit(x, y, batch_size=64)\n", 2),
        ("def train(x, y):\n    b.fit(x, y, batch_size=64)\ntrain(x[9:], y)\n", 2),
    ],
)
def test_the_same_arrays_are_one_cause(text: str, lines: int, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{HEAD}{MODELS}{text}", encoding="utf-8")
    findings = check([tmp_path], Settings(codes=frozenset(("XLA302",)))).findings
    assert len(findings) == lines
    assert [len(finding.notes) for finding in findings] == ([1] if lines == 1 else [0, 0])
