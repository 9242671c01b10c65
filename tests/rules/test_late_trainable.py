"""Weights that are frozen or thawed between steps: in which forms, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD = """\
import keras
import tensorflow as tf
from tensorflow.keras import layers

x, y = tf.ones([8, 3]), tf.ones([8, 1])
"""
BASE = """\
base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
base.trainable = False
"""
STEP = """
opt = keras.optimizers.Adam()
opt.build(model.trainable_variables)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
"""
TOLD = {
    "a functional model": f"""{HEAD}{BASE}
inp = keras.Input((96, 96, 3))
h = base(inp, training=False)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
for layer in base.layers[:100]:
    layer.trainable = False
history = model.fit(x, y, epochs=3)
""",
    "added to the model": f"""{HEAD}{BASE}
model = keras.Sequential()
model.add(base)
model.add(layers.Dense(1))
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
model.fit(x, y)
""",
    "each layer": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
for layer in model.layers:
    layer.trainable = True
model.fit(x, y)
""",
    "the last layers, numbered": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
for i, layer in enumerate(base.layers[-20:]):
    if not isinstance(layer, layers.BatchNormalization):
        layer.trainable = True
model.fit(x, y)
""",
    "frozen": f"""{HEAD}
model = keras.Sequential([layers.Dense(4), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
model.layers[0].trainable = False
model.fit(x, y)
""",
    "a layer by its name": f"""{HEAD}
model = keras.Sequential([layers.Dense(4, name="a"), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
model.get_layer("a").trainable = False
model.fit(x, y)
""",
    "in a function": f"""{HEAD}{BASE}

def main():
    model = keras.Sequential([base, layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    base.trainable = True
    model.evaluate(x, y)
    model.fit(x, y)

main()
""",
    "made by a function": f"""{HEAD}

def build():
    base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
    base.trainable = False
    model = keras.Sequential([base, layers.Dense(1)])
    model.compile("adam", "mse")
    return model, base

model, base = build()
model.fit(x, y)
base.trainable = True
model.fit(x, y)
""",
    "thawed by a function": f"""{HEAD}{BASE}

def unfreeze(model):
    for layer in model.layers:
        layer.trainable = True

model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
unfreeze(model)
model.fit(x, y)
""",
    "trained by a function": f"""{HEAD}{BASE}

def train(model, epochs):
    model.fit(x, y, epochs=epochs)

model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
train(model, 3)
base.trainable = True
train(model, 10)
""",
    "attributes of an object": f"""{HEAD}

class Trainer:
    def __init__(self):
        self.base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
        self.base.trainable = False
        self.model = keras.Sequential([self.base, layers.Dense(1)])
        self.model.compile("adam", "mse")

    def run(self):
        self.model.fit(x, y)
        self.base.trainable = True
        self.model.fit(x, y)

Trainer().run()
""",
    "in a loop around train_on_batch": f"""{HEAD}
model = keras.Sequential([layers.Dense(4), layers.Dense(1)])
model.compile("adam", "mse")
for epoch in range(10):
    if epoch >= 5:
        model.layers[0].trainable = False
    model.train_on_batch(x, y)
""",
    "in a loop around fit": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
for epoch in range(10):
    model.fit(x, y)
    if epoch == 3:
        base.trainable = True
""",
    "a step in two loops": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
{STEP}
for _ in range(10):
    step(x, y)
base.trainable = True
for _ in range(10):
    step(x, y)
""",
    "a step in a function of its own": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
{STEP}
def run(n):
    for _ in range(n):
        step(x, y)

run(10)
model.trainable = True
run(20)
""",
    "a step that is a method": f"""{HEAD}

class Trainer:
    def __init__(self):
        self.model = keras.Sequential([layers.Dense(4), layers.Dense(1)])
        self.opt = keras.optimizers.SGD()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x) - y) ** 2)
        v = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))

    def train(self):
        for epoch in range(10):
            if epoch > 5:
                self.model.layers[0].trainable = False
            for _ in range(10):
                self.step(x, y)

Trainer().train()
""",
    "by a callback": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")

class Unfreeze(keras.callbacks.Callback):
    def __init__(self, at):
        super().__init__()
        self.at = at
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.at:
            self.model.layers[0].trainable = True

model.fit(x, y, epochs=10, callbacks=[Unfreeze(5)])
""",
    "under a strategy": f"""{HEAD}
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
    base.trainable = False
    model = keras.Sequential([base, layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(x, y)
with strategy.scope():
    base.trainable = True
model.fit(x, y)
""",
    "in each fold": f"""{HEAD}
for fold in range(5):
    base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
    base.trainable = False
    model = keras.Sequential([base, layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    base.trainable = True
    model.fit(x, y)
""",
}
SILENT = {
    "for another optimizer": f"""{HEAD}
model = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.Dense(1)])
first, second = keras.optimizers.SGD(), keras.optimizers.SGD(1e-3)

@tf.function
def step(opt, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))

model.layers[0].trainable = False
step(first, x, y)
model.layers[0].trainable = True
step(second, x, y)
""",
    "compiled again": f"""{HEAD}{BASE}
model = keras.Sequential()
model.add(base)
model.add(layers.Dense(1))
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
model.compile("adam", "mse")
model.fit(x, y)
""",
    "compiled again by a function": f"""{HEAD}
def prepare(m):
    m.compile("adam", "mse")

base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
base.trainable = False
model = keras.Sequential()
model.add(base)
model.add(layers.Dense(1))
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
prepare(model)
model.fit(x, y)
""",
    "compiled where it is trained": f"""{HEAD}{BASE}

def train(model, epochs):
    model.compile("adam", "mse")
    model.fit(x, y, epochs=epochs)

model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
train(model, 3)
base.trainable = True
train(model, 10)
""",
    "before the first step": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
base.trainable = True
model.fit(x, y)
model.fit(x, y)
""",
    "behind the last step": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
model.trainable = False
model.save("a.keras")
""",
    "another model": f"""{HEAD}{BASE}
other = keras.Sequential([base, layers.Dense(1)])
model = keras.Sequential([layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
model.fit(x, y)
""",
    "a new model": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
""",
    "by turns": f"""{HEAD}
g = keras.Sequential([layers.Dense(3)])
d = keras.Sequential([layers.Dense(1)])
d.compile("adam", "mse")
d.trainable = False
gan = keras.Sequential([g, d])
gan.compile("adam", "mse")
for i in range(10):
    d.trainable = True
    d.train_on_batch(x, y)
    d.trainable = False
    gan.train_on_batch(x, y)
""",
    "frozen as before": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = False
model.fit(x, y)
""",
    "on the other side of a condition": f"""{HEAD}{BASE}
import sys
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
if len(sys.argv) > 1:
    model.fit(x, y)
else:
    base.trainable = True
    model.fit(x, y)
""",
    "a model that runs eagerly": f"""{HEAD}
model = keras.Sequential([layers.Dense(4), layers.Dense(1)])
model.compile("adam", "mse", run_eagerly=True)
model.fit(x, y)
model.layers[0].trainable = False
model.fit(x, y)
""",
    "a step that is made anew": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
{STEP}
for _ in range(10):
    step(x, y)
base.trainable = True
step = tf.function(step.python_function)
for _ in range(10):
    step(x, y)
""",
    "a step that nobody compiles": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
opt = keras.optimizers.Adam()
opt.build(model.trainable_variables)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))

for _ in range(10):
    step(x, y)
base.trainable = True
for _ in range(10):
    step(x, y)
""",
    "compiled in the loop": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
for epoch in range(10):
    model.fit(x, y)
    if epoch == 3:
        base.trainable = True
        model.compile("adam", "mse")
""",
    "a new model in each iteration": f"""{HEAD}{BASE}
for fold in range(5):
    model = keras.Sequential([base, layers.Dense(1)])
    if fold > 2:
        base.trainable = True
    model.compile("adam", "mse")
    model.fit(x, y)
""",
    "an attribute of another class": f"""{HEAD}

class Cfg:
    trainable = True

cfg = Cfg()
model = keras.Sequential([layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
cfg.trainable = False
model.fit(x, y)
""",
    "a callback that compiles": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")

class Unfreeze(keras.callbacks.Callback):
    def __init__(self, at):
        super().__init__()
        self.at = at
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.at:
            self.model.layers[0].trainable = True
            self.model.compile("adam", "mse")

model.fit(x, y, epochs=10, callbacks=[Unfreeze(5)])
""",
    "a callback, before the first epoch": f"""{HEAD}{BASE}
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")

class Unfreeze(keras.callbacks.Callback):
    def __init__(self, at):
        super().__init__()
        self.at = at
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 0:
            self.model.layers[0].trainable = True

model.fit(x, y, epochs=10, callbacks=[Unfreeze(5)])
""",
    "passed to code that is not seen": f"""{HEAD}{BASE}
model = keras.Sequential()
model.add(base)
model.add(layers.Dense(1))
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
from helpers import recompile
recompile(model)
model.fit(x, y)
""",
    "frozen to evaluate": f"""{HEAD}
model = keras.Sequential([layers.Dense(4), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
model.trainable = False
model.evaluate(x, y)
model.trainable = True
model.fit(x, y)
""",
    "two models": f"""{HEAD}

def train(m):
    m.fit(x, y)

a = keras.Sequential([layers.Dense(1)])
b = keras.Sequential([layers.Dense(1)])
a.compile("adam", "mse")
b.compile("adam", "mse")
train(a)
b.trainable = False
train(b)
""",
    "never frozen": f"""{HEAD}
base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
model = keras.Sequential([base, layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
base.trainable = True
model.fit(x, y)
""",
}


def lines(tmp_path: Path, code: str) -> list[int]:
    (tmp_path / "program.py").write_text(code, "utf-8")
    report = check([tmp_path], Settings(codes=frozenset(("XLA615",))))
    return [one.span.line for one in report.findings]


@pytest.mark.parametrize("code", TOLD.values(), ids=TOLD)
def test_what_is_set_between_steps_is_told(tmp_path: Path, code: str) -> None:
    assert len(lines(tmp_path, code)) == 1


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_what_steps_take_up_is_left_alone(tmp_path: Path, code: str) -> None:
    assert lines(tmp_path, code) == []
