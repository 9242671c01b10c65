"""A TPU's compiler, asked on a machine without a TPU: what is said where it is not there, and what it says."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.commands import ran
from tests.compiler.claims import claim, sources
from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span
from xlalint.probe.protocol import RECOMPILES, TPU_BOUNDED, TPU_FAILS, Call, Lowering, Observation, Outcome, Spot
from xlalint.probe.target import Target
from xlalint.probe.verdicts import TPU_COMPILES, Run, judged
from xlalint.probe.worker.compiling.hlo import aliased
from xlalint.readiness.checklist import examine
from xlalint.readiness.proof import planned, prove
from xlalint.reports.probed import probed
from xlalint.reports.terminal import Paint
from xlalint.settings.config import ProbeSettings, Settings
from xlalint.tpu import stack
from xlalint.tpu.chips import CHIPS, DEFAULT, chip_of

COMPILING = sources("xlalint/probe", "xlalint/readiness", "xlalint/tpu")  # what asks a TPU's compiler

CODE = """\
import keras
import tensorflow as tf


def cut(size):
    return tf.reduce_sum(tf.range(size))


def solve(x):
    return tf.linalg.lu(x)[0]


def chosen(x):
    return tf.boolean_mask(x, x > 0.0)


def fine(x):
    return tf.cast(tf.cast(x, tf.float64) * 2.0, tf.float32)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(8)
        self.drop = keras.layers.Dropout(0.5)

    def call(self, x):
        return self.drop(self.inner(x), training=True)
"""


STEP = """\
import keras
import tensorflow as tf


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(8)
        self.drop = keras.layers.Dropout(0.5)

    def call(self, x, training=False):
        return self.drop(self.inner(x), training=training)

    # xlalint: probe(data: (f32[4, 4], f32[4, 8]))
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


def trained():
    model = keras.Sequential([keras.Input([4]), keras.layers.Dense(2, activation="softmax")])
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(momentum=0.9))
    model.compile(optimizer, "categorical_crossentropy", metrics=["AUC"])
    return model
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(CODE)
    return tmp_path / "m.py"


# -- without it -------------------------------------------------------------------------------------------------------


def test_what_is_not_installed_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(stack.HOME, str(file.parent / "nowhere"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    code, out, err = ran(capsys, "tpu", "check")
    assert (code, out) == (2, "")
    assert (
        err
        == f"xlalint: error: there is no TPU compiler in {file.parent / 'nowhere'}: `xlalint tpu setup` installs it\n"
    )


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("linux", "aarch64"), ("win32", "AMD64")])
def test_elsewhere_one_line_says_where_it_runs(
    system: str, machine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    for command in (("check",), ("setup", "--yes")):
        code, _, err = ran(capsys, "tpu", *command)
        assert code == 2
        assert "the TPU compiler runs on Linux on x86-64 only" in err


def test_nothing_is_installed_without_being_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(stack.HOME, str(tmp_path / "tpu"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    code, _, err = ran(capsys, "tpu", "setup")
    assert code == 2
    assert f"GB go into {tmp_path / 'tpu'}: tensorflow-tpu==" in err
    assert not (tmp_path / "tpu").exists()


def test_topologies(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "tpu", "topologies")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [chip.topology for chip in CHIPS.values()]
    assert f"{DEFAULT}   4 cores of 15.75 GiB  (default)" in out
    assert chip_of("v5e:4x4") is CHIPS["v5e"]
    for wrong in ("v5e", "v9:2x2", "v5e:", "v5e:2x2;", ""):
        with pytest.raises(ValueError, match="not a TPU topology"):
            chip_of(wrong)


# -- verdicts ---------------------------------------------------------------------------------------------------------


def judge(file: Path, outcome: Outcome, effect: Effect) -> Report:
    span, context = Span(6, 12, 6, 20), FindingContext("xla", True)
    finding = Finding("m.py", span, "XLA205", "size-from-value", Severity.WARNING, effect, "m", context)
    run = Run(Target(str(file), "cut", (5, 6)), outcome)
    return judged(Report((finding,), files_checked=1), [run], {0: [run]})


def test_what_a_tpu_refuses_confirms_what_a_cpu_compiles(file: Path) -> None:
    here = (Spot(str(file), 6),)
    refusal = Observation(TPU_FAILS, "the TPU compiler refuses the function: it must be a constant", here)
    reached: dict[str, tuple[int, ...]] = {str(file): (6,)}
    outcome = Outcome(calls=(Call(0, 0, 1),), observations=(refusal,), programs=(Lowering("f", DEFAULT, "no"),))
    for effect in (Effect.RECOMPILES, Effect.TPU, Effect.NAMED):
        verdict = judge(file, outcome, effect).findings[0].verdict
        assert verdict is not None
        assert (verdict.status, verdict.outcome, verdict.line) == ("confirmed", TPU_FAILS, 6)
    both = Outcome(
        calls=outcome.calls, observations=(Observation(RECOMPILES, "3 compilations", here, "value"), refusal)
    )
    assert judge(file, both, Effect.RECOMPILES).functions[0].verdict.outcome == TPU_FAILS
    # Without having asked, nothing is said of it.
    unasked = Outcome(calls=(Call(0, 0, 1),), reached=reached)
    verdict = judge(file, unasked, Effect.TPU).findings[0].verdict
    assert verdict is not None
    assert verdict.status == "open"
    assert "--target tpu" in verdict.text
    asked = Outcome(calls=(Call(0, 0, 1),), reached=reached, programs=(Lowering("the function", DEFAULT),))
    verdict = judge(file, asked, Effect.TPU).findings[0].verdict
    assert verdict is not None
    assert verdict.status == "open"  # no size of at least two values was there
    assert "no such tensor of at least two values" in verdict.text


def test_what_it_takes_is_told(file: Path) -> None:
    wide = (("float64", Spot(str(file), 6)),)
    programs = (
        Lowering("the function", DEFAULT, None, 0.34, 3 * 2**29, wide),
        Lowering("its gradient", DEFAULT, "it does not fit: it takes 20.00G of 15.75G"),
    )
    bounded = Observation(TPU_BOUNDED, "the function has a bounded dynamic shape inside", (Spot(str(file), 6),))
    report = judge(file, Outcome(calls=(Call(0, 0, 1),), observations=(bounded,), programs=programs), Effect.TPU)
    told = probed(report, Paint(False))
    assert "tpu-compiles: the function, for v5e:2x2 in 0.3 s; 1.5 GiB of the 15.8 GiB of a core's memory" in told
    assert "float64 at m.py:6: a TPU computes with 32 bits" in told
    assert "tpu-bounded at m.py:6: the function has a bounded dynamic shape inside" in told


def test_what_is_assigned_to_is_written_where_it_was() -> None:
    program = "HloModule m, entry_computation_layout={(f32[4]{0})->(f32[], f32[4]{0})}\n\nENTRY %m {\n}\n"
    header = "HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }, entry_computation_layout="
    assert aliased(program, {1: 0}).startswith(header)
    assert aliased(program, {}) == program


@pytest.mark.compiler
def test_tensors_stand_in_for_variables() -> None:
    import keras  # type: ignore[import-untyped]
    import tensorflow as tf  # type: ignore[import-untyped]

    from xlalint.probe.worker.devices.stateless import standing_in

    layer = keras.Sequential([keras.layers.Embedding(5, 3), keras.layers.BatchNormalization()])
    ids = tf.constant([[0, 1], [2, 4]])
    layer(ids)
    variables = [one.value for one in layer.variables]
    before = [one.numpy() for one in variables]
    doubled = [2.0 * one for one in before]

    def pure(state: Any) -> Any:
        with standing_in(variables, state) as now:
            return layer(ids, training=True), now()

    result, after = tf.function(pure)(doubled)
    assert all((one.numpy() == old).all() for one, old in zip(variables, before, strict=True))
    for one, value in zip(variables, doubled, strict=True):
        one.assign(value)
    expected = layer(ids, training=True)
    tf.debugging.assert_near(result, expected)
    for one, new in zip(variables, after, strict=True):
        tf.debugging.assert_near(one, new)


@pytest.mark.compiler
def test_gradients_by_variables_are_those_by_what_stands_in_for_them() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.devices.stateless import standing_in

    weight, table = tf.Variable([3.0]), tf.Variable([[1.0], [2.0]])

    def slopes(values: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(values)
            with standing_in([weight, table], values), tf.GradientTape() as tape:
                product = tf.reduce_sum(weight * weight * table.sparse_read([1]))
            found = tape.gradient(product, [weight, table])
            by_weight, by_table = (tf.convert_to_tensor(one) for one in found)
        return by_weight, by_table, outer.gradient(by_weight, values[0])

    by_weight, by_table, second = tf.function(slopes)([tf.constant([5.0]), tf.constant([[7.0], [11.0]])])
    assert (by_weight.numpy().tolist(), by_table.numpy().tolist()) == ([2 * 5.0 * 11.0], [[0.0], [25.0]])
    assert second.numpy().tolist() == [2 * 11.0]


# -- with it ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def compiler() -> None:
    try:
        stack.program()
    except stack.StackError as error:
        pytest.skip(f"the TPU's compiler was not asked: {error}")


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The compiler where it is; in CI, which starts from nothing, it is installed for this."""
    try:
        stack.program()
    except stack.StackError as error:
        if "CI" not in os.environ:
            pytest.skip(f"the TPU's compiler was not asked: {error}")
        folder = tmp_path_factory.mktemp("tpu")
        monkeypatch.setenv(stack.HOME, str(folder))
        try:
            stack.setup(print)
        except stack.StackError as error:
            pytest.skip(f"the TPU's compiler was not asked, since it cannot be installed: {error}")
        yield
        shutil.rmtree(folder)
    else:
        yield


@pytest.mark.compiler
@pytest.mark.usefixtures("installed")
def test_the_compiler_itself(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "step.py").write_text(STEP)
    options = ("--target", "tpu", "--no-cache", "--output-format", "json", "--timeout", "300", "--isolated")
    code, out, _ = ran(capsys, "probe", "m.py", "step.py::Net.train_step", "step.py::trained", *options)
    assert code == 1
    functions = {one["function"]: one for one in json.loads(out)["functions"]}
    assert {name: one["outcome"] for name, one in functions.items()} == {
        "cut": "tpu-fails",
        "solve": "fails",
        "chosen": "bounded",
        "fine": "compiles",
        "Net": "diverges",
        "Net.train_step": "diverges",
        "trained": "compiles",
    }
    told = {name: " | ".join(one["details"]) for name, one in functions.items()}
    assert "tpu-fails at m.py:6: the TPU compiler refuses the function" in told["cut"]
    assert "must be a compile-time constant" in told["cut"]
    assert "tpu-fails at m.py:10: the TPU compiler refuses the function: no kernel for `Lu`" in told["solve"]
    assert "tpu-bounded at m.py:14" in told["chosen"]
    assert "float64 at m.py:18: a TPU computes with 32 bits" in told["fine"]
    compiled = {
        name: [re.sub(r", for .*", "", line) for line in one["details"] if line.startswith("tpu-")]
        for name, one in functions.items()
    }
    assert compiled["Net"] == [
        "tpu-compiles: the function",
        "tpu-compiles: its gradient",
        "tpu-compiles: a step of Adam on the summed outputs",
    ]
    # What trains is compiled as it is: no gradient of it, and no step around it.
    assert compiled["Net.train_step"] == ["tpu-compiles: the function"]
    assert compiled["trained"] == [
        "tpu-compiles: the function",
        "tpu-compiles: the train step of compile() (SGD with loss scaling, categorical_crossentropy, AUC)",
    ]
    assert not any("compiled for a TPU" in line for line in functions["trained"]["details"])
    many = ("--batch", "1000000000")
    code, out, _ = ran(capsys, "probe", "m.py::fine", "step.py::Net.train_step", *options, *many)
    told = {one["function"]: " | ".join(one["details"]) for one in json.loads(out)["functions"]}
    assert told.keys() == {"fine", "Net.train_step"}
    assert all("with 1000000000 examples at once: it does not fit" in one for one in told.values()), told


@pytest.mark.compiler
@claim((ROOT / "examples" / "tpu" / "models.py").read_text("utf-8"), COMPILING, sampled=False)
@pytest.mark.usefixtures("compiler")
def test_an_example_is_ready() -> None:
    models = ROOT / "examples" / "tpu" / "models.py"
    settings = Settings(probe=ProbeSettings(timeout=900.0, batch=64))
    job = planned(examine([models], settings), [models], settings)
    assert [target.qualname for target in job.targets] == ["image_classifier", "text_classifier"]
    quicker = replace(job, targets=job.targets[1:])
    [found] = prove(quicker, settings, lambda run: None).found
    assert found.outcome == TPU_COMPILES, found
    step = "a step of Adam on the summed outputs"
    assert [one.of for one in found.programs] == ["the function", "its gradient", step]
    assert all(2**20 < one.memory < chip_of(DEFAULT).memory for one in found.programs)


ON_JAX = """
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import ops

class Fine(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 3))

    def call(self, x):
        return ops.softmax(ops.matmul(x, self.kernel))

class Branching(keras.layers.Layer):
    def call(self, x):
        return x if ops.any(x > 0.5) else -x
"""


@pytest.mark.compiler
@pytest.mark.usefixtures("compiler")
def test_the_compiler_takes_programs_of_jax(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(ON_JAX)
    options = ("--target", "tpu", "--no-cache", "--output-format", "json", "--timeout", "300", "--isolated")
    code, out, _ = ran(capsys, "probe", "m.py", *options)
    assert code == 1
    told = {one["function"]: (one["outcome"], one["details"]) for one in json.loads(out)["functions"]}
    assert {name: outcome for name, (outcome, _) in told.items()} == {"Branching": "fails", "Fine": "compiles"}
    assert "not compiled for a TPU: tracing it raises TracerBoolConversionError" in told["Branching"][1]
    on_tpu = [re.sub(r" in [0-9.]+ s; [0-9.]+ \w+ of", "; of", line) for line in told["Fine"][1] if "tpu" in line]
    what = ("the function", "its gradient", "a step of Adam on the summed outputs")
    assert on_tpu == [f"tpu-compiles: {one}, for v5e:2x2; of the 15.8 GiB of a core's memory" for one in what]
