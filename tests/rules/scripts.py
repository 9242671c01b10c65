"""Scripts from end to end, and how they are judged: what is found of the rules on recompilation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xlalint.linter.run import check
from xlalint.settings.config import Settings

JIT = "@tf.function(jit_compile=True)\ndef step(x, *rest):\n    return tf.reduce_sum(tf.cast(x, tf.float32))\n"
MODEL = """\
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
"""
HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n\n"


@dataclass(frozen=True)
class Script:
    """Files, and what is found in them: the code and the text of its line's beginning, in the order of the report."""

    files: dict[str, str]
    found: tuple[tuple[str, str], ...] = ()


def one(text: str, *found: tuple[str, str]) -> Script:
    return Script({"train.py": text}, found)


def deserved(script: Script, folder: Path) -> None:
    """Fails unless what is found in the script is what it says."""
    for name, text in script.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = check([folder], Settings())
    assert report.problems == ()
    lines = {str(folder / name): text.splitlines() for name, text in script.files.items()}
    found = [
        (finding.code, lines[str(Path(finding.path))][finding.span.line - 1].strip())
        for finding in report.findings
        if finding.code.startswith("XLA3")
    ]
    assert [code for code, _ in found] == [code for code, _ in script.found], found
    for (_, line), (_, beginning) in zip(found, script.found, strict=True):
        assert line.startswith(beginning)
