"""Numbers that data choose, and sizes that XLA computes while it compiles, or does not."""

import tensorflow as tf


# case: chosen(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def chosen(x, n):
    if tf.reduce_sum(x) > tf.cast(n, tf.float32):  # hazard: XLA101 named
        count = 2
    else:
        count = 3
    return tf.reduce_sum(tf.zeros([count, 2]))  # hazard: XLA205 recompiles


# case: kept_or_changed(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def kept_or_changed(x, n):
    count, width = 3, 1
    if n > 1:  # hazard: XLA101 named
        count = count - 1
    return tf.reduce_sum(x[:count, :width])  # hazard: XLA205 recompiles


# case: chosen_while_tracing(f32[4, 3])
@tf.function(jit_compile=True)
def chosen_while_tracing(x):
    count = 3
    if x.shape[0] > 2:
        count = 2
    return tf.reduce_sum(tf.zeros([count, 2]))


# case: chosen_in_an_expression(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def chosen_in_an_expression(x, n):
    axis = 1 if n > 1 else 0  # hazard: XLA101 named
    return tf.reduce_sum(tf.reduce_sum(x, axis=axis))  # hazard: XLA206 recompiles


# case: chosen_by_chance(f32[4, 3], i32[])
@tf.function(jit_compile=True)
def chosen_by_chance(x, n):
    count = n
    if tf.random.uniform([]) > 0.5:  # hazard: XLA101 named
        count = n + 1
    return x + tf.reduce_sum(tf.ones([count]))  # hazard: XLA205 fails


# case: a_flag(f32[4, 3])
@tf.function(jit_compile=True)
def a_flag(x):
    done = False
    if tf.reduce_any(x > 1.0):  # hazard: XLA101 named
        done = True
    return tf.where(done, x, -x)


# case: of_a_product(f32[4, 3])
@tf.function(jit_compile=True)
def of_a_product(x):
    longest = tf.cast(tf.reduce_max(x @ tf.ones([3, 2])), tf.int32)
    return x + tf.reduce_sum(tf.ones([tf.maximum(longest, 1)]))  # hazard: XLA205 fails


# case: of_a_sum(f32[4, 3])
@tf.function(jit_compile=True)
def of_a_sum(x):
    longest = tf.cast(tf.reduce_sum(x), tf.int32)
    return x + tf.reduce_sum(tf.ones([tf.maximum(longest, 1)]))  # hazard: XLA205 recompiles


# case: of_a_selection(f32[4])
@tf.function(jit_compile=True)
def of_a_selection(x):
    longest = tf.cast(tf.reduce_max(x[x > 0.0]), tf.int32)  # hazard: XLA201 named
    return tf.reduce_sum(tf.ones([tf.maximum(longest, 1)]))  # hazard: XLA205 fails


# case: of_a_scan(f32[4])
@tf.function(jit_compile=True)
def of_a_scan(x):
    totals = tf.scan(lambda old, new: old + new, x)
    return tf.reduce_sum(tf.ones([tf.cast(tf.abs(totals[-1]), tf.int32) + 1]))  # hazard: XLA205 fails


# case: moved_by_a_product(f32[4, 4])
@tf.function(jit_compile=True)
def moved_by_a_product(x):
    at = tf.argmax(tf.linalg.matvec(x, x[0]))
    return x[at]  # hazard: XLA206 recompiles


# case: matched(f32[4])
class Span:
    __match_args__ = ("start", "size")

    def __init__(self, start, size):
        self.start = start
        self.size = size


def size_of(span):
    match span:
        case (_, size) | {"size": size}:
            return size
        case Span(_, size):
            return size
        case _:
            raise TypeError(span)


@tf.function(jit_compile=True)
def matched(values):
    length = tf.reduce_sum(tf.cast(values > 0, tf.int32))
    return values + tf.reduce_sum(tf.zeros([size_of(Span(2, length))]))  # hazard: XLA205 recompiles


# case: matched_static(f32[4])
def padding(kind, length):
    match kind:
        case "same":
            return 2
        case _:
            return length


@tf.function(jit_compile=True)
def matched_static(values):
    length = tf.reduce_sum(tf.cast(values > 0, tf.int32))
    sizes = [size_of(Span(length, 2)), size_of((length, 2)), size_of({"start": length, "size": 2})]
    return values + tf.reduce_sum(tf.zeros([padding("same", length), *sizes]))


# case: awaited(f32[4])
async def counted(values):
    return tf.reduce_sum(tf.cast(values > 0, tf.int32))


def finished(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value


@tf.function(jit_compile=True)
def awaited(values):
    return values + tf.reduce_sum(tf.zeros([finished(counted(values))]))  # hazard: XLA205 recompiles


# case: awaited_static(f32[4])
async def sized(values):
    return values.shape[0]


@tf.function(jit_compile=True)
def awaited_static(values):
    return values + tf.reduce_sum(tf.zeros([finished(sized(values))]))


# case: not run: a layer of two kinds, each called with its own arguments
class Full(tf.keras.layers.Layer):
    def call(self, x, scale, shift, mask=None, keep=False):
        return (x * scale + shift, x) if keep else x * scale + shift


class Short(tf.keras.layers.Layer):
    def call(self, x, mask=None, keep=False):
        return (x * 2.0, x) if keep else x * 2.0


class Either(tf.keras.layers.Layer):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.inner = Short() if kind == "short" else Full()

    def call(self, x):
        if self.kind == "short":
            y, _ = self.inner(x, mask=None, keep=True)
        else:
            y, _ = self.inner(x, x * 2.0, x + 1.0, mask=None, keep=True)
        return y


# case: chosen_by_converted_flags(f32[4])
def rows_of(x, ordered=False, distinct=0):
    if bool(ordered):
        return tf.unique(x)[0]
    is_distinct = bool(distinct)
    if is_distinct:
        return tf.where(x > 0)  # hazard: XLA203 named
    return x


@tf.function(jit_compile=True)
def chosen_by_converted_flags(x):
    return tf.reduce_sum(x) + tf.cast(tf.reduce_sum(rows_of(x, distinct=1)), tf.float32)
