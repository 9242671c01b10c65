"""Agents and loops that feed as many rows as they have collected, drawn or left: where that varies, and where not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.scripts import HEAD, JIT, MODEL, Script, deserved, one
from xlalint.linter.run import check
from xlalint.settings.config import Settings

MEMORY = """\
import random
from collections import deque

class Agent:
    def __init__(self):
        self.memory = deque(maxlen=2000)

    def remember(self, state, target):
        self.memory.append((state, target))

    def replay(self, size):
        {}rows = random.sample(self.memory, {})
        model.train_on_batch(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))

agent = Agent()
for _ in range(100):
    agent.remember(np.ones(4), np.ones(1))
    {}agent.replay(32)
"""
RING = """\
class Memory:
    def __init__(self):
        self.states, self.count = np.zeros((1000, 4), "float32"), 0

    def add(self, state):
        self.states[self.count % 1000] = state
        self.count += 1

    def sample(self, size):
        held = min(self.count, 1000)
        return self.states[np.random.choice(held, {}, replace=False)]

memory = Memory()
for _ in range(100):
    memory.add(np.ones(4))
    step(memory.sample(32))
"""
EPISODE = """\
class Episode:
    def __init__(self):
        self.states = []

    def store(self, state):
        self.states.append(state)

    def learn(self):
        states = np.reshape(np.vstack(self.states), {})
        model.predict_on_batch(states)
        self.states.clear()

episode = Episode()
for _ in range(9):
    for place in range(1000):
        episode.store(np.ones(4))
        if np.random.rand() < 0.1:
            break
    episode.learn()
"""
STACKED = """\
def load(rows):
    cut = [rows[i:] for i in range(9)]
    return np.array([row[:3] for row in cut]), np.array(cut)

def train(rows):
    x, y = load(rows)
    for _ in range(10):
        model.predict_on_batch(y)

train(list(range(99)))
"""
FILLED = """\
import collections

def load():
    found = collections.defaultdict(list)
    for user in range(10):
        for i in range(user):
            if i % 2:
                found["a"].append(np.ones(4))
    return np.array(found["a"])

def train():
    x = load()
    for _ in range(10):
        model.predict_on_batch(x)

train()
"""
PADDED = """\
def padded(rows):
    longest = max([len(row) for row in rows])
    return np.array([row + [0] * (longest - len(row)) for row in rows])

data = [[1] * n for n in range(1, 101)]
{}
"""
LOADED = """\
def load(lines, size):
    loaded, batch, longest = [], [], 0
    for line in lines:
        words = line.split()
        if len(words) > longest:
            longest = len(words)
        batch.append(words)
        if len(batch) == size:
            loaded.append((batch, longest))
            batch, longest = [], 0
    return loaded

def encode(batch):
    rows, longest = batch
    return np.array([np.zeros([longest + 1, 3]) for row in rows])

for batch in load(open("a.txt").read().splitlines(), 8):
    step(encode(batch))
"""
PIECES = """\
def pieces(rows, size):
    piece = []
    for row in rows:
        piece.append(row)
        if len(piece) == size:
            yield np.array(piece)
            piece = []
{}
for piece in pieces(np.ones((100, 4)), 32):
    step(piece)
"""
DRAWN = """\
import random

memory = [(np.ones(4), np.ones(1))] * 100
for _ in range(9):
    states, targets = [], []
    for state, target in random.sample(memory, {}):
        states.append(state)
        targets.append(target)
    model.fit(np.array(states), np.array(targets), batch_size=32)
"""
CUT = """\
def load(path, size):
    x = np.load(path)
    {}

def main(size):
    x = load("a.npy", size)
    model.fit(x, x[:, :1], batch_size=size)

main(32)
"""
GENERATOR = """\
def batches(x, size):
    while True:
        for i in range(0, {}, size):
            yield x[i:i + size], x[i:i + size, :1]

model.fit{}(batches(np.load("a.npy"), 32), steps_per_epoch=9)
"""
EAGER = """\
x = np.load("a.npy")
model.fit(x, x[:, :1])
"""
OPTIONAL = """\
iterator = iter(tf.data.Dataset.from_tensor_slices(np.ones((100, 4))).batch({}))
while True:
    found = iterator.get_next_as_optional()
    if not found.has_value():
        break
    step(found.get_value())
"""
CHOSEN = """\
import sys

rows = tf.data.Dataset.from_tensor_slices(np.ones((100, 4)))
if len(sys.argv) > 1:
    rows = rows.shuffle(100)
else:
    rows = rows.repeat(2)
iterator = iter(rows.batch({}))
while True:
    found = iterator.get_next_as_optional()
    if not found.has_value():
        break
    step(found.get_value())
"""
ENCODED = """\
def encode(words, length):
    return words + [0] * (length - len(words))

def batches(lines, size):
    found, batch, longest = [], [], 0
    for line in lines:
        words = line.split()
        longest = max(longest, len(words)) if len(words) > 3 else longest + 1
        batch.append([1] * len(words))
        if len(batch) == size:
            found.append((batch, longest))
            batch, longest = [], 0
    return found

for batch, longest in batches(open("a.txt").read().splitlines(), 8):
    step(np.array([encode(words, longest) for words in batch]))
"""
MADE = """\
def make():
    @tf.function(jit_compile=True)
    def run(x):
        return tf.reduce_sum(x)

    return run

def epoch(batches):
    {}run = make()
    for x in batches:
        run(x)

for _ in range(9):
    epoch([tf.ones([3]), tf.zeros([3])])
"""
SCRIPTS = {
    "lists that one loop fills are as long": one(
        f"""{HEAD}{JIT}
def play(env):
    states, rewards, done = [], [], False
    while not done:
        state, reward, done = env.step(0)
        states.append(state)
        rewards.append(reward)
    step(np.array(states), np.array(rewards))
    step(np.array(rewards))
    names = []
    while env.more():
        names.append(env.name())
    step(np.array(names))

for _ in range(9):
    play(open("env"))
""",
        ("XLA308", "step(np.array(states), np.array(rewards))"),
        ("XLA308", "step(np.array(names))"),
    ),
    # -- rows of a memory --
    "as many rows as a memory holds yet": one(
        HEAD + MODEL + MEMORY.format("", "min(size, len(self.memory))", ""), ("XLA308", "model.train_on_batch(")
    ),
    "the memory is asked before": one(
        HEAD
        + MODEL
        + MEMORY.format("if len(self.memory) < size:\n            return\n        ", "min(size, len(self.memory))", "")
    ),
    "whoever calls asks the memory": one(
        HEAD + MODEL + MEMORY.format("", "min(size, len(self.memory))", "if len(agent.memory) > 32:\n        ")
    ),
    "a number of rows": one(HEAD + MODEL + MEMORY.format("", "size", "")),
    "noise as long as rows that are drawn, each joined to something": one(
        f"""{HEAD}import random

{JIT}
def train(env, goal):
    memory, state = [], env.reset()
    while True:
        joined = np.concatenate((state, goal))
        state = env.step(joined)
        memory.append(joined)
        if len(memory) >= 32:
            rows = np.array(random.sample(memory, 32))
            step(rows, tf.random.normal(rows.shape))

train(None, np.ones(3))
"""
    ),
    "positions of as many rows as there are yet": one(
        HEAD + JIT + RING.format("min(size, held)"), ("XLA308", "step(memory.sample(32))")
    ),
    "as many positions each time": one(HEAD + JIT + RING.format("size")),
    "an episode in another shape": one(
        HEAD + MODEL + EPISODE.format("(-1, 4)"), ("XLA308", "model.predict_on_batch(states)")
    ),
    "what a list was filled with once": one(HEAD + MODEL + FILLED),
    "rows that are stacked once": one(HEAD + MODEL + STACKED),
    "those that a condition holds for": one(
        HEAD
        + MODEL
        + "for _ in range(9):\n    rows = np.random.rand(32, 4)\n"
        + "    model.predict_on_batch(np.array([row for row in rows if row[0] > 0.5]))\n",
        ("XLA308", "model.predict_on_batch("),
    ),
    # -- padding on the host --
    "lists that are padded to the longest of each batch": one(
        HEAD + JIT + PADDED.format("for i in range(10):\n    step(padded(data[i * 10:(i + 1) * 10]))"),
        ("XLA308", "step(padded("),
    ),
    "lists that are padded once": one(
        HEAD + JIT + PADDED.format("x = padded(data)\nfor i in range(10):\n    step(x[i * 10:(i + 1) * 10])")
    ),
    "batches that were loaded with their lengths": one(HEAD + JIT + LOADED, ("XLA308", "step(encode(batch))")),
    "lists that a helper pads to a length of each batch": one(HEAD + JIT + ENCODED, ("XLA308", "step(np.array([")),
    # -- what remains --
    "a generator that yields what remains": one(
        HEAD + JIT + PIECES.format("    if piece:\n        yield np.array(piece)\n"),
        ("XLA302", "if len(piece) == size:"),
    ),
    "a generator that drops what remains": one(HEAD + JIT + PIECES.format("")),
    "a generator for `fit`": one(HEAD + MODEL + GENERATOR.format("len(x)", ""), ("XLA302", "yield x[i:i + size]")),
    "a generator for `fit_generator`": one(
        HEAD + MODEL + GENERATOR.format("len(x)", "_generator"), ("XLA302", "yield x[i:i + size]")
    ),
    "a generator of whole batches": one(HEAD + MODEL + GENERATOR.format("len(x) - size + 1", "")),
    "rows drawn into lists, one batch of them": one(HEAD + MODEL + DRAWN.format(32)),
    "rows drawn into lists, a batch and some": one(HEAD + MODEL + DRAWN.format(48), ("XLA302", "model.fit(")),
    "arrays that are cut to whole batches": one(
        HEAD + MODEL + CUT.format("whole = len(x) // size * size\n    return x[:whole]")
    ),
    "arrays without what remains": one(HEAD + MODEL + CUT.format("rest = len(x) % size\n    return x[:len(x) - rest]")),
    "arrays that are cut in half": one(
        HEAD + MODEL + CUT.format("half = len(x) // 2\n    return x[:half]"), ("XLA302", "model.fit(")
    ),
    **{
        f"pieces by `{cutting}`": one(
            f"{HEAD}{JIT}from {module} import {cutting.partition('(')[0]}\n\nx = np.ones((100, 4))\n"
            f"for rows in {cutting}:\n    step({rows})\n",
            *(() if whole else (("XLA302", f"step({rows})" if rows == "x[rows]" else f"for rows in {cutting}"),)),
        )
        for module, cutting, rows, whole in (
            ("sklearn.utils", "gen_batches(len(x), 32)", "x[rows]", False),
            ("sklearn.utils", "gen_batches(100, 25)", "x[rows]", True),
            ("sklearn.utils", "gen_even_slices(len(x), 3)", "x[rows]", False),
            ("more_itertools", "chunked(x, 32)", "np.stack(rows)", False),
            ("itertools", "batched(x, 32)", "np.stack(rows)", False),
        )
    },
    "an evaluation in batches of a size": one(
        HEAD
        + MODEL
        + "def main(path):\n    x = np.load(path)\n    model.evaluate(x, x[:, :1], batch_size=64)\n\nmain('a')\n",
        ("XLA302", "model.evaluate("),
    ),
    "a model that is told to run eagerly later": one(HEAD + MODEL + "model.run_eagerly = True\n" + EAGER),
    "a model that is not": one(HEAD + MODEL + EAGER, ("XLA302", "model.fit(")),
    "what an iterator may have": one(HEAD + JIT + OPTIONAL.format(32), ("XLA302", "iterator = ")),
    "what an iterator may have, whole": one(HEAD + JIT + OPTIONAL.format(25)),
    "one of two datasets": one(HEAD + JIT + CHOSEN.format(32), ("XLA302", "iterator = ")),
    "one of two datasets, whole": one(HEAD + JIT + CHOSEN.format(25)),
    "inputs in several dicts": one(
        HEAD
        + MODEL
        + "def main(table):\n    user, item = {'age': table['age'].values}, {'year': table['year'].values}\n"
        + "    model.fit([user, item], table['label'].values, batch_size=64)\n\n\n"
        + "import pandas\n\nmain(pandas.read_csv('a'))\n",
        ("XLA302", "model.fit("),
    ),
    "the same flag in two scripts": Script(
        {
            name: f"""{HEAD}{JIT}
from absl import flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("batch", {size}, "examples of one step")
for x in tf.data.Dataset.from_tensor_slices(np.ones((100, 4))).batch(FLAGS.batch):
    step(x)
"""
            for name, size in (("first.py", 32), ("second.py", 25))
        },
        (("XLA302", "for x in tf.data"),),
    ),
    # -- functions made anew --
    "a function that each epoch makes": one(HEAD + MADE.format(""), ("XLA307", "run = make()")),
    "a function for the model that each fold makes": one(
        HEAD + "import keras\n\n" + MADE.format("net = keras.Sequential([keras.layers.Dense(2)])\n    ")
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("self.states.append(state)\n        self.rewards.append(reward)", 1),
        ("self.states.append(state)\n        self.reward(reward)", 2),
    ],
)
def test_lists_that_one_method_fills_have_one_cause(stored: str, found: int, tmp_path: Path) -> None:
    program = f"""\
{HEAD}{JIT}
@tf.function(jit_compile=True)
def learn(states, rewards):
    return tf.reduce_sum(states) * tf.reduce_sum(rewards)

class Episode:
    def __init__(self):
        self.states, self.rewards = [], []

    def store(self, state, reward):
        {stored}

    def reward(self, reward):
        if reward > 0:
            self.rewards.append(reward)

    def learn(self):
        learn(np.array(self.states), np.array(self.rewards))
        self.states, self.rewards = [], []

episode = Episode()
for _ in range(9):
    done = False
    while not done:
        episode.store(np.ones(4), 1.0)
        done = np.random.rand() < 0.1
    episode.learn()
"""
    (tmp_path / "main.py").write_text(program, encoding="utf-8")
    codes = [finding.code for finding in check([tmp_path], Settings()).findings]
    assert codes == ["XLA308"] * found


@pytest.mark.parametrize("installed", [False, True])
def test_a_script_in_a_package_runs_it(installed: bool, tmp_path: Path) -> None:
    """Unless the package is made to be installed, when its modules that can be run are tools."""
    folder = tmp_path / "agents"
    folder.mkdir()
    agent = f"""{HEAD}import random

{MODEL}
class Memory:
    def __init__(self):
        self.rows = []

    def keep(self, row):
        self.rows.append(row)

    def sample(self, size):
        size = min(size, len(self.rows))
        return random.sample(self.rows, size)

class Agent:
    def __init__(self):
        self.memory = Memory()

    def learn(self):
        states, values = zip(*self.memory.sample(32))
        model.train_on_batch(np.array(states), np.array(values))
"""
    use = ("agent = Agent()", "for _ in range(9):", "    agent.memory.keep((np.ones(4), 1))", "    agent.learn()")
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    body = "".join(f"    {line}\n" for line in use)
    run = f'import numpy as np\nfrom agents.agent import Agent\n\nif __name__ == "__main__":\n{body}'
    (folder / "run.py").write_text(run, encoding="utf-8")
    if installed:
        (tmp_path / "setup.py").write_text("from setuptools import setup\n\nsetup()\n", encoding="utf-8")
    found = [finding.code for finding in check([tmp_path], Settings()).findings]
    assert ("XLA308" in found) is not installed
