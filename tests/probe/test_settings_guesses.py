"""What objects are made of: settings that the project has values for, their entries, and what errors say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .driver import Driver

pytestmark = pytest.mark.compiler

PROGRAM = """
import argparse
import keras
import tensorflow as tf

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grid-size", type=int, default=7)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--shift", type=int, default=3)
    return parser.parse_args()

class Grid:
    def __init__(self, args):
        if args.grid_size != 7:
            raise ValueError("no such grid")
        self.scale = tf.zeros([args.grid_size, args.hidden])

    def scaled(self, x):
        return tf.reduce_sum(self.scale) + x

class Shifted:
    def __init__(self, shape, shift=0):
        self.width, self.shift = shape[1], shift

    def moved(self, x):
        return tf.roll(x, self.shift, 0)

def shifted(args, x):
    y = args.hidden * x
    return Shifted(y.shape, shift=args.shift).moved(y)

class Audio:
    def __init__(self, converter):
        self.converter = converter

    def frames(self, x):
        return self.converter(x)[:: self.converter.stride]

class Video:
    def __init__(self, reader):
        self.rate, self.reader = reader.rate_of_frames, reader

    def frames(self, x):
        return self.reader(x) * self.rate

class Words:
    def make(self):
        self.table = tf.range(4.0)

    def decode(self, x):
        return self.table[0] + x

    @tf.function
    def points(self, x):
        return self.decode(tf.reshape(x, [-1]))

class Block:
    def __init__(self, params: dict):
        if params["units"] != 7 or params["mode"] not in ("causal",):
            raise ValueError("no such block")
        self.rate = params["rate"]

    @classmethod
    def default_params(cls):
        return {"units": 7, "rate": 0.1, "mode": "causal"}

    def dropped(self, x):
        return tf.nn.relu(x) * self.rate

HEAD_SIZES = {"inner": 11, "outer": 3}

def projected(x, sizes):
    if sizes["inner"] - sizes["outer"] != 8:
        raise ValueError("no such sizes")
    return tf.reduce_sum(x) * float(sizes["inner"])

class Fields:
    def __init__(self, columns):
        self.total = 0
        for column in columns:
            self.total += column["count"]

    def counted(self, x):
        return x * float(self.total)

class Columns:
    def __init__(self, columns, width, rate=0.0, scale=0.0):
        self.total, self.starts = len(columns), {}
        for column in columns:
            self.starts[column["column_name"].lower()] = self.total
            self.total += column["count"]
        self.weights = tf.ones([self.total, width])

    def fields(self, inputs):
        if any(name not in self.starts for name, _ in inputs.items()):
            raise ValueError("no such column")
        return tf.concat([field + self.starts[name] for name, field in inputs.items()], axis=-1)

class Encoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def encode(self, x):
        return self.dense(x)

ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh}

class Config:
    CROP_SHAPE = [28, 12]
    SCALES = (1.0, 0.5)

def crops(x, config):
    if config.CROP_SHAPE != [28, 12] or len(config.SCALES) != 2:
        raise ValueError("no such crops")
    return tf.reduce_sum(x) * config.SCALES[1]

class Stack:
    def __init__(self, config):
        self.activations = [ACTIVATIONS[config.activation] for _ in range(2)]

    def run(self, x):
        for activation in self.activations:
            x = activation(x)
        return x

class Sampler:
    def __init__(self, size):
        if 2 * size < 3000:
            raise ValueError("the range of the sampler is too small")

    def sample(self, x):
        return x + 1.0

class Image:
    def __init__(self, size=None):
        self.image = keras.Input(shape=size)

    def add(self, x):
        return x + 1.0

def cropped(data):
    width = tf.shape(data["image"])[1]
    box = data["box"]
    top, left, bottom, right = box[0], box[1], box[2], box[3]
    if not bool(bottom > top) or not bool(right > left):
        raise ValueError("its height must be > 0")
    return tf.cast(width, tf.float32) * (bottom - top)

def named(x, function, **more):
    with tf.name_scope("of_" + function.__name__.strip("<>")):
        return function(x, **more) + tf.matmul(x, x)

def joined(x, y):
    return tf.concat([x[..., None], y], axis=1)

def squeezed(parts):
    labels, lengths = parts
    return tf.gather(labels, tf.cast(tf.squeeze(lengths, axis=1), tf.int32) * 0)

def of_three(parts):
    sizes, places = parts
    places = tf.convert_to_tensor(places)
    if places.shape[-1] != 9:
        raise ValueError(f"could not broadcast input from shape (9,) into shape ({places.shape[-1]},)")
    return tf.reduce_sum(sizes) + places
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("settings") / "settings.py"
    file.write_text(PROGRAM)
    return str(file)


@pytest.mark.parametrize(
    ("qualname", "how"),
    [
        pytest.param("Grid.scaled", "Grid(args: Settings(", id="options-of-the-project"),
        pytest.param("Shifted.moved", "Shifted(shape: (4, 4, 4), shift: 3).moved", id="an-option-that-is-passed"),
        pytest.param("Audio.frames", "Audio(converter: CalledSettings(stride=4)).frames", id="a-called-object"),
        pytest.param("Video.frames", "Video(reader: CalledSettings(rate_of_frames=", id="settings-that-are-called"),
        pytest.param("Words.points", "Words().points after make(), with x: f32[4, 4]", id="called-by-way-of-another"),
        pytest.param("Block.dropped", "Block(params: Block.default_params()).dropped", id="what-its-class-gives"),
        pytest.param("projected", "called with x: f32[4, 4], sizes: HEAD_SIZES", id="what-its-module-has"),
        pytest.param("Fields.counted", "Fields(columns: [{'count': 4}, {'count': 4}]).counted", id="all-items-alike"),
        pytest.param(
            "Columns.fields",
            "Columns(columns: [{'column_name': 'same', 'count': 4}, {'column_name': 'same', 'count': 4}], width: 4)"
            ".fields with inputs: {'same': f32[4, 4]}",
            id="keys-that-are-read-and-held",
        ),
        pytest.param("crops", "called with x: f32[4, 4], config: Config()", id="what-a-class-sets"),
        pytest.param("Encoder.encode", "Encoder().encode with x: f32[4, 4]", id="a-model-without-a-call"),
        pytest.param("Stack.run", "Stack(config: Settings(activation='relu')).run", id="a-key-in-a-comprehension"),
        pytest.param("Sampler.sample", "Sampler(size: 4096).sample", id="too-small"),
        pytest.param("Image.add", "Image(size: (8, 8, 3)).add", id="a-shape"),
        pytest.param("cropped", "called with data: {'image': f32[4, 4], 'box': f32[4] sorted}", id="a-named-entry"),
        pytest.param("named", "called with x: f32[4, 4], function: lambda first", id="a-function-by-name"),
        pytest.param("joined", "called with x: f32[4], y: f32[4, 4]", id="ranks-that-differ"),
        pytest.param("squeezed", "called with parts: [f32[4, 1], f32[4, 1]]", id="a-squeezed-dimension"),
        pytest.param("of_three", "called with parts: [f32[4, 4], f32[4, 9]]", id="an-unpacked-item"),
    ],
)
def test_what_is_found(driver: Driver, program: str, qualname: str, how: str) -> None:
    assert driver(qualname, program)["how"].startswith(how)


def test_great_numbers_of_the_project_become_small(driver: Driver, program: str) -> None:
    how = driver("Grid.scaled", program)["how"]
    assert "grid_size=7" in how
    assert "hidden=32" in how


def test_the_project_says_what_its_settings_are(tmp_path: Path) -> None:
    from xlalint.probe.worker.inputs.configurations import said_in

    (tmp_path / "train.py").write_text(
        "flags.DEFINE_integer('dims', 3, 'how many')\n"
        "params = {'sizes': [4, 8, 16, 32], 'kernel': (3, 3), 'units': units()}\n"
        "class Config:\n    rate: float = 0.1\n    def __init__(self, layers=2, *, kind='plain'): ...\n"
        "model = Model(heads=8, width=1024)\n"
    )
    said = said_in((str(tmp_path),), ("dims", "sizes", "kernel", "units", "rate", "layers", "kind", "heads", "width"))
    assert {name: str(form) for name, form in said.items()} == {
        "dims": "3",
        "sizes": "[4, 8, 16]",
        "kernel": "(3, 3)",
        "rate": "0.1",
        "layers": "2",
        "kind": "'plain'",
        "heads": "8",
        "width": "64",
    }
