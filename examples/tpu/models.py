"""Two models that are to train on a TPU: `xlalint readiness examples/tpu/models.py --prove` has a TPU's compiler take
them whole, with their gradients and a step of training, and says what memory that needs.
"""

import keras
from keras import layers


def image_classifier(classes=10, filters=16, blocks=1):
    """A small ResNet."""
    images = keras.Input([32, 32, 3], name="images")
    x = layers.Conv2D(filters, 3, padding="same")(images)
    for _ in range(blocks):
        before = x
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.ReLU()(layers.BatchNormalization()(x) + before)
    return keras.Model(images, layers.Dense(classes)(layers.GlobalAveragePooling2D()(x)))


def text_classifier(classes=2, words=30_000, width=64, heads=4, blocks=1, length=128):
    """A small BERT."""
    tokens = keras.Input([length], dtype="int32", name="tokens")
    mask = keras.ops.not_equal(tokens, 0)
    x = layers.Embedding(words, width)(tokens) + layers.Embedding(length, width)(keras.ops.arange(length))
    for _ in range(blocks):
        attended = layers.MultiHeadAttention(heads, width // heads, dropout=0.1)(x, x, attention_mask=mask[:, None])
        x = layers.LayerNormalization()(x + layers.Dropout(0.1)(attended))
        wide = layers.Dense(4 * width, activation="gelu")(x)
        x = layers.LayerNormalization()(x + layers.Dropout(0.1)(layers.Dense(width)(wide)))
    return keras.Model(tokens, layers.Dense(classes)(x[:, 0]))
