"""Which files have to do with TensorFlow by what they import: nothing that they do is run to find that out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.analysis.domain.values import Module
from xlalint.analysis.files.files import Files
from xlalint.analysis.program.project import Project
from xlalint.sources.text import Source

FILES: Final = {
    "layers.py": """\
import tensorflow as tf

LIMIT = tf.constant(3)


def made():
    return tf.keras.layers.Dense(1)


class Layer(tf.keras.layers.Layer):
    pass
""",
    "late.py": """\
def made():
    import tensorflow as tf

    return tf.keras.layers.Dense(1)


def plain():
    return 3
""",
    "between.py": "from layers import LIMIT, Layer, made\nimport layers\n\nOWN = made()\n",
}


@pytest.mark.parametrize(
    ("statement", "serves"),
    [
        ("import layers", True),
        ("import between", True),
        ("from layers import made", True),
        ("from between import Layer", True),
        ("from between import layers", True),
        ("from layers import LIMIT", False),
        ("from between import LIMIT", False),
        ("from between import OWN", False),
        ("import late", True),
        ("from late import made", True),
        ("from late import plain", False),
    ],
)
def test_what_a_file_imports(statement: str, serves: bool, tmp_path: Path) -> None:
    sources = []
    for name, text in {**FILES, "main.py": f"{statement}\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        sources.append(Source(tmp_path / name, name, text, name))
    project = Project(Files.of(sources))

    def run(module: Module) -> None:
        raise AssertionError(module.name)

    project.execute = run
    [main] = [module for module in project.modules if module.name == "main"]
    assert main.serves_tensorflow is serves
