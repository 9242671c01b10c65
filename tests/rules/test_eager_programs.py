"""Programs that run their steps line by line: a switch says so, or nothing is made a `tf.function`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.codes import BUT_FOR_STRATEGY
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
EVALUATE: Final = """
def evaluate():
    with tf.compat.v1.Session() as session:
        {}
        return session.run(tf.constant(1.0))

evaluate()
"""
FITTED: Final = 'model.compile("sgd", "mse", run_eagerly=True, jit_compile=True)'
MADE: Final = "model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])"
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
    "a session of something else": (f"{ON}\n{EVALUATE.format('')}", ASKED, None, True),
    "graphs from there on": (f"{ON}\ntf.compat.v1.disable_eager_execution()", ASKED, None, False),
}
# What has Keras run a model line by line, or does not, since a session's graph is built where it says so.
SESSIONS: Final = {
    "beside": (f"{EVALUATE.format('')}{MADE}\n{FITTED}\n", True),
    "before, in the same function": (f"session = tf.compat.v1.InteractiveSession()\n{MADE}\n{FITTED}\n", True),
    "around": (f"{MADE}\n{EVALUATE.format(FITTED)}", False),
    "around, by a call": (f"{MADE}\ndef go():\n    {FITTED}\n{EVALUATE.format('go()')}", False),
    "no eager execution": (f"tf.compat.v1.disable_eager_execution()\n{MADE}\n{FITTED}\n", False),
}


@pytest.mark.parametrize(("program", "found"), SESSIONS.values(), ids=SESSIONS)
def test_a_session_counts_where_the_model_is_compiled_in_it(program: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(f"import tensorflow as tf\n\n{program}", encoding="utf-8")
    told = {one.code for one in check([tmp_path], Settings(jobs=1)).findings}
    assert ("XLA506" in told) == found


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

MODEL: Final = """\
import os
import tensorflow as tf
from elsewhere import build, data

class Options:
    pass

def made():
    from tensorflow import keras
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

model = made()
{}
"""
FIT: Final = "model.fit(data)"
# What is done to a model, and whether Keras runs it line by line because of that.
SET: Final = {
    "by compile": f'model.compile("adam", "mse", run_eagerly=True)\n{FIT}',
    "of a model from elsewhere": f'model = build()\nmodel.compile("adam", "mse", run_eagerly=True)\n{FIT}',
    "in settings": f'how = dict(loss="mse", run_eagerly=True)\nmodel.compile("adam", **how)\n{FIT}',
    "as an attribute": f'model.compile("adam", "mse")\nmodel.run_eagerly = True\n{FIT}',
    "in a class": """
class Network:
    def __init__(self, model):
        self.model = model

    def fit(self, x):
        self.model.compile("adam", "mse")
        self.model.run_eagerly = True
        self.model.fit(x)
""",
}
UNSET: Final = {
    "by compile": f'model.compile("adam", "mse", run_eagerly=False)\n{FIT}',
    "by compile, as a flag says": f'model.compile("adam", "mse", run_eagerly="DEBUG" in os.environ)\n{FIT}',
    "before compile, which sets it again": f'model.run_eagerly = True\nmodel.compile("adam", "mse")\n{FIT}',
    "behind fit, which has made the step": f'model.compile("adam", "mse")\n{FIT}\nmodel.run_eagerly = True\n{FIT}',
    "if told": f'model.compile("adam", "mse")\nif "DEBUG" in os.environ:\n    model.run_eagerly = True\n{FIT}',
    "as a flag says": f'model.compile("adam", "mse")\nmodel.run_eagerly = "DEBUG" in os.environ\n{FIT}',
    "off": f'model.compile("adam", "mse")\nmodel.run_eagerly = False\n{FIT}',
    "of another object": f'model.compile("adam", "mse")\nhow = Options()\nhow.run_eagerly = True\n{FIT}',
}
LOOP: Final = """\
import tensorflow as tf
from elsewhere import build, data

{}
def train(model, optimizer):
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        {}

{}
"""
STEPS_ON: Final = "optimizer.apply_gradients(zip(gradients, model.trainable_variables))"
CALLED: Final = "train(build(), tf.keras.optimizers.Adam())"
COMPILED: Final = "@tf.function(jit_compile=True)\ndef double(x):\n    return x * 2.0\n"
TPU: Final = """\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
# What stands above the loop, what becomes of the gradients, what calls it, and whether that trains line by line.
LOOPS: Final = {
    "beside a compiled function": (COMPILED, STEPS_ON, CALLED, True),
    "with another call": (COMPILED, "optimizer.apply(gradients, model.trainable_variables)", CALLED, True),
    "of an optimizer from elsewhere": (COMPILED, STEPS_ON, "train(*build())", True),
    "beside a TPU": (TPU, STEPS_ON, CALLED, True),
    "in the scope of a TPU": (TPU, STEPS_ON, f"with strategy.scope():\n    {CALLED}", True),
    "with autoclustering": ("tf.config.optimizer.set_jit(True)", STEPS_ON, CALLED, True),
    "nobody asks": ("", STEPS_ON, CALLED, False),
    "beside a function": ("@tf.function\ndef double(x):\n    return x * 2.0\n", STEPS_ON, CALLED, False),
    "gradients alone": (COMPILED, "print(gradients)", CALLED, False),
    "compiled": (f"{COMPILED}\n@tf.function", STEPS_ON, CALLED, False),
    "compiled where it is called": (COMPILED, STEPS_ON, "tf.function(train)(build(), None)", False),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_to_eager_execution(name: str, tmp_path: Path) -> None:
    switch, settings, target, kept = SWITCHES[name]
    (tmp_path / "m.py").write_text(SWITCHED.format(switch, settings), encoding="utf-8")
    found = check([tmp_path], Settings(target=target)).findings
    assert [(one.code, one.severity) for one in found] == [("XLA506", Severity.WARNING)] * kept


def _about_eager(code: str, folder: Path, target: str | None) -> list[Severity]:
    (folder / "m.py").write_text(code, encoding="utf-8")
    return [one.severity for one in check([folder], Settings(target=target)).findings if one.code == "XLA506"]


@pytest.mark.parametrize("name", SET)
def test_a_model_that_is_run_line_by_line(name: str, tmp_path: Path) -> None:
    assert _about_eager(MODEL.format(SET[name]), tmp_path, "tpu") == [Severity.WARNING]


@pytest.mark.parametrize("name", UNSET)
def test_a_model_that_is_compiled(name: str, tmp_path: Path) -> None:
    assert not _about_eager(MODEL.format(UNSET[name]), tmp_path, "tpu")


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_that_trains_line_by_line(name: str, tmp_path: Path) -> None:
    above, then, call, kept = LOOPS[name]
    assert _about_eager(LOOP.format(above, then, call), tmp_path, None) == [Severity.WARNING] * kept


def test_a_step_that_a_test_alone_runs(tmp_path: Path) -> None:
    """A program may compile it; what runs it beside that, is no test."""
    (tmp_path / "train.py").write_text(LOOP.format(COMPILED, STEPS_ON, ""), encoding="utf-8")
    user = f"import tensorflow as tf\nfrom elsewhere import build\nfrom train import train\n\n{CALLED}\n"
    (tmp_path / "train_test.py").write_text(
        user.replace("train(build", "def test_it():\n    train(build"), encoding="utf-8"
    )
    assert not [one for one in check([tmp_path], Settings()).findings if one.code == "XLA506"]
    told = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA506"]
    assert {one.severity for one in told} == {Severity.INFO}
    (tmp_path / "run.py").write_text(user, encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings()).findings if one.code == "XLA506"] == ["XLA506"]


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
    assert not check([tmp_path], Settings(target="tpu", codes=BUT_FOR_STRATEGY)).findings


MINIMIZED: Final = """\
import tensorflow as tf

weights = tf.Variable(tf.ones([3]))
optimizer = tf.keras.optimizers.SGD(0.1)

def loss():
    return tf.reduce_sum(weights ** 2)

{}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for _ in range(100):\n    optimizer.minimize(loss, var_list=[weights])", True),
        ("for _ in range(100):\n    optimizer.minimize(lambda: loss() * 2.0, [weights])", True),
        ("def train():\n    optimizer.minimize(loss, [weights])\n\nfor _ in range(100):\n    train()", True),
        ("@tf.function\ndef train():\n    optimizer.minimize(loss, [weights])\n\ntrain()\ntrain()", False),
        ("import scipy.optimize\nfor _ in range(100):\n    scipy.optimize.minimize(loss, [weights])", False),
    ],
)
def test_an_optimizer_that_minimizes_a_function(text: str, *, found: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MINIMIZED.format(text), encoding="utf-8")
    findings = check([tmp_path], Settings(target="tpu")).findings
    assert ("XLA506" in {one.code for one in findings}) == found


PLAYED: Final = """\
import gym
import numpy as np
import tensorflow as tf

env = gym.make("CartPole-v1")
model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(2, activation="softmax")])
optimizer = tf.keras.optimizers.Adam()
for episode in range(100):
    state, done, losses = env.reset(), False, []
    with tf.GradientTape() as tape:
        while {}:
            probabilities = model(state[None])
            action = np.random.choice(2)
            losses.append(tf.math.log(probabilities[0, action]))
            state, reward, done = env.step(action)
            {}
        loss = tf.reduce_sum(losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


@pytest.mark.parametrize(
    ("goes_on", "last", "judged"),
    [
        ("not done", "pass", False),
        ("True", "if done:\n                break", False),
        ("len(losses) < 5", "pass", True),
    ],
)
def test_a_step_that_plays_an_episode_is_no_program(goes_on: str, last: str, *, judged: bool, tmp_path: Path) -> None:
    """Unless the episode ends by itself: then the game can be kept out of the step."""
    (tmp_path / "train.py").write_text(PLAYED.format(goes_on, last), encoding="utf-8")
    codes = {one.code for one in check([tmp_path], Settings(target="tpu")).findings}
    assert ("XLA506" in codes, "XLA603" in codes) == (True, judged)


def test_a_program_that_trains_line_by_line_has_no_strategy_either(tmp_path: Path) -> None:
    step = (
        "for x, y in tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(8):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_mean((model(x) - y) ** 2)\n"
        "    gradients = tape.gradient(loss, model.trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
    )
    program = tmp_path / "train.py"
    program.write_text(f"import tensorflow as tf\n\n{MADE}\noptimizer = tf.keras.optimizers.SGD(0.1)\n{step}")
    found = check([program], Settings(target="tpu")).findings
    assert [(one.code, one.span.line) for one in found if one.code in ("XLA506", "XLA512")] == [
        ("XLA506", 6),
        ("XLA512", 9),
    ]


EXPLAINED = """
import tensorflow as tf

def heat(picture, model):
    inner = tf.keras.Model([model.inputs], [model.get_layer("conv").output, model.output])
    with tf.GradientTape() as tape:
        features, scores = inner(picture)
        best = tf.reduce_max(scores)
    return tape.gradient(best, features)

def explain(picture, model):
    return heat(picture, model)

model = tf.keras.models.load_model("model.keras")
picture = tf.ones([1, 8, 8, 3])
{}
"""


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("explain(picture, model)", Severity.INFO),
        ("[explain(picture, model) for _ in range(8)]", Severity.WARNING),
        ("for _ in range(8):\n    explain(picture, model)", Severity.WARNING),
    ],
    ids=["once", "in a comprehension", "in a loop"],
)
def test_a_gradient_that_a_script_takes_once_is_information(use: str, severity: Severity, tmp_path: Path) -> None:
    (tmp_path / "explain.py").write_text(EXPLAINED.format(use), encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu")).findings
    assert [(one.span.line, one.severity) for one in found if one.code == "XLA506"] == [(6, severity)]


def test_a_function_that_trains_by_hand_takes_its_gradients_in_a_loop(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\n\ndef train(w, x):\n    for _ in range(100):\n"
        "        with tf.GradientTape() as tape:\n            loss = tf.reduce_sum((w * x) ** 2)\n"
        "        w.assign_sub(0.1 * tape.gradient(loss, w))\n\ntrain(tf.Variable(1.0), tf.ones([4]))\n",
        encoding="utf-8",
    )
    found = check([tmp_path], Settings(target="tpu")).findings
    assert [one.severity for one in found if one.code == "XLA506"] == [Severity.WARNING]
