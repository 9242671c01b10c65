"""What Keras runs a file on: found in the program, set, or required."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.linter.on_backends import ALONE, BOTH, JAX, LAYER, TENSORFLOW, linted
from xlalint.findings.findings import Effect, Severity
from xlalint.settings.config import load
from xlalint.sources.reading import Jax, jax_named

USE: Final = "import {imports}\nimport layer\nmodel = layer.L()\n"


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


PROGRAMS: Final[dict[str, tuple[dict[str, str], object]]] = {
    "nothing says": ({"layer.py": LAYER}, ()),
    "the environment": ({"layer.py": f'import os\nos.environ["KERAS_BACKEND"] = "jax"\n{LAYER}'}, ALONE),
    "its default": ({"layer.py": f'import os\nos.environ.setdefault("KERAS_BACKEND", "jax")\n{LAYER}'}, ALONE),
    "behind a text that imports it": (
        {"layer.py": f'"""\nimport keras\n"""\nimport os\nos.environ["KERAS_BACKEND"] = "jax"\n{LAYER}'},
        ALONE,
    ),
    "behind its import": ({"layer.py": f'import keras, os\nos.environ["KERAS_BACKEND"] = "jax"\n{LAYER}'}, ()),
    "TensorFlow": ({"layer.py": f'import os\nos.environ["KERAS_BACKEND"] = "tensorflow"  # or "jax"\n{LAYER}'}, ()),
    "PyTorch": ({"layer.py": f'import os\nos.environ["KERAS_BACKEND"] = "torch"  # or "jax"\n{LAYER}'}, ()),
    "whoever runs it": (
        {"layer.py": f'import os, sys\nos.environ["KERAS_BACKEND"] = sys.argv[1]  # "jax"\n{LAYER}'},
        BOTH,
    ),
    "a call": ({"layer.py": LAYER.replace("\nfrom", '\nkeras.config.set_backend("jax")\nfrom', 1)}, ALONE),
    "a notebook's magic": ({"a.ipynb": notebook("%env KERAS_BACKEND=jax", LAYER)}, ALONE),
    "a script that uses it": (
        {"layer.py": LAYER, "train.py": 'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport layer\nlayer.L()\n'},
        ALONE,
    ),
    "a script that uses it, and what it sets itself": (
        {
            "layer.py": f'import os\nos.environ["KERAS_BACKEND"] = "tensorflow"\n{LAYER}',
            "train.py": 'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport layer\nlayer.L()\n',
        },
        (),
    ),
    "what it sets itself, beside a module for TensorFlow": (
        {
            "pkg/__init__.py": "",
            "pkg/layer.py": f'import os\nos.environ["KERAS_BACKEND"] = "jax"\n{LAYER}',
            "pkg/other.py": 'import os\nos.environ["KERAS_BACKEND"] = "tensorflow"\nimport keras\n',
            "use.py": "import sys, os\nos.environ['KERAS_BACKEND'] = sys.argv[1]\nfrom pkg import layer, other\n",
        },
        ALONE,
    ),
    "another script": (
        {"layer.py": LAYER, "train.py": 'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport keras\n'},
        (),
    ),
    "a test alone": (
        {"layer.py": LAYER, "test_layer.py": 'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport layer\n'},
        (),
    ),
    "a package that a script uses": (
        {
            "pkg/__init__.py": "",
            "pkg/layer.py": LAYER,
            "train.py": 'import os\nos.environ["KERAS_BACKEND"] = "jax"\nfrom pkg import layer\nlayer.L()\n',
        },
        BOTH,
    ),
    "a library that asks": ({"layer.py": f'{LAYER}\nif keras.config.backend() == "jax":\n    print()\n'}, BOTH),
    "one that asks for another": (
        {"layer.py": f'import jax\n{LAYER}\nif keras.config.backend() == "jax":\n    print()\n'},
        BOTH,
    ),
    "imports": ({"layer.py": f"import jax\n{LAYER}"}, ALONE),
    "imports of both": ({"layer.py": f"import jax\nimport tensorflow as tf\n{LAYER}"}, BOTH),
    "TensorFlow's Keras": (
        {"layer.py": "import jax\nfrom tensorflow " + LAYER.replace("from k", "from tensorflow.k")},
        (),
    ),
    "requirements": ({"layer.py": LAYER, "requirements.txt": "keras>=3\njax[cuda12]\n"}, ALONE),
    "requirements of both, of a file for one": (
        {"layer.py": f"import tensorflow as tf\n{LAYER}", "requirements.txt": "keras>=3\njax\ntensorflow\n"},
        (),
    ),
    "requirements of what is set to PyTorch": (
        {
            "layer.py": f'import os\nos.environ["KERAS_BACKEND"] = "torch"\n{LAYER}',
            "requirements.txt": "keras>=3\njax\n",
        },
        (),
    ),
    "TensorFlow's gradients beside an import": (
        {
            "layer.py": f"import jax\nimport tensorflow as tf\n{LAYER}\nclass M(keras.Model):\n"
            "    def train_step(self, data):\n        with tf.GradientTape() as tape:\n"
            "            loss = ops.sum(self(data))\n        return tape.gradient(loss, self.trainable_variables)\n"
        },
        (),
    ),
    "requirements of both": ({"layer.py": LAYER, "requirements.txt": "keras>=3\njax\ntensorflow\n"}, BOTH),
    "extras": (
        {"layer.py": LAYER, "pyproject.toml": '[project.optional-dependencies]\njax = ["jax", "keras>=3"]\n'},
        (),
    ),
    "requirements without Keras": ({"layer.py": LAYER, "requirements.txt": "jax\ntensorflow\n"}, ()),
    "requirements of Keras 2": ({"layer.py": LAYER, "requirements.txt": "keras<3\njax\ntensorflow<2.16\n"}, ()),
}


@pytest.mark.parametrize("named", PROGRAMS)
def test_the_program_shows_what_runs_it(named: str, tmp_path: Path) -> None:
    files, expected = PROGRAMS[named]
    [finding] = linted(tmp_path, files)
    assert finding.backends == expected
    assert finding.effect is (Effect.FAILS if expected else Effect.NAMED)
    assert finding.severity is (Severity.ERROR if expected else Severity.WARNING)
    assert ("on JAX" in finding.message) is bool(expected)


def test_what_stands_under_a_test_is_for_that_backend_alone(tmp_path: Path) -> None:
    text = """\
import keras
import tensorflow as tf
from keras import ops

BACKEND = keras.backend.backend()

def chosen(x):
    return x[x > 1.0]

class L(keras.layers.Layer):
    def call(self, x):
        if keras.config.backend() == "tensorflow":
            return ops.sum(x[x > 2.0])
        if BACKEND in ("jax", "torch"):
            x = chosen(x)
        elif isinstance(x, tf.Tensor):
            x = x[x > 3.0]
        return ops.sum(x[x > 4.0])
"""
    found = {one.span.line: dict(one.backends) for one in linted(tmp_path, {"layer.py": text})}
    assert found == {
        8: {JAX: Effect.FAILS},
        13: {TENSORFLOW: Effect.NAMED, JAX: None},
        18: {JAX: Effect.FAILS},
    }


@pytest.mark.parametrize(
    "asked",
    ['os.environ.get("KERAS_BACKEND")', 'os.environ["KERAS_BACKEND"]', 'os.getenv("KERAS_BACKEND", "tensorflow")'],
)
def test_the_variable_that_keras_reads_is_the_backend(tmp_path: Path, asked: str) -> None:
    text = f"""\
import os
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x):
        if {asked} == "tensorflow":
            return self.chosen(x)
        elif {asked} in ("jax", "torch"):
            return ops.sum(x[x > 2.0])
        if {asked.replace("BACKEND", "HOME")} == "tensorflow":
            return ops.sum(x[x > 3.0])

    def chosen(self, x):
        return ops.sum(x[x > 1.0])
"""
    settings = load([tmp_path], options={"exposure": "certain", "backend": ["tensorflow", "jax"]}, isolated=True)
    found = {one.span.line: dict(one.backends) for one in linted(tmp_path, {"layer.py": text}, settings)}
    assert found == {10: {JAX: Effect.FAILS}, 12: {JAX: Effect.FAILS}, 15: {TENSORFLOW: Effect.NAMED, JAX: None}}


def test_a_case_that_names_a_backend_is_of_no_other_nor_what_is_defined_there(tmp_path: Path) -> None:
    text = """\
import keras
from keras import ops

def gradient_of(f, x):
    match keras.backend.backend():
        case "jax":
            import jax
            return jax.grad(f)
        case "tensorflow":
            import tensorflow as tf
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            def gradient(upstream):
                return tape.gradient(y, x, upstream)
        case "torch" | "numpy":
            return f(x[x > 1.0])
        case other:
            raise NotImplementedError(other)
    return gradient

class L(keras.layers.Layer):
    def call(self, x):
        backend = keras.config.backend()
        match backend:
            case "tensorflow":
                x = x[x > 2.0]
            case _:
                x = x[x > 3.0]
        return gradient_of(ops.sum, x)(ops.ones_like(x))
"""
    found = {one.span.line: dict(one.backends) for one in linted(tmp_path, {"layer.py": text})}
    assert found.keys().isdisjoint((12, 15, 17))
    assert (found[27][JAX], found[29]) == (None, {JAX: Effect.FAILS})


MASKED: Final = f"import jax\n{LAYER}"

CHOOSES: Final = """\
import os
from keras.backend import backend

if backend() == "tensorflow":
    from pkg.of_tensorflow import *
elif backend() in ("torch", "numpy"):
    from pkg.of_torch import L
elif {jax}:
    from pkg.of_jax.layer import L
    from pkg.of_jax import again
"""

MATCHES: Final = """\
import keras

match keras.config.backend():
    case "tensorflow":
        from pkg.of_tensorflow import L as Base
    case "torch" | "numpy":
        from pkg.of_torch import L as Base
    case {rest}:
        from pkg.of_jax import L as Base

class Own(Base):
    pass
"""


@pytest.mark.parametrize("rest", ['"jax"', "_", "other", "other if other in KNOWN"])
def test_a_file_that_a_case_imports_is_for_the_backends_of_the_case(tmp_path: Path, rest: str) -> None:
    step = "import keras\n\nclass L(keras.Model):\n    def {name}(self, data):\n        return {{}}\n"
    files = {
        "pkg/__init__.py": MATCHES.format(rest=rest),
        "pkg/of_tensorflow.py": step.format(name="train_step"),
        "pkg/of_torch.py": step.format(name="test_step"),
        "pkg/of_jax.py": step.format(name="train_step"),
    }
    options = {"exposure": "certain", "backend": ["tensorflow", "jax"]}
    found = linted(tmp_path, files, load([tmp_path], options=options, isolated=True))
    assert [Path(one.path).name for one in found] == ["of_jax.py"]


@pytest.mark.parametrize(
    ("jax", "more", "of_jax"),
    [
        ('backend() == "jax" and L', "", ALONE),
        ('not backend() != "jax"', "", ALONE),
        ('os.environ.get("KERAS_BACKEND", "jax") == "jax"', "", ALONE),
        ('os.environ["KERAS_BACKEND"] == "jax"', "", ALONE),
        ("unknown()", "", ALONE),
        ('backend() == "jax"', "from pkg.of_jax import layer\n", BOTH),
        ('backend() == "jax"', "if backend() != 'jax':\n    from pkg.of_jax import layer\n", BOTH),
    ],
)
def test_a_file_that_is_imported_under_tests_of_the_backend_is_for_those(
    tmp_path: Path, jax: str, more: str, of_jax: object
) -> None:
    files = {
        "pkg/__init__.py": CHOOSES.format(jax=jax) + more,
        "pkg/of_tensorflow.py": MASKED,
        "pkg/of_torch.py": MASKED,
        "pkg/of_jax/__init__.py": "",
        "pkg/of_jax/layer.py": MASKED,
        "pkg/of_jax/again.py": MASKED.replace("import jax", "import jax\nfrom pkg.of_jax.layer import L as Other"),
        "pkg/test_torch.py": "from pkg.of_torch import L\n",
    }
    for backends in ((), ("tensorflow", "jax")):
        options = {"exposure": "certain", **({"backend": [*backends]} if backends else {})}
        found = linted(tmp_path, files, load([tmp_path], options=options, isolated=True))
        shown = {Path(one.path).relative_to(tmp_path).as_posix(): one.backends for one in found}
        assert shown == {"pkg/of_tensorflow.py": (), "pkg/of_jax/layer.py": of_jax, "pkg/of_jax/again.py": ALONE}


SEVERAL: Final = """\
import os, sys
os.environ["KERAS_BACKEND"] = sys.argv[1]  # "jax", say
import keras
from of_tensorflow import scaled

class L(keras.layers.Layer):
    def call(self, x):
        return scaled(x)
"""


@pytest.mark.parametrize(("imports", "codes"), [("", []), ("import keras\n", ["XLA412"])])
def test_a_file_of_tensorflow_alone_is_for_one_of_several_backends(
    tmp_path: Path, imports: str, codes: list[str]
) -> None:
    scaled = f"{imports}import tensorflow as tf\n\ndef scaled(x):\n    return x / tf.reduce_max(x)\n"
    assert [one.code for one in linted(tmp_path, {"layer.py": SEVERAL, "of_tensorflow.py": scaled})] == codes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import jax\n", Jax.NAMED),
        ("name = 'jax_array'\n", Jax.UNNAMED),
        ("import keras\nkeras.config.set_backend('jax')\n", Jax.CHOSEN),
        ('import os\nos.environ["KERAS_BACKEND"] = "jax"\n', Jax.CHOSEN),
        ("from keras import backend as K\nslow = K.backend() == 'jax'\n", Jax.CHOSEN),
        ("import keras\nkeras.config.set_backend('torch')\n", Jax.UNNAMED),
    ],
)
def test_what_a_file_says_of_jax(text: str, said: Jax) -> None:
    assert jax_named(text) is said
