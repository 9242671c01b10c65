"""The ways by which code comes to run on the host: XLA never sees it, however far the way is from what starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.compiler import measure
from xlalint.findings.findings import Backend, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PARSER: Final = """\
import tensorflow as tf
import base

class Parser(base.Parser):
    def parse_train(self, example):
        boxes = example["boxes"]
        return tf.gather(boxes, tf.where(tf.reduce_max(boxes, 1) > 0.0)[:, 0])
"""
CALLED: Final = f"""\
{PARSER}
    def __call__(self, example):
        return self.parse_train(example)
"""
BASE: Final = """\
class Parser:
    def parse_fn(self, is_training):
        def parse(example):
            if is_training:
                return self.parse_train(example)
            return self.parse_eval(example)
        return parse
"""
INPUTS: Final = """\
import tensorflow as tf
{imports}

class Reader:
    def __init__(self, files, parser_fn):
        self._files, self._parser_fn = files, parser_fn

    def read(self):
        return tf.data.TFRecordDataset(self._files).map(self._parser_fn)

def inputs(params):
    return Reader(params.files, {parser}).read()

if __name__ == "__main__":
    inputs(None)
"""
PIPELINES: Final = {
    "a function that takes its arguments one after the other": {
        "parse.py": """\
import tensorflow as tf
from toolz import curry

@curry
def parse(boxes, labels, training):
    kept = tf.gather(boxes, tf.where(tf.reduce_max(boxes, 1) > 0.0)[:, 0])
    return (kept, labels) if training else (boxes, labels)
""",
        "inputs.py": """\
import tensorflow as tf
from parse import parse

def inputs(files, parse):
    rows = tf.data.Dataset.zip((tf.data.TFRecordDataset(files), tf.data.Dataset.range(9)))
    return rows.map(parse(training=True))

if __name__ == "__main__":
    inputs("a", parse)
""",
    },
    "a closure that a base class in a file without TensorFlow makes": {
        "base.py": BASE,
        "parser.py": PARSER,
        "inputs.py": INPUTS.format(imports="import parser", parser="parser.Parser().parse_fn(True)"),
    },
    "an object that is called": {
        "base.py": BASE,
        "parser.py": CALLED,
        "inputs.py": INPUTS.format(imports="import parser", parser="parser.Parser()"),
    },
    "an object from a factory in a file without TensorFlow": {
        "base.py": BASE,
        "parser.py": CALLED,
        "factory.py": "import parser\n\ndef make(params):\n    return parser.Parser()\n",
        "inputs.py": INPUTS.format(imports="import factory", parser="factory.make(params)"),
    },
}

STEP: Final = """\
@tf.function
def step(x):
    return tf.reduce_sum(tf.boolean_mask(x, x > 0.0))
"""
HOST_FUNCTIONS: Final = {
    "a plain tf.function that a pipeline maps": {
        "a.py": f"import tensorflow as tf\n\n{STEP}\ndata = tf.data.Dataset.range(3).map(step)\n"
    },
    "a plain tf.function that a function of a pipeline calls": {
        "a.py": f"import tensorflow as tf\n\n{STEP}\ndata = tf.data.Dataset.range(3).map(lambda x: step(x))\n"
    },
    "a function that another function of tf.data takes": {
        "a.py": """\
import functools
import tensorflow as tf

def step(packed, state, example):
    return state, tf.reduce_sum(tf.boolean_mask(example, example > packed))

step_fn = functools.partial(tf.autograph.to_graph(step), 3)
data = tf.data.Dataset.range(3).apply(tf.data.experimental.scan(0, step_fn))
"""
    },
    "a plain tf.function of a test": {"test_a.py": f"import tensorflow as tf\n\n{STEP}\n"},
    "a function that says when summaries are written": {
        "a.py": """\
import tensorflow as tf

class Learner:
    def __init__(self, interval):
        self.interval = tf.constant(interval, dtype=tf.int64)

    def run(self, step):
        def due():
            if self.interval:
                return step % self.interval == 0
            return False

        with tf.summary.record_if(due):
            self.train(step)
"""
    },
    "a function that decodes images": {
        "a.py": """\
import tensorflow as tf

def decode(data):
    image = tf.io.decode_jpeg(data)
    if tf.reduce_max(image) > 1.0:
        image /= 255.0
    return image
"""
    },
}
AUGMENT: Final = """\
import tensorflow as tf

def first(image):
    return tf.gather(image, tf.where(tf.reduce_max(image, 1) > 0.0)[:, 0])

def second(image): return image
def third(image): return image
def fourth(image): return image
def fifth(image): return image

TABLE = {"a": first, "b": second, "c": third, "d": fourth, "e": fifth}

class Augment:
    @tf.function
    def distort(self, image):
        return tf.gather(image, tf.where(tf.reduce_max(image, 1) > 1.0)[:, 0])

KINDS = {"plain": Augment}
"""
TABLES: Final = {
    "a table of many functions": "def parse(image):\n    return augment.TABLE[name()](image)\n",
    "a class from a table": "def parse(image):\n    return augment.KINDS.get(name())().distort(image)\n",
    "branches in a list": """\
def parse(image):
    branches = []
    for number in range(name()):
        branches.append((number, lambda: augment.first(image)))
    return tf.switch_case(tf.random.uniform([], 0, 3, tf.int32), branches)
""",
}
LOOP: Final = """\
import tensorflow as tf

strategy = tf.distribute.get_strategy()

@tf.function
def train(iterator):
    draw = tf.random.uniform([])
    if draw > 0.5:
        strategy.run(step, args=(next(iterator),))

def step(batch):
    return tf.reduce_sum(tf.boolean_mask(batch, batch > 0.0))
"""

LAYER: Final = """\
import tensorflow as tf

class Base(tf.keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
{said}

class Tokens({base}):
    def call(self, x):
        return tf.strings.length(tf.strings.lower(x))
"""
OUTSIDE: Final = {
    "it says that Keras shall not compile it": "        self.supports_jit = False",
    "it takes what is no tensor": """\
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True""",
}
EQUALIZE: Final = """\
import keras
import numpy as np
import tensorflow as tf

class Equalize(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True

    def call(self, inputs):
        images = inputs["images"] if isinstance(inputs, dict) else inputs
        if tf.rank(images) == 4 and tf.shape(images)[0] == 1:
            images = images * 2.0
        return images
"""
PREPROCESS: Final = """

class Preprocess(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True
        self.equalize = Equalize()

    def call(self, inputs):
        return self.equalize(inputs["images"])
"""
CALLERS: Final = {
    "nobody": "",
    "code that anybody may compile": "\ndef augment(images):\n    return Equalize()(images)\n",
    "the host, with a tensor": "\nprint(Equalize()(tf.ones([2, 8, 8, 3])))\n",
    "the host, with an array": "\nprint(Equalize()(np.ones([2, 8, 8, 3])))\n",
    "the host, with an array beside text": '\nprint(Equalize()({"images": np.ones([2, 8, 8, 3]), "texts": ["a"]}))\n',
    "a layer that gets text": f"{PREPROCESS}\nprint(Preprocess()({{'images': np.ones([2, 8, 8, 3]), 'text': 'a'}}))\n",
    "the host, with a dict": '\nprint(Equalize()({"images": tf.ones([2, 8, 8, 3]), "labels": tf.ones([2])}))\n',
    "the host, with text": '\nprint(Equalize()(tf.constant(["a b"])))\n',
}
INSIDE: Final = {
    "it says nothing": "",
    "it says that Keras may compile it": "        self.supports_jit = True",
    "its class says what Keras sets anew for each object": "        self.settings = kwargs\n\n    supports_jit = False",
    "it takes tensors as they come": "        self._convert_input_args = False",
}


def severities(folder: Path, files: dict[str, str], include_host: bool) -> set[Severity]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    settings = Settings(include_host=include_host, exposure="certain")
    return {finding.severity for finding in check([folder], settings).findings}


SPACE: Final = """\
import tensorflow as tf

class Box:
    def __init__(self, lower):
        self.lower = tf.convert_to_tensor(lower)

    def {name}(self, other):
        return bool(tf.reduce_all(self.lower == other.lower))
"""


@pytest.mark.parametrize("files", PIPELINES.values(), ids=PIPELINES)
def test_what_an_input_pipeline_calls_is_host_code(tmp_path: Path, files: dict[str, str]) -> None:
    assert not severities(tmp_path, files, include_host=False)
    assert severities(tmp_path, files, include_host=True) == {Severity.INFO}
    (tmp_path / "inputs.py").unlink()
    # Without the pipeline nobody is seen to call it.
    assert severities(tmp_path, {"base.py": BASE}, include_host=False) == {Severity.WARNING}


@pytest.mark.parametrize("files", HOST_FUNCTIONS.values(), ids=HOST_FUNCTIONS)
def test_functions_that_only_the_host_runs_are_silent(tmp_path: Path, files: dict[str, str]) -> None:
    assert not severities(tmp_path, files, include_host=False)


def test_whether_objects_are_equal_is_asked_by_python(tmp_path: Path) -> None:
    assert not severities(tmp_path, {"a.py": SPACE.format(name="__eq__")}, include_host=False)
    assert severities(tmp_path, {"a.py": SPACE.format(name="covers")}, include_host=False) == {Severity.WARNING}


def test_a_plain_function_that_is_called_as_well_is_not_the_hosts(tmp_path: Path) -> None:
    code = f"import tensorflow as tf\n\n{STEP}\ntf.data.Dataset.range(3).map(step)\nprint(step(tf.ones([3])))\n"
    assert severities(tmp_path, {"a.py": code}, include_host=False) == {Severity.WARNING}


def test_a_loop_around_steps_is_not_compiled_and_its_steps_are(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LOOP, encoding="utf-8")
    assert [finding.code for finding in check([tmp_path], Settings()).findings] == ["XLA201"]


@pytest.mark.parametrize("parse", TABLES.values(), ids=TABLES)
def test_what_a_pipeline_takes_from_tables_is_host_code(tmp_path: Path, parse: str) -> None:
    """A test that calls the same functions does not make compiled code of them."""
    (tmp_path / "augment.py").write_text(AUGMENT, encoding="utf-8")
    others = "augment.first(x)" if "KINDS" in parse else "augment.Augment().distort(x)"
    pipeline = f"import tensorflow as tf\nimport augment\nfrom flags import name\n\n{parse}\n"
    pipeline += f"tf.data.Dataset.range(3).map(parse).map(lambda x: {others})\n"
    test = "import augment\nimport tensorflow as tf\n\ndef test_it():\n    augment.Augment().distort(tf.ones([3, 3]))\n"
    files = {"inputs.py": pipeline, "augment_test.py": test}
    assert not severities(tmp_path, files, include_host=False)
    (tmp_path / "inputs.py").unlink()
    assert severities(tmp_path, {}, include_host=False) == {Severity.WARNING}


@pytest.mark.parametrize("said", OUTSIDE.values(), ids=OUTSIDE)
def test_layers_may_stay_outside_of_what_keras_compiles(tmp_path: Path, said: str) -> None:
    code = LAYER.format(said=said, base="Base")
    assert not severities(tmp_path, {"a.py": code}, include_host=False)
    called = "\n@tf.function(jit_compile=True)\ndef count(text):\n    return Tokens()(text)\n"
    assert severities(tmp_path, {"a.py": code + called}, include_host=False) == {Severity.ERROR}


@pytest.mark.parametrize(("name", "caller"), CALLERS.items(), ids=CALLERS)
def test_layers_that_take_what_is_no_tensor_are_for_models_as_well(tmp_path: Path, name: str, caller: str) -> None:
    on_host = {"nobody", "the host, with text", "the host, with an array beside text", "a layer that gets text"}
    by_host = {Severity.WARNING} if "the host" in name else {Severity.ERROR}  # mostly it is before the model
    expected = set() if name in on_host else by_host
    assert severities(tmp_path, {"a.py": EQUALIZE + caller}, include_host=False) == expected


@pytest.mark.parametrize(("converts", "expected"), [("False", set()), ("True", {"XLA101", "XLA412"})])
def test_layers_that_leave_their_inputs_alone_get_no_tensor_of_jax(
    tmp_path: Path, converts: str, expected: set[str]
) -> None:
    code = EQUALIZE.replace("_convert_input_args = False", f"_convert_input_args = {converts}")
    (tmp_path / "a.py").write_text(code + CALLERS["the host, with an array"], encoding="utf-8")
    settings = Settings(exposure="certain", backends=frozenset((Backend.JAX,)))
    assert {finding.code for finding in check([tmp_path], settings).findings} == expected


SIZES: Final = """import keras
from keras import ops

class Unpatch(keras.layers.Layer):
    def call(self, inputs, height, width):
        return ops.reshape(inputs, (-1, height, width, 3))

class M(keras.Model):
    def __init__(self, patch_size, shape=(64, 64, 3)):
        inputs = keras.Input(shape)
        self.unpatch = Unpatch()
        super().__init__(inputs, self.unpatch(inputs, {first} // patch_size, {second} // patch_size))
"""
OPTIONAL: Final = """import keras
from keras import ops

def largest(x, rows, count=None):
    count = ops.max(rows) + 1 if count is None else count
    return ops.segment_max(x, rows, count)

class Pool(keras.layers.Layer):
    def call(self, x, rows):
        return largest(x, rows{count})
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (SIZES.format(first="shape[0]", second="shape[1]"), False),
        (SIZES.format(first="ops.max(inputs)", second="shape[1]"), True),
        (OPTIONAL.format(count=", ops.shape(x)[-2]"), False),
        (OPTIONAL.format(count=""), True),
    ],
    ids=["of settings", "of data", "of a shape", "left out"],
)
def test_sizes_beside_the_inputs_are_numbers(tmp_path: Path, code: str, expected: bool) -> None:
    assert bool(severities(tmp_path, {"a.py": code}, include_host=False)) is expected


@pytest.mark.parametrize("said", INSIDE.values(), ids=INSIDE)
def test_other_layers_are_inside(tmp_path: Path, said: str) -> None:
    assert severities(tmp_path, {"a.py": LAYER.format(said=said, base="Base")}, include_host=False) == {Severity.ERROR}
    assert severities(tmp_path, {"a.py": LAYER.format(said=said, base="tf.keras.layers.Layer")}, False)


def test_what_sets_up_objects_is_read_for_every_class(tmp_path: Path) -> None:
    """However many there are: each may say what it is in what all of them share."""
    layer = LAYER.format(said="", base="base.Base")
    code = layer.replace("import tensorflow as tf\n", "import tensorflow as tf\nimport base\n")
    for number in range(120):
        (tmp_path / f"tokens_{number}.py").write_text(code, encoding="utf-8")
    base = LAYER.format(said=OUTSIDE["it says that Keras shall not compile it"], base="Base")
    assert not severities(tmp_path, {"base.py": base}, include_host=False)


@pytest.mark.compiler
def test_keras_leaves_out_layers_that_say_so() -> None:
    code = """
import keras

class L(keras.layers.Layer):
    supports_jit = {of_the_class}

    def __init__(self):
        super().__init__()
        {said}

    def call(self, x):
        return x * 2.0

def f(x):
    from keras.src.trainers.trainer import model_supports_jit

    assert model_supports_jit(keras.Sequential([L()])) is {expected}
    return x
"""
    for of_the_class, said, expected in ((True, "self.supports_jit = False", False), (False, "pass", True)):
        measured = measure(code.format(of_the_class=of_the_class, said=said, expected=expected))
        assert measured.failure is None


@pytest.mark.compiler
def test_a_layer_that_takes_what_is_no_tensor_works_alone_and_fails_in_a_model() -> None:
    code = f"""{EQUALIZE}
def f(x):
    from keras.src.trainers.trainer import model_supports_jit

    images = np.ones((2, 8, 8, 3))
    Equalize()(images)
    model = keras.Sequential([Equalize()])
    assert model_supports_jit(model)
    try:
        model.predict(images, verbose=0)
    except tf.errors.OperatorNotAllowedInGraphError:
        return x
    raise AssertionError("it works")
"""
    assert measure(code).failure is None


OBJECT: Final = """\
import keras

def loops(graph, name):
    edges = graph.edge_sets[name]
    if edges.source_name != edges.target_name:
        raise ValueError("not of one set")
    return graph

class Loops(keras.layers.Layer):
    def call(self, graph):
        if hasattr(graph, "ragged_rank") and graph.ragged_rank == 1:
            return graph
        return loops(graph, "follows")
"""

OUTPUT: Final = """\
import tensorflow as tf

encoder = tf.keras.models.load_model("encoder")

@tf.function(jit_compile=True, autograph=False)
def step(batch):
    outputs = encoder(batch)
    if outputs.loss > 2.0:
        return outputs.loss
    return outputs.loss * 2.0
"""


def test_what_a_layer_is_handed_may_be_an_object_with_settings(tmp_path: Path) -> None:
    assert not severities(tmp_path, {"m.py": OBJECT}, include_host=False)


def test_what_a_model_gives_holds_tensors_by_name(tmp_path: Path) -> None:
    assert severities(tmp_path, {"m.py": OUTPUT}, include_host=False) == {Severity.ERROR}
