"""Tensors that a compiled step is passed: in which forms their shapes are other ones, and in which not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

CODES: Final = frozenset(("XLA301", "XLA302", "XLA303", "XLA305", "XLA308", "XLA309", "XLA310"))
HEAD: Final = """\
import collections, functools, itertools, math
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
data = rng.normal(size=(10, 4)).astype("float32")
rows = [rng.normal(size=(n, 4)).astype("float32") for n in (3, 5, 2, 7, 4)]
texts = ["a b c", "d e", "f", "g h i j", "k l m n o"]

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

"""
# More than one shape, the last one included.
VARYING: Final = {
    "append": """
buf = []
for i in range(5):
    buf.append(data[i])
    step(np.array(buf))
""",
    "appendstack": """
buf = []
for i in range(5):
    buf.append(data[i])
    step(tf.stack(buf))
""",
    "arange": """
for n in (10, 20, 30, 50):
    step(np.arange(n, dtype='float32'))
""",
    "arrsplit": """
for c in np.array_split(data, 3):
    step(c)
""",
    "attr": """
class B:
    def __init__(self):
        self.items = []
    def add(self, r):
        self.items.append(r)
        return step(np.array(self.items))
b = B()
for r in data[:5]:
    b.add(r)
""",
    "boolean_mask": """
for t in (0.0, 0.3, 0.6, 0.9):
    step(tf.boolean_mask(data, data[:, 0] > t))
""",
    "chunks": """
def chunks(a, n):
    for i in range(0, len(a), n):
        yield a[i:i + n]
for c in chunks(data, 4):
    step(c)
""",
    "comp": """
for t in (0.0, 0.3, 0.6, 0.9):
    step(np.array([v for v in data[:, 0] if v > t]))
""",
    "concat": """
buf = data[:1]
for i in range(1, 6):
    step(buf)
    buf = np.concatenate([buf, data[i:i + 1]])
""",
    "decode": """
seq = tf.constant([[1.0]])
for i in range(5):
    y = step(seq)
    seq = tf.concat([seq, tf.reshape(y, [1, 1])], axis=1)
""",
    "decode2": """
out = [1.0]
for i in range(5):
    y = step(tf.constant([out]))
    out.append(float(y))
""",
    "dsbucket": """
ds = tf.data.Dataset.from_generator(lambda: iter(rows), output_signature=tf.TensorSpec([None, 4]))
ds = ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [1, 1, 1])
for b in ds:
    step(b)
""",
    "dsfilter": """
ds = tf.data.Dataset.from_tensor_slices(data).batch(4).map(lambda x: tf.boolean_mask(x, x[:, 0] > 0.0))
for b in ds:
    step(b)
""",
    "dslast": """
for b in tf.data.Dataset.from_tensor_slices(data).batch(4):
    step(b)
""",
    "dspadded": """
ds = tf.data.Dataset.from_generator(lambda: iter(rows), output_signature=tf.TensorSpec([None, 4])).padded_batch(2)
for b in ds:
    step(b)
""",
    "dswindow": """
ds = tf.data.Dataset.from_tensor_slices(data).window(3).flat_map(lambda w: w.batch(3))
for b in ds:
    step(b)
""",
    "episode": """
def play(n):
    out = []
    done = False
    i = 0
    while not done:
        out.append(data[i % 10])
        i += 1
        done = i >= n or rng.random() < 0.0
    return np.array(out)
for n in (3, 5, 2, 6, 4):
    step(play(n))
""",
    "filterlist": """
for t in (0.0, 0.3, 0.6, 0.9):
    keep = [r for r in data if r[0] > t]
    step(np.stack(keep + [data[0]]))
""",
    "genbatch": """
def g(bs):
    out = []
    for r in data:
        out.append(r)
        if len(out) == bs:
            yield np.array(out)
            out = []
    if out:
        yield np.array(out)
for b in g(4):
    step(b)
""",
    "generator": """
def g():
    for n in (1, 2, 3, 4):
        yield np.zeros((n, 4), 'float32')
for b in g():
    step(b)
""",
    "grow": """
for n in range(1, 6):
    step(data[:n])
""",
    "grow2": """
for n in range(1, 6):
    step(tf.constant(data[0:n]))
""",
    "lenarg": """
def run(n):
    step(tf.ones([n]))
for n in (3, 4, 5, 6):
    run(n)
""",
    "linspace": """
for n in (10, 20, 30, 50):
    step(np.linspace(0.0, 1.0, n))
""",
    "listbatch": """
batch = []
for i, r in enumerate(data):
    batch.append(r)
    if len(batch) == 4 or i == len(data) - 1:
        step(np.array(batch))
        batch = []
""",
    "mask": """
for t in (0.0, 0.3, 0.6, 0.9):
    step(data[data[:, 0] > t])
""",
    "masklabel": """
labels = np.array([0, 1, 1, 2, 2, 2, 0, 3, 3, 3])
for c in range(4):
    step(data[labels == c])
""",
    "nonzero": """
labels = np.array([0, 1, 1, 2, 2, 2, 0, 3, 3, 3])
for c in range(4):
    step(data[np.nonzero(labels == c)])
""",
    "padlongest": """
for i in range(0, 4, 2):
    b = rows[i:i + 2]
    m = max(len(r) for r in b)
    step(np.stack([np.pad(r, ((0, m - len(r)), (0, 0))) for r in b]))
""",
    "padseq": """
seqs = [[1, 2, 3], [1, 2], [1], [1, 2, 3, 4]]
for s in seqs:
    step(np.array(tf.keras.utils.pad_sequences([s]), 'float32'))
""",
    "randsize": """
for i in range(5):
    n = int(rng.integers(2, 100))
    step(np.zeros((n, 4), 'float32'))
""",
    "repeat": """
for n in (1, 2, 3, 5):
    step(np.repeat(data[:1], n, axis=0))
""",
    "resize": """
for s in (8, 12, 16, 24):
    step(tf.image.resize(tf.ones([1, 32, 32, 3]), [s, s]))
""",
    "rows": """
for r in rows:
    step(r)
""",
    "rowsconv": """
for r in rows:
    step(tf.convert_to_tensor(r, tf.float32))
""",
    "rowsexp": """
for r in rows:
    step(np.expand_dims(r, 0))
""",
    "rowsidx": """
for i in range(len(rows)):
    step(rows[i])
""",
    "rowsnew": """
for r in rows:
    step(r[np.newaxis])
""",
    "rowstensor": """
for r in rows:
    step(tf.constant(r))
""",
    "shrink": """
for n in range(5):
    step(data[n:])
""",
    "tfconcat": """
buf = tf.constant(data[:1])
for i in range(1, 6):
    step(buf)
    buf = tf.concat([buf, data[i:i + 1]], 0)
""",
    "tfrange": """
for n in (10, 20, 30, 50):
    step(tf.cast(tf.range(n), tf.float32))
""",
    "tile": """
for n in (1, 2, 3, 5):
    step(tf.tile(tf.ones([1, 4]), [n, 1]))
""",
    "tokens": """
for t in texts:
    ids = [len(w) for w in t.split()]
    step(np.array([ids], 'float32'))
""",
    "vstack": """
buf = data[:1]
for i in range(1, 6):
    step(buf)
    buf = np.vstack([buf, data[i]])
""",
    "where": """
labels = np.array([0, 1, 1, 2, 2, 2, 0, 3, 3, 3])
for c in range(4):
    step(data[np.where(labels == c)[0]])
""",
    "window_last": """
for i in range(0, 10, 4):
    step(data[i:i + 4])
""",
    "zeros": """
for n in (1, 2, 3, 5):
    step(tf.zeros([n, 4]))
""",
    "zerosidx": """
sizes = [1, 2, 3, 5]
for i in range(4):
    step(tf.zeros([sizes[i], 4]))
""",
}
# One shape.
SAME: Final = {
    "batch": """
for i in range(0, 8, 4):
    step(data[i:i + 4])
""",
    "break": """
for b in tf.data.Dataset.from_tensor_slices(data).batch(4):
    if b.shape[0] != 4:
        break
    step(b)
""",
    "choice": """
for i in range(5):
    step(data[rng.choice(10, 4)])
""",
    "deque": """
buf = collections.deque(maxlen=4)
for r in data[:4]:
    buf.append(r)
for i in range(5):
    buf.append(data[i])
    step(np.array(buf))
""",
    "drop": """
for b in tf.data.Dataset.from_tensor_slices(data).batch(4, drop_remainder=True):
    step(b)
""",
    "even": """
for b in tf.data.Dataset.from_tensor_slices(data).batch(5):
    step(b)
""",
    "first": """
for r in rows:
    step(r[0])
""",
    "last": """
buf = []
for i in range(5):
    buf.append(data[i])
step(np.array(buf))
""",
    "maskmul": """
for t in (0.0, 0.3, 0.6):
    step(data * (data > t))
""",
    "max": """
for r in rows:
    step(np.max(r, axis=0))
""",
    "mean": """
for r in rows:
    step(r.mean(axis=0))
""",
    "one": """
for r in data:
    step(r)
""",
    "pad": """
for r in rows:
    step(np.pad(r, ((0, 8 - len(r)), (0, 0))))
""",
    "padfix": """
for r in rows:
    out = np.zeros((8, 4), 'float32')
    out[:len(r)] = r
    step(out)
""",
    "padseq": """
seqs = [[1, 2, 3], [1, 2], [1], [1, 2, 3, 4]]
for s in seqs:
    step(np.array(tf.keras.utils.pad_sequences([s], maxlen=8), 'float32'))
""",
    "perm": """
for i in range(5):
    step(data[rng.permutation(10)])
""",
    "reshape": """
for c in data.reshape(5, 2, 4):
    step(c)
""",
    "resize": """
for n in (5, 6, 7):
    step(tf.image.resize(tf.ones([1, n, n, 3]), [8, 8]))
""",
    "roll": """
for i in range(5):
    step(np.roll(data, i, axis=0))
""",
    "sampleidx": """
for i in range(5):
    idx = np.random.randint(0, 10, size=4)
    step(data[idx])
""",
    "shift": """
ctx = data[:4]
for i in range(4, 10):
    step(ctx)
    ctx = np.concatenate([ctx[1:], data[i:i + 1]])
""",
    "single": """
for i in range(10):
    step(data[i:i + 1])
""",
    "skip": """
for i in range(0, 10, 4):
    b = data[i:i + 4]
    if len(b) < 4:
        continue
    step(b)
""",
    "split": """
for c in np.split(data, 5):
    step(c)
""",
    "steps": """
n = len(data) // 4
for i in range(n):
    step(data[i * 4:(i + 1) * 4])
""",
    "win": """
for i in range(5):
    step(data[i:i + 3])
""",
    "zip": """
for a, b in zip(data, data):
    step(a + b)
""",
}
PROGRAM: Final = """
import json, linecache, sys
import tensorflow as tf

def traces(name, text):
    path = f"{name}.py"
    linecache.cache[path] = len(text), None, text.splitlines(True), path  # which AutoGraph reads
    names = {"__name__": name}
    exec(compile(text, path, "exec"), names)
    return names["step"].experimental_get_tracing_count()

print(json.dumps({name: traces(name, text) for name, text in json.load(sys.stdin).items()}))
"""


def told(programs: dict[str, str], folder: Path) -> list[str]:
    """The programs of which the linter says that a shape changes."""
    for name, text in programs.items():
        (folder / f"a_{name}.py").write_text(HEAD + text, encoding="utf-8")
    found = {Path(one.path).stem for one in check([folder], Settings()).findings if one.code in CODES}
    return [name for name in programs if f"a_{name}" in found]


def test_shapes_that_change_are_told(tmp_path: Path) -> None:
    assert told(VARYING, tmp_path) == [*VARYING]


def test_shapes_that_stay_are_not(tmp_path: Path) -> None:
    assert told(SAME, tmp_path) == []


@pytest.mark.compiler
def test_tensorflow_traces_for_each_shape() -> None:
    programs = {
        name: HEAD + text for name, text in (VARYING | {f"same_{name}": text for name, text in SAME.items()}).items()
    }
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(programs),
        env=quiet,
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    assert [name for name in VARYING if counts[name] < 2] == []
    assert [name for name in SAME if counts[f"same_{name}"] > 1] == []
