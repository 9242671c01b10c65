"""Attributes that methods make longer and others feed: when they are fed, and what begins them anew."""

from __future__ import annotations

from typing import Final

import pytest

from tests.rules.scripts import HEAD, JIT, Script, deserved, one

JOINED: Final = """\
class History:
    def __init__(self):
        self.held = tf.zeros([1, 1])

    def reset(self):
        self.held = tf.zeros([1, 1])

    def go(self, new):
{}

history = History()
for _ in range(9):
    history.go(tf.ones([1, 1]))
"""
JOIN: Final = "self.held = tf.concat([self.held, new], 1)"
# What a method does each time, and whether what it feeds gets longer by that.
GROWTH: Final = {
    "fed, then made longer": (f"step(self.held)\n{JOIN}", True),
    "made longer, then fed": (f"{JOIN}\nstep(self.held)", True),
    "a loop makes it longer": (f"self.reset()\nfor _ in range(4):\n    {JOIN}\n    step(self.held)", True),
    "begun first": (f"self.held = tf.zeros([1, 1])\n{JOIN}\nstep(self.held)", False),
    "begun first, by a method": (f"self.reset()\n{JOIN}\nstep(self.held)", False),
    "cut behind": (f"step(self.held)\n{JOIN}\nself.held = self.held[:, 1:]", False),
    "cut at once": (f"step(self.held)\n{JOIN}[:, -1:]", False),
    "not fed": (f"{JOIN}\nstep(new)", False),
}
FILLED: Final = """\
class Agent:
    def __init__(self, horizon):
        self.states, self.horizon = [], horizon

    def store(self, state, done):
        self.states.append(state)
{}

    def learn(self):
        step(np.array(self.states))
{}

agent, number = Agent(128), 0
for episode in range(99):
    done = False
    while not done:
        done = np.random.rand() < 0.1
        agent.store(np.ones(4), done)
        number += 1
{}
"""
EMPTY: Final = "self.states = []"
# A loop puts numbers into a list, without a call.
TOKENS: Final = """\
def run(numbers, tokens):
    for number in numbers:
{}

run(range(9), [1, 2])
"""
PUT: Final = {
    "behind, in place": ("step(np.array(tokens))\ntokens += [number]", True),
    "behind": ("step(np.array(tokens))\ntokens = tokens + [number]", True),
    "behind, on either side": (
        "step(np.array(tokens))\nif number > 4:\n    tokens += [number]\nelse:\n    tokens += [0]",
        True,
    ),
    "behind a window": ("step(np.array(tokens))\ntokens = tokens[1:] + [number]", False),
    "behind until it is full": (
        "tokens += [number]\nif len(tokens) == 4:\n    step(np.array(tokens))\n    tokens = []",
        False,
    ),
    "behind what is begun each time": ("row = []\nrow += [number]\nstep(np.array(row))", False),
    "behind what is read each time": ("row = list(np.load('x.npy'))\nrow += [number]\nstep(np.array(row))", False),
    "by a call, behind what is read": ("row = list(np.load('x.npy'))\nrow.append(number)\nstep(np.array(row))", False),
}
# What is done where a state is stored, behind each step, and at the end of each episode, beside what empties the list.
LEARNING: Final = {
    "at the end of each episode": ("", EMPTY, "    agent.learn()", True),
    "when it is full": ("if len(self.states) >= self.horizon:\n    self.learn()", EMPTY, "", False),
    "when it is full, else it goes on": (
        "if len(self.states) < self.horizon:\n    return\nself.learn()",
        "self.states.clear()",
        "",
        False,
    ),
    "when it is full, and keeps it": ("if len(self.states) >= self.horizon:\n    self.learn()", "", "", True),
    "when there is anything": ("if len(self.states) > 1 and done:\n    self.learn()", EMPTY, "", True),
    "when it is full or the episode ends": (
        "if done or len(self.states) >= self.horizon:\n    self.learn()",
        EMPTY,
        "",
        True,
    ),
    "when the episode ends, if it is full": (
        "if not done or len(self.states) < self.horizon:\n    return\nself.learn()",
        EMPTY,
        "",
        True,
    ),
    "every so many steps": ("", EMPTY, "        if number % 128 == 0:\n            agent.learn()", False),
    "every so many steps, the other way round": (
        "",
        "del self.states[:]",
        "        if not number % 128:\n            agent.learn()",
        False,
    ),
    "every so many steps, of all": ("", "", "        if number % 128 == 0:\n            agent.learn()", True),
    "every so many steps and at the end": (
        "",
        EMPTY,
        "        if number % 128 == 0 or done:\n            agent.learn()",
        True,
    ),
}


PIECES: Final = """\
def pieces(events, size):
    held, row = [], []
    for event in events:
        row.append(event)
        {}
            held.append({})
            row = []
    return held

while True:
    for piece in pieces(np.random.rand(99, 4), 8):
        step(piece)
"""
# When a function begins another piece, what it keeps of each, and whether they are of another length each time.
BEGUN: Final = {
    "when something happens": ("if event[0] > 0.5:", "np.array(row)", True),
    "when something happens or it is full": ("if event[0] > 0.5 or len(row) == size:", "np.array(row)", True),
    "when it is full": ("if len(row) == size:", "np.array(row)", False),
    "when it is full or more": ("if len(row) >= size:", "np.array(row)", False),
    "when something happens, of a part": ("if event[0] > 0.5:", "np.array(row[0])", False),
}


def indented(code: str) -> str:
    return "\n".join(" " * 8 + line for line in code.split("\n")) if code else ""


SCRIPTS: Final[dict[str, Script]] = {
    **{
        how: one(
            f"{HEAD}{JIT}\n{JOINED.format(indented(code))}",
            *((("XLA309", "self.held = tf.concat([self.held"),) if grows else ()),
        )
        for how, (code, grows) in GROWTH.items()
    },
    **{
        f"a list: {how}": one(
            f"{HEAD}{JIT}\n{FILLED.format(indented(stored), indented(emptied), behind)}",
            *((("XLA308", "step(np.array(self.states)"),) if varies else ()),
        )
        for how, (stored, emptied, behind, varies) in LEARNING.items()
    },
    **{
        f"put {how}": one(
            f"{HEAD}{JIT}\n{TOKENS.format(indented(code))}", *((("XLA308", "step(np.array(tokens))"),) if grows else ())
        )
        for how, (code, grows) in PUT.items()
    },
    **{
        f"pieces: {how}": one(
            f"{HEAD}{JIT}\n{PIECES.format(when, kept)}", *((("XLA308", "step(piece)"),) if varies else ())
        )
        for how, (when, kept, varies) in BEGUN.items()
    },
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
