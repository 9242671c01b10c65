"""A small project whose files know each other in every way, and what an edit may make of it.

Each file is a list of pieces, and each piece has alternatives, of which the first is what stands there at the
beginning; an empty one is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from hypothesis import strategies as st

_OPENING: Final = re.compile(r"^([ ]*)(?:def|class) .*:\n", re.MULTILINE)
_TF: Final = "import tensorflow as tf\n"
PIECES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "pkg/__init__.py": (("", _TF + "from .ops import positive\n", "from .plain import halve\n"),),
    "pkg/base.py": (
        (_TF, _TF + "from .ops import *\n", ""),
        ("SIZE = 4\n", "SIZE = tf.constant(4)\n", "SIZE = [1, 2]\n", ""),
        ("class Base(tf.keras.layers.Layer):\n", "class Base:\n", "class Base(tf.keras.losses.Loss):\n"),
        (
            "    def scale(self, x):\n        return x / 2.0\n",
            "    def scale(self, x):\n        return x.numpy()\n",
            "    def scale(self, x, n=3):\n        return tf.zeros([n]) + x\n",
            "    def resized(self, x):\n        return x\n",
        ),
        ("    limit = 3\n", "    limit = tf.constant(3)\n", ""),
    ),
    "pkg/ops.py": (
        (_TF, _TF + "from .marks import compiled\n", "\n\n" + _TF),
        ("THRESHOLD = 0.5\n", "THRESHOLD = tf.random.normal([])\n", ""),
        (
            "def positive(x):\n    return tf.boolean_mask(x, x > THRESHOLD)\n",
            "def positive(x):\n    # of old\n    return tf.boolean_mask(x, x > THRESHOLD)\n",
            "@tf.function\ndef positive(x):\n    return x[x > THRESHOLD]\n",
            "def positives(x):\n    return x\n",
            "",
        ),
        (
            "def norm(x):\n    assert tf.reduce_all(x > 0.0)\n    return x\n",
            "def norm(x):\n    return positive(x)\n",
            "def norm(x, deep=True):\n    return norm(x, False) if deep else x.numpy()\n",
            "norm = lambda x: positive(x)\n",
        ),
        ("__all__ = ['norm', 'positive']\n", ""),
    ),
    "pkg/plain.py": (("def halve(x):\n    return x / 2\n", "def halve(x):\n    return 3\n", "import os\n"),),
    "pkg/marks.py": (
        (_TF,),
        (
            "def compiled(f):\n    return tf.function(f, jit_compile=True)\n",
            "def compiled(f):\n    return tf.function(f)\n",
            "compiled = tf.function(jit_compile=True, autograph=False)\n",
            "compiled = print\n",
        ),
    ),
    "pkg/model.py": (
        (_TF + "from .base import Base\nfrom . import ops\n", _TF + "from .base import *\nimport pkg.ops as ops\n"),
        ("from .marks import compiled\n", "from .missing import compiled\n"),
        ("class Model(Base):\n", "class Model(tf.keras.Model):\n"),
        (
            "    def call(self, x):\n        return self.scale(ops.norm(x))\n",
            "    def call(self, x):\n        return ops.norm(x) if tf.reduce_any(x > 1.0) else x\n",
            "    def call(self, x):\n        return ops.positive(x)[-1]  # noqa: XLA201\n",
        ),
        (
            "@compiled\ndef step(x, n):\n    return tf.zeros([n]) + ops.positive(x)\n",
            "def step(x, n):\n    return tf.zeros([n]) + ops.positive(x)\n",
            "@tf.function\ndef step(x, n):\n    return tf.cumsum(ops.positive(x))\n",
        ),
    ),
    "pkg/missing.py": (("", _TF + "from .marks import compiled\n", "compiled = None\n", "def compiled(:\n"),),
    "run.py": (
        (_TF + "from pkg import model, ops\nfrom pkg.plain import halve\n",),
        ("model.step(tf.ones([3]), 4)\n", "model.step(tf.ones([3]), tf.constant(4))\n", ""),
        ("data = tf.data.Dataset.range(4).map(ops.positive)\n", "print(ops.positive(tf.ones([2])))\n", ""),
        ("def outer(x):\n    return ops.norm(halve(x)).numpy()\n", "def outer(x):\n    return (lambda y: y)(x)\n"),
        ("", "strategy = tf.distribute.MirroredStrategy()\n"),
    ),
    "tests/test_ops.py": (
        (_TF + "from pkg.ops import norm\n",),
        ("class Checks(tf.test.TestCase):\n    def test_it(self):\n        norm(tf.ones([3]))\n", ""),
    ),
}
ABSENT: Final = frozenset(("pkg/missing.py",))  # at the beginning


@dataclass(frozen=True, slots=True)
class Choice:
    """Another alternative for a piece."""

    file: str
    piece: int
    alternative: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A file comes, or goes."""

    file: str


@dataclass(frozen=True, slots=True)
class Line:
    """Something stands above a line; whatever was put above it before does so no more."""

    file: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A statement stands above a line, as far to the right as that; whatever was typed there before does so no more."""

    file: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Behind:
    """A comment stands behind a line; whatever was put behind it before does so no more."""

    file: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """The functions and classes of a file begin with a docstring, or with none."""

    file: str
    text: str


Edit: TypeAlias = Choice | Turn | Line | Typed | Behind | Document
_CHOICES: Final = [
    Choice(file, number, alternative)
    for file, pieces in PIECES.items()
    for number, alternatives in enumerate(pieces)
    for alternative in range(len(alternatives))
    if len(alternatives) > 1
]
_FILES: Final = st.sampled_from(sorted(PIECES))
_ABOVE: Final = ["", "# moved\n", "\n", "    # positive, norm\n", "# xlalint: ignore-file\n", "(\n"]
_BESIDE: Final = ["", "# of old", "# halve(x)", "# noqa: XLA201", "# from .ops import norm", "# x[1] = 2"]
STATEMENTS: Final = [
    "",
    "typed = 1",
    "x = tf.shape(x)[0]",
    "x = positive(x)",
    "SIZE = tf.random.normal([])",
    "self.count = self.count + 1",
    "print(x.numpy())",
    "import os",
    "from .ops import norm",
    "return tf.boolean_mask(x, x > 0)",
    "if tf.reduce_any(x > 0): x = x + 1",
    "for i in tf.range(3): x += 1.0",
    "positive = lambda x: tf.unique(x)",
]
_DOCUMENTS: Final = ["", "Moves nothing.", "Calls `positive`.\n\n    # twice\n    "]
_TRIVIA: Final = st.one_of(
    st.builds(Line, _FILES, st.integers(0, 8), st.sampled_from(_ABOVE)),
    st.builds(Behind, _FILES, st.integers(0, 8), st.sampled_from(_BESIDE)),
    st.builds(Document, _FILES, st.sampled_from(_DOCUMENTS)),
)
EDITS: Final = st.one_of(
    st.sampled_from(_CHOICES),
    st.sampled_from(_CHOICES),
    st.builds(Turn, _FILES),
    st.builds(Typed, _FILES, st.integers(0, 12), st.sampled_from(STATEMENTS)),
    _TRIVIA,
    _TRIVIA,
)


def above(line: str, statement: str) -> str:
    """A statement as it is typed above a line."""
    return f"{line[: len(line) - len(line.lstrip(' '))]}{statement}\n"


class Written:
    """The project in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._chosen = {(file, number): 0 for file, pieces in PIECES.items() for number in range(len(pieces))}
        self._absent = set(ABSENT)
        self._lines: dict[str, dict[int, str]] = {file: {} for file in PIECES}
        self._typed: dict[str, dict[int, str]] = {file: {} for file in PIECES}
        self._behind: dict[str, dict[int, str]] = {file: {} for file in PIECES}
        self._documents = dict.fromkeys(PIECES, "")
        for file in PIECES:
            (folder / file).parent.mkdir(exist_ok=True, parents=True)
            self._write(file)

    def apply(self, edit: Edit) -> None:
        """Edit a file."""
        match edit:
            case Choice(file, number, alternative):
                self._chosen[file, number] = alternative
            case Turn(file):
                self._absent ^= {file}
            case Line(file, at, text):
                self._lines[file][at] = text
            case Typed(file, at, text):
                self._typed[file][at] = text
            case Behind(file, at, text):
                self._behind[file][at] = text
            case Document(file, text):
                self._documents[file] = text
        self._write(edit.file)

    def _write(self, file: str) -> None:
        path = self._folder / file
        path.unlink(missing_ok=True)
        if file in self._absent:
            return
        text = "".join(alternatives[self._chosen[file, at]] for at, alternatives in enumerate(PIECES[file]))
        if document := self._documents[file]:
            text = _OPENING.sub(lambda found: f'{found[0]}{found[1]}    """{document}"""\n', text)
        lines = text.splitlines(keepends=True)
        for at, comment in self._behind[file].items():
            if comment and at < len(lines) and lines[at].strip():
                lines[at] = f"{lines[at][:-1]}  {comment}\n"
        for at, statement in sorted(self._typed[file].items(), reverse=True):
            if statement and at < len(lines):
                lines.insert(at, above(lines[at], statement))
        for at, line in sorted(self._lines[file].items(), reverse=True):
            lines.insert(at, line)
        path.write_text("".join(lines), encoding="utf-8")
