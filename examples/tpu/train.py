"""A training script on its way to a TPU: `xlalint readiness examples/tpu` says what it still lacks."""

import numpy as np
import tensorflow as tf


class Classifier(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(64, activation="relu")
        self.scores = tf.keras.layers.Dense(classes)

    def call(self, images):
        return self.scores(self.hidden(images))


def connect(name):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def main():
    images = np.random.uniform(size=[1000, 784])
    labels = np.random.randint(0, 10, size=[1000])
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(64)
    model = Classifier(10)
    strategy = connect("local")
    with strategy.scope():
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, jit_compile=True)
    model.fit(data, epochs=3)


if __name__ == "__main__":
    main()
