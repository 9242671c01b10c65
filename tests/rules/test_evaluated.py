"""What is only evaluated costs one compilation more, which is information; a smaller batch of training is a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.scripts import HEAD, MODEL
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

DATA = "x, y = np.ones((70, 4), 'float32'), np.ones((70, 1), 'float32')\n"
SCORE = "def score(x):\n    return model.evaluate(x, y, batch_size=32)\n\n"
CALLBACK = """\
class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(self.scores(epoch))

    def scores(self, epoch):
        return self.model.evaluate(x, y)

"""
METHODS = """\
class Judge:
    def first(self):
        return model.predict(x, batch_size=32)

    def second(self):
        return model.predict(x, batch_size=32)

judge = Judge()
print(judge.first(), judge.second())
"""
STEPS = """optimizer = keras.optimizers.SGD()

@tf.function(jit_compile=True)
def forward(x):
    return model(x)

@tf.function(jit_compile=True)
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    learn(tape.gradient(loss, model.trainable_variables))
    return loss

def learn(gradients):
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

def scores(data):
    return [float(tf.reduce_mean(forward(x))) for x in data]

def by_hand(data):
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(forward(x))
        learn(tape.gradient(loss, model.trainable_variables))

rows = tf.data.Dataset.from_tensor_slices(x)
for x in rows.batch(32, drop_remainder=True):
    train(x)
"""
INFO, WARNING = {Severity.INFO}, {Severity.WARNING}


@pytest.mark.parametrize(
    ("text", "severities"),
    [
        ("model.evaluate(x, y)\n", INFO),
        ("model.evaluate(tf.data.Dataset.from_tensor_slices((x, y)).batch(32))\n", INFO),
        ("model.predict(tf.data.Dataset.from_tensor_slices(x).batch(32))\n", INFO),
        (f"{SCORE}print(score(x))\n", INFO),
        (METHODS, INFO),
        ("model.fit(x, y, batch_size=32)\n", WARNING),
        ("model.fit(x[:64], y[:64], validation_data=(x, y), batch_size=32, epochs=9)\n", INFO),
        ("for _ in range(9):\n    model.evaluate(x, y)\n", INFO),
        (f"{SCORE}for _ in range(9):\n    score(x)\n", INFO),
        (f"{SCORE}def report(x):\n    print(score(x))\n\nwhile True:\n    report(x)\n", INFO),
        (f"{CALLBACK}model.fit(x[:64], y[:64], callbacks=[Report()])\n", INFO),
        (
            "data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)\nmodel.fit(data)\nmodel.evaluate(data)\n",
            WARNING,
        ),
        (
            "for at in range(0, 70, 32):\n    model.predict_on_batch(x[at : at + 32])\n",
            INFO,
        ),
        (f"{STEPS}scores(rows.batch(32))\n", INFO),
        (f"{STEPS}by_hand(rows.batch(32))\n", WARNING),
        (f"{STEPS}for x in rows.batch(32):\n    train(x)\n", WARNING),
        ("for at in range(0, 70, 32):\n    model.train_on_batch(x[at : at + 32], y[at : at + 32])\n", WARNING),
    ],
)
def test_what_is_only_evaluated_is_information(text: str, severities: set[Severity], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{HEAD}{MODEL}{DATA}{text}", encoding="utf-8")
    found = check([tmp_path], Settings()).findings
    assert {one.severity for one in found if one.code == "XLA302"} == severities
