"""A model, data and a step of training, around which the examples of several rules put their loops."""

from typing import Final

SETUP: Final = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(3)
"""
STEP: Final = """
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
"""
COMPILED: Final = f"{SETUP}\n@tf.function{STEP}"
