"""Settings that programs keep in the attributes of objects: a dict that has attributes, and the libraries for it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

# How the settings are made, and how the path is read.
MADE: Final = {
    "easydict": ("from easydict import EasyDict\n", "EasyDict({'DATA': {'PATH': PATH}})", "c.DATA.PATH"),
    "easydict, by names": ("from easydict import EasyDict\n", "EasyDict(DATA=EasyDict(PATH=PATH))", "c.DATA.PATH"),
    "easydict, by an item": ("from easydict import EasyDict\n", "EasyDict(PATH=PATH)", "c['PATH']"),
    "easydict, a copy": ("from easydict import EasyDict\n", "EasyDict(dict(PATH=PATH)).copy()", "c.get('PATH')"),
    "yacs": ("from yacs.config import CfgNode as CN\n", "CN(dict(PATH=PATH)).clone()", "c.PATH"),
    "ml_collections": ("import ml_collections\n", "ml_collections.ConfigDict({'PATH': PATH})", "c.PATH"),
    "ml_collections, frozen": (
        "from ml_collections import config_dict\n",
        "config_dict.FrozenConfigDict({'IN': {'DATA': {'PATH': PATH}}})",
        "c.IN.DATA.PATH",
    ),
    "ml_collections, created": (
        "from ml_collections import config_dict\n",
        "config_dict.create(PATH=PATH)",
        "c.PATH",
    ),
    "a dict with attributes": (
        "class A(dict):\n    __getattr__ = dict.__getitem__\n    __setattr__ = dict.__setitem__\n",
        "A(PATH=PATH)",
        "c.PATH",
    ),
}
PROGRAM: Final = """
import tensorflow as tf

PATH = "{path}"
c = {made}
data = tf.data.Dataset.list_files({read})
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data.map(tf.io.read_file).batch(8, drop_remainder=True))
"""
ASSIGNED: Final = """
import tensorflow as tf
from yacs.config import CfgNode

_C = CfgNode()
_C.DATA = CfgNode()
_C.DATA.PATH = "{path}"
_C.DATA.SIZE = (64, 64)

def read(file):
    c = _C.clone()
    c.merge_from_file(file)
    c.freeze()
    return c

def train(c):
    data = tf.data.Dataset.list_files(c.DATA.PATH)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data.map(tf.io.read_file).batch(8, drop_remainder=True))

train(read("settings.yaml"))
"""
PROGRAMS: Final = {
    "assigned one by one": ASSIGNED,
    **{
        name: above + PROGRAM.replace("{made}", made.replace("{", "{{").replace("}", "}}")).replace("{read}", read)
        for name, (above, made, read) in MADE.items()
    },
}


@pytest.mark.parametrize(("path", "told"), [("rows/*", True), ("gs://bucket/rows/*", False)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_path_among_settings(tmp_path: Path, name: str, path: str, told: bool) -> None:
    (tmp_path / "m.py").write_text(PROGRAMS[name].format(path=path), encoding="utf-8")
    codes = [finding.code for finding in check([tmp_path], Settings(target="tpu")).findings]
    assert ("XLA513" in codes) is told, codes


NESTED: Final = """\
class A(dict):
    __getattr__ = dict.__getitem__

    def __init__(self, given):
        for name, value in given.items():
            self[name] = A(value) if hasattr(value, "keys") else value

"""


@pytest.mark.parametrize("made", ["from easydict import EasyDict as A\n", NESTED], ids=["easydict", "of its own"])
def test_settings_that_are_not_known_come_to_an_end(tmp_path: Path, made: str) -> None:
    code = f"{made}import json\nimport tensorflow as tf\n\nc = A(json.load(open('c.json')))\n"
    (tmp_path / "m.py").write_text(f"{code}x = tf.zeros([c.rows.count, c.columns])\n", encoding="utf-8")
    report = check([tmp_path], Settings())
    assert not report.findings
    assert not report.problems


@pytest.mark.parametrize(
    "body", [" size = 100", " other, size = 1, 100", " first = 4; size = 25 * first", "\n    size = 100"]
)
def test_a_class_of_one_line(tmp_path: Path, body: str) -> None:
    code = """\
import tensorflow as tf

class Settings:{body}

@tf.function(jit_compile=True)
def f(x):
    for _ in range(Settings.size):
        x = tf.tanh(x)
    return x
"""
    (tmp_path / "m.py").write_text(code.replace("{body}", body), encoding="utf-8")
    (found,) = check([tmp_path], Settings()).findings
    assert (found.code, "100 iterations" in found.message) == ("XLA311", True)
