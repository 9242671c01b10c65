"""A layer that differs between the backends of Keras, and what is found in small programs that hold it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from xlalint.findings.findings import Backend, Effect, Finding
from xlalint.linter.run import check
from xlalint.settings.config import Settings, load

JAX, TENSORFLOW = Backend.JAX, Backend.TENSORFLOW

LAYER: Final = """\
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x):
        return ops.sum(x[x > 0.5])
"""

ALONE: Final = ((JAX, Effect.FAILS),)

BOTH: Final = ((TENSORFLOW, Effect.NAMED), (JAX, Effect.FAILS))


def linted(folder: Path, files: dict[str, str], settings: Settings | None = None) -> list[Finding]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    report = check([folder], settings or load([folder], options={"exposure": "certain"}, cached=False))
    assert not report.problems
    return list(report.findings)
