"""Longer programs of the examples of rules."""

from __future__ import annotations

from typing import Final

_TRAINED: Final = """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(3)])
slow, fast = tf.keras.optimizers.SGD(0.01), tf.keras.optimizers.SGD(0.1)
log = []
"""
_LOOP: Final = """
def train(dataset):
    number = 0
    for epoch in range(2):
        for x in dataset:
            step(x, number)
            number += 1

train(tf.data.Dataset.from_tensor_slices(tf.ones([4, 3])).batch(2, drop_remainder=True))
"""
SIZE_AROUND_STEPS: Final = """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(3)])

def train(dataset, number):
    seed = tf.random.normal([number, 3])
    for x in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
    return model(seed)

train(tf.data.Dataset.from_tensors(tf.ones([4, 3])), tf.shape(tf.ones([4, 3]))[0])
"""
RESAMPLED: Final = """
def filled_up(indices, number):
    missing = tf.maximum(number - tf.size(indices), 0)
    drawn = tf.random.uniform((missing, 1), maxval=tf.size(indices), dtype=tf.int32)
    return tf.concat([indices, tf.gather_nd(indices, drawn)], 0)

class Sampler:
    def __init__(self, number):
        self.number = number

    def selected(self, x):
        return filled_up(tf.where(x > 0.0)[:, 0], self.number)

sampler = Sampler(6)

@tf.function(jit_compile=True)
def f(x):
    return sampler.selected(x)
"""
CHOSEN_SIZE: Final = """
@tf.function(jit_compile=True)
def f(x):
    positive = tf.where(x > 0.0)
    number = 4
    if tf.size(positive) < 3:
        number = tf.size(positive)
    weights = tf.pad(tf.ones(number), [[0, 8 - number]])
    return weights * tf.reduce_sum(x)
"""
TRACKED_SIZE: Final = """
@tf.function(jit_compile=True)
def f(x):
    positive = tf.where(x > 0.0)
    missing = 8 - tf.size(positive)
    drawn = tf.random.uniform((missing, 1)) + tf.random.normal((missing, 1))
    return tf.pad(tf.ones(tf.size(positive)), [[0, missing]]) + 0.0 * tf.reduce_sum(drawn)
"""
NUMBERED_STEP: Final = f"""{_TRAINED}
def step(x, number):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - x) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    if number <= 2:
        slow.apply_gradients(zip(gradients, model.trainable_variables))
    else:
        fast.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
{_LOOP}"""
LOGGED_STEP: Final = f"""{_TRAINED}
def step(x, number):
    if number == 0:
        print(x.shape)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - x) ** 2)
    slow.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    log.append((number, float(loss)))
{_LOOP}"""
NESTED_BOUNDS: Final = """
@tf.function(jit_compile=True)
def f(x):
    kept, dropped = tf.boolean_mask(x, x > 0.0), tf.boolean_mask(x, x <= 0.0)
    if tf.reduce_sum(x) > 0.0:
        kept = tf.concat([kept, kept], 0)
        dropped = tf.pad(dropped, [[0, 2]])
    if tf.reduce_max(x) > 0.0:
        kept, dropped = kept[:2], tf.random.shuffle(tf.cast(dropped, tf.int32))
    else:
        dropped = tf.cast(dropped, tf.int32)
    if tf.reduce_min(x) > 0.0:
        kept = tf.concat([kept, kept], 0)
        unused = dropped[:1]
    else:
        unused = dropped
    return tf.reduce_sum(kept) + tf.cast(tf.reduce_sum(dropped), tf.float32)
"""
SIZE_WHERE_ASKED: Final = """
class L(tf.keras.layers.Layer):
    def __init__(self, compress=False):
        super().__init__()
        self.compress = compress

    def call(self, x):
        y = x
        if self.compress:
            y = tf.boolean_mask(x, x > 0.0)
        y *= 2.0
        if self.compress:
            y = tf.scatter_nd(tf.where(x > 0.0), y, tf.shape(x))
        return tf.one_hot(tf.argmax(y), tf.shape(y)[0])
"""


def sized_step(noise: str, number: str) -> str:
    """A step that runs line by line, and is passed a size."""
    return f"""
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.SGD(0.01)

def step(x, number):
    noise = {noise}
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(noise) - x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss

for x in tf.data.Dataset.from_tensor_slices(tf.ones([4, 3])).batch(2, drop_remainder=True):
    step(x, {number})
"""


DRAWN_POSITION: Final = """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.seeds = tf.keras.random.SeedGenerator(1)

    def call(self, x):
        return 0.0 * x[tf.cast(tf.keras.random.uniform((), 0.0, 4.0, seed=self.seeds), tf.int32)]
"""
WINDOWS: Final = """
@tf.function(jit_compile=True)
def f(x):
    total, weights = tf.zeros([2]), tf.ones([4, 3])
    for i in tf.range(3):
        total += tf.squeeze(x[:, i : i + 1], axis=1)
        total += tf.reduce_sum(tf.reshape(x[:, i : i + 2], [2, tf.shape(x)[0]]), axis=0)
        total += tf.reduce_sum(tf.reshape(x, [2, 6])[:, i : i + 4] @ weights, axis=1)
    return total
"""
CROPPED: Final = """
def cropped(images):
    first = tf.random.uniform([], 0, images.shape[1] - 3, tf.int32)
    return tf.ensure_shape(images[:, first : first + 4], [None, 4, 3])

@tf.function(jit_compile=True)
def f(images):
    return 0.0 * cropped(images)
"""
RESIZED_CROP: Final = """
@tf.function(jit_compile=True)
def f(images):
    top, left = tf.unstack(tf.random.uniform([2], 1, 2, tf.int32))
    crop = images[:, top : top + 4, left : left + 4]
    return tf.image.resize(crop, [6, 6])
"""
WINDOWS_THAT_FIT: Final = """
@tf.function(jit_compile=True)
def f(x, weights):
    first = tf.random.uniform([], 1, 2, tf.int32)
    window = x[:, first : first + 2]
    total = tf.reduce_sum(tf.reshape(window, [2, -1]), axis=1) + tf.squeeze(tf.slice(x, [0, first], [2, 1]), axis=1)
    total += tf.reduce_mean(tf.reshape(window[:, :2], [2, 2]), axis=1) + tf.squeeze(window[:, :1], axis=1)
    total += tf.squeeze(tf.map_fn(lambda row: row[first : first + 2], x[:1]), axis=0)
    return total + tf.reduce_mean(window @ tf.transpose(window), axis=1) + tf.reduce_mean(weights @ window, axis=1)
"""
WINDOWS_OF_ROWS: Final = """
def window(row):
    return row["values"][row["first"] : row["first"] + 2]

@tf.function(jit_compile=True)
def f(x, first):
    return tf.map_fn(window, {"values": x, "first": first}, fn_output_signature=tf.float32)
"""
GROWING_WINDOW: Final = """
@tf.function(jit_compile=True)
def f(x):
    total = 0.0
    for end in tf.range(1, 3):
        total += tf.reduce_sum(x[:end][-1])
    return total
"""
MAPPED_WINDOW: Final = """
@tf.function(jit_compile=True)
def f(rows, starts):
    def window(example):
        row, first = example
        return row[first : first + 2]

    return tf.map_fn(window, (rows, starts), fn_output_signature=tf.float32)
"""
POSITIONS_IN_LOOPS: Final = """
@tf.function(jit_compile=True)
def f(x, order, shift):
    total = tf.constant(0.0)
    for i in tf.range(3):
        total += x[order[i]] + x[i + shift]
    for first in order:
        total += x[first]
    return total
"""
UNSCALED: Final = """
import math

def scaled(x, least, most):
    factor = 1.0
    if not math.isclose(least, most):
        factor = tf.random.uniform([], least, most)
    return tf.image.resize(x, [tf.cast(4.0 * factor, tf.int32), 4])

@tf.function(jit_compile=True)
def f(x):
    return scaled(x, 1.0, 1.0)
"""
PASSED_BOUNDS: Final = """
def totals(x, windows):
    total = 0.0
    for window in windows:
        total += tf.reduce_sum(x[window[0] : window[1]])
    return total

@tf.function(jit_compile=True)
def step(x, windows):
    return totals(x, windows)

for length in range(1, 4):
    windows = []
    for first in range(2):
        windows.append(tf.constant([first, first + length]))
    step(tf.ones([4]), windows)
"""
STORED_IN_ARRAY: Final = """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    states = np.ones((4, 3))
    for n in range(2):
        states[:, n + 1] = states[:, n] + tf.reduce_sum(x)
    return x * states[0, 2]
"""
OBJECTS_IN_ARRAY: Final = """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    parts, sizes = np.empty(2, dtype=object), np.zeros(2, dtype="int32")
    for n in range(2):
        parts[n] = tf.reduce_sum(x)
        sizes[n] = x.shape[0]
    return x * parts[0] * tf.cast(sizes[1], tf.float32)
"""
TAKEN_WEIGHTS: Final = """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.mixing = tf.keras.layers.Dense(shape[-1])
        self.mixing.build(shape)

    def call(self, x):
        return x @ self.mixing.get_weights()[0]
"""
RATES: Final = """
RATES = [0.1, 0.5, 0.9, 1.0]

@tf.function(jit_compile=True)
def f(x):
    return x * RATES[tf.argmax(x)]
"""
SCALED: Final = """
class L(tf.keras.layers.Layer):
    def call(self, x):
        return x * float(tf.reduce_max(x))
"""
PADDED_BATCHES: Final = """
def padded(batch):
    kept = batch[batch % 7 < 3]
    return tf.concat([kept, tf.zeros([8 - tf.size(kept)], tf.int64)], 0)

def promised(batch):
    kept = tf.boolean_mask(batch, batch >= 0)
    kept.set_shape([8])
    return kept

again = data.batch(8).map(lambda batch: batch[batch % 7 < 3]).unbatch().batch(8, drop_remainder=True)
for dataset in (data.batch(8).map(padded), data.batch(8).map(promised), again):
    for batch in dataset:
        step(batch)
"""
COUNTED_BATCHES: Final = """
def counted(names):
    total = 0
    for name, label in zip(names, (0, 1)):
        total += len(name)
    return names, total

def batches(names):
    names, size = counted(names)
    return data.repeat().batch(size)

for batch in batches(["ab", "cd"]).take(3):
    step(batch)
step(next(iter(batches(["ab", "cd"]))))
"""
BEST: Final = """
def best(x, scores):
    codes = tf.cast(x, tf.int32)
    return codes[tf.argmax(scores)]

class L(tf.keras.layers.Layer):
    def call(self, x, scores):
        return best(x, scores)
"""
LOOP_IN_BRANCH: Final = """
def product(x):
    return tf.scan(lambda a, row: a * row, x)[-1]

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(tf.shape(x)[0] > 1, lambda: product(x), lambda: x[0])
    return tape.gradient(y, x)
"""
GRADIENT_IN_BRANCH: Final = """
@tf.function(jit_compile=True)
def f(x):
    def changed():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.scan(lambda a, row: a * row, x)[-1]
        return tape.gradient(y, x)

    return tf.cond(tf.reduce_sum(x) > 0.0, changed, lambda: x)
"""
