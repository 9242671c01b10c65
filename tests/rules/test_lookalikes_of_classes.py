"""What a test of a value's class leaves of it, and objects that are made where a loop first asks for them: only what is
marked is flagged."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.compiler import measure
from xlalint.findings.findings import Severity
from xlalint.linter.rule import Compiles
from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .marked import flagged, marked

SAME_CLASS: Final = """\
import tensorflow as tf

def joined(found):
    if type(found) is tuple:
        return tf.concat([part for part in found], 0)
    if type(found) in (list, set):
        return tf.concat([part for part in found], 0)
    if type(found) != tuple:
        rows = tf.math.cumsum(found, 0)
        rows = [row for row in found]  # flagged
        return rows
    return tf.concat([part for part in found], 0)

@tf.function(jit_compile=True, autograph=False)
def f(x):
    return joined(tf.scan(lambda a, b: a + b, x))
"""
NUMBERS: Final = """\
import numpy as np
import tensorflow as tf

def start(x, both):
    if both:
        return x, x
    return x

def log(x):
    if isinstance(x, (list, tuple, float, int)):
        x = np.array(x, dtype=np.float32)
    return tf.math.log(x)

@tf.function(jit_compile=True)
def f(x):
    y = np.array(tf.exp(x))  # flagged
    return log(start(tf.exp(x), len(x.shape) > 2))
"""
MADE_ON_DEMAND: Final = """\
import tensorflow as tf

class Part:
    def __init__(self):
        self.matrix = None

    def prepare(self, x):
        self.matrix = tf.exp(x)

class Model(tf.keras.layers.Layer):
    @property
    def part(self):
        if not hasattr(self, "_part"):
            self._part = Part()
        return self._part

    def step(self, total, x):
        self.last = tf.exp(x)  # flagged
        return total * self.part.matrix + x

    def call(self, x):
        self.part.prepare(x[0])
        return tf.scan(self.step, x)

model = Model()

@tf.function(jit_compile=True)
def f(x):
    return model(x)
"""
COMPILED_PROPERTY: Final = """\
import tensorflow as tf

class Noise:
    def __init__(self):
        self.steps = tf.Variable(0.0)

    @property
    @tf.function
    def share(self):
        if tf.greater(self.steps, 5.0):
            return 1.0
        else:
            return self.steps / 5.0

    @property
    def plain(self):
        return 1.0 if tf.greater(self.steps, 5.0) else self.steps / 5.0

noise = Noise()

@tf.function(jit_compile=True)
def f(x):
    return x * noise.share * noise.plain
"""
LAYERS: Final = """\
import tensorflow as tf

class Graph(tf.keras.layers.Layer):
    def call(self, inputs):
        nodes, *edges = inputs
        return tf.matmul(edges[0], nodes)

class Pair(tf.keras.layers.Layer):
    def call(self, inputs):
        first, second = inputs  # flagged
        return first + second

class Net:
    def __init__(self, sizes):
        self.layers = []
        for size in sizes:
            self.layers.append(tf.keras.layers.Dense(size))
            self.layers.append(Graph())

    def __call__(self, x, edges):
        for layer in self.layers:
            if isinstance(layer, Graph):
                x = layer([x, edges])
            else:
                x = layer(x)
        return x

class Short:
    def __init__(self):
        self.layers = [tf.keras.layers.Dense(2), Pair()]

    def __call__(self, x, edges):
        for layer in self.layers:
            if isinstance(layer, Graph):
                x = layer([x, edges])
            else:
                x = layer(x)
        return x

net = Net([2, 2])
short = Short()

def f():
    x, edges = tf.keras.Input((2, 2)), tf.keras.Input((2, 2))
    short(tf.keras.Input((2, 2)), edges)
    return tf.keras.Model([x, edges], net(x, edges))

f().compile("sgd", "mse", jit_compile=True)
"""
SHAPES: Final = """\
import tensorflow as tf

def kept_as(kept, key, x):
    if isinstance(kept[key], tuple):
        shape = kept[key]
    else:
        shape = kept[key].shape
    if x.shape == shape:
        return x
    return x * 2.0

@tf.function(jit_compile=True, autograph=False)
def f(x, first: bool = False):
    kept = {"a": (2, 3), "b": x * 2.0}
    y = (2, 3) if first else tf.reduce_sum(x)
    x = x if y == x[0, 0] else x * 2.0  # flagged
    return kept_as(kept, "a" if first else "b", x)
"""
NAMED: Final = """\
import tensorflow as tf

class Named(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self._calls = 0
        self.steps = 0
        self.seen = 0

    def call(self, x):
        self._calls += 1
        name = "call_{}".format(self._calls)
        self.steps += 1  # flagged
        self.seen += 1
        with tf.name_scope(name + f"_{self.seen}"):
            return x * 2.0

    def report(self):
        print(f"{self.steps} steps")

layer = Named()

@tf.function(jit_compile=True)
def f(x):
    return layer(x)
"""
BLOCKS: Final = """\
import tensorflow as tf

class Block(tf.keras.layers.Layer):
    def call(self, x, training=False):
        return tf.nn.relu(x)

class Pool(tf.keras.layers.Layer):
    def call(self, x):
        x, size = x
        return x * 0.5, size

class Gate(tf.keras.layers.Layer):
    def call(self, x):
        x = x if tf.reduce_sum(x) > 0 else x * 2.0  # flagged
        return x

stages = {}
for number in range(2):
    stages[f"{number}/block"] = Block()
    stages[f"{number}/gate"] = Gate()
    stages[f"{number}/pool"] = Pool()

@tf.function(jit_compile=True, autograph=False)
def f(x):
    size = tuple(tf.unstack(tf.shape(x)))
    for key, stage in stages.items():
        if key.endswith("pool"):
            x, size = stage((x, size), training=True)
        else:
            x = stage(x, training=True)
    return x
"""
SPECS: Final = """\
import tensorflow as tf

class Composite:
    def __init__(self, spec=None):
        self.spec = spec

    def __call__(self, *args):
        if self.spec is None:
            self.spec = tf.nest.map_structure(lambda value: value * 1.0, (args, {}))
        given, named = tf.nest.map_structure(lambda value: value * 2.0, self.spec)
        return tf.add_n(self.added(*given))

    def added(self, first, second):
        low, high = first + second  # flagged
        return [first, second]

@tf.function(jit_compile=True, autograph=False)
def f(x):
    return Composite()(x, x)
"""
OBJECTS: Final = """\
import typing
import tensorflow as tf

class Piece(typing.NamedTuple):
    rank: int
    values: tf.Tensor

@tf.autograph.experimental.do_not_convert
def scalar(piece):
    if piece.rank != 0:
        raise ValueError("no scalar")
    return piece.values

read = tf.keras.layers.Lambda(lambda piece: scalar(piece) * 2.0)

@tf.function(jit_compile=True)
def f(x):
    return scalar(Piece(0, x))
"""
TAKEN_BACK: Final = """\
import contextlib
import tensorflow as tf

entered = []

@contextlib.contextmanager
def inside(name):
    try:
        entered.append(name)
        yield
    finally:
        entered.pop()

@tf.function(jit_compile=True)
def f(x):
    with inside("f"):
        return x * len(entered)
"""
KEPT_ARRAY: Final = """\
import numpy as np
import tensorflow as tf

class Rows:
    def __init__(self, shape):
        self.shape = shape

    @property
    def size(self):
        if not hasattr(self, "_size"):
            self._size = np.cumsum(self.shape)
        return self._size

    def scaled(self, row):
        return row * tf.cast(self.size[-1], tf.float32)

@tf.function(jit_compile=True)
def f(x):
    rows = Rows(np.array([2, 3]))
    return tf.scan(lambda before, row: before + rows.scaled(row), x)
"""
CELL: Final = """\
import tensorflow as tf

class Cell(tf.keras.layers.Layer):
    state_size = [2, 2]
    output_size = 2

    def call(self, inputs, states):
        first, second = states[:2]
        return inputs + first, [second, inputs]

layer = tf.keras.layers.RNN(Cell())

@tf.function(jit_compile=True)
def f(x):
    return layer(tf.expand_dims(x, 1))
"""
CODE: Final = {
    "a slice of the list of states that Keras passes a cell": CELL,
    "what a context manager takes back": TAKEN_BACK,
    "an array that is kept in the body of a loop": KEPT_ARRAY,
    "layers by their names": BLOCKS,
    "a structure that is made when it is not there": SPECS,
    "an object that a Lambda layer takes": OBJECTS,
    "what is counted for names alone": NAMED,
    "type(x) is tuple": SAME_CLASS,
    "numbers or lists of them": NUMBERS,
    "made on demand": MADE_ON_DEMAND,
    "a shape, or a tensor that has one": SHAPES,
}


@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_only_what_is_marked_is_flagged(tmp_path: Path, code: str) -> None:
    assert {line for line, _ in flagged(tmp_path, code)} == marked(code)


@pytest.mark.compiler
@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_what_is_not_marked_compiles(code: str) -> None:
    kept = "\n".join(line for line in code.split("\n") if not line.endswith("  # flagged"))
    measured = measure(kept, ("f32[2, 2]",))
    assert measured.matches(Compiles()), measured


def test_a_property_of_a_function_of_its_own_is_converted(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(COMPILED_PROPERTY, encoding="utf-8")
    found = [(finding.span.line, finding.severity) for finding in check([tmp_path], Settings()).findings]
    assert found == [(10, Severity.WARNING), (17, Severity.ERROR)]


@pytest.mark.compiler
@pytest.mark.parametrize(("read", "compiles"), [("noise.share", True), ("noise.plain", False)])
def test_of_two_properties_one_compiles(read: str, compiles: bool) -> None:
    measured = measure(COMPILED_PROPERTY.replace("noise.share * noise.plain", read), ("f32[2, 2]",))
    assert measured.matches(Compiles()) is compiles, measured


def test_what_is_no_layer_of_a_class_is_called_as_the_others_are(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, LAYERS)} == marked(LAYERS)


PASSED_BY_PLACE: Final = """\
import tensorflow as tf

class Norm(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm = tf.keras.layers.BatchNormalization()

    def call(self, x, training):
        return self.norm(x, training)

class Noisy(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm = tf.keras.layers.BatchNormalization()

    def call(self, x, training):
        return self.norm(x, tf.reduce_sum(x) > 0.0)  # flagged
"""


def test_what_is_passed_for_training_by_its_place_is_no_tensor(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, PASSED_BY_PLACE)} == marked(PASSED_BY_PLACE)
