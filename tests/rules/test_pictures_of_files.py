"""Pictures that keep the size of their file: read by Python functions of a pipeline, and for a model line by line."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

HEAD: Final = """\
import glob

import cv2
import numpy as np
import tensorflow as tf
from PIL import Image

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

def letterboxed(image, size):
    height, width = image.shape[:2]
    factor = size / max(height, width)
    image = cv2.resize(image, (int(width * factor), int(height * factor)))
    canvas = np.zeros((size, size, 3), np.float32)
    canvas[:image.shape[0], :image.shape[1]] = image
    return canvas

paths = tf.data.Dataset.list_files("*.png")
"""
END: Final = "\nfor x in paths.map(parse).batch(1):\n    step(x)\n"
LOAD: Final = "def load(path):\n    return cv2.imread(path.decode()).astype(np.float32)\n"
PARSE: Final = "def parse(path):\n    image = tf.numpy_function(load, [path], tf.float32)\n"
OWN: Final = {
    "of OpenCV": f"{LOAD}{PARSE}    return image",
    "of Pillow": "def load(path):\n    return np.float32(Image.open(path.decode()).convert('RGB')) / 255\n"
    f"{PARSE}    return image",
    "with a rank": f"{LOAD}{PARSE}    image.set_shape([None, None, 3])\n    return image",
    "mirrored": "def load(path):\n    image = cv2.imread(path.decode())[:, :, ::-1] / 127.5 - 1\n"
    f"    image = np.flip(image, 1)\n    return np.asarray(image, np.float32)\n{PARSE}    return image",
    "of an eager function": "def load(path):\n    return tf.constant(cv2.imread(path.numpy().decode()) / 255.0)\n"
    "parse = lambda path: tf.py_function(load, inp=[path], Tout=tf.float32)",
    "where it is told so": "def load(path, small):\n    image = cv2.imread(path.numpy().decode())\n    if small[0]:\n"
    "        image = cv2.resize(image, (64, 64))\n    return image\n"
    "parse = lambda path: tf.py_function(load, [path, [False, True]], [tf.float32])",
    "of an object": "class Data:\n    def load(self, path):\n        return np.float32(cv2.imread(path.decode()))\n"
    "    def parse(self, path):\n        return tf.numpy_function(func=self.load, inp=[path], Tout=tf.float32)\n"
    "parse = Data().parse",
}
ONE: Final = {
    "resized there": "def load(path):\n    return np.float32(cv2.resize(cv2.imread(path.decode()), (64, 64)))\n"
    f"{PARSE}    return image",
    "resized behind it": f"{LOAD}{PARSE}    return tf.image.resize(image, (64, 64))",
    "of a shape that is said": f"{LOAD}{PARSE}    image.set_shape([64, 64, 3])\n    return image",
    "of a shape that is made sure of": f"{LOAD}{PARSE}    return tf.ensure_shape(image, [64, 64, 3])",
    "cut out": "def load(path):\n    image = cv2.imread(path.decode())\n    y = image.shape[0] // 2\n"
    f"    return np.float32(image[y:y + 64, y:y + 64])\n{PARSE}    return image",
    "on a canvas": f"def load(path):\n    return letterboxed(cv2.imread(path.decode()), 416)\n{PARSE}    return image",
    "resized, where it is told so": "def load(path, small):\n    image = cv2.imread(path.numpy().decode())\n"
    "    if small[0]:\n        image = cv2.resize(image, (64, 64))\n    return image\n"
    "parse = lambda path: tf.py_function(load, [path, [True, True]], [tf.float32])",
    "the label beside it": "def load(path):\n    return cv2.imread(path.decode()), np.int32(1)\n"
    "def parse(path):\n    image, label = tf.numpy_function(load, [path], [tf.float32, tf.int32])\n    return label",
    "decoded": "def parse(path):\n    image = tf.cast(tf.io.decode_png(tf.io.read_file(path)), tf.float32)\n"
    "    image.set_shape([64, 64, 3])\n    return image",
}
MODEL: Final = """
class Net(tf.keras.Model):
    def call(self, x, training=False):
        return x

net = Net()
for path in glob.glob("*.png"):
    image = {}
    net(tf.cast(image[None], tf.float32))
"""


def _told(code: str, target: str | None = None) -> int:
    found = lint_source(HEAD + code, settings=Settings(target=target)).findings
    return sum(one.code == "XLA308" for one in found)


@pytest.mark.parametrize("code", OWN.values(), ids=OWN.keys())
def test_pictures_of_their_own_size(code: str) -> None:
    assert _told(code + END) == 1


@pytest.mark.parametrize("code", ONE.values(), ids=ONE.keys())
def test_pictures_of_one_size(code: str) -> None:
    assert _told(code + END) == 0


@pytest.mark.parametrize(
    ("image", "found"), [("cv2.imread(path)", 1), ("cv2.resize(cv2.imread(path), (64, 64))", 0), ("cv2.imread('a')", 0)]
)
def test_model_that_is_called_line_by_line(image: str, found: int) -> None:
    code = MODEL.format(image)
    assert _told(code, "tpu") == found
    assert _told(code) == 0


STACKED: Final = """
def batches(size):
    images = []
    for path in glob.glob("*.png"):
        images.append(np.float32(cv2.imread(path)))
        if len(images) == size:
            yield np.array(images)
            images = []

for images in batches(4):
    step(tf.constant(images))
"""


def test_pictures_that_are_stacked_have_one_size() -> None:
    assert _told(STACKED) == 0
    assert _told(STACKED.replace("np.array(images)", "np.array(images[-1:])")) == 0  # nobody knows how many these are
    assert _told(STACKED.replace("np.array(images)", "np.array([np.float32(cv2.imread(path))])")) == 1
