"""What only host code calls runs line by line: nothing traces a model there, and what a trace would refuse is no more
than information. Each program is run as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.compiler.claims import claim
from xlalint.analysis.fixpoint import partitions
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

NETS: Final = """\
import keras
import tensorflow as tf

class Scaled(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        y = self.dense(x)
        if tf.reduce_sum(y) > 0:
            y = y * 2
        return y

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.scaled = Scaled()

    def call(self, x):
        return self.scaled(x)
"""
IMPORTS: Final = "import keras\nimport tensorflow as tf\n\nfrom nets import Net, Scaled\n\n"
LOOP: Final = """
optimizer = keras.optimizers.SGD()
for x in tf.data.Dataset.from_tensor_slices(tf.ones([8, 3])).batch(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
LINE_BY_LINE: Final = {
    "a model that a loop trains": "model = Net()" + LOOP,
    "a function that nobody calls as well": "model = Net()" + LOOP + "\ndef evaluate(x):\n    return model(x)\n",
    "a class that is found by its name": "model = globals()['Net']()" + LOOP,
    "layers of Keras's own around it": "outer = keras.Sequential([keras.layers.Dense(3)])\nmodel = Net()" + LOOP,
}
TRACED: Final = {
    "fit": "model = Net()" + LOOP + "\nmodel.compile('sgd', 'mse')\nmodel.fit(tf.ones([8, 3]), tf.ones([8, 3]))\n",
    "keras.Input": "model = Net()" + LOOP + "\nkeras.Model(at := keras.Input([3]), Scaled()(at))\n",
    "keras.Sequential": "model = Scaled()" + LOOP + "\nkeras.Sequential([Scaled()])(tf.ones([2, 3]))\n",
    "tf.function": "model = Net()"
    + LOOP
    + "\n@tf.function\ndef infer(x):\n    return model(x)\n\ninfer(tf.ones([2, 3]))\n",
    "predict, and a class that is found by its name": "globals()['Net']().predict(tf.ones([8, 3]))\n",
    "tf.function, and a class that is found by its name": "model = globals()['Net']()"
    + LOOP
    + "\nprint(tf.function(lambda x: model(x), autograph=False)(tf.ones([2, 3])))\n",
    "tf.function of a method": "model = Net()" + LOOP + "\ntf.function(model.call, autograph=False)(tf.ones([2, 3]))\n",
}


@pytest.mark.parametrize("apart", [False, True], ids=["one partition", "each file a partition"])
@pytest.mark.parametrize("main", LINE_BY_LINE.values(), ids=LINE_BY_LINE.keys())
def test_what_runs_line_by_line_is_information(
    main: str, apart: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _severities(main, tmp_path, monkeypatch, apart) == {Severity.INFO}


@pytest.mark.parametrize("apart", [False, True], ids=["one partition", "each file a partition"])
@pytest.mark.parametrize("main", TRACED.values(), ids=TRACED.keys())
def test_what_is_traced_somewhere_is_not(
    main: str, apart: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = _severities(main, tmp_path, monkeypatch, apart)
    assert found > Severity.INFO


def test_a_target_has_it_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = LINE_BY_LINE["a model that a loop trains"]
    assert _severities(main, tmp_path, monkeypatch, target="cpu") == {Severity.ERROR}


def test_what_is_only_tried_out_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = "print(Net()(tf.ones([2, 3])))\nprint(tf.function(lambda x: x)(1))\n"
    assert _severities(main, tmp_path, monkeypatch) == {Severity.WARNING}


@pytest.mark.compiler
@pytest.mark.parametrize(
    "main", [pytest.param(main, id=name, marks=claim(NETS, main)) for name, main in LINE_BY_LINE.items()]
)
def test_nothing_is_refused_line_by_line(main: str) -> None:
    _run(main)


@pytest.mark.compiler
@pytest.mark.parametrize(
    "main", [pytest.param(main, id=name, marks=claim(NETS, main)) for name, main in TRACED.items()]
)
def test_a_trace_is_refused(main: str) -> None:
    with pytest.raises(TypeError, match="Using a symbolic"):
        _run(main)


def _severities(
    main: str, folder: Path, monkeypatch: pytest.MonkeyPatch, apart: bool = False, target: Any = None
) -> set[Severity]:
    if apart:
        monkeypatch.setattr(partitions, "_TEXT_OF_A_PART", 1)
        monkeypatch.setattr(partitions, "_PARTS", 1_000)
    (folder / "nets.py").write_text(NETS, encoding="utf-8")
    (folder / "main.py").write_text(IMPORTS + main, encoding="utf-8")
    report = check([str(folder)], Settings(keras=3, target=target))
    return {finding.severity for finding in report.findings if finding.code == "XLA101"}


def _run(main: str) -> None:
    program = NETS + IMPORTS.replace("from nets import Net, Scaled\n", "") + main
    exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
