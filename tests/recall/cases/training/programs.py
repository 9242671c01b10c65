"""Programs around compiled steps."""

import argparse
import collections
import importlib

import keras
import numpy as np
import tensorflow as tf

from . import objectives
from .runner import Runner

Step = collections.namedtuple("Step", "state reward")
STAGES = [(8, 2), (16, 2), (32, 1)]


@tf.function(jit_compile=True)
def step(features, target):
    return tf.reduce_mean(features) - tf.reduce_mean(target)


@tf.function(jit_compile=True)
def total(rows):
    return tf.reduce_sum(rows)


@tf.function(jit_compile=True)
def scaled(rows, factor):
    return tf.reduce_sum(rows) * factor


# case: not run: the loop is another module's
def loader(count):
    rows = {"features": np.ones((count, 3), "float32"), "target": np.zeros(count, "float32")}
    return tf.data.Dataset.from_tensor_slices(rows).batch(16)  # hazard: XLA302 recompiles


def train():
    Runner(step, {"train": loader(64), "test": loader(25)}).run(2)


train()


# case: not run: a function of a module that a setting names
def chosen():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objective", default="squared")
    objective = getattr(objectives, parser.parse_args().objective)
    return tf.function(lambda x: objective(x), jit_compile=True)(tf.ones([4]))


# case: not run: a module by its name
def imported(name):
    module = importlib.import_module(f"training.{name}")
    return tf.function(lambda x: module.squared(x), jit_compile=True)(tf.ones([4]))


imported("objectives")


# case: not run: host code around a compiled function
def by_class(rows, labels):
    for label in np.unique(labels):
        total(rows[labels == label])  # hazard: XLA308 recompiles
        total(rows[np.where(labels == label)[0]])  # hazard: XLA308 recompiles


by_class(np.ones((9, 3)), np.array([0, 1, 1, 2, 2, 2, 0, 0, 0]))


# case: not run: a mask that is computed once
def selected(rows):
    kept = rows[rows.sum(1) > 0]
    for _ in range(3):
        total(kept)


selected(np.ones((9, 3)))


# case: not run: an episode of records, by columns
def play(chance):
    steps = collections.deque()
    while True:
        steps.append(Step(chance.normal(size=3), 1.0))
        if chance.random() < 0.2:
            return steps


def learn(chance):
    for _ in range(4):
        states, rewards = zip(*play(chance))
        total(np.stack(states))  # hazard: XLA308 recompiles


learn(np.random.default_rng(0))


# case: not run: pieces that are cut at places, and by a comprehension
def pieces(rows):
    for part in np.split(rows, range(4, len(rows), 4)):  # hazard: XLA302 recompiles
        total(part)
    for part in np.split(rows, 2):
        total(part)


pieces(np.ones((10, 3)))


# case: not run: images of their own sizes, in a comprehension
def brightness(paths):
    return [total(read(path)[tf.newaxis]) for path in paths]  # hazard: XLA308 recompiles


def read(path):
    return tf.io.decode_png(tf.io.read_file(path))


# case: not run: what Keras calls at the end of an epoch
def annealed(model, rows):
    def show(epoch, logs):
        scaled(rows, 1.0 / (epoch + 1))  # hazard: XLA306 recompiles

    model.fit(rows, rows, callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=show)])


# case: not run: crops that get larger, and padding to one length beside it
def crops(rows):
    for size, count in STAGES:
        images = rows.map(lambda row: tf.image.random_crop(row, [size, size, 3])).batch(4, drop_remainder=True)
        for batch in images.take(count):
            total(batch)  # hazard: XLA308 recompiles


def padded(chance):
    tokens = [1]
    while chance.random() > 0.1:
        tokens.append(2)
        total(np.array([tokens + [0] * (64 - len(tokens))]))


crops(tf.data.Dataset.from_tensors(tf.zeros([40, 40, 3])).repeat(8))
padded(np.random.default_rng(0))
