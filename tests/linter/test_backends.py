"""What Keras runs on: found in the program, set, or required; and what findings say of each backend."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.commands import ran
from xlalint.findings.findings import Backend, Effect, Finding, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings, load
from xlalint.settings.layers import ConfigurationError
from xlalint.sources.reading import Jax, jax_named

JAX, TENSORFLOW = Backend.JAX, Backend.TENSORFLOW
LAYER: Final = """\
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x):
        return ops.sum(x[x > 0.5])
"""
USE: Final = "import {imports}\nimport layer\nmodel = layer.L()\n"
ALONE: Final = ((JAX, Effect.FAILS),)
BOTH: Final = ((TENSORFLOW, Effect.NAMED), (JAX, Effect.FAILS))


def linted(folder: Path, files: dict[str, str], settings: Settings | None = None) -> list[Finding]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    report = check([folder], settings or load([folder], options={"exposure": "certain"}, cached=False))
    assert not report.problems
    return list(report.findings)


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


def test_one_finding_says_what_each_backend_does(tmp_path: Path) -> None:
    body = """\
        if ops.any(x > 0.5):
            x = x * 2.0
        n = ops.argmax(x)
        return x[n], x[:n], x[n : n + 2], ops.arange(n), ops.slice(x, [n], [2]), ops.roll(x, n)
"""
    text = LAYER.replace("        return ops.sum(x[x > 0.5])\n", body)
    files = {"layer.py": text}
    settings = load([tmp_path], options={"backend": ["tensorflow", "jax"], "exposure": "certain"}, isolated=True)
    found = {(finding.span.line, finding.code): dict(finding.backends) for finding in linted(tmp_path, files, settings)}
    assert found[6, "XLA101"] == {TENSORFLOW: Effect.FAILS, JAX: Effect.FAILS}
    both = linted(tmp_path, files, settings)
    by_text = {
        text.splitlines()[8][one.span.column - 1 : one.span.end_column - 1]: one for one in both if one.span.line == 9
    }
    assert {code: dict(one.backends) for code, one in by_text.items()} == {
        "x[n]": {TENSORFLOW: Effect.RECOMPILES, JAX: None},
        "x[:n]": {TENSORFLOW: Effect.RECOMPILES, JAX: Effect.FAILS},
        "x[n : n + 2]": {TENSORFLOW: Effect.RECOMPILES, JAX: Effect.FAILS},
        "ops.arange(n)": {TENSORFLOW: Effect.RECOMPILES, JAX: Effect.FAILS},
        "ops.slice(x, [n], [2])": {TENSORFLOW: Effect.RECOMPILES, JAX: None},
    }
    assert by_text["x[n]"].message.endswith("XLA recompiles for every new value; on JAX, this compiles once")
    alone = linted(tmp_path, files, load([tmp_path], options={"backend": "jax"}, isolated=True))
    assert [one.span.column for one in alone if one.span.line == 9] == [22, 29, 43]
    assert {one.effect for one in alone} == {Effect.FAILS}


def test_sizes_that_keras_computes_are_no_numbers_on_jax(tmp_path: Path) -> None:
    body = """\
        n = ops.maximum(0, ops.shape(x)[0] - 1)
        free = x[: ops.shape(x)[0] - 1], ops.zeros((ops.size(x), ops.ndim(x))), ops.arange(max(2, ops.shape(x)[0]))
        cut = x[:n], x[n // 2 : n // 2 + 3]
        made = ops.zeros((n, 2)), ops.arange(n), ops.reshape(x, (ops.cast(ops.shape(x)[0], "int32"), -1))
        return free, cut, made, ops.take(x, n, axis=0), x[n]
"""
    text = LAYER.replace("        return ops.sum(x[x > 0.5])\n", body)
    settings = load([tmp_path], options={"backend": ["tensorflow", "jax"], "exposure": "certain"}, isolated=True)
    found = linted(tmp_path, {"layer.py": text}, settings)
    assert [(one.span.line, one.code, dict(one.backends)) for one in found] == [
        *[(8, "XLA205", {JAX: Effect.FAILS})] * 2,
        *[(9, "XLA205", {JAX: Effect.FAILS})] * 3,
    ]


def test_what_keras_counts_is_a_number_on_jax_and_scipy_reads_tensors(tmp_path: Path) -> None:
    text = """\
import keras
import scipy.special
from keras import ops
from scipy import ndimage

class L(keras.layers.Layer):
    def call(self, x):
        x = ops.exp(x)
        y = x if ops.size(x) > 3 else -x
        assert ops.size(x)
        z = y if ops.ndim(x) == 2 and ops.size(x) // 2 else -y
        if ops.sum(x) > ops.size(x):
            z = scipy.special.expit(z)
        return ndimage.gaussian_filter(z, 1.0)
"""
    settings = load([tmp_path], options={"exposure": "certain", "backend": ["jax"]}, isolated=True)
    found = {one.span.line: one.severity for one in linted(tmp_path, {"layer.py": text}, settings)}
    assert found == dict.fromkeys((12, 13, 14), Severity.ERROR)


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


def test_what_a_layer_does_where_it_is_asked_to_is_a_warning_unless_somebody_asks(tmp_path: Path) -> None:
    text = """\
import keras
from keras import ops

class Flow(keras.layers.Layer):
    def call(self, x, inverse=False, training=False):
        if training:
            return x * float(ops.sum(x))
        if inverse:
            return x * float(ops.max(x))
        return x
"""
    asks = "\nclass M(keras.Model):\n    def call(self, x):\n        return Flow()(x, inverse=True)\n"
    for code, severity in ((text, Severity.WARNING), (text + asks, Severity.ERROR)):
        found = {one.span.line: one.severity for one in linted(tmp_path, {"layer.py": code})}
        assert found == {7: Severity.ERROR, 9: severity}


@pytest.mark.parametrize(
    ("use", "passed", "severity"),
    [
        ("ops.arange(size)", "", Severity.WARNING),
        ("x[:size]", "", Severity.WARNING),
        ("ops.zeros((size, 3))", "", Severity.WARNING),
        ("window(x, size)", "", Severity.WARNING),
        ("ops.arange(ops.max(size))", "", Severity.ERROR),
        ("ops.arange(size)", "ops.max(x)", Severity.ERROR),
        ("ops.arange(size)", "x.shape[0]", None),
    ],
)
def test_what_decides_a_shape_in_a_layer_is_a_number_unless_a_tensor_is_passed(
    tmp_path: Path, use: str, passed: str, severity: Severity | None
) -> None:
    text = f"""\
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import ops

def window(x, size):
    return x[:, :size]

class L(keras.layers.Layer):
    def call(self, x, size):
        return x, {use}
"""
    if passed:
        text += f"\nclass M(keras.Model):\n    def call(self, x):\n        return L()(x, size={passed})\n"
    found = {one.severity for one in linted(tmp_path, {"layer.py": text})}
    assert found == ({severity} if severity else set())


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


def test_options_reports_and_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "layer.py"
    file.write_text(LAYER)

    def shown(*options: str) -> str:
        return ran(capsys, "check", str(file), "--isolated", "--no-cache", *options)[1]

    told = shown("--backend", "tensorflow,jax", "--output-format", "json")
    [finding] = json.loads(told)["findings"]
    assert finding["backends"] == {"tensorflow": "named", "jax": "fails"}
    assert finding["effect"] == "fails"
    assert finding["context"]["backend"] == "the setting `backend = jax tensorflow`"
    assert "= runs on: JAX: the setting `backend = jax`" in shown("--backend", "jax")
    assert json.loads(shown("--output-format", "json"))["findings"][0]["backends"] is None
    with pytest.raises(ConfigurationError, match="backend: expected one of auto, tensorflow, jax"):
        load([tmp_path], options={"backend": "torch"}, isolated=True)


def test_a_layer_that_keeps_tensors_out_runs_on_the_host_where_the_host_calls_it(tmp_path: Path) -> None:
    text = """\
import keras
import tensorflow as tf

class Split(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True

    def call(self, x):
        return tf.strings.split(x)

print(Split()(tf.constant(["a b"])))
"""
    assert linted(tmp_path, {"split.py": text}) == []


def test_what_varies_is_compiled_again_on_jax_on_every_device(tmp_path: Path) -> None:
    text = """\
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices((np.ones((10, 4)), np.ones((10, 1)))).batch(4)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, epochs=2)
"""
    [finding] = linted(tmp_path, {"train.py": text})
    assert finding.code == "XLA302"
    assert finding.backends == ((JAX, Effect.RECOMPILES),)
    assert finding.severity is Severity.WARNING


def test_a_question_for_an_attribute_of_tensorflow_s_tensors_rules_out_jax(tmp_path: Path) -> None:
    body = '        if hasattr(x, "numpy"):\n            x = x.numpy()\n        return ops.sum(x)\n'
    text = 'import os\nos.environ["KERAS_BACKEND"] = "jax"\n' + LAYER.replace(
        "        return ops.sum(x[x > 0.5])\n", body
    )
    assert linted(tmp_path, {"layer.py": text}) == []


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


@pytest.mark.parametrize(
    ("other", "fixes"), [("import jax\n", 0), ('import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport package\n', 1)]
)
def test_fixes_for_jax_are_built_where_it_may_run_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str, fixes: int
) -> None:
    built: list[object] = []

    def building(event: object, names: object) -> None:
        built.append(event)

    monkeypatch.setattr("xlalint.rules.xla412_tensorflow_on_jax.in_keras_ops", building)
    package = {
        "package/__init__.py": "import keras\nfrom . import layer, other\n",
        "package/layer.py": f"import tensorflow as tf\n{LAYER}".replace("ops.sum(", "tf.reduce_sum("),
        "package/other.py": "import keras\nimport jax\n",
    }
    found = linted(tmp_path, {**package, "use.py": other})
    assert ("XLA412" in {finding.code for finding in found}, len(built)) == (fixes > 0, fixes)


ASKS = "keras.backend.backend() == 'tensorflow'"
ON_TENSORFLOW_S = """\
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import tensorflow as tf

def traces():
    return not tf.executing_eagerly()

class L(keras.layers.Layer):
    def call(self, x):
{}"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("x = tf.abs(x)\ny = tf.exp(x[:, 0] * 2.0)\nreturn tf.square(y)", [11]),
        ("x = tf.abs(x)\nreturn tf.concat([x, x], 0) + tf.exp(keras.ops.sin(x))", [11]),
        ("if self.name:\n    x = tf.abs(x)\nreturn tf.exp(keras.ops.sin(x))", [12, 13]),
        ("if x.shape.rank == 2:\n    x = tf.abs(x)\nreturn x", [11]),
        ("n = x.get_shape().as_list()\nreturn tf.exp(x)", [11]),
        ("if isinstance(x, tf.Tensor):\n    x = x[: x.shape.rank]\nreturn len(x.shape) * x", []),
        ("if not isinstance(x, tf.Tensor):\n    x = tf.convert_to_tensor(x)\nreturn tf.exp(x)", [12]),
        ("return tf.map_fn(lambda row: tf.exp(row), x)", [11]),
        ("if traces():\n    return tf.exp(x)\nreturn keras.ops.exp(x)", []),
        (f"if not keras.version() or {ASKS}:\n    return tf.exp(x)\nreturn keras.ops.exp(x)", []),
        (f"if keras.version().startswith('3.') and not {ASKS}:\n    return x\nreturn tf.exp(x)", []),
        ("if not keras.version().startswith('3.'):\n    return tf.exp(x)\nreturn x", []),
        ("if not traces():\n    return float(x[0, 0])\nreturn float(x[0, 0])", []),
        ("inside = tf.inside_function()\nif inside:\n    return tf.exp(x)\nreturn keras.ops.exp(x)", []),
    ],
)
def test_an_error_is_where_tensorflow_first_gets_a_tensor_of_jax(tmp_path: Path, body: str, lines: list[int]) -> None:
    text = ON_TENSORFLOW_S.format("".join(f"        {line}\n" for line in body.splitlines()))
    found = linted(tmp_path, {"layer.py": text})
    assert [one.span.line for one in found if one.severity is Severity.ERROR] == lines


def test_what_build_computes_of_sizes_is_a_number_where_jax_traces(tmp_path: Path) -> None:
    text = """\
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import ops

class Pad(keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.size = ops.maximum(size, 2)

    def build(self, shape):
        self.pads = [[0, 0], [0, ops.mod(shape[1], 2)], [0, 0]]

    def call(self, x):
        size = ops.maximum(ops.shape(x)[1], 2)
        return ops.pad(ops.reshape(x, [-1, self.size]), self.pads), ops.reshape(x, [-1, size])
"""
    [finding] = linted(tmp_path, {"pad.py": text})
    assert (finding.code, "`size` in" in finding.message) == ("XLA205", True)


@pytest.mark.parametrize(
    ("name", "argument", "severity"),
    [
        ("layer.py", "x", Severity.ERROR),
        ("layer.py", "x: dict[str, tf.Tensor]", Severity.ERROR),
        ("layer.py", "x: str | tf.Tensor", Severity.WARNING),
        ("layer.py", "x: Union[List[str], tf.Tensor]", Severity.WARNING),
        ("layer_test.py", "x", Severity.WARNING),
    ],
)
def test_a_layer_of_a_test_or_for_text_is_mostly_not_compiled(
    tmp_path: Path, name: str, argument: str, severity: Severity
) -> None:
    text = ON_TENSORFLOW_S.format("        return tf.exp(x) if keras.ops.any(x > 0) else x\n")
    text = text.replace("(self, x)", f"(self, {argument})").replace("import os\n", "import os\nfrom typing import *\n")
    settings = load([tmp_path], options={"backend": ["jax"], "exposure": "certain"}, isolated=True)
    found = linted(tmp_path, {name: text}, settings)
    assert {one.severity for one in found} == {severity}
    assert "XLA101" in {one.code for one in found}


@pytest.mark.parametrize(("made", "told"), [("tf.distribute.MirroredStrategy()", False), ("tf.constant(1)", True)])
def test_a_script_with_a_strategy_of_tensorflow_is_not_run_on_jax(tmp_path: Path, made: str, told: bool) -> None:
    text = f"import tensorflow as tf\nused = {made}\n{LAYER}".replace("ops.sum", "tf.reduce_sum")
    settings = load([tmp_path], options={"backend": ["tensorflow", "jax"], "exposure": "certain"}, isolated=True)
    found = linted(tmp_path, {"train.py": text}, settings)
    assert ("XLA412" in {one.code for one in found}) is told


def test_a_layer_that_looks_up_in_a_table_is_before_the_model(tmp_path: Path) -> None:
    text = """\
import keras
import tensorflow as tf

class Known(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True
        keys = tf.constant([1, 2])
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, keys), -1)

    def call(self, x):
        return self.table.lookup(x)

print(Known()(tf.constant([1])))
"""
    assert linted(tmp_path, {"known.py": text}) == []


BESIDE: Final = {
    "eager code": """
        if hasattr(x, "numpy"):
            return x.numpy()
        return x
""",
    "dicts of all kinds": """
        if isinstance(x, OrderedDict):
            named = x
        elif isinstance(x, (list, tuple)):
            named = OrderedDict({f"input_{i}": one for i, one in enumerate(x)})
        else:
            named = OrderedDict({"input": x})
        return len(named) * 2
""",
    "a constant that is compared": """
        if isinstance(x, (list, tuple)):
            x, t = x
        else:
            t = 1.0
        if self.skips or t != 1.0:
            return x
        return x * (t or 2.0)
""",
}


@pytest.mark.parametrize("body", BESIDE.values(), ids=BESIDE)
def test_what_a_test_rules_out_is_not_told(tmp_path: Path, body: str) -> None:
    head = "from collections import OrderedDict\nimport jax\nimport keras\n\n"
    text = f"{head}class L(keras.layers.Layer):\n    def call(self, x):{body}"
    lines = {one.span.line for one in linted(tmp_path, {"layer.py": text})}
    assert lines == ({11} if "t != 1.0" in body else set())  # the comparison itself asks a tensor
