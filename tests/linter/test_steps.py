"""Of a program that trains, XLA compiles the steps: what only code beside them runs is information."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.analysis.fixpoint import partitions
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

TRAIN: Final = """\
import tensorflow as tf
import nets

model, optimizer = nets.build(), tf.keras.optimizers.SGD()

@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

if __name__ == "__main__":
    step(tf.ones([2, 3]))
"""
MAIN: Final = 'if __name__ == "__main__":'
NETS: Final = """\
import tensorflow as tf

class Chosen(tf.keras.layers.Layer):
    def call(self, inputs):
        return detect(*inputs)

def detect(boxes, scores):
    return tf.image.combined_non_max_suppression(boxes[:, :, None], scores, 10, 10)

def build():
    inputs = tf.keras.Input([3])
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))

def detector():
    inputs = [tf.keras.Input([9, 4]), tf.keras.Input([9, 1])]
    return tf.keras.Model(inputs, Chosen()(inputs))
"""
LAMBDAS: Final = "import tensorflow as tf\n\n" + NETS[NETS.index("def detect(") :].replace(
    "Chosen()(", "tf.keras.layers.Lambda(lambda pair: detect(*pair))("
)
BUILD: Final = "import tensorflow as tf\n\n" + NETS[NETS.index("def build") : NETS.index("def detector")]
GRAPH: Final = (
    "import tensorflow as tf\n\n@tf.function\n" + NETS[NETS.index("def detect(") : NETS.index("def detector")]
)
PREDICT: Final = """\
import tensorflow as tf
import nets

if __name__ == "__main__":
    boxes, scores = tf.ones([1, 9, 4]), tf.ones([1, 9, 1])
    print({})
"""
EAGER: Final = PREDICT.format("nets.detector()([boxes, scores])")
# Two files that do not name TensorFlow; the first is the script.
LOOP: Final = """\
import lib

def main():
    print(lib.train())

if __name__ == "__main__":
    main()
"""
LIB: Final = """\
import train

def train():
    return train.step(None)
"""
BY_FUNCTION: Final = PREDICT.format("nets.detect(boxes, scores)")
MEASURED: Final = """

@tf.function
def measure(boxes, scores, labels):
    tf.keras.metrics.Mean().update_state(detect(boxes, scores)[1] - labels)
"""
TRIED: Final = """

if __name__ == "__main__":
    detector()([tf.ones([1, 9, 4]), tf.ones([1, 9, 1])])
"""
INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR


@pytest.mark.parametrize("target", [None, "tpu"])
@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"train.py": TRAIN, "nets.py": NETS, "predict.py": EAGER}, INFO),
        ({"train.py": TRAIN.replace("build", "detector"), "nets.py": NETS, "predict.py": EAGER}, ERROR),
        ({"train.py": TRAIN, "nets.py": NETS, "predict.py": EAGER.replace("()(", "().predict(")}, ERROR),
        ({"train.py": TRAIN, "nets.py": NETS}, ERROR),
        ({"train.py": TRAIN, "nets.py": LAMBDAS, "predict.py": EAGER}, INFO),
        ({"train.py": TRAIN.replace("build", "detector"), "nets.py": LAMBDAS, "predict.py": EAGER}, ERROR),
        ({"train.py": TRAIN, "nets.py": LAMBDAS, "predict.py": EAGER.replace("()(", "().predict(")}, ERROR),
        ({"train.py": TRAIN, "nets.py": LAMBDAS}, ERROR),
        ({"train.py": TRAIN, "nets.py": GRAPH, "predict.py": BY_FUNCTION}, INFO),
        (
            {
                "train.py": TRAIN.replace(MAIN, "for epoch in range(3):"),
                "nets.py": GRAPH,
                "predict.py": BY_FUNCTION.replace(MAIN, "if True:"),
            },
            INFO,
        ),
        (
            {"loop.py": LOOP, "lib.py": LIB, "train.py": TRAIN[: TRAIN.index(MAIN)], "nets.py": GRAPH + BUILD},
            INFO,
        ),
    ],
    ids=[
        "eager",
        "in the step",
        "by Keras",
        "nobody is seen to use it",
        "a Lambda, eager",
        "a Lambda in the step",
        "a Lambda by Keras",
        "a Lambda that nobody is seen to use",
        "a graph of its own",
        "a flat script",
        "a script without imports of TensorFlow",
    ],
)
def test_what_no_step_leads_to_is_information(
    tmp_path: Path, files: dict[str, str], severity: Severity, target: str | None
) -> None:
    found = of_detection(tmp_path, files, target)
    assert found == (severity, severity is INFO)


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"nets.py": GRAPH, "predict.py": BY_FUNCTION}, WARNING),
        ({"train.py": TRAIN, "nets.py": GRAPH + MEASURED, "predict.py": BY_FUNCTION}, WARNING),
        ({"train.py": TRAIN, "nets.py": BUILD, "zoo.py": NETS, "predict.py": EAGER.replace("nets", "zoo")}, ERROR),
        ({"train.py": TRAIN, "nets.py": NETS + TRIED}, ERROR),
        ({"train.py": TRAIN, "nets.py": LAMBDAS + TRIED}, ERROR),
    ],
    ids=[
        *("no step at all", "a step that evaluates", "a layer of another program", "what a file tries out"),
        "a Lambda that a file tries out",
    ],
)
def test_a_target_raises_what_steps_lead_to(tmp_path: Path, files: dict[str, str], severity: Severity) -> None:
    assert of_detection(tmp_path, files, "tpu") == (severity, False)


@pytest.mark.parametrize("nets", [NETS, LAMBDAS], ids=["a layer", "a Lambda"])
@pytest.mark.parametrize(("built", "severity"), [("build", INFO), ("detector", ERROR)])
def test_each_file_may_be_a_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: str, severity: Severity, nets: str
) -> None:
    monkeypatch.setattr(partitions, "_TEXT_OF_A_PART", 1)
    monkeypatch.setattr(partitions, "_PARTS", 1_000)
    files = {"train.py": TRAIN.replace("build", built), "nets.py": nets, "predict.py": EAGER}
    assert of_detection(tmp_path, files, None) == (severity, severity is INFO)


def of_detection(folder: Path, files: dict[str, str], target: str | None) -> tuple[Severity, bool]:
    """How grave the detection of boxes is, and whether the report says that no step leads to it."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    [found] = [one for one in check([folder], Settings(target=target)).findings if one.code == "XLA208"]
    assert found.context is not None
    return found.severity, "no step of training" in found.context.shown


@pytest.mark.parametrize(("package", "installed"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_script_that_does_not_name_tensorflow_is_read_outside_of_installed_packages(
    tmp_path: Path, package: bool, installed: bool
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN[: TRAIN.index(MAIN)], encoding="utf-8")
    (folder / "convert.py").write_text(f"import train\n\n{MAIN}\n    train.step(None\n", encoding="utf-8")
    if package:
        (folder / "__init__.py").touch()
    if installed:
        (tmp_path / "setup.py").touch()
    # What is not read has no trouble with its syntax.
    read = "XLA900" in {one.code for one in check([tmp_path], Settings()).findings}
    assert read is not (package and installed)
