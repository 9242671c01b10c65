"""Imports lead to the files that they mean, from wherever the program is started."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

NET: Final = """\
import tensorflow as tf

def kept(x):
    return tf.boolean_mask(x, x > 0)
"""
TRAIN: Final = """\
import tensorflow as tf
from models.vae.net import kept

@tf.function(jit_compile=True)
def step(x):
    return tf.cumsum(kept(x))
"""
LAYOUTS: Final = {
    "no folder is a package": ("models/vae/train.py", "models/vae/net.py"),
    "the root of the project is another folder": ("code/models/vae/train.py", "code/models/vae/net.py"),
    "every folder is a package": (
        *("code/models/vae/train.py", "code/models/vae/net.py"),
        *("code/__init__.py", "code/models/__init__.py", "code/models/vae/__init__.py"),
    ),
    "the folder of the script alone is one": ("src/models/vae/train.py", "src/models/vae/net.py", "src/__init__.py"),
    "the module lies beside the caller's folder": ("code/train/train.py", "code/models/vae/net.py"),
}


@pytest.mark.parametrize("marked", [True, False], ids=["in a repository", "in the working directory"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_script_imports_is_found(
    layout: str, marked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, net, *packages = LAYOUTS[layout]
    for name, text in {train: TRAIN, net: NET, **dict.fromkeys(packages, "")}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    if marked:
        (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    found = check(["."], Settings(jobs=1)).findings
    assert {(finding.path, finding.code, finding.context and finding.context.kind) for finding in found} >= {
        (net, "XLA201", "xla")
    }


def test_the_nearest_module_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "models/vae/net.py": NET,
        "new/models/vae/net.py": "def kept(x):\n    return x\n",
        "new/train/train.py": TRAIN,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert [one.path for one in check(["new/train"], Settings(jobs=1)).findings] == []


def test_nothing_above_the_project_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").mkdir()
    (project / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "models" / "vae").mkdir(parents=True)
    (tmp_path / "models" / "vae" / "net.py").write_text(NET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert check(["project"], Settings(jobs=1)).findings == ()


SET: Final = """\
import tensorflow as tf

def _choose():
    global select
    select = _kept

def _kept(x):
    return tf.boolean_mask(x, x > 0)

_choose()
"""


@pytest.mark.parametrize("caller", ["before.py", "then.py"])
def test_what_a_function_of_a_module_sets_is_found_in_whatever_order_files_are_read(
    caller: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = "print(tf.function(models.select, jit_compile=True)(tf.range(4)))\n"
    (tmp_path / caller).write_text(f"import tensorflow as tf\nimport models\n\n{call}", encoding="utf-8")
    (tmp_path / "models.py").write_text(SET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = check(["."], Settings(jobs=1)).findings
    assert ("models.py", "xla") in {(one.path, one.context and one.context.kind) for one in found}
