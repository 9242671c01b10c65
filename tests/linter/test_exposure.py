"""Severity asks whether XLA is in play: what no compiler meets is information, and the report says what raises it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.commands import ran
from xlalint.analysis.interpreter.contexts import Context, ContextKind
from xlalint.findings.findings import Effect, Exposure, Finding, Severity
from xlalint.linter.run import check
from xlalint.linter.severities import unexposed_severity
from xlalint.readiness.checklist import State, examine
from xlalint.settings.config import Settings

CERTAIN, LIKELY, NONE = Exposure.CERTAIN, Exposure.LIKELY, Exposure.NONE
HELPER: Final = """\
import tensorflow as tf

def kept(x: tf.Tensor):
    return tf.boolean_mask(x, x > 0)
"""
STEP: Final = """\
import tensorflow as tf
from helper import kept

@tf.function
def step(x):
    return tf.reduce_sum(kept(x))
"""
JIT: Final = STEP.replace("@tf.function", "@tf.function(jit_compile=True)")
MODEL: Final = """\
import {keras}
from helper import kept

class Net({keras}.Model):
    def call(self, x):
        return kept(x)
"""
TRAIN: Final = """\
import {keras}
from net import Net

net = Net()
net.compile("adam", "mse"{settings})
net.fit([[1.0]], [[1.0]])
"""
TPU: Final = """\
import tensorflow as tf
import step

def strategy():
    return tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
"""


SURE: Final = 'exposure = "certain"'


def trained(keras: str, settings: str = "") -> dict[str, str]:
    return {"net.py": MODEL.format(keras=keras), "train.py": TRAIN.format(keras=keras, settings=settings)}


PROGRAMS: Final[dict[str, tuple[dict[str, str], Exposure]]] = {
    "nothing but a helper": ({}, NONE),
    "a plain tf.function": ({"step.py": STEP}, NONE),
    "one that XLA compiles": ({"step.py": JIT}, CERTAIN),
    "by another name": ({"step.py": STEP.replace("function", "function(experimental_compile=True)", 1)}, CERTAIN),
    "a switch": ({"step.py": "import sys\n" + JIT.replace("=True", '="--xla" in sys.argv')}, LIKELY),
    "switched off": ({"step.py": JIT.replace("=True", "=False")}, NONE),
    "a strategy for TPUs": ({"step.py": STEP, "main.py": TPU}, CERTAIN),
    "a strategy for GPUs": (
        {"step.py": STEP, "main.py": "import tensorflow as tf\nimport step\ntf.distribute.MirroredStrategy()\n"},
        NONE,
    ),
    "another program's strategy": ({"step.py": STEP, "main.py": TPU.replace("import step\n", "")}, NONE),
    "a test's": ({"step.py": STEP, "step_test.py": "import step\n" + JIT}, NONE),
    "Keras 3 decides": (trained("keras"), LIKELY),
    "Keras 3 is told not to": (trained("keras", ", jit_compile=False"), NONE),
    "Keras 2 decides": (trained("tf_keras"), NONE),
    "Keras 2 is told to": (trained("tf_keras", ", jit_compile=True"), CERTAIN),
    "classes for Keras that others train": ({"net.py": MODEL.format(keras="tf_keras")}, LIKELY),
    "classes that a file without TensorFlow uses": (
        {
            "net.py": MODEL.format(keras="tf_keras"),
            "use.py": "import net\n\ndef use(x):\n    return net.Net()(x)\n",
            "main.py": "from use import use\n\nif __name__ == '__main__':\n    use(input())\n",
        },
        NONE,
    ),
    "classes that a test uses": (
        {"net.py": MODEL.format(keras="tf_keras"), "net_test.py": "import net\n\ndef test():\n    net.Net()(1)\n"},
        LIKELY,
    ),
    "a package that others use": (
        {"pkg/__init__.py": "", "pkg/net.py": MODEL.format(keras="tf_keras"), "pkg/fit.py": "net.fit(x)\n"},
        LIKELY,
    ),
    "a package whose program says nothing": (
        {
            "pkg/__init__.py": "",
            "pkg/net.py": MODEL.format(keras="tf_keras"),
            "main.py": "import tf_keras\nfrom pkg import net\n\nnet.Net().fit([[1.0]])\n",
        },
        NONE,
    ),
    "a file beside programs that train otherwise": (
        {
            "net.py": MODEL.format(keras="tf_keras"),
            "main.py": "import tf_keras\n\ntf_keras.Sequential().fit([[1.0]])\n",
        },
        NONE,
    ),
    "another file of the package": (
        {"pkg/__init__.py": "", "pkg/step.py": STEP, "pkg/other.py": JIT, "main.py": "import tensorflow, pkg.step\n"},
        CERTAIN,
    ),
    "what a function imports": ({"main.py": "def main():\n    import helper\n\n\n" + JIT}, CERTAIN),
}


def of_helper(folder: Path, files: dict[str, str], settings: Settings | None = None) -> Finding:
    """What is said of the helper in a project."""
    for name, text in {"helper.py": HELPER, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    found = check([folder], Settings() if settings is None else settings).findings
    [one] = [finding for finding in found if finding.path.endswith("helper.py")]
    return one


@pytest.mark.parametrize(("files", "exposure"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_shows_whether_xla_compiles_it(tmp_path: Path, files: dict[str, str], exposure: Exposure) -> None:
    found = of_helper(tmp_path, files)
    assert found.context is not None
    assert (found.context.exposure, found.context.lowered) == (exposure, exposure is NONE)
    assert (found.severity is Severity.INFO) == (exposure is NONE)
    assert bool(found.context.shown) == (exposure is not NONE)


def test_what_shows_it_is_said_with_its_place(tmp_path: Path) -> None:
    found = of_helper(tmp_path, {"step.py": JIT})
    assert found.context is not None
    assert found.context.shown.startswith("`jit_compile=True` (")
    assert found.context.shown.endswith("step.py:4)")


@pytest.mark.parametrize("settings", [Settings(exposure="certain"), Settings(target="gpu")], ids=["exposure", "target"])
def test_what_is_set_decides(tmp_path: Path, settings: Settings) -> None:
    found = of_helper(tmp_path, {}, settings)
    assert found.severity is Severity.WARNING
    assert found.context is not None
    assert found.context.exposure is CERTAIN


@pytest.mark.parametrize(
    ("effect", "context", "traced", "severity"),
    [
        (Effect.FAILS, Context(ContextKind.XLA, False, by_keras=True), True, Severity.WARNING),
        (Effect.FAILS, Context(ContextKind.XLA, False, by_keras=True), False, Severity.INFO),
        (Effect.FAILS, Context(ContextKind.XLA, True), True, Severity.INFO),
        (Effect.NAMED, Context(ContextKind.XLA, False), True, Severity.INFO),
        (Effect.FAILS, Context(ContextKind.HOST, False), True, Severity.INFO),
    ],
)
def test_what_tracing_refuses_needs_no_xla(effect: Effect, context: Context, traced: bool, severity: Severity) -> None:
    assert unexposed_severity(effect, context, traced) is severity


SCRIPT: Final = JIT.replace("from helper import kept\n", "import helper\n").replace("kept(x)", "x")
RUN: Final = '\n\nif __name__ == "__main__":\n    print(step(tf.ones([2])))\n'
TEST: Final = "\n\ndef test_step():\n    assert step(tf.ones([2])) == 2.0\n"
OWN_STEP: Final = """

def train(x, model, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(kept(x)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"main.py": SCRIPT}, Severity.WARNING),
        ({"main.py": SCRIPT + RUN}, Severity.INFO),
        ({"main.py": SCRIPT.replace("sum(x)", "sum(helper.kept(x))") + RUN}, Severity.WARNING),
        ({"main.py": SCRIPT + RUN, "helper.py": HELPER + OWN_STEP}, Severity.WARNING),
        ({"main.py": SCRIPT.replace("helper", "pkg.helper") + RUN, "pkg/__init__.py": ""}, Severity.INFO),
        ({"main_test.py": SCRIPT + TEST + RUN, "step.py": SCRIPT}, Severity.WARNING),
        ({"pkg/main.py": SCRIPT + RUN, "pkg/__init__.py": ""}, Severity.INFO),
        ({"pkg/main.py": SCRIPT + RUN, "pkg/__init__.py": "", "setup.py": ""}, Severity.WARNING),
        ({"pkg/main.py": SCRIPT + RUN, "pkg/__init__.py": "", "pyproject.toml": "[build-system]\n"}, Severity.WARNING),
        ({"pkg/main.py": SCRIPT + RUN, "pkg/__init__.py": "", "pyproject.toml": "[tool.ruff]\n"}, Severity.INFO),
    ],
    ids=[
        *("no script", "a script", "one that leads to it", "a training step", "a package without one", "a test"),
        *("a script in the package", "one in a library", "one in what is built", "one in what only has settings"),
    ],
)
def test_what_no_script_leads_to_is_information(tmp_path: Path, files: dict[str, str], severity: Severity) -> None:
    if "pkg/__init__.py" in files:
        files = {**files, "pkg/helper.py": HELPER + "\n\n@tf.function(jit_compile=True)\ndef f(x):\n    return x\n"}
    for name, text in {"helper.py": HELPER, **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    where = "pkg/helper.py" if "pkg/helper.py" in files else "helper.py"
    [found] = [one for one in check([tmp_path], Settings()).findings if one.path.endswith(where)][-1:]
    assert found.severity is severity
    assert found.context is not None
    assert (found.context.exposure, found.context.lowered) == (CERTAIN, False)
    assert ("no script here" in found.context.shown) is (severity is Severity.INFO)
    raised = [one for one in check([tmp_path], Settings(target="gpu")).findings if one.path.endswith(where)]
    assert [one.severity for one in raised] == [Severity.WARNING]


BRANCH: Final = """\
import tensorflow as tf

@tf.function{}
def halved(x):
    if tf.reduce_max(x) > 1.0:
        x = x / 2.0
    return x
"""


@pytest.mark.parametrize(("how", "severity"), [("", Severity.INFO), ("(jit_compile=True)", Severity.WARNING)])
def test_what_its_own_function_converts_is_information(tmp_path: Path, how: str, severity: Severity) -> None:
    (tmp_path / "m.py").write_text(BRANCH.format(how), encoding="utf-8")
    assert [one.severity for one in check([tmp_path], Settings(exposure="certain")).findings] == [severity]


GATED: Final = """\
import tensorflow as tf

class Gate(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_sum(x) > 0.0:
            return x
        return tf.boolean_mask(x, x > 0)
"""
ENDED: Final = (
    *("tf.keras.optimizers.SGD(lr=0.1)", "tf.keras.experimental.CosineDecay(0.1, 10)"),
    *("tf.keras.metrics.Mean().reset_states()", "tf.keras.mixed_precision.experimental.set_policy('mixed_float16')"),
    *("model.fit([[1.0]], workers=2)", "tf.keras.backend.set_learning_phase(1)"),
    *("model.save('folder')", "model.save_weights('model.h5')", "tf.keras.models.load_model('folder')"),
    "tf.keras.callbacks.ModelCheckpoint('model.h5', save_weights_only=True)",
    *("tf.keras.layers.BatchNormalization(fused=True)", "from keras.layers.convolutional import Conv2D"),
    "from tensorflow.keras.layers import experimental",
    *("tf.keras.layers.Dropout(0.5)(tf.zeros([1, 2]), True)", "model(tf.zeros([1, 2]), False)"),
    "class Own(tf.keras.layers.Layer):\n    def call(self, x, noisy):\n        return x\n\nOwn()(tf.zeros([1]), True)",
)
KEPT: Final = (
    *("model.save('model.keras')", "model.save_weights('model.weights.h5')", "model.save(path)"),
    *("tf.keras.callbacks.ModelCheckpoint('model.h5')", "tf.keras.layers.BatchNormalization(momentum=0.9)"),
    *("tf.keras.layers.Dropout(0.5)(tf.zeros([1, 2]), training=True)", "tf.keras.losses.MeanSquaredError()(1.0, True)"),
    "tf.keras.layers.Dropout(0.5)(tf.zeros([1, 2]), None)",
    "class Own(tf.Module):\n    def __call__(self, x, noisy):\n        return x\n\nOwn()(tf.zeros([1]), True)",
    "try:\n    from keras.engine import Layer\nexcept ImportError:\n    from keras.layers import Layer",
)


@pytest.mark.parametrize("line", ENDED)
def test_what_only_keras_2_runs_is_of_keras_2(tmp_path: Path, line: str) -> None:
    train = "import tensorflow as tf\nfrom gate import Gate\n\nmodel = tf.keras.Sequential([Gate()])\n"
    files = {"gate.py": GATED, "train.py": f"{train}model.compile('adam', 'mse'{{}})\nmodel.fit([[1.0]])\n{{}}\n"}

    def severities(settings: str, line: str = "") -> dict[str, Severity]:
        for name, text in files.items():
            (tmp_path / name).write_text(text.format(settings, line), encoding="utf-8")
        found = check([tmp_path], Settings()).findings
        return {one.code: one.severity for one in found if one.path.endswith("gate.py")}

    assert severities("") == {"XLA101": Severity.ERROR, "XLA201": Severity.WARNING}
    assert severities("", line) == {"XLA101": Severity.INFO, "XLA201": Severity.INFO}
    assert severities(", jit_compile=True", line) == {"XLA101": Severity.INFO, "XLA201": Severity.WARNING}


@pytest.mark.parametrize("line", KEPT)
def test_what_both_run_is_not_of_keras_2(tmp_path: Path, line: str) -> None:
    (tmp_path / "gate.py").write_text(GATED, encoding="utf-8")
    train = "import tensorflow as tf\nfrom gate import Gate\n\nmodel = tf.keras.Sequential([Gate()])\n"
    (tmp_path / "train.py").write_text(f"{train}model.compile('adam')\nmodel.fit([[1.0]])\n{line}\n", encoding="utf-8")
    found = {one.code: one.severity for one in check([tmp_path], Settings()).findings if one.path.endswith("gate.py")}
    assert found["XLA101"] is Severity.ERROR


def test_the_last_line_says_what_was_lowered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "step.py").write_text(STEP)
    code, output, _ = ran(capsys, str(tmp_path), "--output-format", "concise", "--no-cache")
    assert code == 0
    assert "\nxlalint sees nothing that makes XLA compile this code, so 1 finding has a lower severity." in output
    code, output, _ = ran(capsys, str(tmp_path), "--output-format", "concise", "--no-cache", "--config", SURE)
    assert code == 1
    assert "sees nothing that makes XLA compile" not in output


def test_readiness_counts_everything(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    states = {answer.line.name: answer.state for answer in examine([tmp_path], Settings()).answers}
    assert states["shapes"] is State.ATTENTION


CLUSTERED: Final = """\
import os
import tensorflow as tf
import transformers

{switch}

@tf.function
def step(x):
    kept = tf.boolean_mask(x, x > 0)
    return tf.reduce_sum(kept) + tf.reduce_sum(tf.zeros([tf.cast(x[0, 0], tf.int32)]))

for x in tf.data.Dataset.from_tensor_slices(tf.zeros([10, 3])).batch(4):
    step(x)
"""


@pytest.mark.parametrize(
    "switch",
    [
        "tf.config.optimizer.set_jit(True)",
        'transformers.TFTrainingArguments("out", xla=True)',
        'tf.config.optimizer.set_jit("autoclustering")',
        'os.environ["TF_XLA_FLAGS"] = "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"',
        'os.environ.setdefault("TF_XLA_FLAGS", "--tf_xla_auto_jit=2")',
    ],
)
def test_autoclustering_recompiles_and_refuses_nothing(tmp_path: Path, switch: str) -> None:
    (tmp_path / "train.py").write_text(CLUSTERED.format(switch=switch), encoding="utf-8")
    found = {finding.code: finding for finding in check([tmp_path], Settings()).findings}
    assert {code: finding.severity for code, finding in found.items()} == {
        "XLA201": Severity.INFO,
        "XLA205": Severity.WARNING,
        "XLA302": Severity.WARNING,
    }
    assert found["XLA201"].context is not None
    assert found["XLA201"].context.shown.endswith("autoclustering leaves out what XLA refuses")


@pytest.mark.parametrize(
    "switch",
    [
        "tf.config.optimizer.set_jit(False)",
        "tf.config.optimizer.set_jit(enabled=False)",
        "pass  # tf.config.optimizer.set_jit(True)",
        'os.environ["TF_XLA_FLAGS"] = "--tf_xla_auto_jit=-1"',
        'transformers.TFTrainingArguments("out", xla=False)',
    ],
)
def test_a_switch_that_is_off_changes_nothing(tmp_path: Path, switch: str) -> None:
    found = []
    for name, written in (("off", switch), ("without", "pass")):
        file = tmp_path / name / "train.py"
        file.parent.mkdir()
        file.write_text(CLUSTERED.format(switch=written), encoding="utf-8")
        found.append([(one.code, one.severity, one.message) for one in check([file], Settings()).findings])
    assert found[0] == found[1]
    assert {severity for _, severity, _ in found[0]} == {Severity.INFO}


PLAIN: Final = """\
import tensorflow as tf

@tf.function
def plain(x):
    return tf.reduce_sum(tf.boolean_mask(x, x > 0))

@tf.function(jit_compile=True)
def compiled(x):
    return tf.reduce_sum(x)
"""
CALLS: Final = '\nif __name__ == "__main__":\n    print(plain(tf.ones([2])), compiled(tf.ones([2])))\n'


@pytest.mark.parametrize(
    ("code", "settings", "severity"),
    [
        (PLAIN + CALLS, Settings(), Severity.INFO),
        (PLAIN, Settings(), Severity.WARNING),
        (PLAIN + CALLS, Settings(target="gpu"), Severity.WARNING),
        (PLAIN.replace("sum(x)", "sum(plain(x))") + CALLS, Settings(), Severity.WARNING),
    ],
    ids=["a script", "no script", "a target", "called by what XLA compiles"],
)
def test_a_plain_function_is_not_compiled_beside_one_that_is(
    tmp_path: Path, code: str, settings: Settings, severity: Severity
) -> None:
    (tmp_path / "main.py").write_text(code, encoding="utf-8")
    [found] = check([tmp_path], settings).findings
    assert (found.code, found.severity) == ("XLA201", severity)
    assert found.context is not None
    assert ("without `jit_compile`" in found.context.shown) is (severity is Severity.INFO)


@pytest.mark.parametrize(("jit", "severity"), [("", Severity.INFO), (", jit_compile=True", Severity.WARNING)])
def test_who_asks_for_no_xla_loses_none(tmp_path: Path, jit: str, severity: Severity) -> None:
    (tmp_path / "train.py").write_text(
        f"""\
import keras
import numpy as np

model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.RandomZoom(0.1), keras.layers.Flatten()])
model.compile("adam", "mse"{jit})
model.fit(np.zeros((4, 8, 8, 3)), np.zeros((4, 192)), batch_size=4)
""",
        encoding="utf-8",
    )
    assert [(one.code, one.severity) for one in check([tmp_path], Settings()).findings] == [("XLA408", severity)]


TEXT: Final = """\
import tensorflow as tf

tf.config.optimizer.set_jit(True)

@tf.function{jit}
def size(text):
    return tf.size(text)

print(size(tf.constant(["a", "b"])))
"""


@pytest.mark.parametrize(("jit", "codes"), [("", []), ("(jit_compile=True)", ["XLA404"])])
def test_autoclustering_leaves_strings_out(tmp_path: Path, jit: str, codes: list[str]) -> None:
    (tmp_path / "text.py").write_text(TEXT.format(jit=jit), encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings()).findings] == codes


EAGER: Final = """\
import tensorflow as tf
from parts import positive
{switch}

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(positive(x))

step(tf.ones([4]))
"""


def _beside_the_switch(folder: Path) -> list[Finding]:
    return [one for one in check([folder], Settings()).findings if one.code != "XLA506"]


@pytest.mark.parametrize(
    ("switch", "others", "severity"),
    [
        ("", False, Severity.WARNING),
        ("tf.config.run_functions_eagerly(True)", False, Severity.INFO),
        ("tf.config.experimental_run_functions_eagerly(True)", False, Severity.INFO),
        ("tf.config.run_functions_eagerly(False)", False, Severity.WARNING),
        ("if tf.test.is_built_with_rocm():\n    tf.config.run_functions_eagerly(True)", False, Severity.WARNING),
        ("tf.config.run_functions_eagerly(True)", True, Severity.WARNING),
    ],
)
def test_what_a_script_runs_line_by_line_is_not_compiled(
    tmp_path: Path, switch: str, others: bool, severity: Severity
) -> None:
    (tmp_path / "parts.py").write_text("def positive(x):\n    return x[x > 0]\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(EAGER.format(switch=switch), encoding="utf-8")
    if others:
        (tmp_path / "serve.py").write_text(EAGER.format(switch=""), encoding="utf-8")
    found = _beside_the_switch(tmp_path)
    assert [(one.path, one.code, one.severity) for one in found] == [(str(tmp_path / "parts.py"), "XLA201", severity)]


@pytest.mark.parametrize(
    ("before", "severity"),
    [("step(tf.ones([4]))", Severity.WARNING), ("positive(tf.ones([4]))", Severity.INFO)],
)
def test_what_ran_before_the_switch_was_compiled(tmp_path: Path, before: str, severity: Severity) -> None:
    program = EAGER.format(switch="").replace("step(tf.ones([4]))", f"{before}\ntf.config.run_functions_eagerly(True)")
    (tmp_path / "parts.py").write_text("def positive(x):\n    return x[x > 0]\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(f"{program}\nprint(step(tf.ones([4])))\n", encoding="utf-8")
    found = _beside_the_switch(tmp_path)
    assert [(one.code, one.severity) for one in found] == [("XLA201", severity)]


LOSS: Final = """\
import numpy as np
import tensorflow as tf
from net import build

def loss(truth, found):
    print(np.mean(found))
    return found.numpy().mean()

model = build()
model.compile("sgd", loss, jit_compile=False)
model.fit([[1.0]], [[1.0]])
"""
NET: Final = """\
import tensorflow as tf
{}

def build():
    return tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
"""


@pytest.mark.parametrize(
    ("switch", "severity"),
    [("", Severity.WARNING), ("tf.config.run_functions_eagerly(True)", Severity.INFO)],
)
def test_what_an_import_has_run_line_by_line_is_not_traced(tmp_path: Path, switch: str, severity: Severity) -> None:
    (tmp_path / "train.py").write_text(LOSS, encoding="utf-8")
    (tmp_path / "net.py").write_text(NET.format(switch), encoding="utf-8")
    found = {(one.code, one.severity) for one in check([tmp_path], Settings()).findings}
    assert found == {("XLA106", severity)}


@pytest.mark.parametrize(("line", "severity"), [("", Severity.WARNING), ("import tensorflow_addons", Severity.INFO)])
def test_weights_that_only_keras_3_freezes_are_of_keras_3(tmp_path: Path, line: str, severity: Severity) -> None:
    net = """import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    @tf.function
    def call(self, x):
        return self.dense(x)
"""
    train = f"import tensorflow as tf\n{line}\nfrom net import Net\n\nnet = Net()\nprint(net(tf.ones([2, 3])))\n"
    for name, text in {"net.py": net, "train.py": train}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = {one.code: one.severity for one in check([tmp_path], Settings(target="tpu")).findings}
    assert found["XLA606"] is severity
