"""Programs that run their steps line by line: a switch says so, or nothing is made a `tf.function`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SWITCHED: Final = """\
import sys
import tensorflow as tf

{}

@tf.function{}
def double(x):
    return x * 2.0

double(tf.ones([3]))
"""
ON: Final = "tf.config.run_functions_eagerly(True)"
ASKED: Final = "(jit_compile=True)"
# What stands above the function, its settings, the target, and whether that keeps XLA from compiling it.
SWITCHES: Final = {
    "on": (ON, ASKED, None, True),
    "on, by name": ("tf.config.run_functions_eagerly(run_eagerly=True)", ASKED, None, True),
    "by the old name": ("tf.config.experimental_run_functions_eagerly(True)", ASKED, None, True),
    "for a target": (ON, "", "tpu", True),
    "in a function": (f"def debug():\n    {ON}\n\ndebug()", ASKED, None, True),
    "where the file is run": (f'if __name__ == "__main__":\n    {ON}', ASKED, None, True),
    "nobody asks": (ON, "", None, False),
    "off": ("tf.config.run_functions_eagerly(False)", ASKED, None, False),
    "on and off": (f"{ON}\ntf.config.run_functions_eagerly(False)", ASKED, None, False),
    "off and on": (f"tf.config.run_functions_eagerly(False)\n{ON}", ASKED, None, True),
    "as a flag says": ('tf.config.run_functions_eagerly("-d" in sys.argv)', ASKED, None, False),
    "if a flag says so": (f'if "-d" in sys.argv:\n    {ON}', ASKED, None, False),
    "if it works": (f"try:\n    {ON}\nexcept AttributeError:\n    pass", ASKED, None, False),
    "never called": (f"def debug():\n    {ON}", ASKED, None, False),
}
STEP: Final = """\
import tensorflow as tf
from elsewhere import Trained, keep

class Base{}:
    pass

class Agent(Base):
    def __init__(self, model):
        self.model, self.optimizer = model, tf.keras.optimizers.Adam()

{}
    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x) - y))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        {}

{}
"""
TAKES: Final = "self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))"
# The base, a decorator, what becomes of the gradients, what else stands in the file, and whether nothing compiles it.
STEPS: Final = {
    "alone": ("", "", TAKES, "", True),
    "of Python's own": ("(object)", "", TAKES, "", True),
    "of a module": ("(tf.Module)", "", TAKES, "", True),
    "with another optimizer": ("", "", "self.optimizer.apply(gradients, self.model.trainable_variables)", "", True),
    "of somebody else's class": ("(Trained)", "", TAKES, "", False),
    "of a model": ("(tf.keras.Model)", "", TAKES, "", False),
    "with a decorator": ("", "    @keep", TAKES, "", False),
    "no step": ("", "", "return gradients", "", False),
    "beside a function": ("", "", TAKES, "@tf.function\ndef run(agent, x, y):\n    agent.train(x, y)", False),
    "beside a compiled one": ("", "", TAKES, "@tf.function(jit_compile=True)\ndef f(x):\n    return x", False),
    "beside a call": ("", "", TAKES, "f = tf.function(lambda x: x)", False),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_to_eager_execution(name: str, tmp_path: Path) -> None:
    switch, settings, target, kept = SWITCHES[name]
    (tmp_path / "m.py").write_text(SWITCHED.format(switch, settings), encoding="utf-8")
    found = check([tmp_path], Settings(target=target)).findings
    assert [(one.code, one.severity) for one in found] == [("XLA506", Severity.WARNING)] * kept


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_nothing_calls(name: str, tmp_path: Path) -> None:
    base, decorator, then, beside, kept = STEPS[name]
    (tmp_path / "m.py").write_text(STEP.format(base, decorator, then, beside), encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA506"]
    assert [one.severity for one in found] == [Severity.INFO] * kept


def test_a_step_that_another_file_may_compile(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(STEP.format("", "", TAKES, ""), encoding="utf-8")
    user = "import tensorflow as tf\nimport agents\n\nrun = tf.function(agents.Agent(None).train)\n"
    (tmp_path / "runner.py").write_text(user, encoding="utf-8")
    assert not check([tmp_path], Settings(target="tpu")).findings
