"""What is said of functions that JAX itself compiles, and what they do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import load

STEPS: Final = Path(__file__).with_name("jax_steps.txt")
RUN: Final = """
import json, sys
sys.path.insert(0, sys.argv[1])
import steps, jax.numpy as jnp, numpy as np
x, batch, target = jnp.arange(8.0), np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
variables = lambda several: [variable.value for variable in several]
state = tuple(map(variables, (steps.model.trainable_variables, steps.model.non_trainable_variables,
                              steps.optimizer.variables)))
given = {"step": (state, batch, target), "step_with_log": (state, batch, target), "crop_by_number": (x, 3),
         "grow": (x, 8), **dict.fromkeys(("crop", "chosen", "written", "mapped"), (x, 3))}
found = {}
for name, run in {**vars(steps), "_run": steps.Loop().run}.items():
    if callable(run) and name in sys.argv[2:]:
        try:
            run(*given.get(name, (x,)))
            found[name] = None
        except Exception as error:
            found[name] = type(error).__name__
print(json.dumps(found))
"""
ROOTS: Final = {"added": "scanned", "start": "mapped"}  # of what others have traced


def lines() -> dict[int, tuple[str, str | None]]:
    """By line, the function around it and the error that it raises."""
    found: dict[int, tuple[str, str | None]] = {}
    name = ""
    for number, line in enumerate(STEPS.read_text().splitlines(), 1):
        if line.lstrip().startswith("def "):
            name = line.split("def ")[1].partition("(")[0]
        if name:
            found[number] = name, line.partition("  # ")[2] or None
    return found


def test_what_raises_in_jax_s_own_compilation_is_an_error_and_nothing_else_is_said(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS.read_text())
    report = check([tmp_path], load([tmp_path], cached=False, isolated=True))
    said = {(one.span.line, one.severity) for one in report.findings}
    assert said == {(line, Severity.ERROR) for line, (_, error) in lines().items() if error}
    for one in report.findings:
        assert (lines()[one.span.line][1] or "") in one.message


def test_code_with_jax_and_without_keras_is_left_alone(tmp_path: Path) -> None:
    text = STEPS.read_text().replace("import keras\n", "import tensorflow as tf\nfrom other import keras\n")
    (tmp_path / "steps.py").write_text(text)
    assert not check([tmp_path], load([tmp_path], cached=False)).findings


@pytest.mark.compiler
@claim(RUN, STEPS.read_text(), ROOTS, sampled=False)
def test_the_functions_raise_what_their_lines_tell(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS.read_text())
    expected: dict[str, str | None] = {}
    for name, error in lines().values():
        known = ROOTS.get(name, name)
        expected[known] = expected.get(known) or error
    names = sorted(expected.keys() - {"compute", "read_outside", "__init__"})
    command = [sys.executable, "-c", RUN, str(tmp_path), *names]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env={"JAX_PLATFORMS": "cpu"})
    assert json.loads(ran.stdout.splitlines()[-1]) == {name: expected[name] for name in names}
