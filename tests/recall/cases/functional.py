"""Functions as values: lambdas, partial application, decorators, bodies of `map_fn`, `scan`, `cond` and loops."""

import functools

import keras
import tensorflow as tf


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def scaled(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(values, *rest):
            return factor * function(values, *rest)

        return wrapper

    return decorate


# case: decorated(f32[4])
@timed
def positive_only(values):
    return values[values > 0]  # hazard: XLA201 named


@tf.function(jit_compile=True)
def decorated(values):
    return tf.reduce_sum(positive_only(values))


# case: decorated_clean(f32[4])
@timed
@scaled(2.0)
def first_only(values, count):
    return values[:count]


@tf.function(jit_compile=True)
def decorated_clean(values):
    return tf.reduce_sum(first_only(values, 2))


# case: decorated_twice(f32[4])
@timed
@scaled(2.0)
def largest_positive(values):
    if tf.reduce_max(values) > 0:  # hazard: XLA101 named
        return tf.reduce_max(values)
    return tf.zeros([])


@tf.function(jit_compile=True)
def decorated_twice(values):
    return largest_positive(values)


# case: compiled_outside(f32[4])
@tf.function(jit_compile=True)
@timed
def compiled_outside(values):
    return tf.reduce_mean(tf.boolean_mask(values, values > 0))  # hazard: XLA201 named


# case: partial_mask(f32[4])
def above(threshold, values):
    return tf.boolean_mask(values, values > threshold)  # hazard: XLA201 named


above_half = functools.partial(above, 0.5)


@tf.function(jit_compile=True)
def partial_mask(values):
    return tf.reduce_sum(above_half(values))


# case: partial_size(f32[6], i32[])
def window(values, size, offset=0):
    return tf.reshape(values[:4], [size, -1])  # hazard: XLA205 recompiles


@tf.function(jit_compile=True)
def partial_size(values, size):
    shaped = functools.partial(window, size=tf.minimum(size, 2))
    return tf.reduce_sum(shaped(values))


# case: partial_static(f32[6])
def fixed_window(values, size, offset=0):
    return tf.reshape(values[offset : offset + 4], [size, -1])


pairs = functools.partial(fixed_window, size=2, offset=1)


@tf.function(jit_compile=True)
def partial_static(values):
    return tf.reduce_sum(pairs(values)) + tf.reduce_sum(fixed_window(values, values.shape[0] - 2))


# case: lambda_ternary(f32[4])
@tf.function(jit_compile=True)
def lambda_ternary(values):
    relax = lambda value: value * 2.0 if tf.reduce_sum(value) > 0 else -value  # hazard: XLA101 named
    return relax(values)


# case: lambda_default(f32[4])
@tf.function(jit_compile=True)
def lambda_default(values):
    relax = lambda value, scale=2.0: value * scale if scale > 1.0 else -value
    return relax(values)


# case: table_of_functions(f32[4])
def soft(values):
    return tf.nn.softplus(values)


def hard(values):
    return values if tf.reduce_min(values) > 0 else tf.nn.relu(values)  # hazard: XLA101 named


ACTIVATIONS = {"soft": soft, "hard": hard}


@tf.function(jit_compile=True)
def table_of_functions(values):
    return ACTIVATIONS["hard"](values)


# case: table_of_functions_clean(f32[4])
@tf.function(jit_compile=True)
def table_of_functions_clean(values, activation="soft"):
    if activation not in ACTIVATIONS:
        raise ValueError(activation)
    return ACTIVATIONS["soft"](values)


# case: map_body(f32[4, 3])
def row_sum(row):
    return tf.reduce_sum(row) if row[0] > 0 else -tf.reduce_sum(row)  # hazard: XLA101 named


@tf.function(jit_compile=True)
def map_body(rows):
    return tf.map_fn(row_sum, rows)


# case: map_body_clean(f32[4, 3])
def row_sum_clean(row):
    return tf.reduce_sum(row) * tf.sign(row[0]) if row.shape[0] > 1 else row[0]


@tf.function(jit_compile=True)
def map_body_clean(rows):
    return tf.map_fn(row_sum_clean, rows)  # hazard: XLA313 named


# case: MapLayer(f32[4, 3])
class MapLayer(keras.layers.Layer):
    def call(self, rows):
        return tf.map_fn(self.one, rows)

    def one(self, row):
        if row[0] > 0:  # hazard: XLA101 fails
            return row
        return -row


# case: MapLayerClean(f32[4, 3])
class MapLayerClean(keras.layers.Layer):
    def call(self, rows):
        return tf.map_fn(self.one, rows) + tf.vectorized_map(lambda row: row * 2.0, rows)  # hazard: XLA313 named

    def one(self, row):
        return tf.where(row[0] > 0, row, -row)


# case: scan_body(f32[4, 3])
def cell(carry, row):
    mixed = 0.5 * carry + row
    assert tf.reduce_all(mixed < 1e6)  # hazard: XLA105 fails
    return mixed


@tf.function(jit_compile=True)
def scan_body(rows):
    return tf.scan(cell, rows)


# case: scan_body_clean(f32[4, 3])
def cell_clean(carry, row):
    assert carry.shape == row.shape
    return 0.5 * carry + row


@tf.function(jit_compile=True)
def scan_body_clean(rows):
    return tf.scan(cell_clean, rows) + tf.foldl(cell_clean, rows)


# case: loop_body(f32[4])
def grow(step, values):
    extra = tf.zeros([step])  # hazard: XLA205 fails
    return step + 1, values + tf.reduce_sum(extra)


@tf.function(jit_compile=True)
def loop_body(values):
    return tf.while_loop(lambda step, _: step < 4, grow, (1, values))[1]


# case: loop_body_clean(f32[4, 3])
def walk(step, total, rows):
    return step + 1, total + rows[step] + tf.gather(rows, step), rows


@tf.function(jit_compile=True)
def loop_body_clean(rows):
    return tf.while_loop(lambda step, *_: step < 4, walk, (0, tf.zeros([3]), rows))[1]


# case: loop_slices(f32[6])
@tf.function(jit_compile=True)
def loop_slices(values):
    total = tf.constant(0.0)
    for start in tf.range(4):
        total += tf.reduce_sum(values[start : start + 2]) + values[start]
    return total


# case: loop_prefix(f32[6])
@tf.function(jit_compile=True)
def loop_prefix(values):
    total = tf.constant(0.0)
    for end in tf.range(1, 4):
        total += tf.reduce_sum(tf.ones([end]))  # hazard: XLA205 fails
    return total + values


# case: cond_branch(f32[4])
def masked_branch(values):
    return tf.reduce_sum(values[values > 0])  # hazard: XLA201 named


@tf.function(jit_compile=True)
def cond_branch(values):
    return tf.cond(tf.reduce_sum(values) > 0, lambda: masked_branch(values), lambda: tf.zeros([]))


# case: cond_branch_clean(f32[4])
@tf.function(jit_compile=True)
def cond_branch_clean(values):
    kept = tf.cond(tf.reduce_sum(values) > 0, lambda: values[:2], lambda: values[2:])
    return tf.switch_case(tf.cast(kept[0] > 0, tf.int32), [lambda: kept, lambda: -kept])


# case: Lambdas(f32[4, 3])
def keep_positive(states):
    return tf.reduce_sum(tf.ragged.boolean_mask(states, states > 0).values)  # hazard: XLA207 named


class Lambdas(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.keep = keras.layers.Lambda(keep_positive)

    def call(self, states):
        return states * self.keep(states)


# case: lambda_layer(f32[4, 3])
lambda_layer = keras.layers.Lambda(lambda states: states * 2.0 if tf.reduce_sum(states) > 0 else states)  # hazard: XLA101 fails


# case: lambda_layer_clean(f32[4, 3])
lambda_layer_clean = keras.layers.Lambda(lambda states: states * 2.0 if states.shape[-1] > 1 else states)


# case: defaults(f32[4])
def limit_by(values, limit=None, *, strict=False):
    if limit is None:
        limit = tf.reduce_mean(values)
    if strict:
        return tf.minimum(values, limit)
    if limit > 1.0:  # hazard: XLA101 named
        return values / limit
    return values


@tf.function(jit_compile=True)
def defaults(values):
    return limit_by(values)


# case: defaults_static(f32[4])
def limit_to(values, limit=2.0, *, strict=False):
    if strict:
        return tf.minimum(values, limit)
    if limit > 1.0:
        return values / limit
    return values


@tf.function(jit_compile=True)
def defaults_static(values):
    return limit_to(values) + limit_to(values, limit=3.0, strict=True)


# case: forwarded(f32[4], i32[])
def take(values, *args, **kwargs):
    return take_counted(values, *args, **kwargs)


def take_counted(values, count, fill=0.0):
    return tf.fill([count], fill) + values[0]  # hazard: XLA205 recompiles


@tf.function(jit_compile=True)
def forwarded(values, count):
    return tf.reduce_sum(take(values, count, fill=1.0))


# case: forwarded_static(f32[4])
def take_static(values, *args, **kwargs):
    return take_fixed(values, *args, **kwargs)


def take_fixed(values, count, fill=0.0):
    return tf.fill([count], fill) + values[0]


@tf.function(jit_compile=True)
def forwarded_static(values):
    return tf.reduce_sum(take_static(values, 3, fill=1.0)) + tf.reduce_sum(take_static(values, tf.shape(values)[0]))


# case: generator(f32[4, 3])
def rows_of(table):
    for row in table:  # hazard: XLA103 fails
        yield row * 2.0


@tf.function(jit_compile=True)
def generator(table):
    return tf.add_n(list(rows_of(table)))


# case: generator_clean(f32[4, 3])
def row_slices(table):
    for index in range(table.shape[0]):
        yield table[index] * 2.0


@tf.function(jit_compile=True)
def generator_clean(table):
    return tf.add_n(list(row_slices(table)))


# case: recursion(f32[4])
def halve(values, depth):
    if depth == 0:
        return values[values > 0]  # hazard: XLA201 named
    return halve(values * 0.5, depth - 1)


@tf.function(jit_compile=True)
def recursion(values):
    return tf.reduce_sum(halve(values, 3))


# case: recursion_clean(f32[4])
def halve_clean(values, depth):
    if depth == 0:
        return values
    return halve_clean(values * 0.5, depth - 1)


@tf.function(jit_compile=True)
def recursion_clean(values):
    return tf.reduce_sum(halve_clean(values, 3))


# case: closure_state(f32[4])
@tf.function(jit_compile=True)
def closure_state(values):
    kept = []
    result = values

    def remember(value):
        kept.append(value)  # hazard: XLA107 fails

    for step in tf.range(3):
        result = result * 0.9
        remember(result)
    return result + kept[-1]


# case: closure_state_clean(f32[4])
@tf.function(jit_compile=True)
def closure_state_clean(values):
    kept = []
    result = values

    def remember(value):
        kept.append(value)

    for _ in range(3):
        result = result * 0.9
        remember(result)
    return result + kept[-1]


# case: not run: arguments that are structures, flags, objects and names
@tf.function(jit_compile=True)
def unpacked_batch(batch, training):
    images, labels = batch
    if training:
        images = images * 2.0
    return tf.reduce_mean(images - labels)


@tf.function(jit_compile=True)
def keyed_batch(batch):
    return tf.stack([value * 2.0 for value in batch["parts"]]) if batch["count"] > 3 else batch["image"]


@tf.function(jit_compile=True)
def listed_parts(parts, functions):
    parts = [part + 1.0 for part in parts]
    for function in functions:
        parts = function(parts)
    return tf.concat(parts, axis=0)


@tf.function(jit_compile=True)
def zipped(gradients, variables):
    for gradient, variable in zip(gradients, variables):
        variable.assign_sub(gradient)


def configured(config, values, mode):
    if config.scale > 1 and mode in ("up", "down"):
        values = values * config.scale
    return tf.reduce_sum(values, axis=config.axis)


@tf.function(jit_compile=True)
def through_helper(config, values, mode):
    return configured(config, values, mode)


@tf.function(jit_compile=True)
def in_rows(values, rows):
    return tf.reshape(values, [rows, -1])


def call_with_numbers():
    return in_rows(tf.ones([8]), 4)
