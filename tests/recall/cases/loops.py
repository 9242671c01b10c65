"""Loops and branches that tensors steer: what AutoGraph converts, what it cannot, and plain Python."""

import keras
import tensorflow as tf

compiled = tf.function(jit_compile=True)


# case: Newton(f32[4])
class Newton(keras.layers.Layer):
    tolerance = 1.0

    def residual(self, guess):
        return tf.reduce_max(tf.abs(guess))

    def call(self, guess):
        while self.residual(guess) > self.tolerance:  # hazard: XLA102 fails
            guess = guess * 0.5
        return guess


# case: NewtonFixed(f32[4])
class NewtonFixed(keras.layers.Layer):
    tolerance = 1.0
    iterations = 5

    def call(self, guess):
        left = self.iterations
        while left > 0 and self.tolerance > 0:
            guess = guess * 0.5
            left -= 1
        return guess


# case: fill_queue(f32[4])
def produce(values, target):
    count = tf.constant(0)
    while count < target:  # hazard: XLA102 named
        values = values + 1.0
        count += 1
    return values


@compiled
def fill_queue(values):
    return produce(values, tf.cast(tf.reduce_max(tf.abs(values)), tf.int32))


# case: fill_queue_static(f32[4])
def produce_fixed(values, target):
    count = 0
    while count < target:
        values = values + 1.0
        count += 1
    return values


@compiled
def fill_queue_static(values):
    return produce_fixed(values, values.shape[0])


# case: drain(f32[4])
@compiled
def drain(values):
    while True:
        values = values * 1.5
        if tf.reduce_sum(tf.abs(values)) > 50.0:  # hazard: XLA101 named
            break  # hazard: XLA110 fails
    return values


# case: drain_some(f32[4])
@compiled
def drain_some(values):
    rounds = 0
    while True:
        values = values * 1.5
        rounds += 1
        if rounds > 3:
            break
    return values


# case: first_positive(f32[4])
@compiled
def first_positive(values):
    for place in range(4):
        if values[place] > 0.0:  # hazard: XLA101 named
            return values[place]  # hazard: XLA110 fails
    return values[0]


# case: first_positive_static(f32[4])
@compiled
def first_positive_static(values):
    place = tf.argmax(tf.cast(values > 0.0, tf.int32))
    return tf.gather(values, place)


# case: skip_negative(f32[4])
@compiled
def skip_negative(values):
    total = tf.constant(0.0)
    for place in tf.range(4):
        if values[place] < 0.0:  # hazard: XLA101 named
            continue
        total += values[place]
    return total


# case: skip_odd(f32[4])
@compiled
def skip_odd(values):
    total = tf.constant(0.0)
    for place in range(4):
        if place % 2:
            continue
        total += values[place]
    return total


# case: ring_buffer(f32[4])
@compiled
def ring_buffer(values):
    buffer = tf.TensorArray(tf.float32, 0, True)  # hazard: XLA204 diverges
    for place in tf.range(4):
        buffer = buffer.write(place, values[place])
    return tf.reduce_sum(buffer.stack())


# case: Buffered(f32[4])
def new_buffer(size=0):
    return tf.TensorArray(dtype=tf.float32, size=size, dynamic_size=True)  # hazard: XLA204 diverges


class Buffered(keras.layers.Layer):
    def call(self, values):
        buffer = new_buffer()
        for place in range(4):
            buffer = buffer.write(place, values[place])
        return buffer.stack()


# case: BufferedStatic(f32[4])
def sized_buffer(size):
    return tf.TensorArray(dtype=tf.float32, size=size, dynamic_size=False, clear_after_read=False)


class BufferedStatic(keras.layers.Layer):
    def call(self, values):
        buffer = sized_buffer(values.shape[0])
        for place in range(4):
            buffer = buffer.write(place, values[place])
        return buffer.stack()


# case: logged(f32[4])
class Log:
    def __init__(self):
        self.lines = []

    def add(self, line):
        self.lines.append(line)  # hazard: XLA107 fails


@compiled
def logged(values):
    log = Log()
    for place in tf.range(4):
        log.add(values[place])
    return tf.stack(log.lines)


# case: logged_python(f32[4])
class PythonLog:
    def __init__(self):
        self.lines = []

    def add(self, line):
        self.lines.append(line)


@compiled
def logged_python(values):
    log = PythonLog()
    for place in range(4):
        log.add(values[place])
    return tf.stack(log.lines)


# case: branch_list(f32[4])
@compiled
def branch_list(values):
    parts = [values]
    if tf.reduce_sum(values) > 0:  # hazard: XLA101 named
        parts.append(values * 2.0)  # hazard: XLA107 fails
    return tf.add_n(parts)


# case: branch_list_static(f32[4])
@compiled
def branch_list_static(values, double=True):
    parts = [values]
    if double:
        parts.append(values * 2.0)
    return tf.add_n(parts)


# case: branch_key(f32[4])
@compiled
def branch_key(values):
    outputs = {"plain": values}
    if tf.reduce_sum(values) > 0:  # hazard: XLA101 named
        outputs["double"] = values * 2.0  # hazard: XLA107 fails
    return outputs.get("double", values)


# case: branch_key_static(f32[4])
@compiled
def branch_key_static(values):
    outputs = {"plain": values}
    if "double" not in outputs:
        outputs["double"] = values * 2.0
    return outputs["double"]


# case: mixed_tuple(f32[4])
def split_or_none(values):
    if tf.reduce_max(values) > 1.0:  # hazard: XLA108 fails
        return values, values * 2.0
    return values, None


@compiled
def mixed_tuple(values):
    return split_or_none(values)[0]


# case: same_tuple(f32[4])
def split_or_zero(values):
    high = tf.reduce_max(values) > 1.0
    return values, tf.where(high, values * 2.0, tf.zeros_like(values))


@compiled
def same_tuple(values):
    return split_or_zero(values)[0]


# case: raises(f32[4])
def refuse(values):
    if tf.reduce_max(values) > 1e6:  # hazard: XLA101 fails
        raise ValueError("too large")
    return values * 2.0


@compiled
def raises(values):
    return refuse(values)


# case: raises_static(f32[4])
def refuse_shape(values):
    if values.shape[0] > 1000 or values.shape.rank != 1:
        raise ValueError(f"unexpected shape {values.shape}")
    return values * 2.0


@compiled
def raises_static(values):
    return refuse_shape(values)


# case: either(f32[4])
@compiled
def either(values):
    use = tf.reduce_sum(values) > 0 or tf.reduce_max(values) > 1  # hazard: XLA104 named
    return values * tf.cast(use, tf.float32)


# case: Either(f32[4])
class Either(keras.layers.Layer):
    def quiet(self, values):
        return not tf.reduce_any(values > 1.0)  # hazard: XLA104 fails

    def call(self, values):
        return values * tf.cast(self.quiet(values), tf.float32)


# case: Between(f32[4])
class Between(keras.layers.Layer):
    def call(self, values):
        mean = tf.reduce_mean(values)
        return values * tf.cast(-1.0 < mean < 1.0, tf.float32)  # hazard: XLA104 fails


# case: EitherStatic(f32[4])
class EitherStatic(keras.layers.Layer):
    scale = None

    def call(self, values, mask=None):
        scale = self.scale or 2.0
        use = mask is not None and values.shape[0] > 2
        return values * scale * float(not use)


# case: Smallest(f32[4])
class Smallest(keras.layers.Layer):
    def call(self, values):
        return values * min(tf.reduce_sum(values), 2.0)  # hazard: XLA104 fails


# case: SmallestStatic(f32[4])
class SmallestStatic(keras.layers.Layer):
    def call(self, values):
        return values * min(values.shape[0], 2.0) * tf.minimum(tf.reduce_sum(values), 2.0)


# case: map_rows(f32[4])
@compiled
def map_rows(values: tf.Tensor):
    return tf.stack(list(map(tf.nn.relu, values)))  # hazard: XLA103 fails


# case: map_parts(f32[4])
@compiled
def map_parts(values):
    return tf.stack(list(map(tf.nn.relu, tf.unstack(values)))) + tf.map_fn(tf.nn.relu, values)  # hazard: XLA313 named


# case: training_loop(f32[4])
@compiled
def training_loop(values):
    with tf.GradientTape() as tape:
        tape.watch(values)
        state = values
        while tf.reduce_sum(tf.abs(state)) < 20.0:  # hazard: XLA102|XLA109 fails
            state = state * state + 1.0
        loss = tf.reduce_sum(state)
    return tape.gradient(loss, values)


# case: formatted(f32[4])
@compiled
def formatted(values):
    label = f"{tf.reduce_sum(values):.2f}"  # hazard: XLA106 fails
    return values * float(len(label) > 0)


# case: listed_values(f32[4])
@compiled
def listed_values(values):
    return tf.constant(values.numpy().tolist())  # hazard: XLA106 fails


# case: Rounded(f32[4])
class Rounded(keras.layers.Layer):
    def call(self, values):
        return self.scale(values) * values

    @staticmethod
    def scale(values):
        return float(tf.reduce_mean(values))  # hazard: XLA106 fails


# case: numpy_mean(f32[4])
def host_mean(values):
    import numpy as np

    return np.mean(values)  # hazard: XLA106 fails


@compiled
def numpy_mean(values):
    return values - host_mean(values)


# case: found_or_refused(f32[4])
def looked_up(pairs, wanted):
    for name, value in pairs:
        if name == wanted:
            break
    else:
        raise KeyError(wanted)
    return value


@tf.function(jit_compile=True)
def found_or_refused(values):
    """A loop that is left by `break`, or by an exception where nothing was found."""
    length = tf.reduce_sum(tf.cast(values > 0, tf.int32))
    size = looked_up([("rate", 3), ("size", length)], "size")
    return values + tf.reduce_sum(tf.zeros([size]))  # hazard: XLA205 recompiles


# case: found_or_refused_static(f32[4])
@tf.function(jit_compile=True)
def found_or_refused_static(values):
    length = tf.reduce_sum(tf.cast(values > 0, tf.int32))
    size = looked_up([("rate", 3), ("size", length)], "rate")
    return values + tf.reduce_sum(tf.zeros([size]))
