"""Code that no plain call leads to: methods of objects that nobody makes, callbacks, programs that are named as tests.
Only what is marked is flagged, with the TPU as the target."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .marked import marked

NET: Final = """\
import tensorflow as tf
from tensorflow import keras

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.beta, self.seen = 0.0, 0
        self.scale = tf.Variable(1.0)

    def call(self, x):
        return self.dense(x) * self.scale

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self(x)) * self.beta{flagged}
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {{"loss": loss}}

class Warm(keras.callbacks.Callback):
    def {method}(self, {arguments}logs=None):
        self.model.{change}

net = Net()
net.compile("adam")
rows = tf.data.Dataset.from_tensor_slices(tf.ones([64, 8])).batch(16, drop_remainder=True)
net.fit(rows, epochs=3, callbacks=[Warm()])
"""
FLAG: Final = "  # flagged"
OF_EPOCHS: Final = {"method": "on_epoch_end", "arguments": "epoch, "}
SUMMED: Final = """\
import tensorflow as tf

class Trainer:
    def __init__(self, model, loss, rows, optimizer):
        self.model, self.loss, self.rows, self.optimizer = model, loss, rows, optimizer

    @tf.function
    def learn(self, row):
        with tf.GradientTape() as tape:
            found = self.loss(row["y"], self.model(row["x"], True))
        gradients = tape.gradient(found, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return found

    def run(self):
        for epoch in range(5):
            total = 0
            for step, row in enumerate(self.rows):
                total += self.learn(row)
            print(float(total / (step + 1)))
"""
HELD: Final = """\
import tensorflow as tf

class Hook:
    def __init__(self, trainer):
        self.trainer = trainer

    def after(self, step):
        self.trainer.alpha = {value}

class Trainer:
    def __init__(self):
        self.alpha = 0.0
        self.hooks = [Hook(self)]

    @tf.function
    def step(self, x):
        return x * self.alpha{flagged}

    def train(self, rows):
        step = 0
        for x in rows:
            self.step(x)
            step += 1
            for hook in self.hooks:
                hook.after(step)
"""
AGENT: Final = """\
import tensorflow as tf

class Agent:
    def __init__(self):
        self.net = tf.keras.Sequential([tf.keras.layers.Dense(2)])

    @tf.function
    def step(self, x, epoch):
        return tf.reduce_sum(self.net(x)) * epoch

    def save(self, path):
        self.net.save(path)
"""
BLOCK: Final = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()

{block}
    def main():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam(){flagged}

        def learn(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x)) / strategy.num_replicas_in_sync
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

        @tf.function
        def step(x):
            strategy.run(learn, args=(x,))

        rows = tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(8, drop_remainder=True)
        for x in strategy.experimental_distribute_dataset(rows):
            step(x)

    if __name__ == "__main__":
        main()
"""
PROGRAMS: Final = {
    "a function that the block of a scope defines and calls": BLOCK.format(block="with strategy.scope():", flagged=""),
    "a function that another block defines and calls": BLOCK.format(block="if True:", flagged=FLAG),
    "a callback that sets a number of the model": NET.format(flagged=FLAG, change="beta = epoch / 10", **OF_EPOCHS),
    "a callback that adds to one": NET.format(flagged=FLAG, change="beta += 0.1", **OF_EPOCHS),
    "a callback that takes one from the logs": NET.format(
        flagged=FLAG, change='beta = 1.0 - logs["loss"]', **OF_EPOCHS
    ),
    "a callback that sets it once": NET.format(flagged="", change="beta = 1.0", method="on_train_begin", arguments=""),
    "a callback that sets what no step reads": NET.format(flagged="", change="seen = epoch", **OF_EPOCHS),
    "a callback that assigns to a variable": NET.format(flagged="", change="scale.assign(epoch / 10)", **OF_EPOCHS),
    "a hook that a loop calls": HELD.format(flagged=FLAG, value="min(1.0, step / 1000)"),
    "a hook that sets what is always the same": HELD.format(flagged="", value="0.5"),
    "a method of an object that is passed": AGENT
    + """
def train(agent, rows, epochs):
    for epoch in range(epochs):
        agent.step(rows, epoch)  # flagged
    agent.save("a")
""",
    "a method of another object": AGENT
    + """
def train(environment, rows, epochs):
    environment.reset()
    for epoch in range(epochs):
        environment.step(rows, epoch)
""",
    "numbers of a module that functions change": """\
import tensorflow as tf

alpha, count, size = 0.0, 0, 1

def update(epoch):
    global alpha
    alpha = min(1.0, epoch / 10)

def tick():
    global count
    count += 1

def set_up(length):
    global size
    size = length

@tf.function
def step(x):
    y = x * alpha  # flagged
    return (y + count) / size  # flagged

set_up(3)
for epoch in range(10):
    update(epoch)
    tick()
    step(tf.ones([3]))
""",
    "a number of a module that a callback changes": """\
import tensorflow as tf

weight, seen = 0.0, 0

def loss(y, x):
    return tf.reduce_mean((y - x) ** 2) * weight  # flagged

class Warm(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        global weight, seen
        weight = min(1.0, epoch / 10)
        seen = epoch

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(4)])
model.compile("adam", loss)
rows = tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 4]))).batch(16, drop_remainder=True)
model.fit(rows, epochs=4, callbacks=[Warm()])
""",
    "an attribute that is set by its name": """\
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)
        self.heat, self.size = 1.0, 1

    def call(self, x):
        return self.dense(x) / self.heat + self.size  # flagged

net = Net()
setattr(net, "size", 4)
net.compile("sgd", "mse")
cool = tf.keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: setattr(net, "heat", 1 / (epoch + 1)))
net.fit(tf.data.Dataset.range(64).batch(16, drop_remainder=True), callbacks=[cool])
""",
    "labels of a sparse tensor, and rows of one length": """\
import numpy as np
import tensorflow as tf

def sparse(rows):
    indices, values = [], []
    for number, row in enumerate(rows):
        indices.extend(zip([number] * len(row), range(len(row))))
        values.extend(row)
    return np.asarray(indices), np.asarray(values), (len(rows), 20)

def flat(rows):
    values = []
    for row in rows:
        values.extend(row)
    return np.asarray(values)

@tf.function
def step(x, labels):
    return tf.reduce_sum(x) + tf.reduce_sum(tf.sparse.to_dense(labels))

@tf.function
def other(x):
    return tf.reduce_sum(x)

texts = open("a").readlines()
for _ in range(9):
    chosen = np.random.choice(texts, 8)
    step(tf.ones([8]), tf.SparseTensor(*sparse([[ord(letter) for letter in text] for text in chosen])))  # flagged
    other(flat([[len(text), 1] for text in chosen]))
""",
    "a flag that a comparison decides": """\
import tensorflow as tf

class Trainer:
    def __init__(self, model):
        self.model = model
        self.warm, self.big = True, False

    @tf.function
    def step(self, x):
        rate = 0.1 if self.warm else 1.0  # flagged
        return self.model(x) * rate + (1.0 if self.big else 0.0)

    def train(self, rows, epochs, size):
        self.big = size > 3
        for epoch in range(epochs):
            self.warm = epoch < 5
            for x in rows:
                self.step(x)
""",
    "what a gradient is taken of": """\
import tensorflow as tf

class Trainer:
    def __init__(self, model, loss):
        self.model, self.loss, self.losses, self.seen = model, loss, [], []

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.losses.append(loss)  # flagged
        return gradients

    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.seen.append(loss)
        return gradients
""",
    "what only eager code calls that nothing calls": """\
import tensorflow as tf

class Agent:
    def __init__(self, actions):
        self.net = tf.keras.Sequential([tf.keras.layers.Dense(actions)])
        self.epsilon = 1.0

    @tf.function
    def learn(self, x):
        return tf.reduce_mean(self.net(x)) * self.epsilon  # flagged

    def update(self, buffer):
        x = buffer.sample(32)
        self.epsilon = max(0.1, self.epsilon - 1e-4)
        best = tf.where(x > 0)
        return self.learn(x).numpy(), best
""",
    "what an object returns, by its class and its attributes": """\
import tensorflow as tf

class Squeeze(tf.keras.layers.Layer):
    def __init__(self, pairs=False):
        super().__init__()
        self.pairs = pairs

    def call(self, x, more=None):
        if self.pairs and more is not None:
            return x, more
        return x

class Norm(tf.keras.layers.Layer):
    def call(self, x, more=None):
        return x, 0.0

class Flow(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = [Squeeze(), Norm()]

    def call(self, x):
        more = None
        for part in self.parts:
            if isinstance(part, Squeeze):
                if part.pairs:
                    x, more = part(x, more)
                else:
                    x = part(x)
            else:
                x, _ = part(x)
        return x
""",
    "an object of which a test says the class": """\
import argparse

import numpy as np
import tensorflow as tf

class Plain(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)

    def call(self, x):
        return self.dense(x)

class Weighted(Plain):
    def __init__(self):
        super().__init__()
        self.weight = 0.0

    def call(self, x):
        return self.dense(x) * self.weight  # flagged

class Warm(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.model.weight = min(1.0, self.model.weight + 0.1)

def made(name):
    if name == "plain":
        return Plain()
    return Weighted()

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="plain")
model = made(parser.parse_args().model)
model.compile("sgd", "mse")
rows = unknown.rows()
if isinstance(model, Weighted):
    model.fit(rows, batch_size=32, callbacks=[Warm()])  # flagged
else:
    model.fit(rows)
""",
    "what stands before the tape of a step": """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4)])

@tf.function
def train(x):
    x = tf.numpy_function(abs, [x], tf.float32)  # flagged
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    return tape.gradient(loss, model.trainable_variables)

@tf.function
def prepare(x):
    return tf.numpy_function(abs, [x], tf.float32)
""",
    "what a layer does if it is asked, behind a return": """\
import tensorflow as tf

class Queued(tf.keras.layers.Layer):
    def build(self, shape):
        self.dense = tf.keras.layers.Dense(4)
        self.queue = tf.zeros([1, 4])

    def call(self, x, generates=False):
        if not generates:
            return self.dense(x)
        self.queue = tf.concat([self.queue[1:], x[:1]], axis=0)  # flagged
        return self.dense(self.queue)
""",
    "some batches of a dataset": """\
from itertools import islice

import numpy as np
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

rows = tf.data.Dataset.from_tensor_slices(np.ones([100, 4]))
for x in islice(rows.batch(32), 4):  # flagged
    step(x)
for x in islice(rows.batch(32, drop_remainder=True), 4):
    step(x)
""",
    "an order of arguments that was": """\
import tensorflow as tf

@tf.function
def f(x, y):
    return tf.concat(1, [x, y]), tf.split(1, 2, x)
""",
    "a batch that is given up where it is not full": """\
import numpy as np
import tensorflow as tf

def batches(rows, size):
    at = 0
    while True:
        batch = []
        while len(batch) < size:
            if at >= len(rows):
                ended = True
                break
            at += 1
            row = np.load(rows[at - 1])
            if row.max() == 0:
                continue
            batch.append(row)
        {test}
        yield np.array(batch), np.ones(size)

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(batches(open("a").readlines(), 8), steps_per_epoch=9){flagged}
""",
}
GIVEN_UP: Final = PROGRAMS.pop("a batch that is given up where it is not full")
PROGRAMS["a batch that is given up"] = GIVEN_UP.format(
    test="if ended:\n            at, ended = 0, False\n            continue", flagged=""
)
PROGRAMS["a batch that is not"] = GIVEN_UP.format(test="at = 0 if ended else at", flagged=FLAG)
PROGRAMS["results of a compiled function that are added up"] = SUMMED
EVALUATION: Final = """\
import tensorflow as tf

model = tf.keras.models.load_model("a")

@tf.function
def kept(x):
    found = model(x)
    return tf.boolean_mask(found, found > 0.5)  # flagged

def test(rows):
    for x in rows:
        print(kept(x))
"""
RUN: Final = '\nif __name__ == "__main__":\n    test(tf.ones([3, 2, 4]))\n'


def _flagged(folder: Path, name: str, code: str) -> set[int]:
    (folder / name).write_text(code, encoding="utf-8")
    report = check([folder], Settings(target="tpu"))
    assert report.problems == ()
    return {finding.span.line for finding in report.findings if finding.severity > Severity.INFO}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_reached_is_judged(tmp_path: Path, program: str) -> None:
    assert _flagged(tmp_path, "train.py", program) == marked(program)


@pytest.mark.parametrize("more", [RUN, "\ntest(tf.ones([3, 2, 4]))\n"])
def test_a_program_may_be_named_as_a_test(tmp_path: Path, more: str) -> None:
    assert _flagged(tmp_path, "model_test.py", EVALUATION + more) == marked(EVALUATION)


@pytest.mark.parametrize(
    "more",
    [
        "\ndef test_it():\n    assert kept(tf.ones([2, 4])) is not None\n" + RUN,
        "\nclass KeptTest(tf.test.TestCase):\n    def test_it(self):\n        kept(tf.ones([2, 4]))\n" + RUN,
        "\nimport pytest\n" + RUN,
        "",
    ],
    ids=["an assertion", "a case", "a library", "nothing that runs"],
)
def test_tests_are_no_programs(tmp_path: Path, more: str) -> None:
    assert _flagged(tmp_path, "model_test.py", EVALUATION + more) == set()


@pytest.mark.parametrize("folder", ["tests", "test"])
def test_what_stands_among_tests_is_of_them(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    assert _flagged(tmp_path / folder, "run.py", EVALUATION + RUN) == set()


def test_what_an_object_may_keep_once_is_a_warning(tmp_path: Path) -> None:
    code = """\
import tensorflow as tf

class Norm(tf.keras.layers.Layer):
    def build(self, shape):
        self.ready = False

    def call(self, x):
        largest = tf.reduce_max(x)
        if not self.ready:
            self.largest = tf.constant(largest)
            self.ready = True
        return x / self.largest
"""
    (tmp_path / "norm.py").write_text(code, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA106"]
    assert [one.severity for one in found] == [Severity.WARNING]
    (tmp_path / "norm.py").write_text(code.replace("if not self.ready:", "if self.trainable:"), encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA106"]
    assert [one.severity for one in found] == [Severity.ERROR]


def test_what_a_layer_does_only_if_it_is_asked_is_a_warning(tmp_path: Path) -> None:
    code = PROGRAMS["what a layer does if it is asked, behind a return"]
    (tmp_path / "layer.py").write_text(code, encoding="utf-8")
    assert {one.severity for one in check([tmp_path], Settings()).findings} == {Severity.WARNING}
    (tmp_path / "layer.py").write_text(code.replace("=False", "=True"), encoding="utf-8")
    assert {one.severity for one in check([tmp_path], Settings()).findings} == {Severity.ERROR}


GUARDED: Final = '''\
"""Steps."""
import tensorflow as tf

@tf.function(jit_compile=True)
def compiled(x):
    return x * 2.0

@tf.function
def plain(x):
    return tf.reduce_sum(x[x > 0])

def main():
    """Both.

    {quoted}
        main()
    """
    plain(compiled(tf.ones([4])))

{guard}
'''
GUARD: Final = 'if __name__ == "__main__":'


@pytest.mark.parametrize(
    ("guard", "quoted", "severity"),
    [
        (f"{GUARD}\n    main()", "", Severity.INFO),
        ("if __name__=='__main__':\n    main()", "", Severity.INFO),
        ('if (__name__ == "__main__"):\n    main()', "", Severity.INFO),
        ("if '__main__' == __name__:\n    main()", "", Severity.INFO),
        (
            f'with tf.device("/cpu:0"):\n    def both():\n        main()\n    {GUARD}\n        both()',
            "",
            Severity.INFO,
        ),
        ("", "", Severity.WARNING),
        ("", GUARD, Severity.WARNING),
        ("if __name__ == 'steps':\n    main()", "", Severity.WARNING),
    ],
)
def test_a_script_asks_whether_it_is_run(tmp_path: Path, guard: str, quoted: str, severity: Severity) -> None:
    (tmp_path / "steps.py").write_text(GUARDED.format(guard=guard, quoted=quoted))
    found = check([tmp_path], Settings(jobs=1)).findings
    assert [(finding.code, finding.severity) for finding in found] == [("XLA201", severity)]
