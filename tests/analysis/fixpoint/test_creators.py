"""What all who create a layer pass alike holds in it: the code that other settings would run is not judged."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.analysis.fixpoint import partitions
from xlalint.linter.run import check
from xlalint.settings.config import Settings

LAYERS: Final = """\
import tensorflow as tf

FLAG = False


class Gate(tf.keras.layers.Layer):
    def __init__(self, units=8, strict=False, mode="soft", scale=1.0, table=None):
        super().__init__()
        self.strict, self.mode, self.scale, self.table = strict, mode, scale, table

    def call(self, x):
        if self.strict:
            assert tf.reduce_all(x > 0), "strict"
        if self.mode == "hard":
            assert tf.reduce_all(x > 1), "mode"
        if self.scale > 2:
            assert tf.reduce_all(x > 2), "scale"
        if self.table is not None:
            assert tf.reduce_all(x > 3), "table"
        return x
"""
OUTER: Final = """\
import tensorflow as tf
from layers import Gate


class Outer(tf.keras.layers.Layer):
    def __init__(self, strict, mode="soft"):
        super().__init__()
        self.gate = Gate(8, strict, mode=mode)

    def call(self, x):
        return self.gate(x)
"""
WIDE: Final = """\
import tensorflow as tf
from layers import Gate


class Outer(tf.keras.layers.Layer):
    def __init__(self, mode="soft", strict=False):
        super().__init__()
        self.mode = mode
        self.strict = strict

    def build(self, shape):
        self.strict = len(shape) > 9
        self.gate = Gate(8, mode=self.mode)

    def call(self, x):
        return self.gate(x)
"""
TRAIN: Final = """\
import sys

import tensorflow as tf
from layers import Gate

{code}
model = tf.keras.Sequential([{made}])
model.compile("adam", "mse", jit_compile=True)
model.fit(tf.ones((8, 4)), tf.ones((8, 4)))
"""
ALL: Final = frozenset(("strict", "mode", "scale", "table"))


def judged(folder: Path, made: str, code: str = "", layers: str = LAYERS, **files: str) -> set[str]:
    """The settings whose code is judged where a script creates these layers."""
    texts = {"layers": layers, "train": TRAIN.format(made=made, code=code)} | files
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    report = check([folder], Settings(jobs=1))
    assert not report.problems
    found = {finding.span.line for finding in report.findings if finding.path.endswith("layers.py")}
    judged = {layers.splitlines()[line - 1].rpartition(", ")[2].strip('"') for line in found}
    return judged & ALL


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        ("Gate()", set()),
        ("Gate(8, False)", set()),
        ("Gate(strict=True)", {"strict"}),
        ("Gate(8, mode='hard'), Gate(4, mode='hard')", {"mode"}),
        ("Gate(8, mode='hard'), Gate(4)", {"mode"}),
        ("Gate(scale=1.5), Gate(scale=2.5)", {"scale"}),
        ("Gate(table=[1.0])", {"table"}),
        ("Gate(strict='--strict' in sys.argv)", {"strict"}),
        ("Gate(*sys.argv)", ALL),
        ("Gate(**dict(strict=True))", ALL),
        ("Gate(strict=False, **dict(mode='hard'))", ALL - {"strict"}),
    ],
)
def test_what_all_pass_alike_holds(tmp_path: Path, made: str, wanted: set[str]) -> None:
    assert judged(tmp_path, made) == wanted


@pytest.mark.parametrize(
    ("outer", "made", "wanted"),
    [
        (OUTER, "Outer(False)", set()),
        (OUTER, "Outer(True)", {"strict"}),
        (OUTER, "Outer(False, 'hard'), Outer(False, 'soft')", {"mode"}),
        (WIDE, "Outer()", set()),
        (WIDE, "Outer('hard')", {"mode"}),
        (WIDE, "Outer(), Outer('hard')", {"mode"}),
    ],
)
def test_what_a_layer_passes_on(tmp_path: Path, outer: str, made: str, wanted: set[str]) -> None:
    assert judged(tmp_path, made, "from outer import Outer", outer=outer) == wanted


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("LAYERS = {'gate': Gate}", ALL),
        ("import functools\nmake = functools.partial(Gate, strict=True)", ALL),
        ("import layers\nother = getattr(layers, sys.argv[1])()", ALL),
        ("import importlib\nother = importlib.import_module(sys.argv[1]).Gate(mode='hard')", ALL),
        ("import layers\nother = layers.Gate(mode='hard')", {"mode"}),
        ("def later():\n    from layers import Gate as G\n    return G(strict=True)", {"strict"}),
        ("FLAG = True\nother = Gate(strict=FLAG)", {"strict"}),
        ("from layers import FLAG\nother = Gate(strict=FLAG)", set()),
        ("def make(strict):\n    return Gate(strict=strict)\nother = make(False)", set()),
        ("def make(strict):\n    return Gate(strict=strict)\nother = make(False), make(True)", {"strict"}),
        ("def make(strict=False):\n    return Gate(strict=strict)\nother = make()", set()),
        ("def make(strict=False):\n    strict = 1 > 0\n    return Gate(strict=strict)\nother = make()", {"strict"}),
        ("def make(strict=False):\n    return Gate(strict=strict)\nother = map(make, [True])", {"strict"}),
        ("class Strict(Gate):\n    pass\nother = Strict(strict=True)", {"strict"}),
        ("def show(layer: Gate):\n    return isinstance(layer, Gate)", set()),
        ("tf.keras.models.load_model('m.keras', custom_objects={'Gate': Gate})", set()),
        ("tf.keras.utils.get_custom_objects()['Gate'] = Gate", set()),
        ("for layer in sys.modules['layers'].made:\n    layer.strict = True", {"strict"}),
    ],
)
def test_who_may_create_others(tmp_path: Path, code: str, wanted: set[str]) -> None:
    assert judged(tmp_path, "Gate()", code) == wanted


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("@classmethod\n    def from_config(cls, config):\n        return cls(**config)", set()),
        ("@classmethod\n    def of(cls, path):\n        return cls(strict=True)", ALL),
        ("def again(self):\n        return type(self)(strict=True)", ALL),
        ("def fresh(self):\n        return self.__class__(strict=True)", ALL),
    ],
)
def test_methods_that_create_their_own_kind(tmp_path: Path, method: str, wanted: set[str]) -> None:
    assert (
        judged(tmp_path, "Gate()", layers=LAYERS.replace("    def call", f"    {method}\n\n    def call", 1)) == wanted
    )


def test_a_layer_that_nobody_creates_may_have_any_setting(tmp_path: Path) -> None:
    assert judged(tmp_path, "tf.keras.layers.Dense(4)") == ALL


def test_what_tests_pass_says_nothing(tmp_path: Path) -> None:
    test = "from layers import Gate\n\n\ndef test_gate():\n    Gate(strict=True)(1.0)\n"
    assert judged(tmp_path, "Gate()", test_layers=test) == set()


def test_a_package_that_is_installed_has_users_elsewhere(tmp_path: Path) -> None:
    package = tmp_path / "gates"
    package.mkdir()
    (tmp_path / "setup.py").write_text("from setuptools import setup\n\nsetup(name='gates')\n")
    (package / "__init__.py").write_text("")
    found = judged(package, "Gate()", train=TRAIN.format(made="Gate()", code="").replace("from layers", "from .layers"))
    assert found == ALL


@pytest.mark.parametrize(("made", "wanted"), [("Gate()", set()), ("Gate(strict=True)", {"strict"})])
def test_creators_in_other_partitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, wanted: set[str]
) -> None:
    monkeypatch.setattr(partitions, "_TEXT_OF_A_PART", 1)
    monkeypatch.setattr(partitions, "_TEXT_WITHOUT_TESTS", 1)
    assert judged(tmp_path, made) == wanted
