"""Switches for debugging, with which a class compiles nothing: what stands behind them is never traced."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

MARK: Final = "  # flagged"

AGENT: Final = """\
import tensorflow as tf

class Agent:
    def __init__(self, config):
        self.debug = config["debug"]
        self.verbose = config["verbose"]
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        if not config["debug"]:
            self.step = tf.function(self.step, jit_compile=True)

    def step(self, x):
        loss = tf.reduce_sum(self.model(x))
        if self.debug:
            print(loss.numpy())
        if self.verbose:
            print(loss.numpy())  # flagged
        if not self.debug:
            print(loss.numpy())  # flagged
        return loss

class Loud(Agent):
    def step(self, x):
        if self.debug:
            print(x.numpy())
        return super().step(x)

def main(config):
    Agent(config).step(tf.ones([3, 2]))
    Loud(config).step(tf.ones([3, 2]))
"""

EITHER: Final = """\
import tensorflow as tf

class Trainer:
    def __init__(self, eager):
        self.eager = eager
        if self.eager:
            self.step = self._step
        else:
            self.step = tf.function(self._step, jit_compile=True)

    def _step(self, x):
        if self.eager:
            print(x.numpy())
        return x * 2.0

def main(eager):
    Trainer(eager).step(tf.ones([3]))
"""

ON: Final = """\
import tensorflow as tf

class Trainer:
    def __init__(self, debug):
        self.debug = debug
        if self.debug:
            self.step = tf.function(self._step, jit_compile=True)
        else:
            self.step = self._step
        if not self.debug:
            self.rate = float(0.1)

    def _step(self, x):
        if self.debug:
            print(x.numpy())  # flagged
        return x * 2.0

def main(debug):
    Trainer(debug).step(tf.ones([3]))
"""

# Another library's function of that name compiles nothing; TensorFlow's does, whatever it is called.
OTHERS: Final = """\
import tensorflow as tf
from tensorflow import function as compiled
from registry import registry

class Trainer:
    def __init__(self, debug, loud):
        self.debug, self.loud = debug, loud
        if not debug:
            self.step = registry.function(self.step)
        if not self.loud:
            self.step = compiled(self.step)

    @tf.function(jit_compile=True)
    def step(self, x):
        if self.debug:
            print(x.numpy())  # flagged
        if self.loud:
            print(x.numpy())
        return x * 2.0
"""


@pytest.mark.parametrize("code", [AGENT, EITHER, ON, OTHERS])
def test_what_runs_only_without_a_trace_is_not_flagged(tmp_path: Path, code: str) -> None:
    (tmp_path / "m.py").write_text(code, encoding="utf-8")
    found = {finding.span.line for finding in check([tmp_path], Settings()).findings}
    assert found == {number for number, line in enumerate(code.splitlines(), 1) if line.endswith(MARK)}
