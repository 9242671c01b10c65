"""What the pipelines of programs need that are to move to a TPU, in other spellings than the rule's examples."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .marked import MARK

ABOVE: Final = """\
import glob
import os
import pathlib

import cv2
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
optimizer = tf.keras.optimizers.SGD()

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

"""
PROGRAMS: Final = {
    "tables of a folder": """\
tables = [str(path) for path in pathlib.Path("tables").glob("*.csv")]
rows = tf.data.Dataset.list_files(tables)  # flagged
data = rows.interleave(lambda table: tf.data.experimental.CsvDataset(table, [0.0, 0.0], header=True))
model.fit(data.batch(8))
""",
    "one table": """\
data = tf.data.experimental.CsvDataset("rows.csv", [0.0, 0.0])  # flagged
model.fit(data.batch(8))
""",
    "a table that is batched": """\
data = tf.data.experimental.make_csv_dataset("titanic.csv", batch_size=8, label_name="survived")  # flagged
model.fit(data, epochs=2)
""",
    "a folder of pictures": """\
from tensorflow.keras.preprocessing import image_dataset_from_directory

train = image_dataset_from_directory("./pictures/", image_size=(64, 64))  # flagged
model.fit(train.prefetch(1), epochs=3)
""",
    "pictures that a class of its own changes": """\
from tensorflow.keras.preprocessing.image import Iterator

class Pictures(Iterator):
    def __init__(self, pictures, labels, batch_size):
        self.pictures, self.labels = pictures, labels
        super().__init__(len(pictures), batch_size, True, None)

    def _get_batches_of_transformed_samples(self, index_array):
        return np.stack([self.pictures[index] for index in index_array]), self.labels[index_array]

pictures = Pictures(np.load("pictures.npy"), np.load("labels.npy"), 8)
model.fit(pictures, steps_per_epoch=9)  # flagged
""",
    "a data set that was saved": """\
data = tf.data.Dataset.load("saved/rows")  # flagged
model.fit(data.batch(8))
""",
    "records that a loop trains on": """\
names = [os.path.join("records", name) for name in os.listdir("records")]
rows = iter(tf.data.TFRecordDataset(names).map(tf.io.parse_tensor).batch(8).repeat())  # flagged
for _ in range(100):
    step(next(rows))
""",
    "a data set by name": """\
train, info = tfds.load("imdb_reviews", split="train", with_info=True)  # flagged
model.fit(train.batch(8))
""",
    "a class that makes a generator a data set": """\
class Rows:
    def rows(self):
        for i in range(64):
            yield np.full([4], i)

    def batches(self, size):
        kind = tf.TensorSpec([4], tf.float32)
        return tf.data.Dataset.from_generator(self.rows, output_signature=kind).batch(size)  # flagged

for x in Rows().batches(8):
    step(x)
""",
    "a function of Python in a pipeline": """\
def read(path):
    picture = tf.numpy_function(cv2.imread, [path], tf.uint8)  # flagged
    return tf.image.resize(tf.ensure_shape(picture, [None, None, 3]), [64, 64]), 1.0

model.fit(tf.data.Dataset.from_tensor_slices(glob.glob("pictures/*.png")).map(read).batch(8))
""",
    "two image generators side by side": """\
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
pictures = images.flow_from_directory("pictures", class_mode=None)
masks = images.flow_from_directory("masks", class_mode=None)
model.fit(zip(pictures, masks), steps_per_epoch=9)  # flagged
""",
    "image generators of a plain class": """\
class Pictures:
    def __init__(self, folder):
        images = tf.keras.preprocessing.image.ImageDataGenerator()
        self.batches = images.flow_from_directory(folder, class_mode=None)

for x in Pictures("pictures").batches:
    model.train_on_batch(x, np.ones([32, 1]))  # flagged
""",
    "an older method": """\
rows = tf.keras.preprocessing.image.ImageDataGenerator().flow(np.ones([64, 32, 32, 3]), np.ones([64]))
model.fit_generator(generator=rows, steps_per_epoch=2)  # flagged
""",
    "an older method, by the place of its argument": """\
rows = tf.keras.preprocessing.image.ImageDataGenerator()
model.fit_generator(rows.flow(np.ones([64, 32, 32, 3]), np.ones([64])), steps_per_epoch=2)  # flagged
""",
    "an image generator with a smaller batch at its end": """\
rows = tf.keras.preprocessing.image.ImageDataGenerator()
model.fit(rows.flow(np.load("x.npy"), np.load("y.npy"), batch_size=32))  # flagged
""",
    "a sequence whose history nothing reads": """\
class Rows(tf.keras.utils.Sequence):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return np.ones([8, 4]), np.ones([8, 1])

def main():
    history = model.fit(Rows(), epochs=2)  # flagged

main()
""",
    "both": """\
def pairs():
    while True:
        yield np.ones([8, 4]), np.ones([8, 1])

words = tf.data.TextLineDataset("words.txt").map(tf.strings.length).batch(8)  # flagged
model.fit(words)
model.fit(pairs(), steps_per_epoch=9)  # flagged
""",
    "a folder that the program is told": """\
import sys

model.fit(tf.data.TFRecordDataset(sys.argv[1]).map(tf.io.parse_tensor).batch(8))
""",
    "arrays of a file": """\
arrays = np.load("rows.npz")
model.fit(arrays["x"], arrays["y"])
model.fit(tf.data.Dataset.from_tensor_slices((arrays["x"], arrays["y"])).batch(8))
""",
    "image generators that show pictures": """\
pictures = tf.keras.preprocessing.image.ImageDataGenerator().flow_from_directory("pictures")
print(next(pictures))
model.fit(np.ones([64, 4]), np.ones([64, 1]))
""",
}


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS)
def test_what_a_pipeline_needs_is_told_once(tmp_path: Path, code: str) -> None:
    (tmp_path / "m.py").write_text(ABOVE + code, encoding="utf-8")
    found = [it.span.line for it in check([tmp_path], Settings(target="tpu")).findings if it.code == "XLA513"]
    assert found == [number for number, line in enumerate((ABOVE + code).split("\n"), 1) if line.endswith(MARK)]
    assert "XLA513" not in {finding.code for finding in check([tmp_path], Settings()).findings}


def test_what_a_plain_object_reads_is_read_by_who_creates_it(tmp_path: Path) -> None:
    pictures = PROGRAMS["image generators of a plain class"]
    made, used = pictures.replace('Pictures("pictures")', "Pictures(folder)").rsplit("\n\n", 1)
    (tmp_path / "kept.py").write_text(f"import tensorflow as tf\n\n{made}\n", encoding="utf-8")
    used = "def train(folder):\n" + textwrap.indent(used, "    ") + '\ntrain("a")\ntrain("b")\n'
    (tmp_path / "m.py").write_text(f"from kept import Pictures\n{ABOVE}{used}", encoding="utf-8")
    found = {Path(it.path).name for it in check([tmp_path], Settings(target="tpu")).findings if it.code == "XLA513"}
    assert found == {"m.py"}


def test_the_class_that_makes_the_batches_is_named(tmp_path: Path) -> None:
    made = "class Rows(tf.keras.utils.Sequence):\n    def __getitem__(self, at):\n        return np.ones([8, 4])\n\n"
    (tmp_path / "m.py").write_text(f"{ABOVE}{made}model.fit(Rows())\n", encoding="utf-8")
    (found,) = (one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA513")
    assert [(note.text, note.span.line) for note in found.notes] == [("Python makes each batch here", 20)]
