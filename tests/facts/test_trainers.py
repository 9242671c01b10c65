"""What Keras's trainers do with a model: the page has each row, and both backends do it again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from tests import ROOT
from tests.compiler.claims import claim

ROWS: Final = tomllib.loads(Path(__file__).with_name("trainers.toml").read_text("utf-8"))
PAGE: Final = (ROOT / "xlalint/docs/xla/jax.md").read_text("utf-8")
RUN: Final = """
import json, sys
import keras, numpy as np
from keras import ops
found, x = {}, np.random.rand(8, 4).astype("float32")
for name, row in json.load(sys.stdin).items():
    names = {"keras": keras, "ops": ops}
    exec(row["code"], names)
    try:
        dense = keras.layers.Dense(4)
        if "M" in names:
            given = keras.Input((4,))
            model = names["M"](given, dense(given))
        else:
            model = keras.Sequential([keras.Input((4,)), dense, names["L"]()])
        model.compile("sgd", "mse", jit_compile=True)
        model.fit(x, x, batch_size=4, verbose=0)
        found[name] = "runs" + (f": {names['result']()}" if "result" in names else "")
    except Exception as error:
        found[name] = type(error).__name__
print(json.dumps(found))
"""


def test_the_page_has_every_row() -> None:
    told = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)
    said = {name: (of_tensorflow.partition(",")[0], jax.partition(",")[0]) for name, of_tensorflow, jax in told}
    for name, row in ROWS.items():
        shown = tuple(_shown(row[backend]) for backend in ("tensorflow", "jax"))
        assert said.get(name) == shown, name


@pytest.mark.compiler
@pytest.mark.parametrize(
    "backend", [pytest.param(name, marks=claim(name, RUN, ROWS, sampled=False)) for name in ("tensorflow", "jax")]
)
def test_both_backends_do_what_the_page_says(backend: str) -> None:
    environment = os.environ | {"KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    run = [sys.executable, "-c", RUN]
    done = subprocess.run(run, input=json.dumps(ROWS), env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == {name: row[backend] for name, row in ROWS.items()}


def _shown(found: str) -> str:
    """As the page writes it."""
    return found.partition(":")[0] if found.startswith("runs") else f"`{found}`"
