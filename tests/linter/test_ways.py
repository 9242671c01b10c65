"""A file that two programs share, of which XLA compiles one: what the other alone leads to is information."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Exposure, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SHARED: Final = """\
import tensorflow as tf

def select(x):
    return x[x > 0.0]
"""
COMPILED: Final = """\
import tensorflow as tf
import shared

@tf.function(jit_compile=True)
def step(x):
    return {}

if __name__ == "__main__":
    step(tf.ones([3]))
"""
PLAIN: Final = """\
import tensorflow as tf
import shared

@tf.function
def detect(x):
    return shared.select(x)

if __name__ == "__main__":
    detect(tf.ones([3]))
"""
APART: Final = (Severity.INFO, Exposure.NONE)
TOGETHER: Final = (Severity.WARNING, Exposure.CERTAIN)
PROGRAMS: Final = {
    "another one": ({"train.py": COMPILED.format("x"), "detect.py": PLAIN}, APART),
    "both": ({"train.py": COMPILED.format("shared.select(x)"), "detect.py": PLAIN}, TOGETHER),
    "the compiled one": ({"train.py": COMPILED.format("shared.select(x)")}, TOGETHER),
    "one that the compiled one imports": (
        {"train.py": COMPILED.format("detect.detect(x)").replace("import shared", "import detect"), "detect.py": PLAIN},
        TOGETHER,
    ),
    "another one, in a package that is installed": (
        {"train.py": COMPILED.format("x"), "detect.py": PLAIN, "shared/__init__.py": SHARED, "setup.py": "setup()\n"},
        TOGETHER,
    ),
}


@pytest.mark.parametrize(("files", "told"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_another_program_leads_to(files: dict[str, str], told: tuple[Severity, Exposure], tmp_path: Path) -> None:
    shared = {} if "shared/__init__.py" in files else {"shared.py": SHARED}
    for name, text in (shared | files).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (finding,) = (one for one in check([tmp_path], Settings()).findings if one.code == "XLA201")
    assert finding.context is not None
    assert (finding.severity, finding.context.exposure) == told
