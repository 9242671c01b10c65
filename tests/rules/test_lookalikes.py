"""Code of real packages, cut down, that looks like a hazard beside code that is one: only what is marked is flagged."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.compiler import measure
from xlalint.findings.findings import Severity
from xlalint.linter.rule import Compiles
from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .marked import MARK, flagged, marked

DECORATORS: Final = """\
import functools
import tensorflow as tf

def value_and_slope(function, x):
    return function(x), x * 2.0

def with_slope(function):
    @functools.wraps(function)
    def both(x):
        return value_and_slope(function, x)
    return both

def bounded(lower):
    def decorate(function):
        def inner(*args):
            if lower is None:
                return None
            return lower, function(*args), None
        return inner
    return decorate

def named(function):
    @functools.wraps(function)
    def inner(*args):
        with tf.name_scope(function.__name__):
            result = function(*args)
        return result
    return inner

@with_slope
def square(x):
    return tf.reduce_sum(x * x, axis=-1)

@bounded(0.0)
def edge(x):
    return tf.reduce_max(x, axis=-1)

@named
def total(x):
    return tf.reduce_sum(x, axis=-1)

@tf.function(jit_compile=True, autograph=False)
def f(x):
    value, slope = square(x)
    low, high, _ = edge(x)
    first, second = total(x)  # flagged
    return value, slope, low, high, first, second
"""

ROUNDS: Final = """\
import tensorflow as tf

class Kind:
    def __init__(self, name):
        self.name = name

class Rare(Kind):
    pass

class Common(Kind):
    pass

class Plain(Kind):
    pass

class Special(Kind):
    pass

class Other(Kind):
    pass

by_name = {"rare": Rare, "common": Common, "plain": Plain, "special": Special, "other": Other}
kinds = {}
made = {}
seen = []
numbers = {}

def made_of(name):
    if name in made:
        return made[name]
    made[name] = by_name[name](name)
    return made[name]

def kind_of(name):
    if name not in kinds:
        kinds[name] = Kind(name)
    return kinds[name]

def counted(parts):
    count = 0

    def note(part):
        nonlocal count
        count += 1
        return part * float(count)

    return tf.nest.map_structure(note, parts)

def sorted_out(x):
    slots = {}
    tf.nest.map_structure(slots.setdefault, ["x", "y"], [x, x * 2.0])
    return tf.nest.map_structure(slots.pop, ["x", "y"])

def f(x):
    kept = 0.0

    def body(i, x):
        nonlocal kept
        kept = x  # flagged
        kind_of("dense")
        made_of(min(by_name))
        numbers[i] = x  # flagged
        seen.append(x)  # flagged
        return i + 1, x + counted([x])[0] + sorted_out(x)[1]

    return tf.while_loop(lambda i, x: i < 3, body, (0, x))[1]

compiled = tf.function(f, jit_compile=True)
"""

ASKED: Final = """\
import collections.abc
import datetime
import keras
import numpy as np
from packaging.version import Version

def library():
    try:
        import tensorflow
    except ImportError:
        return None
    return tensorflow

tf = library()

class Plain:
    pass

def number_of(x):
    if isinstance(x, datetime.date):
        return float(x)
    if isinstance(x, Plain):
        return float(x)
    if isinstance(x, Version):
        return float(x)
    if isinstance(x, collections.abc.Hashable):
        result = 0.0
        result = float(x)  # flagged
    return x[0]

def first_of(x):
    if not tf.nest.is_nested(x):
        return x
    return x[0] if len(x) else None

def plain(x):
    if tf is None:
        return float(x)
    if tf is not None and isinstance(x, tf.RaggedTensor):
        return x.numpy()
    if keras.ops.is_tensor(x):
        return x
    return np.asarray(x)

class Rows(keras.layers.Layer):
    def call(self, x, y):
        if len(x.shape) == 2:
            y = tf.reshape(y, (-1, 2))
        return float(self.count(y)) * x

    def count(self, y):
        n = y.shape[0] if hasattr(y, "shape") else len(y)
        n = len(y) if hasattr(y, "shape") else 2  # flagged
        n = len(y.values) if hasattr(y, "values") else n
        n = 2 if hasattr(y, "indices") else len(y)  # flagged
        return n

rows = Rows()

@tf.function(jit_compile=True, autograph=False)
def f(x):
    total = tf.reduce_sum(x)
    return number_of(x * 2.0), first_of(total), plain(tf.stack([total, 1.0])), rows(x, x)
"""

COUNTED: Final = """\
import keras
import tensorflow as tf

class Sum(keras.layers.Layer):
    def call(self, x):
        return tf.reduce_sum(x, axis=-1) / float(len(x + x))

add = Sum()

@tf.function(jit_compile=True, autograph=False)
def f(x):
    count = len(x * 2.0)  # flagged
    return add([x, x])
"""

PAIRS: Final = """\
import tensorflow as tf

@tf.function(autograph=False)
def f(x, texts):
    filled, empty = tf.sparse.fill_empty_rows(tf.sparse.from_dense(x), 0.0)
    codes, offsets = tf.strings.unicode_decode_with_offsets(texts, "UTF-8")
    first, second = tf.sparse.split(tf.sparse.from_dense(x), 2, axis=1)
    area, update = tf.compat.v1.metrics.mean_iou(x, x, 3)
    rows, columns = x * 2.0  # flagged
    return filled.values, empty, codes.values, offsets.values, first.values, second.values, rows, columns, area, update
"""

STRUCTURES: Final = """\
import keras
import tensorflow as tf
from tensorflow.python.ops import variables

def with_rank(tensor, rank):
    if tensor.shape.rank is not None and isinstance(rank, int):
        assert tensor.shape.rank == rank
        assert tf.reduce_sum(tensor) == 1.0
    if tensor.shape.rank is not None or isinstance(rank, int):
        rank = 2
        assert tf.reduce_sum(tensor) == 2.0  # flagged
    return tensor

def joined(parts):
    if len(parts) == 1:
        return parts[0]
    return tf.concat(parts, 0)

class Rows(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, parts, more, sizes=()):
        factors = [self.scale]
        if isinstance(self.scale, variables.PartitionedVariable | tf.Module):
            factors = [part for part in self.scale]
        for size in sizes:
            if isinstance(size, tf.Tensor):
                factors.append(tf.cast(size, tf.float32))
            elif size == -1:
                continue
        return joined(parts + more) * tf.add_n(factors)

rows = Rows()

@tf.function(jit_compile=True, autograph=False)
def f(x):
    scope = tf.compat.v1.get_variable_scope()
    if scope:
        x = with_rank(x, tf.rank(x))
    return rows([x], [x], sizes=[2, -1])
"""

ASKED_BY_PYTHON: Final = """\
import tensorflow as tf
from tensorflow.python.ops import control_flow_util

class Scaled:
    def __init__(self, x):
        self.x = x

    @property
    def doubled(self):
        if self.x.shape.rank == 2:
            return self.x * 2.0
        return -self.x if tf.reduce_sum(self.x) > 0.0 else self.x  # flagged

    def halved(self):
        return self.x if tf.rank(self.x) == 2 else self.x * 0.5

@tf.function(jit_compile=True)
def f(x):
    rows = tf.TensorArray(tf.float32, size=2, element_shape=[2])
    for i in tf.range(2):
        rows = rows.write(i, x[i])
        rows.write(i, x[i] * 2.0)  # flagged
    kept = [rows.write(0, x[1])]
    first = next(iter([x, x * 2.0]))
    parts = next(iter(x * 2.0))  # flagged
    view = len(memoryview(b"rows"))
    if control_flow_util.GetContainingXLAContext(None) is None:
        view += 1
        parts = [part for part in x * 2.0]  # flagged
    return kept[0].stack(), first * float(view), Scaled(x).doubled, Scaled(x).halved(), Scaled(x[0]).doubled
"""

OPTIONAL_PARTS: Final = """\
import typing
import tensorflow as tf

class Output(typing.NamedTuple):
    logits: tf.Tensor
    lengths: tf.Tensor

@tf.function(jit_compile=True)
def f(x, shapes: Output = Output((2, 2), (2,))):
    rows = shapes.logits[0]
    if rows is None:
        rows = tf.shape(x)[0]
    return tf.concat([x, tf.zeros([rows, 1])], axis=1)
"""
EITHER_KIND: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True, autograph=False)
def f(x, n: tf.Tensor = 2):
    if isinstance(n, int) or isinstance(n, float):
        if n > 1:
            x = x * 2.0
    return x
"""
METHODS_BY_NAME: Final = """\
import tensorflow as tf

class Blocks:
    def resize(self, size):
        self.size = 3 if None in size else size

    def block_0(self, x, training=False):
        return x * 2.0

    def apply(self, x):
        for number in range(1):
            x = getattr(self, f"block_{number}")(x, training=False)
        return x

@tf.function(jit_compile=True)
def f(x):
    return Blocks().apply(x)
"""
# Two annotations: the one where the value is used says what it is, and arguments are no rows of a tensor.
ANNOTATED_TWICE: Final = """\
from typing import Dict, List, Tuple

import tensorflow as tf

def net(places: List[tf.Tensor], time: tf.Tensor):
    x, y = places
    return tf.concat((x, y, time), 1)

def residual(value, x, y, time):
    return value[:, :1] * x + y * time

def loss(data):
    places, time, wanted = data
    return tf.reduce_sum(residual(net(places, time), *places, time) - wanted)

def step(batch: Dict[str, Tuple[tf.Tensor, tf.Tensor, tf.Tensor]]):
    return tf.add_n([loss(data) for data in batch.values()])

@tf.function(jit_compile=True)
def f(x):
    return step({"inside": ([x[:, :1], x[:, 1:]], x[:, :1], x[:, 1:])})
"""
# What the host chooses by a tensor is a Python value, whoever it passes it to.
CHOSEN_ON_HOST: Final = """\
import tensorflow as tf

count = tf.Variable(0)

@tf.function(jit_compile=True)
def f(x, doubled=False):
    if doubled:
        return x * 2.0
    return x

def train(x):
    flag = True if (count + 1) % 10 == 0 else False
    return f(x, flag)

train(tf.ones([3, 2]))
"""
# A setting that turns a flag off turns it off, whoever asks for it.
FLAG_TURNED_OFF: Final = """\
import sys
import tensorflow as tf

DEFERRED = True

def compiler(jit):
    if jit:
        return tf.function(jit_compile=True)
    return tf.function()

def labels(x):
    return tf.strings.as_string(x)

compiler(len(sys.argv) > 9 and not DEFERRED)(labels)(tf.ones([3]))

@tf.function(jit_compile=True)
def f(x):
    return x * 2.0
"""
# How many rows a ragged tensor has is a shape, whatever their lengths are.
RAGGED_ROWS: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x):
    lengths = tf.cast(x[0], tf.int64)
    rows = tf.RaggedTensor.from_row_lengths(tf.range(2.0), lengths, validate=False)
    return tf.range(rows.nrows()) + lengths
"""
CODE: Final = {
    "what Python asks for": ASKED_BY_PYTHON,
    "what may be a structure": STRUCTURES,
    "what may be a list is counted": COUNTED,
    "what a value is asked about first": ASKED,
    "a decorator returns more than the function": DECORATORS,
    "what each round of a loop has for itself": ROUNDS,
    "optional parts": OPTIONAL_PARTS,
    "one kind or another": EITHER_KIND,
    "a method by its name": METHODS_BY_NAME,
    "a tensor for one annotation, a list for another": ANNOTATED_TWICE,
    "a flag that the host chooses": CHOSEN_ON_HOST,
    "a flag that a setting turns off": FLAG_TURNED_OFF,
    "rows of a ragged tensor": RAGGED_ROWS,
}


@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_only_what_is_marked_is_flagged(tmp_path: Path, code: str) -> None:
    assert {line for line, _ in flagged(tmp_path, code)} == marked(code)


def test_what_the_library_returns_in_pairs_is_unpacked(tmp_path: Path) -> None:
    # The calls themselves have no kernel.
    assert {line for line, code in flagged(tmp_path, PAIRS) if code == "XLA103"} == marked(PAIRS)


@pytest.mark.compiler
@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_what_is_not_marked_compiles(code: str) -> None:
    kept = "\n".join(line for line in code.split("\n") if not line.endswith(MARK))
    measured = measure(kept.replace(", first, second", ""), ("f32[2, 2]",))
    assert measured.matches(Compiles()), measured


UNCONVERTED: Final = """\
import tensorflow as tf

class Rows(tf.keras.layers.Layer):
    @tf.autograph.experimental.do_not_convert
    def call(self, x: tf.Tensor):
        rows = []
        for row in x:  # flagged
            rows.append(row * 2.0)
        return tf.stack(rows)

def test_rows():
    assert Rows()(tf.ones([2, 2])).shape == (2, 2)
"""


def test_a_layer_that_is_called_stays_as_it_is_marked(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow==2.15.1\n", encoding="utf-8")
    assert flagged(tmp_path, UNCONVERTED) == {(number, "XLA103") for number in marked(UNCONVERTED)}


# Eight names that cannot be joined: the message is about the first, each time that it is asked for.
UNJOINED: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 0.0:
        h = g = k = e = d = c = b = a = tf.zeros([2])
    else:
        h = g = k = e = d = c = b = a = tf.zeros([2, 2])
    return h, g, k, e, d, c, b, a
"""


def test_of_several_names_the_first_is_spoken_of(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(UNJOINED, encoding="utf-8")
    messages = [one.message for one in check([tmp_path], Settings()).findings if one.code == "XLA108"]
    assert ["`h`" in message for message in messages] == [True], messages


OUTPUTS: Final = """\
import tensorflow as tf

class Levels(tf.keras.losses.Loss):
    def call(self, targets, predictions):
        scores, weights = predictions
        total = 0.0
        for i in range(len(targets)):
            total += tf.reduce_sum((scores[i] - targets[i]) * weights[i])
        return total

class Whole(tf.keras.losses.Loss):
    def call(self, targets, predictions):
        return tf.reduce_sum(predictions - targets) / float(len(targets))  # flagged
"""


def test_a_loss_that_takes_outputs_apart_has_as_many_targets(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, OUTPUTS)} == marked(OUTPUTS)


TEXT: Final = """\
import tensorflow as tf

class Codec(tf.Module):
    def __init__(self, parts):
        super().__init__()
        shape, text = tf.TensorSpec([2], tf.int32), tf.TensorSpec([1], dtype=tf.string)
        self.read = tf.function(input_signature=2 * [shape] + (parts + 1) * [text])(self.read)

    def read(self, shape, other, *texts):
        return tf.zeros(shape)[: other[0]]

    @tf.function(input_signature=[tf.TensorSpec([8, 8], tf.float32), tf.TensorSpec([2], tf.int32)])
    def crop(self, x, shape):
        return x[: shape[0]]  # flagged
"""


def test_what_takes_text_is_not_meant_for_xla(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(TEXT, encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu")).findings
    assert {finding.span.line for finding in found} == marked(TEXT)


SUMMARIES: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    tf.summary.scalar("least", tf.reduce_min(x), step=0)  # flagged
    tf.summary.scalar("most", tf.reduce_max(x), step=0)  # flagged
    tf.summary.scalar("mean", tf.reduce_mean(x), step=0)  # flagged
    tf.summary.scalar("sum", tf.reduce_sum(x), step=0)
    return x

@tf.function(jit_compile=True)
def show(x):
    tf.print("least", tf.reduce_min(x))  # flagged
    tf.print("most", tf.reduce_max(x))  # flagged
    tf.print("mean", tf.reduce_mean(x))  # flagged
    tf.print("sum", tf.reduce_sum(x))
    return x
"""


def test_after_three_summaries_or_prints_of_a_function_the_others_are_information(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SUMMARIES, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA403"]
    assert len(found) == 8
    assert {one.span.line for one in found if one.severity is not Severity.INFO} == marked(SUMMARIES)


COUNTS: Final = """\
import tensorflow as tf

class Rays:
    def __init__(self, scenario):
        self.scenario = scenario

    @tf.function(jit_compile=True)
    def mask(self):
        most = tf.reduce_max([self.scenario.near, self.scenario.far])
        return tf.zeros([2, most])

    @tf.function(jit_compile=True)
    def lengths(self, counts):
        most = tf.reduce_max(counts)
        return tf.zeros([2, most])  # flagged
"""


def test_numbers_that_stand_in_a_list_may_be_pythons_own(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, COUNTS)} == marked(COUNTS)


CONVERTED: Final = """\
import tensorflow as tf

def convert(x):
    if not tf.is_tensor(x):
        x = tf.constant(x)
    return tf.cast(x, tf.complex64)

class Waves(tf.keras.layers.Layer):
    def call(self, x):
        return convert(x) + tf.cast(tf.constant(x), tf.complex64)  # flagged
"""


def test_a_constant_is_made_of_what_is_no_tensor(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, CONVERTED)} == marked(CONVERTED)


MASKS: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x, ids):
    return tf.gather(x, ids) + tf.gather(x, x > 0)

@tf.function(jit_compile=True)
def g(x, ids):
    return tf.gather(x, tf.cast(ids > 0, tf.int32) + ids)  # flagged

f(tf.ones([3]), tf.constant([True, False, True]))
g(tf.ones([3]), tf.constant([1, 0, 1]))
"""


def test_a_mask_is_no_index_and_tensorflow_refuses_it_everywhere(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, MASKS)} == marked(MASKS)
