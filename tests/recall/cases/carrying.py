"""Ways of values: methods that change lists from afar, annotations of methods that are overridden, parts of inputs."""

import contextlib

import tensorflow as tf


def visit(items, hook):
    for item in items:
        hook(item)


# case: a_hook(f32[4], i32[])
@tf.function(jit_compile=True)
def a_hook(x, n):
    found = []
    visit([n], found.append)
    return x + tf.reduce_sum(tf.zeros([found[0]]))  # hazard: XLA205 recompiles


# case: a_hook_that_adds_behind(f32[4], i32[])
@tf.function(jit_compile=True)
def a_hook_that_adds_behind(x, n):
    found = [2]
    add = found.append
    add(n)
    return x + tf.reduce_sum(tf.zeros([found[0]]))


# case: a_callback(f32[4], i32[])
@tf.function(jit_compile=True)
def a_callback(x, n):
    found = []
    with contextlib.ExitStack() as stack:
        stack.callback(found.append, n)
    return x + tf.reduce_sum(tf.zeros([found[0]]))  # hazard: XLA205 recompiles


# case: positives_of_a_property(f32[4])
class Selection:
    def __init__(self):
        self._rows = None

    @property
    def rows(self):
        return self._rows

    @rows.setter
    def rows(self, scores):
        self._rows = scores > 0


@tf.function(jit_compile=True)
def positives_of_a_property(x):
    selection = Selection()
    selection.rows = x
    return tf.reduce_sum(x[selection.rows])  # hazard: XLA201 named


# case: a_size_of_a_property(f32[4], i32[3])
class Width:
    @property
    def width(self):
        return self._width

    @width.setter
    def width(self, like):
        self._width = like.shape[0]


class Window(Width):
    pass


@tf.function(jit_compile=True)
def a_size_of_a_property(x, counts):
    window = Window()
    setattr(window, "width", counts)
    return x + tf.reduce_sum(tf.zeros([window.width]))


# case: filtered(f32[4, 3])
class Filter:
    def apply(self, rows: tf.Tensor) -> tf.Tensor:
        raise NotImplementedError


class RowWise(Filter):
    def apply(self, rows):
        total = 0.0
        for row in enumerate(rows):  # hazard: XLA103 fails
            total = total + row[1]
        return total


@tf.function(jit_compile=True)
def filtered(rows):
    return RowWise().apply(rows)


# case: unpacked(f32[4, 3])
@tf.function(jit_compile=True, autograph=False)
def unpacked(x):
    first, *others = x  # hazard: XLA103 fails
    return x + first * len(others)


# case: unpacked_pair(f32[4, 3])
@tf.function(jit_compile=True, autograph=False)
def pair_of(pair):
    first, second = pair
    return first + second


def unpacked_pair(x):
    return pair_of((x, x))


# case: Shifts(f32[4, 3])
class Shifts(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.shifts = tf.range(-2, 3)
        self.most = tf.constant(2)
        self.rows = self.shifts

    def call(self, x):
        rows = len(self.rows) + self.shifts.numpy()[0]
        return x * float(rows + int(self.most)) if bool(self.most) else x


# case: FirstShift(f32[4, 3])
class FirstShift(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.shifts = tf.range(-2, 3)

    def call(self, x):
        return x * float(self.shifts[0])  # hazard: XLA106 fails


# case: KeptByCall(f32[4, 3])
class KeptByCall(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.shifts = tf.range(-2, 3)

    def call(self, x):
        self.shifts = tf.range(x.shape[0])
        return x * float(len(self.shifts))  # hazard: XLA106 fails
