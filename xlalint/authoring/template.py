"""The file that a new rule begins as: a whole rule, with the sections and parts that every rule has."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from string import Template
from typing import Final

from ..findings.rule_files import SHIPPED, RulesError, names, names_in

_FILE: Final = Template('''\
"""A matrix is inverted in compiled code.

## What it does
Says where `tf.linalg.inv` is called in code that XLA may compile. (This is a rule to
begin with: it works, and `xlalint test-rules` has nothing to say of it. Put your own in
its place, section by section.)

## What XLA does
Compiles it once, and the result equals eager execution (TensorFlow 2.21, CPU). This
house does without it all the same: to solve a system takes less work, and loses less
precision, than to invert its matrix.

## Example
```python
x = tf.matmul(tf.linalg.inv(a), b)
```

## Use instead
```python
x = tf.linalg.solve(a, b)
```

## Not flagged
Code that runs on the host, before anything is compiled: it inverts a matrix once.

## Fix safety
There is no rewrite: what the inverse is used for decides what to write.

## References
- https://www.tensorflow.org/api_docs/python/tf/linalg/solve
"""

from collections.abc import Iterator

from xlalint.linter.rule import (
    ApiCall,
    Bad,
    Compiles,
    Draft,
    Effect,
    Event,
    Good,
    Rule,
    reached,
)


class $classname(Rule):
    code = "$code"
    name = "$name"
    handles = (ApiCall,)  # the kinds of events: see the module that defines Event
    apis = frozenset(("tf.linalg.inv",))  # of `ApiCall`: calls of which functions
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(a, b):
    return tf.matmul(tf.linalg.inv(a), b)
""",
            ["tf.linalg.inv(a)"],
            Compiles(),
            inputs=("f32[3, 3]", "f32[3, 2]"),
            effect=Effect.NAMED,
            help="tf.linalg.solve",
        ),
        Bad(
            """
from tensorflow import linalg

def inverted(matrix):
    return linalg.inv(matrix)

class L(tf.keras.layers.Layer):
    def call(self, x):
        return inverted(x)
""",
            ["linalg.inv(matrix)"],
            Compiles(),
            inputs=("f32[3, 3]",),
            effect=Effect.NAMED,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(a, b):
    return tf.linalg.solve(a, b)
""",
            inputs=("f32[3, 3]", "f32[3, 2]"),
        ),
        Good(
            """
INVERSE = tf.linalg.inv(tf.constant([[2.0, 0.0], [0.0, 4.0]]))

@tf.function(jit_compile=True)
def f(x):
    return tf.matmul(INVERSE, x)
""",
            inputs=("f32[2, 3]",),
            why="inverted once, on the host",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        # `event.node` is a node of libcst: its classes and its matchers know it
        match event:
            case ApiCall():
                yield Draft(
                    f"`tf.linalg.inv` in {reached(event.context)}: solve instead",
                    Effect.NAMED,
                    help="for `tf.linalg.inv(a) @ b`: `tf.linalg.solve(a, b)`",
                )
''')
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_CODE: Final = re.compile(r"[A-Z]+[0-9]{3}")
_LETTERS: Final = "OWN"
_FIRST: Final = 101


def new_rule(name: str, code: str | None, folder: Path) -> Path:
    """Write the file of a new rule into a folder; without a code, under the next one that is free there. Raises
    RulesError."""
    if not _NAME.fullmatch(name):
        raise RulesError(f"{name!r} is not a rule name: use lower-case words joined by hyphens, such as no-inverse")
    taken = {**names(), **names_in(folder)}
    code = code.upper() if code is not None else _free(taken)
    if not _CODE.fullmatch(code) or code.startswith(SHIPPED):
        raise RulesError(
            f"{code!r} is not a code for a rule of your own: use letters but not {SHIPPED}, then three digits"
        )
    for known, other in taken.items():
        if code == known or name == other:
            raise RulesError(f"there is a rule {known} {other} already")
    text = _FILE.substitute(classname="".join(map(str.capitalize, name.split("-"))), code=code, name=name)
    file = folder / f"{code.lower()}_{name.replace('-', '_')}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise RulesError(f"{file}: {error.strerror or error}") from error
    return file


def _free(taken: Collection[str]) -> str:
    """The code after the last of the rules of one's own."""
    own = sorted(code for code in taken if not code.startswith(SHIPPED))
    letters, number = (own[-1][:-3], int(own[-1][-3:]) + 1) if own else (_LETTERS, _FIRST)
    return f"{letters}{number:03}"
