"""Values that travel in lists, dicts, tuples, dataclasses and attributes of other objects."""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import keras
import tensorflow as tf


# case: dict_mask(f32[4, 3])
@tf.function(jit_compile=True)
def dict_mask(images):
    features = {"image": images, "valid": images[:, 0] > 0, "count": 3}
    return tf.reduce_mean(features["image"][features["valid"]])  # hazard: XLA201 named


# case: dict_static(f32[4, 3])
@tf.function(jit_compile=True)
def dict_static(images):
    features = {"image": images, "valid": images[:, 0] > 0, "count": 3}
    if features["count"] > 2 and "image" in features:
        images = images[: features["count"]]
    return tf.reduce_mean(images)


# case: list_of_masks(f32[4])
def masks_of(values):
    return [values > 0.0, values < 1.0]


def all_selected(values, masks):
    return [values[mask] for mask in masks]  # hazard: XLA201 named


@tf.function(jit_compile=True)
def list_of_masks(values):
    return tf.add_n([tf.reduce_sum(part) for part in all_selected(values, masks_of(values))])


# case: list_of_slices(f32[4])
def bounds_of(values):
    return [(0, 2), (1, values.shape[0])]


def all_sliced(values, bounds):
    return [values[first:last] for first, last in bounds]


@tf.function(jit_compile=True)
def list_of_slices(values):
    return tf.add_n([tf.reduce_sum(part) for part in all_sliced(values, bounds_of(values))])


# case: tuple_result(f32[4])
def statistics(values):
    return tf.reduce_mean(values), tf.reduce_max(values), values.shape[0]


@tf.function(jit_compile=True)
def tuple_result(values):
    mean, peak, size = statistics(values)
    if mean > 0.0:  # hazard: XLA101 named
        values = values / float(size)
    return values - peak


# case: tuple_static(f32[4])
@tf.function(jit_compile=True)
def tuple_static(values):
    _, peak, size = statistics(values)
    if size > 3:
        values = values / float(size)
    return values - peak


# case: nested_dict(f32[4])
@tf.function(jit_compile=True)
def nested_dict(values):
    state = {"stats": {"total": tf.reduce_sum(values)}, "depth": [1, 2]}
    scale = 2.0 if state["stats"]["total"] > 1.0 else 1.0  # hazard: XLA101 named
    return values * scale


# case: nested_dict_static(f32[4])
@tf.function(jit_compile=True)
def nested_dict_static(values):
    state = {"stats": {"total": tf.reduce_sum(values)}, "depth": [1, 2]}
    scale = 2.0 if state["depth"][0] > 1 else 1.0
    if len(state["depth"]) > 1:
        scale *= 2.0
    return values * scale


# case: updated_dict(f32[4])
def add_length(batch):
    batch["length"] = tf.reduce_sum(tf.cast(batch["values"] > 0, tf.int32))
    return batch


@tf.function(jit_compile=True)
def updated_dict(values):
    batch = add_length({"values": values})
    return tf.reduce_sum(tf.zeros([batch["length"]])) + values  # hazard: XLA205 recompiles


# case: updated_dict_static(f32[4])
def add_size(batch):
    batch["length"] = tf.shape(batch["values"])[0]
    return batch


@tf.function(jit_compile=True)
def updated_dict_static(values):
    batch = add_size({"values": values})
    return tf.reduce_sum(tf.zeros([batch["length"]])) + values


# case: dataclass_method(f32[4, 3])
@dataclasses.dataclass
class Sequence:
    states: tf.Tensor
    lengths: tf.Tensor
    pad: int = 4

    def longest(self):
        return tf.reduce_max(self.lengths)

    def trimmed(self):
        return self.states[: self.longest()]  # hazard: XLA205 recompiles


@tf.function(jit_compile=True)
def dataclass_method(states):
    lengths = tf.cast(tf.reduce_sum(tf.cast(states > 0, tf.int32), axis=1), tf.int32)
    return tf.reduce_sum(Sequence(states, lengths).trimmed())


# case: dataclass_static(f32[4, 3])
@dataclasses.dataclass(frozen=True)
class Padded:
    states: tf.Tensor
    pad: int = 4

    @property
    def size(self):
        return min(self.pad, self.states.shape[0])

    def trimmed(self):
        if self.pad > 8:
            return self.states
        return self.states[: self.size]


@tf.function(jit_compile=True)
def dataclass_static(states):
    return tf.reduce_sum(Padded(states).trimmed()) + Padded(states, pad=9).trimmed()


# case: replaced(f32[4, 3])
@tf.function(jit_compile=True)
def replaced(states):
    padded = dataclasses.replace(Padded(states), states=states * 2.0)
    scale = 2.0
    if tf.reduce_sum(tf.abs(padded.states)) < 30.0:  # hazard: XLA101 named
        scale = 3.0
    return states * scale


# case: cached_attribute(f32[4])
class Statistics:
    def __init__(self, values):
        self.values = values
        self._positive = None

    def positive(self):
        if self._positive is None:
            self._positive = self.values > 0
        return self._positive


class Selector:
    def __init__(self, statistics):
        self.statistics = statistics

    def select(self):
        return self.statistics.values[self.statistics.positive()]  # hazard: XLA201 named


@tf.function(jit_compile=True)
def cached_attribute(values):
    return tf.reduce_sum(Selector(Statistics(values)).select())


# case: cached_attribute_clean(f32[4])
class Weighter:
    def __init__(self, statistics):
        self.statistics = statistics

    def weigh(self):
        return self.statistics.values * tf.cast(self.statistics.positive(), tf.float32)


@tf.function(jit_compile=True)
def cached_attribute_clean(values):
    return tf.reduce_sum(Weighter(Statistics(values)).weigh())


# case: grouped(f32[4])
@tf.function(jit_compile=True)
def grouped(values):
    groups = defaultdict(list)
    groups["mean"].append(tf.reduce_mean(values))
    groups["mean"].append(tf.reduce_max(values))
    return values * max(groups["mean"])  # hazard: XLA104 fails


# case: grouped_clean(f32[4])
@tf.function(jit_compile=True)
def grouped_clean(values):
    groups = defaultdict(list)
    groups["mean"].append(tf.reduce_mean(values))
    groups["mean"].append(tf.reduce_max(values))
    if groups["mean"]:
        values = values * float(len(groups["mean"]))
    return values * tf.reduce_max(tf.stack(groups["mean"])) + sum(groups["mean"])


# case: filtered(f32[4, 3])
@tf.function(jit_compile=True)
def filtered(rows):
    kept = [row for row in tf.unstack(rows) if tf.reduce_sum(row) > 0]  # hazard: XLA101 fails
    return tf.add_n([rows[0], *kept])


# case: filtered_clean(f32[4, 3])
@tf.function(jit_compile=True)
def filtered_clean(rows):
    kept = [row for index, row in enumerate(tf.unstack(rows)) if index % 2 == 0 and row.shape[0] == 3]
    return tf.add_n([rows[0], *kept])


# case: comprehension(f32[4, 3])
@tf.function(jit_compile=True)
def comprehension(rows: tf.Tensor):
    return tf.stack([tf.nn.softmax(row) for row in rows])  # hazard: XLA103 fails


# case: dict_comprehension(f32[4, 3])
@tf.function(jit_compile=True)
def dict_comprehension(rows):
    rows = tf.nn.relu(rows)
    named = {index: row for index, row in enumerate(rows)}  # hazard: XLA103 fails
    return named[0]


# case: comprehension_clean(f32[4, 3])
@tf.function(jit_compile=True)
def comprehension_clean(rows):
    named = {index: row for index, row in enumerate(tf.unstack(rows))}
    parts = [tf.nn.softmax(rows[index]) for index in range(rows.shape[0])]
    return tf.stack(parts) + named[0]


# case: star_unpack(f32[4, 3])
@tf.function(jit_compile=True)
def star_unpack(rows: tf.Tensor):
    return tf.add_n([*rows])  # hazard: XLA103 fails


# case: star_call(f32[4, 3])
def head_and_tail(first, *rest):
    return first + tf.add_n(list(rest))


@tf.function(jit_compile=True)
def star_call(rows):
    first, *rest = tf.unstack(rows)
    return head_and_tail(first, *rest) + head_and_tail(*[rows[0], rows[1]])


# case: listed(f32[4, 3])
@tf.function(jit_compile=True)
def listed(rows):
    rows = tf.abs(rows)
    return tf.add_n(list(rows))  # hazard: XLA103 fails


# case: enumerated(f32[4, 3])
@tf.function(jit_compile=True)
def enumerated(rows: tf.Tensor):
    total = tf.zeros([3])
    for index, row in enumerate(rows):  # hazard: XLA103 fails
        total += row * float(index)
    return total


# case: enumerated_clean(f32[4, 3])
@tf.function(jit_compile=True)
def enumerated_clean(rows):
    total = tf.zeros([3])
    for index, scale in enumerate([1.0, 2.0]):
        total += rows[index] * scale
    for row, scale in zip(tf.unstack(rows), (1.0, 2.0, 3.0, 4.0)):
        total += row * scale
    return total


# case: tested(f32[4, 3])
@tf.function(jit_compile=True)
def tested(rows):
    return rows * 2.0 if any(rows[0] > 0) else rows  # hazard: XLA103 fails


# case: tested_clean(f32[4, 3])
@tf.function(jit_compile=True)
def tested_clean(rows, flags=(True, False)):
    return rows * 2.0 if any(flags) or all(size > 1 for size in rows.shape) else rows


# case: KeyedInputs(f32[4, 3])
class KeyedInputs(keras.layers.Layer):
    """The inputs are put into a dict and handed on with `**`."""

    def call(self, inputs):
        return self.combine(**{"states": inputs, "limit": tf.reduce_mean(inputs)})

    def combine(self, states, **options):
        if options["limit"] > 0:  # hazard: XLA101 fails
            states = states - options["limit"]
        return states


# case: KeyedInputsClean(f32[4, 3])
class KeyedInputsClean(keras.layers.Layer):
    def call(self, inputs):
        return self.combine(**{"states": inputs, "limit": 0.5})

    def combine(self, states, **options):
        if options["limit"] > 0:
            states = states - options["limit"]
        if options.get("name"):
            return states * 2.0
        return states


# case: filled(f32[4])
def put_length(found, values):
    found["length"] = tf.reduce_sum(tf.cast(values > 0, tf.int32))


def put_size(sizes, values):
    sizes.append(tf.shape(values)[0])
    sizes.append(tf.reduce_sum(tf.cast(values > 0, tf.int32)))


@tf.function(jit_compile=True)
def filled(values):
    """Other functions fill the containers that they are passed."""
    found, sizes = {"length": 2}, []
    put_length(found, values)
    put_size(sizes, values)
    ones = tf.ones([sizes[1]])  # hazard: XLA205 recompiles
    return tf.reduce_sum(tf.zeros([found["length"]])) + tf.reduce_sum(ones)  # hazard: XLA205 recompiles


# case: filled_static(f32[4])
def put_again(found, values):
    found = {**found, "length": tf.reduce_sum(tf.cast(values > 0, tf.int32))}
    return found["length"]


@tf.function(jit_compile=True)
def filled_static(values):
    found, sizes = {"length": 2}, []
    count = put_again(found, values)
    put_size(sizes, values)
    put_size(*[[], values])
    return tf.reduce_sum(tf.zeros([found["length"], sizes[0]])) + tf.cast(count, tf.float32)


# case: any_of_several(f32[4])
@tf.function(jit_compile=True)
def any_of_several(values):
    return values * 2.0 if any([tf.constant(True), False]) else values  # hazard: XLA104 fails


# case: any_of_several_clean(f32[4])
@tf.function(jit_compile=True)
def any_of_several_clean(values):
    return values * 2.0 if any([True, tf.reduce_sum(values) > 1.0]) else values


# case: a_number_beside_floats(f32[4, 3])
@tf.function(jit_compile=True)
def a_number_beside_floats(x):
    inputs = [tf.exp(x), 2] if x.shape[0] > 2 else [tf.exp(x), 3, 4]
    return inputs[0] + tf.reduce_sum(tf.zeros([inputs[1]]))


# case: a_size_beside_floats(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def a_size_beside_floats(x, n):
    inputs = [tf.exp(x), n] if x.shape[0] > 2 else [tf.exp(x), 3, 4]
    return inputs[0] + tf.reduce_sum(tf.zeros([inputs[1]]))  # hazard: XLA205 recompiles
