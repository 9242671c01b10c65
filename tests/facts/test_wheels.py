"""Which version has a name: as wheels list it, and as what is shipped says."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from xlalint.facts.wheels import STRATEGY, Lack, lack, names
from xlalint.measuring import wheels

API = "tensorflow/_api/v2"
STRATEGIES = "class StrategyBase:\n    def __init__(self):\n        self.extended = None\n\n    def {}(self): ...\n"


def wheel(folder: Path, name: str, **files: str) -> None:
    with ZipFile(folder / f"{name}-py3-none-any.whl", "w") as packed:
        for path, text in files.items():
            packed.writestr(path, text)


def test_names_are_read_from_the_wheels_of_each_version(tmp_path: Path) -> None:
    common = {f"{API}/tpu/__init__.py": "from . import experimental\n", f"{API}/math/__init__.py": "from a import add"}
    old = "from tensorflow.python.tpu import a as initialize\nimport sys as _sys\n"
    distribute = "tensorflow/python/distribute/distribute_lib.py"
    lazy = {"tensorflow/__init__.py": "estimator = _LazyLoader('tensorflow_estimator.v2')\n"}
    keras = "from tensorflow.python.keras import set_policy\n"
    wheel(
        tmp_path,
        "tensorflow_cpu-2.4.1",
        **common,
        **lazy,
        **{f"{API}/tpu/experimental/__init__.py": old, distribute: STRATEGIES.format("run_v2")},
        **{"tensorflow/python/keras/api/_v2/keras/mixed_precision/__init__.py": keras},
    )
    wheel(tmp_path, "tensorflow_cpu-2.15.0", **common, **lazy, **{distribute: STRATEGIES.format("run")})
    wheel(tmp_path, "keras-2.15.0", **{"keras/api/_v2/keras/mixed_precision/__init__.py": keras})
    wheel(tmp_path, "tensorflow_cpu-2.21.0", **common, **{distribute: STRATEGIES.format("run")})
    wheel(tmp_path, "keras-3.1.0", **{"keras/_tf_keras/keras/mixed_precision/__init__.py": ""})
    found = json.loads(wheels.measure(tmp_path))
    assert found["versions"] == ["2.21", "2.15", "2.4"]
    assert [found["packages"][version].get("keras") for version in found["versions"]] == ["3.1.0", "2.15.0", None]
    assert found["names"] == {
        "keras.mixed_precision": [["2.4", "2.21"]],
        "keras.mixed_precision.set_policy": [["2.4", "2.15"]],
        "tf.distribute.Strategy.extended": [["2.4", "2.21"]],
        "tf.distribute.Strategy.run": [["2.15", "2.21"]],
        "tf.distribute.Strategy.run_v2": [["2.4", "2.4"]],
        "tf.estimator": [["2.4", "2.15"]],
        "tf.tpu": [["2.4", "2.21"]],
        "tf.tpu.experimental": [["2.4", "2.21"]],
        "tf.tpu.experimental.initialize": [["2.4", "2.4"]],
    }


@pytest.mark.parametrize(
    ("name", "version", "lacks"),
    [
        ("keras.mixed_precision.experimental.set_policy", "2.8", None),
        ("keras.mixed_precision.experimental.set_policy", "2.9", Lack("2.8", None)),
        ("keras.mixed_precision.experimental.set_policy", None, Lack("2.8", None)),
        ("keras.mixed_precision.set_dtype_policy", "2.4", None),  # its other name is `set_global_policy`
        ("keras.mixed_precision.set_dtype_policy", "2.3", Lack(None, "2.4")),
        ("tf.distribute.Strategy.experimental_run_v2", "2.3.1", None),
        ("tf.distribute.Strategy.experimental_run_v2", "2.4", Lack("2.3", None)),
        ("tf.distribute.TPUStrategy", "2.2", Lack(None, "2.3")),
        ("tf.distribute.experimental.TPUStrategy", None, None),
        ("tf.distribute.cluster_resolver.TPUClusterResolver.connect", None, None),  # a method of a class
        ("tf.estimator.tpu.TPUEstimator", "2.15", None),
        ("tf.estimator.tpu.TPUEstimator", "2.16", Lack("2.15", None)),
        ("tf.contrib.tpu.TPUEstimator", "1.15", None),
        ("tf.contrib.tpu.TPUEstimator", "2.4", Lack(None, None)),
        ("tf.contrib.layers.flatten", "2.4", None),  # nothing of a TPU's
        ("tf.config.gpu.set_per_process_memory_growth", "2.4", None),  # a GPU's
        ("tf.config.experimental_initialize_system", "2.1", None),  # which nobody has read
        ("tf.config.experimental_initialize_system", "2.2", Lack(None, None)),
        ("tf.distribute.TPUStrategy", "2.99", None),  # as the newest
        ("tf.math.no_such_name", None, None),
    ],
)
def test_what_a_version_lacks(name: str, version: str | None, lacks: Lack | None) -> None:
    assert lack(name, version) == lacks


@pytest.mark.compiler
def test_what_is_listed_of_the_newest_version_is_there() -> None:
    tf: Any = importlib.import_module("tensorflow")

    def has(name: str) -> bool:
        found = tf
        for part in name.split(".") if name.startswith("keras.") else name.split(".")[1:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True

    missing = [name for name in names(None) if not has(name) and not has(name.replace("tf.", "tf.compat.v1.", 1))]
    assert [name for name in missing if not name.startswith(f"{STRATEGY}.")] == []  # some strategy has each of these
