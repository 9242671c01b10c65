"""Whole programs for TPUs and strategies: the findings are those that their comments ask for, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests.programs import given_paths, scopes, tpu
from tests.programs.tpu import NODE, Program
from xlalint.linter.rule import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

WITH_MISTAKES: Final = tpu.WITH_MISTAKES | scopes.WITH_MISTAKES | given_paths.WITH_MISTAKES
CLEAN: Final = tpu.CLEAN | scopes.CLEAN | given_paths.CLEAN
_ASKED = re.compile(r"# finds (XLA\d+)")


def found(folder: Path, files: dict[str, str]) -> set[tuple[str, int, str]]:
    """File, line and code of what the rules about strategies find."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = check([folder], Settings())
    assert report.problems == ()
    five = [finding for finding in report.findings if finding.code.startswith("XLA5")]
    return {(Path(finding.path).name, finding.span.line, finding.code) for finding in five}


def asked(files: dict[str, str]) -> set[tuple[str, int, str]]:
    return {
        (name, number, match[1])
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (match := _ASKED.search(line))
    }


def as_files(program: Program) -> dict[str, str]:
    return {"main.py": program} if isinstance(program, str) else program


@pytest.mark.parametrize("program", WITH_MISTAKES.values(), ids=WITH_MISTAKES)
def test_mistakes_are_found_where_they_are(tmp_path: Path, program: Program) -> None:
    files = as_files(program)
    assert asked(files)
    assert found(tmp_path, files) == asked(files)


@pytest.mark.parametrize("program", CLEAN.values(), ids=CLEAN)
def test_programs_without_mistakes_are_silent(tmp_path: Path, program: Program) -> None:
    assert found(tmp_path, as_files(program)) == set()


def test_a_test_may_do_what_it_likes(tmp_path: Path) -> None:
    program = as_files(WITH_MISTAKES["jit_compile on a TPU VM"])["main.py"]
    assert found(tmp_path, {"test_it.py": program + "\ndef test_it():\n    assert step\n"}) == set()


def test_a_notebook_is_one_program(tmp_path: Path) -> None:
    cells = [NODE, "def rows():\n    yield 1.0", "data = tf.data.Dataset.from_generator(rows)\n"]
    content = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4}
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps(content), encoding="utf-8")
    findings = check([path], Settings(codes=frozenset({"XLA504"}))).findings
    assert [(finding.cell, finding.span.line) for finding in findings] == [(3, 1)]


HELD = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

class Net(tf.keras.Model):
    def __init__(self, width):
        super().__init__()
        self.encoder = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(width)])

    def call(self, x):
        return self.encoder(x)

def build(width):
    return Net(width)

{creation}

def step(x):
    return tf.reduce_sum(net(x))

@tf.function
def train(batch):
    return strategy.run(step, (batch,))
"""


@pytest.mark.parametrize(
    ("creation", "found"),
    [("with strategy.scope():\n    net = build(3)", []), ("net = build(3)", ["XLA502"])],
    ids=["in the scope", "outside"],
)
def test_what_a_model_holds_is_created_where_the_model_is(tmp_path: Path, creation: str, found: list[str]) -> None:
    (tmp_path / "train.py").write_text(HELD.format(creation=creation))
    report = check([tmp_path], Settings())
    assert [one.code for one in report.findings] == found


@pytest.mark.parametrize(("target", "found"), [("tpu", ["XLA502", "XLA502"]), (None, [])])
def test_what_the_gpus_share_is_told_where_it_moves_to_a_tpu(
    tmp_path: Path, target: str | None, found: list[str]
) -> None:
    program = scopes.CLEAN["variables that the GPUs of one machine share"]
    assert isinstance(program, str)
    (tmp_path / "train.py").write_text(program)
    report = check([tmp_path], Settings(target=target))
    assert [one.code for one in report.findings if one.code == "XLA502"] == found


KEEPER: Final = """\
import tensorflow as tf

class Net:
    def __init__(self, units):
        rows = tf.keras.Input([4])
        self.models = [tf.keras.Model(rows, tf.keras.layers.Dense(units)(rows))]

    def restore(self, path):
        self.models[0].load_weights(path)

def main(net{annotation}):
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        net.restore("a.weights.h5")

{call}
"""


@pytest.mark.parametrize(
    ("annotation", "call", "found"),
    [(": Net", "", []), ("", "main(Net(3))", ["XLA502"])],
    ids=["where nobody is seen to create it", "outside"],
)
def test_what_another_object_holds_is_created_where_that_is(
    tmp_path: Path, annotation: str, call: str, found: list[str]
) -> None:
    (tmp_path / "restore.py").write_text(KEEPER.format(annotation=annotation, call=call))
    assert [one.code for one in check([tmp_path], Settings()).findings] == found


TWO_WAYS: Final = "import tensorflow as tf\n" + "".join(
    f"""
def {name}():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    with strategy.scope():
        return tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
"""
    for name in ("first", "second")
)


@pytest.mark.parametrize(("calls", "found"), [("second()\n", []), ("second()\nfirst()\n", [5])])
def test_of_functions_that_nobody_calls_none_is_run_after_another(tmp_path: Path, calls: str, found: list[int]) -> None:
    (tmp_path / "m.py").write_text(f"{TWO_WAYS}\n{calls}")
    assert [one.span.line for one in check([tmp_path], Settings()).findings if one.code == "XLA503"] == found


PICTURES = """\
import os

import cv2
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

def convolved(side):
    inputs = tf.keras.Input((side, side, 3))
    return tf.keras.Model(inputs, tf.keras.layers.Conv2D(1, 3)(inputs))

with strategy.scope():
    model = {made}

for name in os.listdir("pictures"):
    model.{method}(cv2.imread(name)[None])
"""


@pytest.mark.parametrize("method", ["predict", "predict_on_batch"])
@pytest.mark.parametrize(
    ("made", "severity"),
    {
        "convolved(64)": Severity.INFO,
        "convolved(None)": Severity.WARNING,
        "tf.keras.Sequential([tf.keras.Input((64, 64, 3)), tf.keras.layers.Conv2D(1, 3)])": Severity.INFO,
        "tf.keras.Sequential([tf.keras.Input((None, None, 3)), tf.keras.layers.Conv2D(1, 3)])": Severity.WARNING,
        "tf.keras.Sequential([tf.keras.layers.Conv2D(1, 3, input_shape=(64, 64, 3))])": Severity.INFO,
        "tf.keras.Sequential([tf.keras.layers.Conv2D(1, 3)])": Severity.WARNING,
        'tf.keras.models.load_model("model.keras")': Severity.WARNING,  # of any size
        "tf.keras.Model([first := tf.keras.Input((8, 8, 3)), tf.keras.Input((4,))], first)": Severity.INFO,
    }.items(),
)
def test_pictures_have_the_size_that_a_model_says(tmp_path: Path, made: str, severity: Severity, method: str) -> None:
    (tmp_path / "main.py").write_text(PICTURES.format(made=made, method=method), encoding="utf-8")
    findings = check([tmp_path], Settings(codes=frozenset({"XLA308"}))).findings
    assert [finding.severity for finding in findings] == [severity]
    plain = re.sub(r"resolver = .*?Strategy\(resolver\)", "", PICTURES, flags=re.DOTALL)
    plain = plain.replace("with strategy.scope():\n    model", "model").format(made=made, method=method)
    (tmp_path / "main.py").write_text(plain, encoding="utf-8")
    findings = check([tmp_path], Settings(codes=frozenset({"XLA308"}), target="tpu")).findings
    assert [finding.severity for finding in findings] == [severity]


def test_pictures_of_any_size_outweigh_those_that_a_model_says(tmp_path: Path) -> None:
    twice = PICTURES.format(made="convolved(64)\n    other = convolved(None)", method="predict").replace(
        "    model.predict(cv2.imread(name)[None])",
        "    picture = cv2.imread(name)[None]\n    model.predict(picture)\n    other.predict(picture)",
    )
    (tmp_path / "main.py").write_text(twice, encoding="utf-8")
    findings = check([tmp_path], Settings(codes=frozenset({"XLA308"}))).findings
    assert [finding.severity for finding in findings] == [Severity.INFO, Severity.WARNING]


FOLDERS = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver({address})
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((64, 64, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(tf.keras.utils.image_dataset_from_directory("pictures", image_size=(64, 64)))
"""


@pytest.mark.parametrize(
    ("address", "code"),
    {'"grpc://10.0.0.2:8470"': "XLA504", 'tpu="local"': "XLA302", "": "XLA302"}.items(),
)
def test_what_a_node_cannot_read_outweighs_its_last_batch(tmp_path: Path, address: str, code: str) -> None:
    (tmp_path / "main.py").write_text(FOLDERS.format(address=address), encoding="utf-8")
    assert [finding.code for finding in check([tmp_path], Settings()).findings] == [code]


TEXT = """\
import tensorflow as tf

{strategy}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")

def parse(record):
    features = {{"x": tf.io.FixedLenFeature([4], tf.float32), "name": tf.io.FixedLenFeature([], tf.string)}}
    row = tf.io.parse_single_example(record, features)
    return {row}, 1.0

rows = tf.data.TFRecordDataset("gs://bucket/rows.tfrecord").map(parse).repeat().batch(8)
model.{method}(rows, {steps}=4)
"""
ON_TPU = """\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""


@pytest.mark.parametrize(("method", "steps"), [("fit", "steps_per_epoch"), ("evaluate", "steps"), ("predict", "steps")])
@pytest.mark.parametrize(
    ("strategy", "row", "found"),
    [
        (ON_TPU, "row", True),
        (ON_TPU, '{"x": row["x"], "id": row["name"]}', True),
        (ON_TPU, 'row["name"]', True),
        (ON_TPU, 'row["x"]', False),
        (ON_TPU, '{"x": row["x"], "long": tf.strings.length(row["name"])}', False),
        ("strategy = tf.distribute.MirroredStrategy()", "row", False),
    ],
)
def test_a_tpu_has_no_text(tmp_path: Path, strategy: str, row: str, found: bool, method: str, steps: str) -> None:
    program = TEXT.format(strategy=strategy, row=row, method=method, steps=steps)
    (tmp_path / "main.py").write_text(program, encoding="utf-8")
    assert [finding.code for finding in check([tmp_path], Settings()).findings] == ["XLA404"] * found
