"""A model and data, and programs that put models together: they call layers and models in loops, and infer nothing."""

from typing import Final

MODEL: Final = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
data = tf.data.Dataset.from_tensors(tf.ones([1, 3])).repeat(30)
"""

BUILDS: Final = f"""{MODEL}
def build():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

total = 0.0
for seed in range(9, 90, 9):
    tf.keras.utils.set_random_seed(seed)
    total += build().predict(tf.ones([64, 3]), verbose=0)
"""
PYRAMID: Final = f"""{MODEL}
def pyramid(levels):
    inputs = [tf.keras.Input((3,)) for _ in range(levels)]
    found = []
    for level in inputs:
        found.append(model(level))
    return tf.keras.Model(inputs, tf.keras.layers.Add()(found))

print(pyramid(20).count_params())
"""
PYRAMID_CLASS: Final = f"""{MODEL}
class Pyramid(tf.keras.Model):
    def train_step(self, data):
        return super().train_step(data)

def pyramid(levels):
    inputs = [tf.keras.Input((3,)) for _ in range(levels)]
    found = []
    for level in inputs:
        found.append(model(level))
    return Pyramid(inputs, tf.keras.layers.Add()(found))

print(pyramid(20).count_params())
"""
BESIDE: Final = f"""{MODEL}
def beside(base):
    inputs = tf.keras.Input((3,))
    outputs = base(inputs)
    return tf.keras.Model(inputs, outputs)

for size in range(1, 30):
    base = tf.keras.Sequential([tf.keras.layers.Dense(size)])
    print(beside(base).count_params())
"""
STACK: Final = """
import tensorflow as tf

class Gate(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.score = tf.keras.layers.Dense(3)

    def call(self, x):
        return x * self.score(x)

def block(x):
    gate = Gate()
    return gate(Gate()(x))

def stack(x, depth):
    for _ in range(depth):
        x = block(x)
    return x

inputs = tf.keras.Input((3,))
model = tf.keras.Model(inputs, stack(inputs, 20))
"""
TOWERS: Final = f"""{MODEL}
def towers(inner, count):
    found = []
    for part in range(count):
        inputs = [tf.keras.layers.Lambda(lambda x, part=part: x[part::count])(x) for x in inner.inputs]
        found.append(inner(inputs))
    return tf.keras.layers.Concatenate(axis=0)(found)

whole = tf.keras.Model(model.inputs, towers(model, 20))
"""
LEVELS: Final = """
import tensorflow as tf

class Heads(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)

    def __call__(self, levels):
        found = []
        for x in levels:
            found.append(self.second(self.first(x)))
        return tf.keras.layers.Add()(found)

levels = [tf.keras.Input((3,)) for _ in range(20)]
model = tf.keras.Model(levels, Heads()(levels))
"""
