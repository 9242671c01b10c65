"""What findings say of each backend that Keras may run on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.commands import ran
from tests.linter.on_backends import JAX, LAYER, TENSORFLOW, linted
from xlalint.findings.findings import Effect, Severity
from xlalint.settings.config import load
from xlalint.settings.layers import ConfigurationError


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
