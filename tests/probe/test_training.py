"""The step that a compiled Keras model trains with: which one it is, with which labels, and what the compiler says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ran

pytestmark = pytest.mark.compiler

CODE = """\
import keras
import tensorflow as tf
from keras import layers


def dense(units, **options):
    return keras.Sequential([keras.Input([3]), layers.Dense(units, **options)])


def fine():
    model = dense(2, activation="softmax")
    model.compile(keras.optimizers.AdamW(), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def printed(y_true, y_pred):
    tf.print("so far")
    return tf.reduce_mean(tf.abs(y_true - y_pred), -1)


def talkative():
    model = dense(2)
    model.compile("sgd", "mse", metrics=[printed])
    return model


def turned():
    model = keras.Sequential([keras.Input([4, 4, 1]), layers.RandomRotation(0.1, name="turning"), layers.Flatten()])
    model.compile("sgd", "mse")
    return model


without = dense(2)
without.compile("sgd")
"""


def functions(capsys: pytest.CaptureFixture[str], *places: str, **options: str) -> dict[str, Any]:
    """What is said of each."""
    further = [part for name, value in options.items() for part in (f"--{name}", value)]
    _, out, err = ran(capsys, "probe", *places, "--no-cache", "--isolated", "-q", "--output-format", "json", *further)
    assert err == ""
    return {one["function"]: one for one in json.loads(out)["functions"]}


@pytest.mark.slow
@pytest.mark.usefixtures("lasting_processes")
def test_the_step_is_compiled_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(CODE)
    found = functions(capsys, "m.py::fine", "m.py::talkative", "m.py::without", "m.py::turned")
    assert {name: one["outcome"] for name, one in found.items()} == {
        "fine": "compiles",
        "talkative": "fails",
        "without": "compiles",
        "turned": "fails",
    }
    [refusal] = [one for one in found["turned"]["details"] if one.startswith("fails")]
    assert "no kernel for `ImageProjectiveTransformV3` (in `" in refusal
    assert "turning" in refusal  # no line of the user's made it, but a layer
    step = "the train step of compile() (AdamW, sparse_categorical_crossentropy, accuracy)"
    assert f"{step}: 1 of 2 calls compiled, each equals eager" in found["fine"]["details"]
    line = CODE.split("    tf.print")[0].count("\n") + 1
    what = "the train step of compile() (SGD, mean_squared_error, printed)"
    assert f"fails at m.py:{line}: XLA cannot compile {what}: no kernel for `PrintV2`" in found["talkative"]["details"]
    assert found["talkative"]["inputs"] == ["inputs: f32[4, 3]", "labels: f32[4, 2]"]
    [note] = [one for one in found["without"]["details"] if "train step" in one]
    assert note.startswith("its train step is not run: ValueError: No loss to compute.")


# -- which step, and with which labels --------------------------------------------------------------------------------


def models() -> dict[str, tuple[Callable[[], Any], str, str]]:
    """By name: a model, what its step is called, and its labels."""
    import keras  # type: ignore[import-untyped]
    import tensorflow as tf  # type: ignore[import-untyped]
    from keras import layers

    def made(loss: Any, outputs: Any = None, **options: Any) -> Callable[[], Any]:
        def make() -> Any:
            x = keras.Input([3], name="x")
            model = keras.Model(x, layers.Dense(5, "softmax")(x) if outputs is None else outputs(x))
            model.compile(**{"optimizer": "sgd", **options}, loss=loss)
            return model

        return make

    def named(x: Any) -> Any:
        return {"kind": layers.Dense(5, "softmax", name="kind")(x), "size": layers.Dense(1, name="size")(x)}

    def listed(x: Any) -> Any:
        return list(named(x).values())

    def steps(x: Any) -> Any:
        return layers.Reshape([6, 3])(layers.Dense(18)(x))

    def sparse_by_hand(y_true: Any, y_pred: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(y_true, tf.int32), y_pred)

    def logs(y_true: Any, y_pred: Any) -> Any:
        return -tf.reduce_mean(tf.math.log(y_true + 0.1) * y_pred, -1)

    class Shrinking(layers.Layer):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            self.add_loss(tf.reduce_mean(tf.square(inputs)))
            return inputs

    class Unsupervised(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = layers.Dense(3)

        def call(self, inputs: Any) -> Any:
            return self.inner(inputs)

        def train_step(self, data: Any) -> Any:
            assert not isinstance(data, tuple)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(data) - data))
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            return {"loss": loss}

    class OwnLoss(keras.Model):  # type: ignore[misc]
        def compute_loss(self, x: Any, y: Any, y_pred: Any, sample_weight: Any, training: bool = True) -> Any:
            return tf.reduce_mean(tf.square(y - y_pred))

    def of(cls: Any) -> Callable[[], Any]:
        def make() -> Any:
            x = keras.Input([3])
            model = cls() if cls is Unsupervised else cls(x, layers.Dense(3)(x))
            model.compile("adam")
            return model

        return make

    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())
    kinds = {"kind": "sparse_categorical_crossentropy", "size": keras.losses.Huber()}
    both = "SGD, sparse_categorical_crossentropy, huber"
    return {
        "indices": (made(keras.losses.SparseCategoricalCrossentropy()), "SGD, sparse_cat", "i32[4]"),
        "one-hot": (made("categorical_crossentropy"), "SGD, categorical_crossentropy", "f32[4, 5]"),
        "numbers": (made("mse", optimizer="adafactor"), "Adafactor, mean_squared_error", "f32[4, 5]"),
        "flags": (made("bce", metrics=["AUC"]), "SGD, binary_crossentropy, AUC", "f32[4, 5]"),
        "words": (made("ctc", steps), "SGD, ctc", "i32[4, 3]"),
        "custom": (made(sparse_by_hand), "SGD, sparse_by_hand", "i32[4]"),
        "logarithms": (made(logs), "SGD, logs", "f32[4, 5]"),
        "by name": (made(kinds, named), both, "{'kind': i32[4], 'size': f32[4, 1]}"),
        "in a list": (made(list(kinds.values()), listed), both, "[i32[4], f32[4, 1]]"),
        "listed, by name": (made(kinds, listed, loss_weights={"kind": 1.0, "size": 0.1}), both, "[i32[4], f32[4, 1]]"),
        "one of two": (made([kinds["kind"], None], listed), "SGD, sparse_cat", "[i32[4], f32[4, 1]]"),
        "scaled": (made("mse", optimizer=scaled), "Adam with loss scaling, mean_squared_error", "f32[4, 5]"),
        "of a layer": (made(None, lambda x: Shrinking()(layers.Dense(2)(x))), "SGD, its own loss", ""),
        "own step": (of(Unsupervised), "its own train_step", ""),
        "own loss": (of(OwnLoss), "Adam, its own loss", "f32[4, 3]"),
    }


def test_labels_are_those_that_the_losses_take() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.driving.training import training_of

    inputs = tf.random.stateless_normal([4, 3], [1, 2])
    found, expected = {}, {}
    for name, (make, words, labels) in models().items():
        model = make()
        before = [one.numpy() for one in model.trainable_variables]
        training = training_of(model, lambda number: inputs, None)
        expected[name] = (True, f"labels: {labels}" if labels else "")
        found[name] = (words in training.how, training.labels)
        result = training.step(training.batch(1, inputs))
        assert bool(tf.math.is_finite(result["loss"])), name
        kept = zip(before, model.trainable_variables, strict=False)  # what a subclass builds in its first call is new
        assert before == [] or any((one != other.numpy()).any() for one, other in kept), name
    assert found == expected


def test_the_user_s_labels_are_taken() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.driving.training import NoTrainingError, training_of
    from xlalint.sources.specs import parse_form

    inputs = tf.ones([4, 3])
    make = models()["indices"][0]
    training = training_of(make(), lambda number: inputs, parse_form("i32[4, 1]"))
    assert training.labels == "labels: i32[4, 1]"
    assert int(tf.reduce_max(training.batch(0, inputs)[1])) < 5
    with pytest.raises(NoTrainingError, match=r"`labels: \.\.` among its inputs says what they are"):
        training_of(make(), lambda number: inputs, parse_form("f32[3, 7]"))


def test_what_keras_would_not_compile_is_said() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.driving.training import training_of

    model = models()["numbers"][0]()
    model.run_eagerly = True
    training = training_of(model, lambda number: tf.ones([4, 3]), None)
    assert ["run_eagerly=True" in note for note in training.notes] == [True]


# -- variables as tensors ---------------------------------------------------------------------------------------------


def test_what_branches_and_loops_assign_is_handed_on() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.devices.stateless import standing_in

    total, count = tf.Variable(1.0), tf.Variable(0)

    def advanced(x: Any) -> Any:
        if x > 0.0:
            total.assign_add(x)
        else:
            count.assign(7)
        for _ in tf.range(3):
            total.assign(total * 2.0)
            count.assign_add(1)
        return total + x

    def pure(x: Any, state: Any) -> Any:
        with standing_in([total, count], state) as now:
            return advanced(x), now()

    for x, after in ((tf.constant(2.0), (24.0, 3)), (tf.constant(-1.0), (8.0, 10))):
        result, state = tf.function(pure)(x, [tf.constant(1.0), tf.constant(0)])
        assert tuple(one.numpy() for one in state) == after
        assert float(result) == after[0] + float(x)
    assert (total.numpy(), count.numpy()) == (1.0, 0)


def test_rows_are_looked_up_and_changed_in_what_stands_there() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.devices.stateless import standing_in

    table = tf.Variable([[1.0], [2.0], [3.0]])

    def pure(rows: Any, state: Any) -> Any:
        with standing_in([table], state) as now:
            found = tf.nn.embedding_lookup(table, rows)
            table.scatter_add(tf.IndexedSlices(found * 10.0, rows))
            table.scatter_nd_update([[0]], [[7.0]])
            return found, now()

    traced = tf.function(pure).get_concrete_function(tf.constant([2, 1]), [tf.constant([[4.0], [5.0], [6.0]])])
    assert not traced.captured_inputs  # not the variable, either
    found, [after] = traced(tf.constant([2, 1]), tf.constant([[4.0], [5.0], [6.0]]))
    assert (found.numpy().tolist(), after.numpy().tolist()) == ([[6.0], [5.0]], [[7.0], [55.0], [66.0]])


def test_a_step_of_tensors_changes_what_the_step_does() -> None:
    import tensorflow as tf

    from xlalint.probe.worker.devices.stateless import standing_in
    from xlalint.probe.worker.driving.training import training_of

    inputs = tf.random.stateless_normal([4, 3], [1, 2])
    model = models()["scaled"][0]()
    training = training_of(model, lambda number: inputs, None)
    data = training.batch(0, inputs)
    variables = [getattr(one, "value", one) for one in (*model.variables, *model.optimizer.variables)]
    before = [tf.constant(one) for one in variables]

    def pure(state: Any) -> Any:
        with standing_in(variables, state) as now:
            return training.step(data)["loss"], now()

    loss, after = tf.function(pure, autograph=False)(before)
    assert all((one.numpy() == old.numpy()).all() for one, old in zip(variables, before, strict=True))
    tf.debugging.assert_near(loss, training.step(data)["loss"])
    changed = [bool(tf.reduce_any(one != old)) for one, old in zip(after, before, strict=True)]
    assert sum(changed) >= 4
    for one, new in zip(variables, after, strict=True):
        tf.debugging.assert_near(tf.cast(one, tf.float32), tf.cast(new, tf.float32))
