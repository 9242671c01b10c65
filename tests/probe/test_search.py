"""What leads the search for inputs: objects made of other inputs, switches, and errors that stay the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xlalint.probe.target import Frame, Parameter
from xlalint.sources.specs import Literal, Many, spec

from .driver import Driver

pytestmark = pytest.mark.compiler

PROGRAM = """
import typing
import tensorflow as tf

class Batch(typing.NamedTuple):
    table: tf.Tensor
    ids: tf.Tensor
    weights: typing.Optional[tf.Tensor] = None

def looked_up(batch: Batch):
    return tf.gather(batch.table, batch.ids)

class Window:
    def __init__(self, x, length):
        rows, columns, depth = x.shape
        self.name = "window"
        self.shown = tf.reshape(x, [rows, columns * depth])[:length]

class Counter:
    def __init__(self, x):
        self.count = tf.Variable(tf.shape(x)[0])

def counter_of(x):
    return Counter(x).count

class Shape(typing.Protocol):
    def area(self): ...

class Square(Shape):
    def area(self):
        return 4.0

def covered(x, shape: Shape):
    return x * shape.area()

class Attention:
    def __init__(self, size, masked=True):
        self.size, self.masked = size, masked

    def weights(self, scores):
        batch, heads, rows, columns = scores.shape
        if self.masked:
            scores = scores.masked_fill(scores < 0, 0.0)
        return tf.nn.softmax(scores)

def ranked(x, ids):
    if len(x.shape) != len(ids.shape) + 1:
        raise ValueError(f"`x` and `ids` must have the same rank, not {list(x.shape)} and {[*ids.shape, 1]}")
    return tf.gather(x, tf.cast(ids, tf.int32), batch_dims=1)

class Head:
    def __init__(self, embedding=None):
        self.size, self.embedding = embedding.input_dim, embedding

    def __call__(self, ids):
        return self.embedding(tf.cast(ids, tf.int32))

ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh}

def activated(x, options):
    x = x * options.scale + options.shift
    return ACTIVATIONS[options.activation](x)

def resized(images, size):
    return tf.image.resize(images, size)

class Named:
    def __init__(self, mode):
        self.mode = mode

    def apply(self, x, mode):
        if mode not in ("slow", "fast"):
            raise ValueError("no such mode")
        return x * 2.0

def largest(ratios):
    most = max(ratios)
    if most > 1:
        return tf.sqrt(most)
    return tf.square(most)

def titled(x, title):
    if not isinstance(title, str):
        raise TypeError(f"Argument `title` must be a string. Received: {title}")
    return tf.exp(x)

def turned(x):
    return tf.transpose(x, [6, 0, 1, 2, 3, 4, 5])

class Begun:
    def __init__(self, x):
        self.weight = tf.Variable(2.0)

        def scaled(rate):
            return x * rate * self.weight

        self.first = scaled(tf.constant(3.0))

class Solver:
    def __init__(self, derivative, state):
        self.derivative, self.state = derivative, state

    def begin(self, times):
        self.slope = self.derivative(times[0], self.state)
        self.now = times[0] + 1.0

    def advance(self, time):
        while time > self.now:
            self.now = self.now + 1.0
        return tf.matmul(self.slope, self.state) * time

class Tiles(tf.keras.layers.Layer):
    def __init__(self, width, heads, sides=(3, 5), ratio=None, dropped=0.0):
        super().__init__()
        self.width, self.heads, self.ratio = width, heads, ratio or width**-0.5
        self.bias = tf.zeros([heads, sides[0] * sides[1], sides[0] * sides[1]])
        self.project, self.dropout = tf.keras.layers.Dense(3 * width), tf.keras.layers.Dropout(dropped)

    def call(self, x, mask=None):
        batch, length, width = x.shape
        parts = tf.reshape(self.project(x), [batch, length, 3, self.heads, width // self.heads])
        query, key, value = tf.unstack(tf.transpose(parts, [2, 0, 3, 1, 4]))
        scores = tf.matmul(query * self.ratio, key, transpose_b=True)
        scores = scores + self.bias
        if mask is not None:
            scores = scores + mask
        scores = self.dropout(tf.nn.softmax(scores))
        return tf.reshape(tf.transpose(tf.matmul(scores, value), [0, 2, 1, 3]), [batch, length, width])

class Cuts(tf.keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.size = tuple(size)

    def call(self, inputs):
        boxes = inputs[0]
        sizes = inputs[1]
        levels = inputs[2:]
        area = sizes[0, 6] * sizes[0, 7]
        boxes = tf.reshape(boxes, [-1, 4]) / area
        numbers = tf.zeros_like(boxes[:, 0], tf.int32)
        return [tf.image.crop_and_resize(levels[level], boxes, numbers, self.size) for level in range(3)]
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("searched") / "searched.py"
    file.write_text(PROGRAM)
    return str(file)


def test_what_a_named_tuple_holds_is_changed_by_itself(driver: Driver, program: str) -> None:
    found = driver("looked_up", program)
    assert found["inputs"] == ["batch: Batch(table=f32[4, 4], ids=i32[4, 4])"]
    assert found["sets"] > 1


def test_what_makes_an_object_is_called_for_the_tensors_that_it_holds(driver: Driver, program: str) -> None:
    found = driver("Window.__init__", program)
    assert found["how"].startswith("Window created with x: f32[4, 4, 4], length: ")
    callers = (Frame(program, "counter_of"),)
    assert driver("Counter.__init__", program, callers=callers)["not"].startswith("it creates variables")


def test_a_protocol_stands_for_the_classes_that_have_it(driver: Driver, program: str) -> None:
    assert driver("covered", program)["inputs"] == ["x: f32[4, 4]", "shape: Square()"]


def test_a_switch_is_set_otherwise_where_its_branch_fails(driver: Driver, program: str) -> None:
    assert driver("Attention.weights", program)["how"].startswith("Attention(size: 4, masked: False).weights")


def test_a_parameter_is_told_from_one_of_its_name_that_its_object_is_made_of(driver: Driver, program: str) -> None:
    assert driver("Named.apply", program)["inputs"][1] in ("mode: 'slow'", "mode: 'fast'")


@pytest.mark.parametrize(
    ("qualname", "inputs"),
    [
        ("ranked", ["x: f32[4, 4]", "ids: f32[4] flags"]),
        ("activated", ["x: f32[4, 4]", "options: Settings(shift=4, scale=4, activation='relu')"]),
        ("largest", ["ratios: f32[4]"]),
        ("titled", ["x: f32[4, 4]", "title: 'same'"]),
        ("turned", ["x: f32[4, 4, 4, 4, 4, 4, 4]"]),
    ],
)
def test_what_errors_name(driver: Driver, program: str, qualname: str, inputs: list[str]) -> None:
    assert driver(qualname, program)["inputs"] == inputs


def test_what_is_around_a_function_may_create_variables(driver: Driver, program: str) -> None:
    first = PROGRAM.split("def scaled(rate)")[0].count("\n") + 1
    found = driver("Begun.__init__.<locals>.scaled", program, lines=(first, first + 1))
    assert found["inputs"] == ["rate: f32[]"]


def test_a_size_that_an_operation_wants_to_be_that_of_another_tensor(driver: Driver, program: str) -> None:
    found = driver("Tiles.call", program)
    assert found["inputs"][0].startswith("x: f32[")
    assert ", 15, " in found["inputs"][0]


def test_a_list_of_which_some_items_are_taken_and_then_the_rest(driver: Driver, program: str) -> None:
    found = driver("Cuts.call", program)
    assert found["inputs"][0].startswith("inputs: [f32[")
    assert found["inputs"][0].count("f32[4, 4, 4, 4]") == 3


def test_what_has_to_be_called_before(driver: Driver, program: str) -> None:
    found = driver("Solver.advance", program)
    assert "after begin(times: f32[4])," in found["how"]
    assert found["inputs"] == ["time: f32[]"]


def test_dtypes_that_an_operation_takes() -> None:
    from xlalint.probe.worker.inputs.error_clues import ErrorClues

    said = (
        "Value for attr 'T' of int32 is not in the list of allowed values: bfloat16, half, float; NodeDef: {{node S}}"
    )
    assert ErrorClues.of(ValueError(said)).dtypes[0] == "float32"


def test_the_argument_that_an_operation_refuses() -> None:
    from xlalint.probe.worker.inputs.error_clues import ErrorClues

    said = (
        "Value for attr 'Tindices' of float is not in the list of allowed values: int32, int64; NodeDef: {{node S}}; "
        "Op<name=SegmentSum; signature=data:T, segment_ids:Tindices -> output:T; attr=T:type; attr=Tindices:type>"
    )
    assert ErrorClues.of(ValueError(said)).arguments == ("segment_ids",)


def test_a_layer_that_has_what_nothing_else_has(driver: Driver, program: str) -> None:
    assert "keras.layers.ReversibleEmbedding(4, 4)" in driver("Head", program)["how"]


def test_a_structure_of_sizes(driver: Driver, program: str) -> None:
    found = driver("resized", program, parameters=(Parameter("size", "tuple"),))
    assert found["inputs"] == ["images: f32[4, 4, 4, 4]", "size: (4, 4)"]


def test_a_part_that_changes_nothing_of_an_error_comes_later() -> None:
    from xlalint.probe.worker.inputs.complaints import Complaint
    from xlalint.probe.worker.inputs.queue import Queue

    queue, start, same = Queue(), (Literal(0), Literal(0)), Complaint("kind", "text")
    queue.put(start, 0, 0)
    assert queue.get()[0] == start
    queue.answered(start, same)
    for number in range(1, 9):
        queue.put((Literal(number), Literal(0)), 0, number, start)
    queue.put((Literal(0), Literal(1)), 0, 8, start)
    order = []
    for _ in range(9):
        assignment, _ = queue.get()
        queue.answered(assignment, same)
        order.append(assignment)
    assert order.index((Literal(0), Literal(1))) < 6


def test_what_waits_is_moved_forward() -> None:
    from xlalint.probe.worker.inputs.queue import Queue

    queue = Queue()
    for number in range(3):
        queue.put((Literal(number),), -1, number)
    queue.put((Literal(1),), -5, 9)
    queue.put((Literal(2),), -5, 9, forward=True)
    order = [queue.get()[0] for _ in range(3)]
    assert order == [(Literal(2),), (Literal(0),), (Literal(1),)]
    queue.put((Literal(2),), -9, 0, forward=True)  # it was tried
    assert not queue


def test_what_an_error_asks_for_comes_first() -> None:
    from xlalint.probe.worker.inputs.culprits import FailedCall
    from xlalint.probe.worker.inputs.replacements import changes
    from xlalint.probe.worker.inputs.slots import Slot

    def first(text: str, depth: Literal | None = None) -> tuple[str, bool]:
        slots = [Slot("depth", "call", (Literal(4),)), Slot("image", "call", (spec("float32", 4, 4, 4),))]
        chosen = (Literal(4), spec("float32", 4, 4, 4))
        failed = FailedCall(slots, chosen, {}, ValueError(text), lambda path: False, None)
        several = (one for one in changes(failed) if depth in (None, one[0][0]))
        assignment, certain = next(several)
        return " ".join(map(str, assignment)), certain

    assert first("expected min_ndim=4, found ndim=3. Full shape received: (3, 3, 4)") == ("4 f32[4, 4, 4, 4]", True)
    assert not first("the image is too small for 5 layers")[1]
    # A layer got what is computed from it, of another rank.
    assert first("expected min_ndim=6, found ndim=5", Literal(4)) == ("4 f32[4, 4, 4, 4]", False)


def test_large_tensors_that_are_passed_are_made_smaller_alike() -> None:
    from xlalint.probe.worker.inputs.passed import shrunk

    passed = (spec("float32", 2, 743, 201, 1000), spec("int32", 2, 200), Literal(1000), Literal(True))
    small = (spec("float32", 2, 13, 11, 15), spec("int32", 2, 10), Literal(15), Literal(True))
    assert shrunk(passed) == small
    assert shrunk(small) == small


@pytest.mark.parametrize(
    ("files", "file", "folder"),
    [
        (["README.md", "models/__init__.py", "utils/masks.py"], "models/attention.py", ""),
        (["models/__init__.py"], "models/attention.py", "models"),
        (["pyproject.toml", "scripts/more/x.py"], "scripts/train.py", ""),
        ([], "scripts/train.py", "scripts"),
        (["README.md", "src/pkg/__init__.py", "tests/test_model.py"], "src/pkg/model.py", ""),
        (["README.md", "code/pkg/__init__.py"], "code/pkg/model.py", ""),
        (["README.md", "app/api/nets/fast/step/more.py"], "app/api/nets/fast/step.py", ""),
        (["README.md", "site-packages/pkg/__init__.py"], "site-packages/pkg/model.py", "site-packages/pkg"),
    ],
)
def test_the_folder_of_a_project(tmp_path: Path, files: list[str], file: str, folder: str) -> None:
    from xlalint.sources.packages import project_of, python_files

    for one in (*files, file, ".venv/lib/x.py"):
        (tmp_path / one).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / one).touch()
    os.mkfifo(tmp_path / "pipe.py")
    assert project_of(tmp_path / file) == tmp_path / folder
    found = {str(one.relative_to(tmp_path)) for one in python_files(tmp_path)}
    assert file in found or "site-packages" in file
    assert not any(one.startswith(".venv") or one == "pipe.py" for one in found)


MODES = """
import tensorflow as tf

class Kept(type):
    def __call__(cls, *positional, **keywords):
        return super().__call__(*positional, **keywords)

class Pooled(metaclass=Kept):
    def __init__(self, size):
        self.size = [size] * 2

    def pooled(self, x):
        return tf.reshape(x, self.size)

class Shown(Pooled):
    def __init__(self, name, **options):
        super().__init__(**options)
        self.name = name

    def shown(self, x):
        return tf.reshape(x, self.size) * 2.0

class Fixed(Pooled):
    def __init__(self, **options):
        super().__init__(size=4, **options)

    def fixed(self, x):
        return tf.reshape(x, self.size) * 3.0

def chosen(x, depth):
    return [x, x + 1.0, x * 2.0, x - 1.0][depth - 2]

def cut(image):
    left = tf.random.uniform([], 0, tf.shape(image)[0] - 200, tf.int32)
    top = tf.random.uniform([], 0, tf.shape(image)[1] - 200, tf.int32)
    return image[left : left + 200, top : top + 200, :]

class Scales:
    def __init__(self, x):
        self.scales = [x, x * 2.0]

    @tf.function
    def scaled(self, place):
        return tf.exp(self.scales[place])

class Pyramid:
    def __init__(self, options, image):
        self.options = options
        self.steps = options.steps
        self.made()

    def made(self):
        self.images = [self.options.scale * image for image in [self.kept()] * (self.steps + 1)]

    def kept(self):
        return self.options.start + tf.zeros([2, 3, 3, 4])

    def finer(self, step):
        found = self.images[step]
        for one in range(step, self.steps):
            found = tf.exp(found) + self.images[one]
        return found

class Bottleneck:
    def __init__(self, depth, size):
        self.depth, self.size = depth, size

    def narrowed(self, x):
        if self.size > self.depth:
            x = tf.sin(x)
        elif self.size < self.depth:
            x = tf.cos(x)
        return x

def gathered(x, ids):
    if x.shape[0] == 0:
        return x
    x = tf.squeeze(x, 1)
    return tf.gather(x, ids)

def run(size):
    gathered(tf.zeros([0, 8]), tf.zeros([2], tf.int32))
    gathered(tf.zeros([5, 1, 8]), tf.zeros([3], tf.int32))
    return chosen(tf.zeros([2]), 3)
"""


def test_what_reaches_the_lines_in_question(driver: Driver, tmp_path: Path) -> None:
    file = tmp_path / "modes.py"
    file.write_text(MODES)
    lines = MODES.splitlines()
    wanted = (lines.index("    return tf.gather(x, ids)") + 1,)
    assert wanted[0] in driver("gathered", str(file), wanted=wanted)["reached"]
    # An object is made of what its class asks for, whatever makes it.
    assert driver("Pooled.pooled", str(file))["how"].startswith("Pooled(size: ")
    assert driver("cut", str(file))["shapes"][0][:2] == [200, 200]  # of an image that is large enough
    assert driver("Scales.scaled", str(file))["inputs"] in (["place: 0"], ["place: 1"])
    wanted = (lines.index("            found = tf.exp(found) + self.images[one]") + 1,)
    found = driver("Pyramid.finer", str(file), wanted=wanted)
    assert wanted[0] in found["reached"]
    for setting in ("steps", "scale", "start"):  # all that the file reads of what is kept
        assert f"{setting}=" in found["how"]
    for function in ("sin", "cos"):  # one size is to be larger than another
        line = lines.index(f"            x = tf.{function}(x)") + 1
        assert line in driver("Bottleneck.narrowed", str(file), wanted=(line,))["reached"]
    assert "size: 4" in driver("Shown.shown", str(file))["how"]  # which the base asks for
    assert driver("Fixed.fixed", str(file))["how"].startswith("Fixed().fixed")
    # A number is a tensor where some caller passes one, and a finding asks what becomes of it.
    wanted, known = (lines.index("def chosen(x, depth):") + 2,), (Parameter("depth", "tensor|static", of_data=True),)
    assert driver("chosen", str(file), parameters=known)["inputs"][1:] == ["depth: 3"]
    assert driver("chosen", str(file), wanted=wanted, parameters=known)["inputs"][1:] == ["depth: <EagerTensor []>"]


TRANSLATED = """
import tensorflow as tf

def translated(model, text, tokenizer, longest=3):
    start = [tokenizer.vocab_size]
    text = tf.expand_dims(start + tokenizer.encode(text), 0)
    told = tf.expand_dims(start, 0)
    for _ in range(longest):
        steps = model(inputs=[text, told], training=False)[:, -1:, :]
        told = tf.concat([told, tf.cast(tf.argmax(steps, axis=-1), tf.int32)], axis=-1)
    return tf.squeeze(told, axis=0)
"""


def test_models_and_tokenizers_that_are_called(driver: Driver, tmp_path: Path) -> None:
    file = tmp_path / "translated.py"
    file.write_text(TRANSLATED)
    found = driver("translated", str(file))
    assert found["inputs"][0] == "model: a model that gives 4 numbers for each element"
    assert "encode=lambda" in found["inputs"][2]
    assert found["shapes"][0] == [4]


def test_eager_execution_inside_of_another_leaves_that_as_it_was() -> None:
    code = """
import tensorflow as tf
from xlalint.probe.worker.backends import backend
with backend.eager_execution():
    with backend.eager_execution():
        pass
    inside = tf.config.functions_run_eagerly()
print(inside, tf.config.functions_run_eagerly())
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False"]


def test_the_items_of_a_list_get_another_dtype_together() -> None:
    from xlalint.probe.worker.inputs.culprits import FailedCall
    from xlalint.probe.worker.inputs.replacements import changes
    from xlalint.probe.worker.inputs.slots import Slot, tensor

    edges = Many("list", (tensor(), tensor()))
    error = ValueError("Value for attr 'Tindices' of float is not in the list of allowed values: int16, int32, int64")
    failed = FailedCall([Slot("edges", "call", (edges,))], (edges,), {}, error, lambda path: False, None)
    found = [one for [one], _ in changes(failed)]
    changed = tensor(dtype="int32")
    together, alone = (Many("list", items) for items in ((changed, changed), (changed, tensor())))
    assert found.index(together) < found.index(alone)
