"""One step for several optimizers: which calls are of one compiled function, and which optimizers are new to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD = """\
import keras
import tensorflow as tf

def network():
    return keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])

def update(model, optimizer, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

x = tf.ones([4, 3])
first, second = keras.optimizers.Adam(), keras.optimizers.Adam()
"""
TRAINER = """\
class Trainer:
    def __init__(self, model):
        self.model, self.optimizer = model, keras.optimizers.Adam()

    @tf.function(jit_compile=True)
    def step(self, model, optimizer, x):
        return update(model, optimizer, x)

    @tf.function(jit_compile=True)
    def own(self, x):
        return update(self.model, self.optimizer, x)

"""
MADE = """\
def make():
    @tf.function(jit_compile=True)
    def step(model, optimizer, x):
        return update(model, optimizer, x)
    return step

"""
WRAPPED = "step = tf.function(update, jit_compile=True)\n"
SAID = {
    "an object that a name stands for": f"""{TRAINER}
trainer = Trainer(network())
trainer.step(network(), first, x)
trainer.step(network(), second, x)  # here
""",
    "an object that is a parameter": f"""{TRAINER}
def train(trainer):
    trainer.step(network(), first, x)
    trainer.step(network(), second, x)  # here

train(Trainer(network()))
""",
    "a function that another one makes": f"""{MADE}
step = make()
step(network(), first, x)
step(network(), second, x)  # here
""",
    "the name of a module in a function": f"""{WRAPPED}
def train(optimizer):
    step(network(), first, x)
    step(network(), optimizer, x)  # here

train(second)
""",
    "a pair in each iteration": f"""{WRAPPED}
for model, optimizer in [(network(), first), (network(), second)]:
    step(model, optimizer, x)  # here
""",
    "a helper for each pair": f"""{WRAPPED}
def fold(model, optimizer):
    step(model, optimizer, x)  # here

for model, optimizer in [(network(), first), (network(), second)]:
    fold(model, optimizer)
""",
    "an item by the name of the iteration": f"""{WRAPPED}
models = {{"a": network(), "b": network()}}
optimizers = {{name: keras.optimizers.Adam() for name in models}}
for name in models:
    step(models[name], optimizers[name], x=x)  # here
""",
    "a helper in a trace": f"""{WRAPPED}
one, two = network(), network()

def fold(model, optimizer):
    return step(model, optimizer, x)  # here

@tf.function(jit_compile=True)
def both():
    return fold(one, first) + fold(two, second)

both()
""",
}
SILENT = {
    "objects of one list": f"""{TRAINER}
for trainer in [Trainer(network()) for _ in range(2)]:
    trainer.step(network(), keras.optimizers.Adam(), x)
""",
    "objects of one unpacking": f"""{TRAINER}
one, two = Trainer(network()), Trainer(network())
one.step(network(), first, x)
two.step(network(), second, x)
""",
    "a name of two objects": f"""{TRAINER}
trainer = Trainer(network())
trainer.step(network(), first, x)
trainer = Trainer(network())
trainer.step(network(), second, x)
""",
    "a name of two objects with a definition between": f"""{TRAINER}
trainer = Trainer(network())
trainer.step(network(), first, x)

def between():
    pass

trainer = Trainer(network())
trainer.step(network(), second, x)
""",
    "a function for each": f"""{MADE}
one, two = make(), make()
one(network(), first, x)
two(network(), second, x)
""",
    "an attribute that is set": f"""{TRAINER}
trainer = Trainer(network())
trainer.own(x)
trainer.optimizer = keras.optimizers.Adam(0.01)
trainer.own(x)
""",
    "pairs that have their variables": f"""{WRAPPED}
pairs = [(network(), first), (network(), second)]
for model, optimizer in pairs:
    optimizer.build(model.trainable_variables)
for model, optimizer in pairs:
    step(model, optimizer, x)
""",
    "one of a list for all iterations": f"""{WRAPPED}
import sys
model, optimizer = network(), [first, second][len(sys.argv) > 1]
for rows in (x, x[:2]):
    step(model, optimizer, rows)
""",
    "variables by another function before": f"""{WRAPPED}
warm = tf.function(update, jit_compile=True)
one, two = network(), network()
warm(two, second, x)
step(one, first, x)
step(two, second, x)
""",
    "a helper that one trace runs twice": """
one, two = network(), network()

@tf.function(jit_compile=True)
def both():
    return update(one, first, x) + update(two, second, x)

both()
""",
}


def lines(tmp_path: Path, code: str) -> list[int]:
    (tmp_path / "program.py").write_text(HEAD + code, "utf-8")
    report = check([tmp_path], Settings(codes=frozenset(("XLA414",))))
    return [one.span.line for one in report.findings]


@pytest.mark.parametrize("code", SAID.values(), ids=SAID)
def test_a_second_optimizer_is_said_at_its_call(tmp_path: Path, code: str) -> None:
    marked = [at for at, line in enumerate((HEAD + code).splitlines(), 1) if line.endswith("# here")]
    assert lines(tmp_path, code) == marked


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_other_functions_and_optimizers_with_variables_are_silent(tmp_path: Path, code: str) -> None:
    assert lines(tmp_path, code) == []
