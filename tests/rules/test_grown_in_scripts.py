"""Lists and tensors that a loop makes longer, and feeds to what XLA compiles: at the top of a script, where a list that
is written down begins them, and to a model that host code calls for a target."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.rules.marked import MARK, marked
from xlalint.linter.run import check
from xlalint.settings.config import Settings

TOP: Final = """\
import numpy as np
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(tf.cast(x, tf.float32))

tokens = [1, 2]
for number in range(9):
{}
"""
# What the loop does, and whether the list is longer in each iteration.
GROWTH: Final = {
    "as an array": ("step(np.array(tokens))\ntokens.append(number)", True),
    "in a list": ("step(np.array([tokens]))\ntokens.append(number)", True),
    "with a new axis": ("step(np.array(tokens)[None])\ntokens.append(number)", True),
    "as a tensor": ("step(tf.constant([tokens]))\ntokens.append(number)", True),
    "with another dimension": ("step(tf.expand_dims(tokens, 0))\ntokens.append(number)", True),
    "in front": ("step(np.array(tokens))\ntokens.insert(0, number)", True),
    "several at once": ("step(np.array(tokens))\ntokens.extend([number, number])", True),
    "added to": ("step(np.array(tokens))\ntokens += [number]", True),
    "as a sum": ("step(np.array(tokens))\ntokens = tokens + [number]", True),
    "the end alone": ("step(np.array(tokens[-2:]))\ntokens.append(number)", False),
    "one goes": ("step(np.array(tokens))\ntokens = tokens[1:] + [number]", False),
    "begun again": ("tokens = [1, 2]\ntokens.append(number)\nstep(np.array(tokens))", False),
    "another list": ("step(np.array([1, 2]))\ntokens.append(number)", False),
}
EAGER: Final = """\
import numpy as np
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed, self.out = tf.keras.layers.Embedding(9, 4), tf.keras.layers.Dense(9)

    def call(self, x):
        return self.out(self.embed(x))

def generate(net, tokens, count):
    for _ in range(count):
        logits = net(tokens)
{}
    return tokens

generate({}, tf.constant([[1, 2]]), 9)
"""
MODELS: Final = (
    "Net()",
    'tf.keras.models.load_model("net.keras")',
    "tf.keras.Sequential([tf.keras.Input((None,)), tf.keras.layers.Embedding(9, 4), tf.keras.layers.Dense(9)])",
)
NEW: Final = "new = tf.argmax(logits[:, -1:], -1, output_type=tf.int32)\n"
# What becomes of the tokens behind each call of the model, and whether they get longer.
NEXT: Final = {
    "joined": (f"{NEW}tokens = tf.concat([tokens, new], axis=1)", True),
    "joined, as arrays": (f"{NEW}tokens = np.concatenate([tokens, new], axis=1)", True),
    "a window": (f"{NEW}tokens = tf.concat([tokens[:, 1:], new], axis=1)", False),
    "the new one alone": (f"{NEW}tokens = new", False),
    "written into": (f"{NEW}tokens = tf.tensor_scatter_nd_update(tokens, [[0, 1]], new[0])", False),
}


def indented(code: str, by: int) -> str:
    return "\n".join(" " * by + line for line in code.split("\n"))


@pytest.mark.parametrize("name", GROWTH)
def test_a_list_that_is_written_down_and_gets_longer(name: str, tmp_path: Path) -> None:
    code, grows = GROWTH[name]
    text = TOP.format(indented(code, 4))
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = check([tmp_path], Settings()).findings
    assert {one.code for one in found} == ({"XLA308"} if grows else set()), found


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", NEXT)
def test_a_model_that_host_code_calls_for_a_target(name: str, model: str, tmp_path: Path) -> None:
    code, grows = NEXT[name]
    lines = code.split("\n")
    text = EAGER.format(indented("\n".join((*lines[:-1], lines[-1] + MARK * grows)), 8), model)
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu")).findings
    assert {one.span.line for one in found if one.code == "XLA309"} == marked(text)
    assert not check([tmp_path], Settings()).findings  # nobody asks for XLA


REPLAYED: Final = """\
import numpy as np
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

state = {}
for number in range(9):
    state = {}
    step(state)
"""


@pytest.mark.parametrize(
    ("begun", "joined", "grows"),
    [
        ("tf.zeros([1, 4])", "tf.concat(state, 0)", False),
        ("[tf.zeros([1, 4])]", "tf.concat(state, 0)", False),
        ("tf.zeros([1, 4])", "tf.concat([state, tf.ones([1, 4])], 0)", True),
        ("tf.zeros([1, 4])", "tf.concat((tf.ones([1, 4]), state), axis=0)", True),
        ("np.zeros([1, 4])", "np.append(state, np.ones([1, 4]), axis=0)", True),
        ("np.zeros([1, 4])", "np.vstack((state, np.ones([1, 4])))", True),
    ],
)
def test_a_tensor_that_nothing_is_joined_to_stays_as_long(begun: str, joined: str, grows: bool, tmp_path: Path) -> None:
    (tmp_path / "replay.py").write_text(REPLAYED.format(begun, joined), encoding="utf-8")
    found = {one.code for one in check([tmp_path], Settings(codes=frozenset(("XLA308", "XLA309")))).findings}
    assert found == ({"XLA309"} if grows else set())
