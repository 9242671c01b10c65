"""Other versions of Python, where they are installed: xlalint is installed for them, and finds what it finds here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests import ROOT, sampling

VERSIONS: Final = ("3.11", "3.12", "3.13")
OTHERS: Final = [version for version in VERSIONS if version != f"{sys.version_info.major}.{sys.version_info.minor}"]

NEW: Final = """\
import tensorflow as tf

type Batch = tf.Tensor

class Own[T](tf.keras.layers.Layer):
    def call(self, x: Batch) -> T:
        if tf.reduce_sum(x) > 0:
            x = x / 2.0
        return x
"""


def interpreter(version: str) -> str:
    """A Python of a version that can be run; the test is skipped where there is none."""
    name = f"python{version}"
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    for found in filter(None, (shutil.which(name), *map(str, installed))):
        if subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    pytest.skip(f"there is no Python {version} here")


def findings(*command: str, path: Path = ROOT / "examples") -> Any:
    """What is found in a file or folder."""
    arguments = ["-P", "-m", "xlalint", str(path), "--isolated", "--no-cache", "--exit-zero"]
    done = subprocess.run(
        [*command, *arguments, "--output-format", "json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["findings"]


def test_the_metadata_name_the_versions_that_are_tried() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert re.findall(r"Python :: (3\.\d+)", text) == list(VERSIONS)
    assert f'requires-python = ">={VERSIONS[0]}"' in text


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS[-sampling.size(1) :])  # usually the newest
def test_what_is_found_is_the_same(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    sources = tmp_path / "sources"
    for name in ("xlalint", "rules"):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    commands = tmp_path / "venv" / "bin"
    for command in (f"{python} -m venv venv", "venv/bin/pip install --quiet ./sources"):
        done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert findings(str(commands / "python")) == findings(sys.executable) != []
    if version != "3.11":
        (tmp_path / "new.py").write_text(NEW)
        assert [one["code"] for one in findings(str(commands / "python"), path=tmp_path / "new.py")] == ["XLA101"]
