"""What the worker sees of functions and Keras objects under Keras's JAX backend, where TensorFlow is not installed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import ran
from xlalint.probe.process import Interpreter, Limits, Worker
from xlalint.probe.protocol import DIVERGES, FAILS, JAX, RECOMPILES, Outcome, Plan
from xlalint.probe.target import Target

pytestmark = pytest.mark.compiler

# `# <- KIND` stands at the line where it must be seen.
CODE = """
import keras
from keras import ops


class Counting(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 3))
        self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        self.calls.assign_add(1.0)
        return ops.softmax(ops.matmul(x, self.kernel)) * self.calls


class Dropping(keras.layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.dropout = keras.layers.Dropout(0.5)

    def call(self, x):
        return self.dropout(x, training=True)


class Branching(keras.layers.Layer):
    def call(self, x):
        if ops.any(x > 0.5):  # <- fails
            x = x * 2.0
        for row in x:
            x = x + row
        kept = x[x > 0.1]  # <- fails
        return ops.sum(kept) + float(ops.sum(x))  # <- fails


class Hinge(keras.losses.Loss):
    def call(self, y_true, y_pred):
        kept = ops.where(y_true > 0.0)  # <- fails
        return ops.mean(ops.square(y_true - y_pred)) + ops.sum(ops.cast(kept[0], "float32"))


class Total(keras.metrics.Metric):
    def __init__(self, **options):
        super().__init__(**options)
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(ops.sum(y_true * y_pred))

    def result(self):
        return self.total


def size(x, n):
    return ops.arange(ops.cast(ops.max(n), "int32")) + ops.sum(x)  # <- fails


def position(x):
    return x[ops.argmax(x[:, 0])]


SEEN = []


def remembering(x):
    SEEN.append(1)
    return x * len(SEEN)


def trained():
    inputs = keras.Input((4,))
    hidden = keras.layers.Dropout(0.5)(keras.layers.BatchNormalization()(inputs))
    model = keras.Model(inputs, keras.layers.Dense(2)(hidden))
    model.compile("adam", "mse", metrics=["mae"])
    return model


class OwnStep(keras.Model):
    def __init__(self, **options):
        super().__init__(**options)
        self.dense = keras.layers.Dense(2)

    def call(self, x):
        return self.dense(x)

    def train_step(self, state, data):
        x, y = data
        if ops.sum(x) > 100.0:  # <- fails
            x = x / 2.0
        return super().train_step(state, (x, y))


def with_own_step():
    model = OwnStep()
    model.compile("sgd", "mse")
    return model
"""


# For both backends. In the comments: what is said of each, and what it does there.
BOTH = """
import keras
from keras import ops


class Layer(keras.layers.Layer):
    def call(self, x):
        return x[ops.argmax(x[:, 0])]


class Loss(keras.losses.Loss):
    def call(self, y_true, y_pred):
        kept = ops.where(y_true > 0.0)
        return ops.mean(ops.square(y_true - y_pred)) + ops.sum(ops.cast(kept[0], "float32"))
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jax") / "subject.py"
    path.write_text(CODE)
    return path


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """Of a process that cannot import TensorFlow."""
    missing = tmp_path_factory.mktemp("missing")
    (missing / "tensorflow.py").write_text("raise ImportError('TensorFlow is not there')")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(missing))
        worker = Worker(Interpreter(backend=JAX))
    yield worker
    worker.close()


def measured(worker: Worker, path: Path, name: str, kind: str = "function") -> Outcome:
    return worker.ask(Target(str(path), name, kind=kind, roots=(str(path.parent),)), Plan(value_sets=3), Limits())


def marked(name: str, path: Path) -> list[tuple[int, str]]:
    """The lines of a definition that are marked, each with the kind."""
    lines = path.read_text().splitlines()
    begins = next(at for at, line in enumerate(lines) if re.match(rf"(?:class|def) {name}\b", line))
    ends = next((at for at in range(begins + 1, len(lines)) if re.match(r"\S", lines[at])), len(lines))
    return [(at + 1, lines[at].partition("# <- ")[2]) for at in range(begins, ends) if "# <- " in lines[at]]


def seen(outcome: Outcome) -> list[tuple[int, str]]:
    return [(one.spots[0].line, one.kind) for one in outcome.observations if one.spots]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Counting", "Dropping", "Total", "position"])
def test_what_jax_compiles_is_equal_and_compiled_once_for_each_shape(worker: Worker, path: Path, name: str) -> None:
    outcome = measured(worker, path, name)
    assert outcome.not_run is None
    assert outcome.versions.keys() == {"jax", "keras", "python"}
    assert all(not call.difference and call.error is None for call in outcome.calls)
    counts = {variant: sum(c.compilations for c in outcome.calls if c.variant == variant) for variant in (0, 1)}
    assert counts == {0: 1, 1: 1}
    assert [(one.kind, one.per) for one in outcome.observations] == [(RECOMPILES, "shape")]
    assert outcome.gradient == "equal"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Branching", "Hinge", "size"])
def test_what_jax_refuses_is_told_at_its_lines(worker: Worker, path: Path, name: str) -> None:
    outcome = measured(worker, path, name)
    assert seen(outcome) == marked(name, path)


def test_the_first_failure_is_in_the_words_of_jax(worker: Worker, path: Path) -> None:
    [observation, *_] = measured(worker, path, "Branching").observations
    assert "TracerBoolConversionError" in observation.text
    span = observation.spots[0].span
    assert span is not None
    assert span[:2] == (27, 9)


def test_what_python_remembers_is_another_result(worker: Worker, path: Path) -> None:
    outcome = measured(worker, path, "remembering")
    assert DIVERGES in {one.kind for one in outcome.observations}


@pytest.mark.slow
def test_a_compiled_model_is_trained_by_the_step_of_keras_for_jax(worker: Worker, path: Path) -> None:
    outcome = measured(worker, path, "trained")
    assert outcome.training.startswith("the train step of compile() (Adam, mean_squared_error, mae): 1 of 2 calls")
    assert outcome.training.endswith("each equals eager")


@pytest.mark.slow
def test_a_models_own_step_is_run(worker: Worker, path: Path) -> None:
    outcome = measured(worker, path, "with_own_step")
    assert [(line, kind) for line, kind in seen(outcome) if kind == FAILS] == marked("OwnStep", path)


def test_a_file_without_findings_is_run_on_its_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    layer = "class L(keras.layers.Layer):\n    def call(self, x):\n        return x * 2.0\n"
    (tmp_path / "a.py").write_text(f'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport keras\n\n{layer}')
    for _ in range(2):  # what runs it is known from what was kept, too
        code, out, _ = ran(capsys, "probe", "a.py::L", "--isolated", "--output-format", "json")
        assert code == 0
        [function] = json.loads(out)["functions"]
        assert function["versions"].keys() == {"jax", "keras", "python"}


@pytest.mark.slow
@pytest.mark.usefixtures("lasting_processes")
def test_a_program_for_both_is_run_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text(BOTH)
    arguments = ["--probe", "a.py", "--backend", "tensorflow,jax", "--isolated", "--output-format", "json"]
    _, out, _ = ran(capsys, *arguments)
    report = json.loads(out)
    [verdict] = [one["verdict"] for one in report["findings"] if one["line"] == 13]
    every = {one["backend"]: (one["status"], one["outcome"]) for one in (verdict, *verdict["others"])}
    assert every == {"jax": ("confirmed", "fails"), "tensorflow": ("confirmed", "bounded")}
    functions = {(one["function"], one["backend"]): one["outcome"] for one in report["functions"]}
    assert functions.items() >= {("Loss.call", "jax"): "fails", ("Loss.call", "tensorflow"): "bounded"}.items()

    # What was measured is kept for each backend; alone, JAX compiles the other one.
    code, out, err = ran(capsys, "probe", "a.py::Layer", "--backend", "jax", "--isolated", "--output-format", "json")
    assert code == 0, out + err
    [function] = json.loads(out)["functions"]
    assert (function["outcome"], function["versions"].keys()) == ("compiles", {"jax", "keras", "python"})
