"""Models and optimizers that are new between compiled steps: in which forms, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD = """\
import tensorflow as tf
from tensorflow import keras

x, y = tf.ones([8, 3]), tf.ones([8, 1])

def build():
    return keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])

"""
STEP = """\
@tf.function(jit_compile=True)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    v = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

"""
PLAIN = STEP.replace("@tf.function(jit_compile=True)\n", "")
TRAINER = """\
class Trainer:
    def __init__(self):
        self.model = build()
        self.optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x) - y) ** 2)
        v = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

"""
TOLD = {
    "in each fold": f"""{HEAD}{STEP}for fold in range(5):
    model = build()
    optimizer = keras.optimizers.SGD(0.1)
    for _ in range(10):
        step(x, y)
""",
    "in each fold, trained by a function": f"""{HEAD}{STEP}def train():
    for _ in range(10):
        step(x, y)

for fold in range(5):
    model = build()
    optimizer = keras.optimizers.SGD(0.1)
    train()
""",
    "loaded": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}step(x, y)
model = keras.models.load_model("best.keras")
step(x, y)
""",
    "an optimizer for each phase": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}for _ in range(10):
    step(x, y)
optimizer = keras.optimizers.SGD(0.01)
for _ in range(10):
    step(x, y)
""",
    "a closure": f"""{HEAD}def main():
    model = build()
    optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        v = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

    for fold in range(5):
        model = build()
        for _ in range(10):
            step(x, y)

main()
""",
    "a global name": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}def restart():
    global model
    model = build()

for fold in range(5):
    step(x, y)
    restart()
""",
    "wrapped by name": f"""{HEAD}{PLAIN}run = tf.function(step, jit_compile=True)
for fold in range(5):
    model = build()
    optimizer = keras.optimizers.SGD(0.1)
    run(x, y)
""",
    "an attribute, by a method": f"""{HEAD}{TRAINER}    def reset(self):
        self.model = build()

trainer = Trainer()
for fold in range(5):
    trainer.step(x, y)
    trainer.reset()
""",
    "an attribute, from outside": f"""{HEAD}{TRAINER}trainer = Trainer()
for fold in range(5):
    trainer.model = build()
    for _ in range(10):
        trainer.step(x, y)
""",
    "an attribute, within a method": f"""{HEAD}{TRAINER}    def folds(self):
        for fold in range(5):
            self.model = build()
            self.optimizer = keras.optimizers.SGD(0.1)
            for _ in range(10):
                self.step(x, y)

Trainer().folds()
""",
    "phases of a method": f"""{HEAD}{TRAINER}    def phases(self):
        self.step(x, y)
        self.optimizer = keras.optimizers.SGD(0.01)
        self.step(x, y)

Trainer().phases()
""",
    "under a strategy": f"""{HEAD}strategy = tf.distribute.MirroredStrategy()

def replica(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2) / 2
    v = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

@tf.function
def step(x, y):
    strategy.run(replica, args=(x, y))

for fold in range(5):
    with strategy.scope():
        model = build()
        optimizer = keras.optimizers.SGD(0.1)
    for _ in range(10):
        step(x, y)
""",
    "a step that trains nothing": f"""{HEAD}model = build()

@tf.function(jit_compile=True)
def evaluate(x, y):
    return tf.reduce_mean((model(x) - y) ** 2)

for fold in range(5):
    model = build()
    model.fit(x, y)
    print(evaluate(x, y))
""",
    "on a condition about the epoch": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}for epoch in range(10):
    if epoch == 5:
        optimizer = keras.optimizers.SGD(0.01)
    step(x, y)
""",
    "a class of the program": f"""{HEAD}class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

{STEP}for fold in range(5):
    model = Net()
    model.build((None, 3))
    optimizer = keras.optimizers.SGD(0.1)
    step(x, y)
""",
    "Keras's own optimizer": f"""{HEAD}model = build()
model.compile("sgd", "mse")
model.fit(x, y)
model.optimizer = keras.optimizers.SGD(0.01)
model.fit(x, y)
""",
}
SILENT = {
    "a step for each fold": f"""{HEAD}for fold in range(5):
    model = build()
    optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        v = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

    step(x, y)
""",
    "wrapped in each fold": f"""{HEAD}{PLAIN}for fold in range(5):
    model = build()
    optimizer = keras.optimizers.SGD(0.1)
    run = tf.function(step, jit_compile=True)
    run(x, y)
""",
    "passed as arguments": f"""{HEAD}@tf.function(jit_compile=True)
def step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    v = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

for fold in range(5):
    model = build()
    optimizer = keras.optimizers.SGD(0.1)
    step(model, optimizer, x, y)
""",
    "a step that nobody compiles": f"""{HEAD}{PLAIN}for fold in range(5):
    model = build()
    optimizer = keras.optimizers.SGD(0.1)
    step(x, y)
""",
    "before the first run": f"""{HEAD}model = build()
{STEP}model = build()
optimizer = keras.optimizers.SGD(0.1)
for _ in range(10):
    step(x, y)
""",
    "behind the last run": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}for _ in range(10):
    step(x, y)
model = keras.models.load_model("best.keras")
model.evaluate(x, y)
""",
    "an object for each fold": f"""{HEAD}{TRAINER}for fold in range(5):
    trainer = Trainer()
    trainer.model = build()
    for _ in range(10):
        trainer.step(x, y)
""",
    "a function for each fold": f"""{HEAD}def train():
    model = build()
    optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        v = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

    for _ in range(10):
        step(x, y)

for fold in range(5):
    train()
""",
    "another name": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}for fold in range(5):
    step(x, y)
    copy = keras.models.clone_model(model)
""",
    "a local name of a function": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}def other():
    model = build()
    return model.predict(x)

for fold in range(5):
    step(x, y)
    other()
""",
    "the first time alone": f"""{HEAD}model = None
{STEP}optimizer = keras.optimizers.SGD(0.1)
for epoch in range(5):
    if model is None:
        model = build()
    step(x, y)
""",
    "on two sides": f"""{HEAD}import sys
model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}if len(sys.argv) > 1:
    step(x, y)
else:
    model = build()
    step(x, y)
""",
    "of itself": f"""{HEAD}def wrap(model):
    return model

model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}for epoch in range(5):
    step(x, y)
    model = wrap(model)
""",
    "weights that are set": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
start = model.get_weights()
{STEP}for fold in range(5):
    model.set_weights(start)
    step(x, y)
""",
    "fit in each fold": f"""{HEAD}for fold in range(5):
    model = build()
    model.compile("adam", "mse")
    model.fit(x, y)
""",
    "compiled again": f"""{HEAD}model = build()
model.compile("sgd", "mse")
model.fit(x, y)
model.optimizer = keras.optimizers.SGD(0.01)
model.compile(model.optimizer, "mse")
model.fit(x, y)
""",
    "a new step between": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}step(x, y)
model = build()
step = tf.function(step.python_function)
step(x, y)
""",
    "steps of two kinds": f"""{HEAD}first, second = build(), build()

@tf.function
def one(x):
    return tf.reduce_mean(first(x))

@tf.function
def two(x):
    return tf.reduce_mean(second(x))

one(x)
second = build()
two(x)
""",
    "an object with steps of its own": f"""{HEAD}class Model:
    def __init__(self):
        self.inner = build()
        self.optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.inner(x) - y) ** 2)
        v = self.inner.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

    def fit(self, x, y):
        for _ in range(10):
            self.step(x, y)

model = Model()
model.fit(x, y)
model = Model()
model.fit(x, y)
""",
    "a model with steps of its own": f"""{HEAD}class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = build()
        self.optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.inner(x) - y) ** 2)
        v = self.inner.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

    def fit(self, x, y):
        for _ in range(10):
            self.step(x, y)

model = Model()
model.fit(x, y)
model = Model()
model.fit(x, y)
""",
    "a step that each call makes": f"""{HEAD}class Trainer:
    def __init__(self):
        self.model = build()
        self.optimizer = keras.optimizers.SGD(0.1)

    def fit(self, x, y):
        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.model(x) - y) ** 2)
            v = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

        for _ in range(10):
            step(x, y)

trainer = Trainer()
trainer.fit(x, y)
trainer.model = build()
trainer.fit(x, y)
""",
    "a step of what is new": f"""{HEAD}class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    @tf.function
    def step(self, x, y):
        return tf.reduce_mean((self.dense(x) - y) ** 2)

class Trainer:
    def __init__(self):
        self.model = Net()

    def run(self, x, y):
        return self.model.step(x, y)

trainer = Trainer()
for fold in range(5):
    trainer.run(x, y)
    trainer.model = Net()
""",
    "a step that is defined again": f"""{HEAD}model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}step(x, y)
model = build()
optimizer = keras.optimizers.SGD(0.1)
{STEP}step(x, y)
""",
}


def lines(tmp_path: Path, code: str) -> list[int]:
    (tmp_path / "program.py").write_text(code, "utf-8")
    report = check([tmp_path], Settings(codes=frozenset(("XLA616",))))
    return [one.span.line for one in report.findings]


@pytest.mark.parametrize("code", TOLD.values(), ids=TOLD)
def test_what_is_new_between_steps_is_told(tmp_path: Path, code: str) -> None:
    assert len(lines(tmp_path, code)) == 1


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_what_steps_take_up_is_left_alone(tmp_path: Path, code: str) -> None:
    assert lines(tmp_path, code) == []
