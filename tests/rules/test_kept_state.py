"""XLA607 beside its page: what a layer keeps, where another of its methods has set it before, and where none has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest

from rules.xla607_state_while_tracing import OUT_OF_SCOPE, StateWhileTracing
from tests.compiler.claims import claim
from xlalint.authoring import examples
from xlalint.linter.rule import Bad, Good, Runs
from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .marked import flagged, marked

LAYER: Final = """
import keras

class Centered(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.center = tf.zeros([1, 4])

    def update(self, x):
        self.center = 0.9 * self.center + 0.1 * tf.reduce_mean(x, axis=0, keepdims=True)

    def call(self, x):
        {first}
        self.update(x)
        return x - self.center
{more}
model = keras.Sequential([Centered(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
model.predict(tf.ones([4, 4]), verbose=0)
"""
CHANGE: Final = "self.center = 0.9 * self.center + 0.1 * tf.reduce_mean(x, axis=0, keepdims=True)"
AGAIN: Final = """
import keras

class Scaled(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(4,))
        self.points = np.ones(4, "float32")

    def call(self, x):
        {first}
        self.points = tf.cumsum(tf.nn.softmax(self.scale))
        return x * self.points

model = keras.Sequential([Scaled(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
model.predict(tf.ones([3, 4]), verbose=0)
"""
FOR_A_WHILE: Final = """
import keras

class Scaled(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scale = 1.0

    def scaled(self, x):
        return x * self.scale

    def call(self, x):
        before = self.scale
        self.scale = tf.reduce_mean(x)
        y = self.scaled(x)
        {back}
        return y

model = keras.Sequential([Scaled(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
model.predict(tf.ones([4, 4]), verbose=0)
"""
PUT_BACK: Final = Good(FOR_A_WHILE.format(back="self.scale = before"), Runs(), why="it is put back in the same trace")
NOT_PUT_BACK: Final = Bad(FOR_A_WHILE.format(back="y = y * before"), ["self.scale = tf.reduce_mean(x)"], OUT_OF_SCOPE)
KEPT_ONCE: Final = Bad(
    FOR_A_WHILE.replace("self.scale = 1.0", "pass")
    .replace("before = self.scale\n        self.scale = tf.reduce_mean(x)\n        y = self.scaled(x)", "{first}")
    .format(
        first="""y = tf.reduce_mean(x)
        if hasattr(self, "scale"):
            y = self.scale
        else:
            self.scale = y""",
        back="y = x * y",
    ),
    ["self.scale = y"],
    OUT_OF_SCOPE,
)
SILENT: Final = [
    pytest.param(PUT_BACK, id="put back"),
    pytest.param(
        Good(LAYER.format(first="self.center = tf.zeros([1, 4])", more=""), Runs(), why="each trace begins anew"),
        id="set first",
    ),
    *(
        pytest.param(
            Good(AGAIN.format(first=first), Runs(), why="a tensor of any trace knows its dtype and its shape"), id=first
        )
        for first in (
            "x = tf.cast(x, self.points.dtype)",
            "assert self.points.shape == (4,)",
            "assert self.points is not None",
        )
    ),
]
BY_ANOTHER: Final = Bad(
    LAYER.format(
        first="self.again(x); self.center = tf.zeros([1, 4])",
        more="\n    def again(self, x):\n        self.update(x)\n",
    ),
    [CHANGE],
    OUT_OF_SCOPE,
)
KEPT: Final = [
    pytest.param(NOT_PUT_BACK, id="not put back"),
    pytest.param(KEPT_ONCE, id="kept once"),
    pytest.param(BY_ANOTHER, id="another method sets nothing"),
    *(
        pytest.param(Bad(LAYER.format(first=first, more=""), [CHANGE, *others], OUT_OF_SCOPE), id=name)
        for name, (first, *others) in {
            "nothing": ("x = x + 1.0",),
            "made of what it was": ("self.center = tf.nn.relu(self.center)", "self.center = tf.nn.relu(self.center)"),
            "read beside its shape": (
                "x = x - self.center[: self.center.shape[0]]; self.center = tf.zeros([1, 4])",
                "self.center = tf.zeros([1, 4])",
            ),
            "read first": ("x = x - self.center; self.center = tf.zeros([1, 4])", "self.center = tf.zeros([1, 4])"),
        }.items()
    ),
]


@pytest.mark.parametrize("example", SILENT)
def test_what_no_other_trace_reads_is_not_kept(example: Good) -> None:
    assert list(examples.silent(StateWhileTracing, example)) == []


@pytest.mark.parametrize("example", KEPT)
def test_what_the_caller_reads_first_is_kept(example: Bad) -> None:
    assert list(examples.flagged(StateWhileTracing, example)) == []


def claims() -> Iterator[object]:
    """The same examples, each with what it claims."""
    for case in (*SILENT, *KEPT):
        [example] = cast("tuple[Bad | Good]", case.values)
        yield pytest.param(example, id=case.id, marks=claim(example.code, example.inputs, example.behaviour))


@pytest.mark.compiler
@pytest.mark.parametrize("example", [*claims()])
def test_fit_runs_or_breaks_as_said(example: Bad | Good) -> None:
    assert list(examples.claimed(example, examples.measured_claim(example))) == []


READ_NEXT: Final = """\
import keras
import tensorflow as tf

class Step(keras.Model):
    def train_step(self, x):
        if hasattr(self, "strength"):
            self.strength = tf.reduce_max(x)  # a subclass may have made it a property
        return {"loss": self.loss_of(x)}

class Frozen(keras.layers.Layer):
    def __init__(self, frozen=False):
        super().__init__()
        self.frozen = frozen
        self.scale = 1.0

    def call(self, x):
        if self.frozen:
            scale = self.scale
        else:
            scale = tf.reduce_max(x)
        if not self.frozen:
            self.scale = scale
        return x * scale

class Running(Frozen):
    def call(self, x):
        scale = tf.reduce_max(x) + self.scale
        if not self.frozen:
            self.scale = scale  # flagged
        return x * scale

class Trainer:
    def __init__(self, model):
        self.model = model
        self.losses = {}

    def process(self, x):
        self.losses = {"sum": 0.0}
        return self.model(x)

    def compute(self, y):
        self.losses["sum"] += tf.reduce_sum(y)
        self.losses["sum"] /= 4.0
        return self.losses

    @tf.function
    def step(self, x):
        return self.compute(self.process(x))

class Copies:
    @tf.function
    def update(self, copy, model, rate):
        for i in range(len(model.layers)):
            if isinstance(model.layers[i], keras.layers.BatchNormalization):
                if hasattr(model.layers[i], "gamma"):
                    copy.layers[i].gamma = model.layers[i].gamma - rate
                    tf.print(copy.layers[i].gamma)
            elif isinstance(model.layers[i], keras.layers.LayerNormalization):
                copy.layers[i].gamma = model.layers[i].gamma - rate

inputs = keras.Input([2])
model = keras.Model(inputs, Running()(Frozen()(inputs)))
model.compile("sgd", "mse")
model.fit(tf.ones([4, 2]), tf.ones([4, 2]))
"""


def test_what_a_trace_keeps_is_told_where_the_next_one_reads_it(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, READ_NEXT)} == marked(READ_NEXT)


TRACES: Final = """\
import tensorflow as tf

class Agent:
    def __init__(self):
        self.calls = 0

    @tf.function(jit_compile=True)
    def step(self, x):
        self.calls += 1
        return x * 2.0

def test_agent():
    agent = Agent()
    agent.step(tf.ones([2]))
    assert agent.calls == 1
"""


@pytest.mark.parametrize(("name", "told"), [("agent.py", ["XLA607"]), ("test_agent.py", [])])
def test_tests_may_count_traces(tmp_path: Path, name: str, told: list[str]) -> None:
    (tmp_path / name).write_text(TRACES, encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings()).findings] == told


MADE_ONCE: Final = """\
import sonnet as snt
import tensorflow as tf

class Counter(snt.Module):
    @{decorator}
    def create(self):
        self.total = tf.Variable(tf.zeros([4]))

    def __call__(self, x):
        self.create()
        return x + self.total

COUNTER = Counter()

@tf.function(jit_compile=True)
def f(x):
    return COUNTER(x)
"""


@pytest.mark.parametrize(("decorator", "told"), [("snt.once", []), ("snt.allow_empty_variables", ["XLA409"])])
def test_variables_that_a_library_makes_once(tmp_path: Path, decorator: str, told: list[str]) -> None:
    (tmp_path / "m.py").write_text(MADE_ONCE.format(decorator=decorator), encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings()).findings] == told
