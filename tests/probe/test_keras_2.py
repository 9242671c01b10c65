"""Which Keras runs a target, and what Keras 2 is to code that is written for it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from xlalint.probe.keras_choice import Chosen, KerasChoice
from xlalint.probe.pool import Pool
from xlalint.probe.process import Interpreter, Limits
from xlalint.probe.protocol import FAILS, JAX, Outcome, Plan
from xlalint.probe.target import Target
from xlalint.probe.targets import Targets

# What Keras 3 has renamed, or taken away.
CODE = """
import keras
import tensorflow as tf
from keras import layers
from tensorflow.keras.layers import Dense


class Scaled(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight("scale", [int(shape[-1])])

    def call(self, x):
        if tf.reduce_sum(x) > 0.0:
            x = x * 2.0
        kept = tf.boolean_mask(x, x > 0.5)
        return tf.unique(kept)[0], x * self.scale


def one_keras(x):
    assert Dense is layers.Dense
    return keras.backend.square(x)


def in_any(x):
    return tf.square(x)
"""


def _interpreter(folder: Path, **versions: str) -> Interpreter:
    """What says of itself that it has these versions."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(versions)}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return Interpreter(str(program))


def _of(keras: int | None, **more: str) -> Target:
    return Target("/a.py", "f", keras=keras, **more)  # type: ignore[arg-type]


BY_KERAS = Outcome(not_run="its module cannot be imported: no `keras.engine`", by_keras=True)


def test_keras_2_runs_what_requires_it_and_what_keras_3_refuses(tmp_path: Path) -> None:
    both = KerasChoice(_interpreter(tmp_path, **{"keras": "3.10.0", "tf-keras": "2.19.0"}))
    assert both.required(_of(2)) == Chosen(True, "run with Keras 2 (tf_keras 2.19.0): its project requires it")
    assert both.required(_of(3)) == both.required(_of(None)) == both.required(_of(2, backend=JAX)) == Chosen()
    refused = "run with Keras 2 (tf_keras 2.19.0): with Keras 3.10.0, its module cannot be imported: no `keras.engine`"
    assert both.instead(_of(None), BY_KERAS) == Chosen(True, refused)
    assert both.instead(_of(3), BY_KERAS) == both.instead(_of(None), Outcome(not_run="no inputs found")) == Chosen()
    assert both.instead(_of(None), Outcome()) == both.instead(_of(None, backend=JAX), BY_KERAS) == Chosen()


def test_where_keras_2_is_not_installed_a_line_says_so(tmp_path: Path) -> None:
    third = KerasChoice(_interpreter(tmp_path, keras="3.10.0"))
    said = "and it is run with Keras 3.10.0: `pip install tf_keras` adds Keras 2"
    assert third.required(_of(2)) == Chosen(note=f"its project requires Keras 2, {said}")
    assert third.instead(_of(None), BY_KERAS) == Chosen(note=f"Keras raises this, {said}")
    assert third.instead(_of(None), BY_KERAS).said(BY_KERAS).notes == (f"Keras raises this, {said}",)


def test_where_keras_2_is_all_there_is_nothing_is_chosen(tmp_path: Path) -> None:
    second = KerasChoice(_interpreter(tmp_path, keras="2.15.0"))
    assert second.required(_of(2)) == second.instead(_of(None), BY_KERAS) == Chosen()


@pytest.mark.compiler
def test_where_keras_2_is_all_there_is_it_has_its_own_way_with_autograph(monkeypatch: pytest.MonkeyPatch) -> None:
    from xlalint.probe.worker.backends import backend
    from xlalint.probe.worker.driving.keras_objects import is_left_to_keras_2

    assert not is_left_to_keras_2(False, None)
    modules = [SimpleNamespace(__version__="2.15.0"), SimpleNamespace()]
    monkeypatch.setattr(backend, "keras_modules", lambda: modules)
    assert is_left_to_keras_2(False, None)
    assert not is_left_to_keras_2(False, 3)
    assert not is_left_to_keras_2(True, None)


def test_the_requirements_around_a_file_say_which_keras_a_target_is_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, requirement in {"old": "tensorflow==2.12", "new": "keras>=3", "open": "tensorflow"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "requirements.txt").write_text(requirement)
        (tmp_path / name / "code.py").write_text("def f(x):\n    return x\n")
    found = {name: Targets().at(tmp_path / name / "code.py", "f").keras for name in ("old", "new", "open")}
    assert found == {"old": 2, "new": 3, "open": None}
    assert Targets(keras=3).at(tmp_path / "old" / "code.py", "f").keras == 3


def test_modules_of_keras_2_have_the_names_that_they_had(tmp_path: Path) -> None:
    for name in (
        "__init__",
        "layers/__init__",
        "src/__init__",
        "src/engine/__init__",
        "src/engine/training",
        "src/layers/__init__",
        "src/layers/core",
        "src/layers/inside/__init__",
        "src/layers/inside/images",
    ):
        file = tmp_path / "tf_keras" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    program = (
        "import keras_2; keras_2.take_the_name()\n"
        "import keras, keras.layers, keras.engine.training\n"
        "from keras.layers import core; assert core.__name__ == 'tf_keras.src.layers.core'\n"
        "import sys, types\n"
        "parts = 'tensorflow.python.keras.layers'.split('.')\n"
        "for name in ('.'.join(parts[:end]) for end in range(1, 5)):\n"
        "    sys.modules[name] = types.ModuleType(name); sys.modules[name].__path__ = []\n"
        "from tensorflow.python.keras.layers.inside import images\n"
        "assert images.__name__ == 'tf_keras.src.layers.inside.images'\n"
        "print(keras.__name__, keras.layers.__name__, keras.engine.training.__name__)\n"
        "import keras.engine.absent"
    )
    own = Path(__file__).parents[2] / "xlalint/probe/worker/backends"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{own}"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["tf_keras", "tf_keras.layers", "tf_keras.src.engine.training"], done.stderr
    assert done.stderr.rstrip().endswith("No module named 'keras.engine.absent'")


@pytest.mark.compiler
@pytest.mark.skipif(find_spec("tf_keras") is None, reason="tf_keras is not installed")
def test_code_that_keras_3_refuses_is_run_with_keras_2(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(CODE)
    targets = [Target(str(file), "Scaled.call", kind="method", autograph=False)]
    targets += [Target(str(file), "one_keras"), Target(str(file), "in_any"), Target(str(file), "one_keras", keras=2)]
    outcomes: dict[int, Outcome] = {}
    Pool(Interpreter(), Limits(), Plan(value_sets=2)).run(targets, outcomes.__setitem__)
    layer, one, plain, required = (outcomes[number] for number in range(4))
    assert layer.not_run is None
    assert layer.versions["keras"].startswith("2.")
    assert layer.notes[0].startswith("run with Keras 2 (tf_keras 2")
    # AutoGraph converts what Keras 2 calls: nothing but the operations that have no kernel fails.
    assert {spot.line for one in layer.observations if one.kind == FAILS for spot in one.spots} <= {16, 17}
    assert plain.versions["keras"].startswith("3.")
    assert not plain.notes
    assert [one.not_run, required.not_run] == [None, None]
    assert required.notes[0].endswith("its project requires it")
