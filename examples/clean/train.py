"""Trains the tagger on made-up sequences, eagerly or (`--jit`) compiled by XLA."""

import argparse

import keras
import numpy as np
from model import IGNORED, Tagger, masked_loss

SEQUENCES, STEPS, CHANNELS, CLASSES = 256, 12, 4, 3


def sequences(seed=0):
    """Features with padding, and a label per step: the largest of the first three channels."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(SEQUENCES, STEPS, CHANNELS)).astype("float32")
    labels = features[:, :, :CLASSES].argmax(axis=-1)
    padding = np.arange(STEPS) >= random.integers(3, STEPS - 1, size=(SEQUENCES, 1))
    features[padding] = 0.0
    labels[padding] = IGNORED
    return features, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jit", action="store_true", help="compile the training step with XLA")
    options = parser.parse_args()

    keras.utils.set_random_seed(1)
    model = Tagger(CLASSES)
    model.compile(
        optimizer=keras.optimizers.Adam(0.01),
        loss=masked_loss,
        jit_compile=options.jit,
        run_eagerly=not options.jit,
    )
    features, labels = sequences()
    history = model.fit(features, labels, batch_size=32, epochs=3, shuffle=False, verbose=0)
    print("loss per epoch:", ", ".join(f"{loss:.4f}" for loss in history.history["loss"]))


if __name__ == "__main__":
    main()
