"""Files of Python that hold what was pasted from a notebook, with lines that only IPython runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.fix_runs import fix, fix_proven, write
from xlalint.linter.run import check
from xlalint.settings.config import Settings

STEP = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    return tf.strings.length(x)
"""
AT = 5  # the line of the hazard
BATCHES = """\
@tf.function(jit_compile=True)
def total(x):
    return tf.reduce_sum(x)

for rows in tf.data.Dataset.range(70).batch(32):
    total(rows)
"""


def found(folder: Path, text: str) -> list[tuple[str, int]]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    return [(one.code, one.span.line) for one in check([folder], Settings()).findings]


@pytest.mark.parametrize(
    ("above", "lines"),
    [
        ("!pip install -q sentencepiece\n", 1),
        ("# what it needs\n%matplotlib inline\n!pip install a \\\n    b\n", 4),
        ("pip install sentencepiece\n", 1),
        ("import os\nif not os.path.exists('x'):\n    !mkdir x\n", 3),
    ],
)
def test_commands_are_told_once_and_the_rest_is_checked(above: str, lines: int, tmp_path: Path) -> None:
    (told, line), *others = found(tmp_path, f"{above}{STEP}!ls\n")
    assert told == "XLA900"
    assert above.splitlines()[line - 1].lstrip().startswith(("!", "%", "pip"))
    assert others == [("XLA404", lines + AT)]


@pytest.mark.parametrize(
    "above",
    [
        'NOTES = """\n!pip install a\n%matplotlib inline\npip install b\n"""\n',
        "part = (7\n%three\n)\n",
    ],
)
def test_what_only_looks_like_a_command_is_python(above: str, tmp_path: Path) -> None:
    assert found(tmp_path, above + STEP) == [("XLA404", above.count("\n") + AT)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"names = !ls\n!pip install a\n{STEP}", 1),  # a value that nobody knows
        (f"!pip install a\n{STEP}def broken(:\n", AT + 2),
        (f"%%bash\npip install a\n{STEP}", 1),
    ],
)
def test_what_is_no_python_besides_is_not_checked(text: str, line: int, tmp_path: Path) -> None:
    assert found(tmp_path, text) == [("XLA900", line)]


def test_fixes_leave_commands_alone(tmp_path: Path) -> None:
    above = "!pip install a\nimport tensorflow as tf\n%matplotlib inline\n"
    (tmp_path / "train.py").write_text(above + BATCHES, encoding="utf-8")
    outcome = fix([tmp_path], Settings(unsafe_fixes=True))
    write(outcome.changes, [tmp_path])
    text = (tmp_path / "train.py").read_text(encoding="utf-8")
    assert text == above + BATCHES.replace("batch(32)", "batch(32, drop_remainder=True)")


def test_nothing_is_proven_of_what_python_does_not_run(tmp_path: Path) -> None:
    text = "!pip install a\nimport tensorflow as tf\n\n@tf.function(jit_compile=True)\ndef step(x):\n"
    text += "    if tf.reduce_sum(x) > 0:\n        x = -x\n    return x\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    outcome = fix_proven([tmp_path], Settings(unsafe_fixes=True))
    assert outcome.changes == ()
    assert outcome.proofs == ()
    assert [one.code for one in outcome.report.findings] == ["XLA900", "XLA101"]


@pytest.mark.parametrize(
    ("rest", "told"),
    [("", [Severity.INFO]), (STEP, [Severity.ERROR]), ("import os\nos.listdir('.')\n", [])],
)
def test_commands_beside_nothing_of_tensorflow(rest: str, told: list[Severity], tmp_path: Path) -> None:
    (tmp_path / "install.py").write_text(f"!pip install a\n{rest}", encoding="utf-8")
    assert [one.severity for one in check([tmp_path], Settings()).findings if one.code == "XLA900"] == told
