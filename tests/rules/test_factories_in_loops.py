"""Loops that have a function make a compiled one: again and again, or once for each model, optimizer or element."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.rules.scripts import HEAD, MODEL, deserved, one

FACTORY: Final = """\
def make_step(model, shift):
    @tf.function(jit_compile=True)
    def step(x):
        return model(x) + shift

    return step

x = tf.ones([2, 4])
"""
MADE: Final = "XLA307"
# What stands before a loop, the loop, what it does, and what is found in which line of that.
LOOPS: Final = {
    "by name": ("", "for _ in range(9):", "step = make_step(model, 2.0)\nstep(x)", "step ="),
    "called at once": ("", "for _ in range(9):", "make_step(model, 2.0)(x)", "make_step"),
    "as long as it takes": ("", "while float(x[0, 0]) > 0:", "step = make_step(model, 2.0)\nx = step(x)", "step ="),
    "called by an inner loop": (
        "",
        "for _ in range(9):",
        "step = make_step(model, 2.0)\nfor _ in range(3):\n    step(x)",
        "step =",
    ),
    "before": ("step = make_step(model, 2.0)", "for _ in range(9):", "step(x)", None),
    "at first": ("", "for e in range(9):", "if e == 0:\n    step = make_step(model, 2.0)\nstep(x)", None),
    "for each model": (
        "",
        "for _ in range(9):",
        "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\nstep = make_step(model, 2.0)\nstep(x)",
        None,
    ),
    "for each optimizer": (
        "",
        "for _ in range(9):",
        "optimizer = keras.optimizers.Adam()\nstep = make_step(model, 2.0)\nstep(x)",
        None,
    ),
    "kept": ("steps = []", "for e in range(3):", "steps.append(make_step(model, 2.0))\nsteps[-1](x)", None),
    "kept in a table": (
        "steps = {}",
        "for e in range(9):",
        "if e % 3 not in steps:\n    steps[e % 3] = make_step(model, 2.0)\nsteps[e % 3](x)",
        None,
    ),
}


@pytest.mark.parametrize("around", ["", "def train(model, x):"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_factory_in_a_loop(name: str, around: str, tmp_path: Path) -> None:
    before, loop, body, line = LOOPS[name]
    code = "\n".join((*filter(None, (before,)), loop, *(f"    {each}" for each in body.split("\n"))))
    if around:
        code = "\n".join((around, *(f"    {each}" for each in code.split("\n")), "", "train(model, x)"))
    found = () if line is None else ((MADE, line),)
    deserved(one(f"{HEAD}{MODEL}{FACTORY}{code}\n", *found), tmp_path)


FOLD: Final = """\
def build():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])

def train(model, xs):
    step = make_step(model, 2.0)
    for x in xs:
        step(x)

def fold(xs):
    model = build()
    train(model, xs)

class Trainer:
    def __init__(self, model):
        self.model = model

    def run(self, xs):
        step = make_step(self.model, 2.0)
        for x in xs:
            step(x)
"""
# What a loop does, and whether it calls what makes a function for the same model in each iteration.
FOLDS: Final = {
    "a model of each iteration": ("for _ in range(9):", "model = build()\ntrain(model, [x])", False),
    "a model that is made there": ("for _ in range(9):", "train(build(), [x])", False),
    "a model by its keyword": ("for _ in range(9):", "train(xs=[x], model=build())", False),
    "a model of several": ("for net in (build(), build()):", "train(net, [x])", False),
    "a model of its caller": ("for _ in range(9):", "fold([x])", False),
    "an object with a model": ("for _ in range(9):", "trainer = Trainer(build())\ntrainer.run([x])", False),
    "the same model": ("for _ in range(9):", "train(model, [x])", True),
    "the same object": ("trainer = Trainer(model)\nfor _ in range(9):", "trainer.run([x])", True),
    "other data": ("for each in (x, 2.0 * x):", "train(model, [each])", True),
    "the same model of another loop": (
        "for _ in range(2):\n    model = build()\n    for _ in range(9):",
        "    train(model, [x])",
        True,
    ),
}


@pytest.mark.parametrize("around", ["", "def main(model, x):"])
@pytest.mark.parametrize("name", FOLDS)
def test_a_loop_for_one_model_or_for_several(name: str, around: str, tmp_path: Path) -> None:
    loop, body, found = FOLDS[name]
    code = "\n".join((*loop.split("\n"), *(f"    {each}" for each in body.split("\n"))))
    if around:
        code = "\n".join((around, *(f"    {each}" for each in code.split("\n")), "", "main(model, x)"))
    expected = [(MADE, "step = make_step")] if found else []
    deserved(one(f"{HEAD}{MODEL}{FACTORY}{FOLD}{code}\n", *expected), tmp_path)
