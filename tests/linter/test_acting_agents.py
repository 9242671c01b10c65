"""Loops that ask a model unless chance decides otherwise, as agents do that explore."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import random
import numpy as np
import tensorflow as tf
from worlds import make

class Agent:
    def __init__(self, decay=0.99):
        self.model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
        self.epsilon, self.decay, self.memory = 1.0, decay, []
        self.rng = np.random.default_rng()

    def best(self, state):
        return np.argmax(self.model(state)[0])

    def act(self, state, training=True):
        ACT

    def decays(self):
        self.epsilon = max(0.01, self.epsilon * self.decay)

agent, world = Agent(), make()
for episode in range(1000):
    state = world.reset()
    for _ in range(500):
        state, reward, done = world.step(agent.act(state))
        agent.memory.append(state)
        agent.epsilon *= 0.999
        if done:
            break
    agent.decays()
"""
LOOP: Final = """\
import random
import tensorflow as tf
from pictures import pictures

model = tf.keras.models.load_model("model.keras")
for picture in pictures:
    if CONDITION:
        print(model(picture))
"""


def told(folder: Path, program: str) -> list[tuple[Severity, bool]]:
    (folder / "program.py").write_text(program, encoding="utf-8")
    findings = check([folder], Settings(target="tpu")).findings
    return [(one.severity, "chance" in one.message) for one in findings if one.code == "XLA517"]


@pytest.mark.parametrize(
    "act",
    [
        "if np.random.random() < self.epsilon:\n            return 1\n        return self.best(state)",
        "if self.epsilon >= random.random():\n            return 1\n        return self.best(state)",
        "return 1 if random.uniform(0, 1) <= self.epsilon else self.best(state)",
        "if not self.rng.random() > self.epsilon:\n            return 1\n        return self.best(state)",
        "if training and np.random.rand(1)[0] < self.epsilon:\n            return 1\n        return self.best(state)",
        "if tf.random.uniform([]) < self.epsilon:\n            return 1\n        return self.best(state)",
        "drawn = random.random()\n        return self.best(state) if drawn > self.epsilon else 1",
        "return 1 if random.random() < 0.2 else self.best(state)",
    ],
)
def test_an_agent_asks_its_model_again_and_again(act: str, tmp_path: Path) -> None:
    assert told(tmp_path, PROGRAM.replace("ACT", act)) == [(Severity.INFO, True)]


@pytest.mark.parametrize(
    "act",
    [
        "return 1 if random.random() < 0.99 else self.best(state)",
        "return self.best(state) if random.randint(0, 99) == 0 else 1",
        "return self.best(state) if state[0] > self.epsilon else 1",
    ],
)
def test_seldom_is_not_told(act: str, tmp_path: Path) -> None:
    assert told(tmp_path, PROGRAM.replace("ACT", act)) == []


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("random.random() < 0.5", [(Severity.WARNING, True)]),
        ("random.random() > 0.5 or picture.large", [(Severity.WARNING, True)]),
        ("random.random() < 0.5 and picture.large", []),
        ("random.random() < 0.01", []),
    ],
)
def test_chance_decides_in_any_loop(condition: str, expected: list[tuple[Severity, bool]], tmp_path: Path) -> None:
    assert told(tmp_path, LOOP.replace("CONDITION", condition)) == expected
