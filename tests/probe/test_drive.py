"""From a definition to something that runs: each way of driving, in one process that has TensorFlow."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import FAILS, Plan, Spot
from xlalint.probe.target import Frame, Given, Target

from .driver import CODE, Driver

pytestmark = pytest.mark.compiler

MODULE = "tests.probe.driven"


def line_of(text: str) -> int:
    return CODE.read_text(encoding="utf-8").split(text)[0].count("\n") + 1


@pytest.mark.parametrize(
    ("qualname", "inputs"),
    [
        ("masked", ["x: f32[4, 4]", "keep: bool[4, 4]"]),
        ("four", ["x: f32[4, 4, 4, 4]"]),
        ("one_row", ["x: f32[1, 4, 4]"]),
        ("repeated", ["x: f32[4, 4]", "times: 2"]),
        ("cropped", None),
        ("Frozen.loss", ["x: f32[4, 4]"]),
        ("Named.update_state", ["value: f32[4, 4]"]),
        ("image", None),
        ("pair", ["inputs: [f32[4, 4], f32[4, 4]]"]),
        ("mode", ["x: f32[4, 4]", "reduction: 'rows'"]),
        ("by_method", ["x: f32[4, 4]", "method: 'euler'"]),
        ("Planned", ["x: f32[4, 4]"]),
        ("Passing", None),
        ("Pretrained", ["x: f32[4, 4]"]),
        ("Unsaved", ["x: f32[4, 4]"]),
        ("two_models", ["inputs: f32[4, 4, 4]", "inputs_2: f32[4, 8]"]),
        ("named_model", ["inputs: f32[4, 8]"]),
        ("Padded", ["x: f32[4, 4, 4]"]),
        ("annotated", None),
        ("optional", ["x: f32[4, 4]"]),
        ("embedded", None),
        ("adjacency", ["a: f32[4, 4] sparse"]),
        ("signed", ["x: f32[4, 6]", "n: i32[]"]),
        ("stateful", ["x: f32[4, 4]"]),
        ("Gated", ["inputs: f32[4, 4]"]),
        ("Gated.call", ["inputs: f32[4, 4]"]),
        ("Gated.mixed", ["left: f32[4, 4]", "right: f32[4, 4]"]),
        ("Joined", ["inputs: [f32[4, 4], bool[4, 4]]"]),
        ("Configured", ["x: f32[4, 4]"]),
        ("Module", ["x: f32[4, 4]"]),
        ("scaled_gradient", None),
        ("image_model", ["inputs: f32[4, 32, 32, 3]"]),
        ("text_model", ["inputs: {'tokens': i32[4, 4], 'mask': bool[4, 4]}"]),
        ("builder", ["inputs: f32[4, 4]"]),
        ("described_model", ["inputs: {'ids': i32[4, 4], 'image': f32[4, 8, 8, 1]}"]),
        ("Hits", ["y_true: f32[4, 4]", "y_pred: f32[4, 4]"]),
        ("Hits.update_state", ["y_true: f32[4, 4]", "y_pred: f32[4, 4]"]),
        ("Doubled", ["y_true: f32[4, 4]", "y_pred: f32[4, 4]"]),
        ("Trained.train_step", None),
        ("Plain.scaled", None),
        ("Plain.__own", None),
        ("OfSettings", ["x: f32[4, 4]"]),
        ("of_columns", ["columns: [{'weights': f32[4, 4]}, {'weights': f32[4, 4]}]"]),
        ("Schedule.doubled", ["x: f32[4, 4]"]),
        ("Prepared.looked_up", None),
        ("Prepared.total", []),
        ("words", ["text: str[4, 4]"]),
        ("lowest", ["x: f32[4, 4]", "space: Space()"]),
        ("Gathered.call", None),
        ("Shuffled", ["inputs: f32[4, 4, 4, 4]"]),
        ("Activated.run", ["x: f32[4, 4]"]),
        ("whole", ["x: f32[4, 4] flags"]),
        ("grown", ["x: f32[4, 4]", "branch: Branch(size=4)"]),
    ],
)
def test_driven_without_help(driver: Driver, qualname: str, inputs: list[str] | None) -> None:
    found = driver(qualname)
    assert "not" not in found, found
    assert found["sets"] >= 3
    if inputs is not None:
        assert found["inputs"] == inputs


@pytest.mark.parametrize(
    ("qualname", "line"),
    [("Swapped", "return tf.reverse(x, [0])"), ("switched", "x = 1.0 - x"), ("switched", "return x * scale + 3.0")],
)
def test_switches_are_turned_where_that_reaches_the_line(driver: Driver, qualname: str, line: str) -> None:
    wanted = line_of(line)
    found = driver(qualname, wanted=(wanted,))
    assert wanted in found["reached"], found


def test_the_state_is_known_and_what_keras_3_calls_is_not_converted(driver: Driver) -> None:
    assert driver("Gated")["state"] >= 4
    assert driver("stateful")["state"] == 1
    assert (driver("Gated")["autograph"], driver("masked")["autograph"]) == (False, True)
    assert driver("masked", autograph=False)["autograph"] is False


def test_a_function_made_inside_another_is_called_as_it_does(driver: Driver) -> None:
    first = line_of("    def inner")
    found = driver("make.<locals>.inner", lines=(first, first + 1), kind="nested")
    assert found["inputs"] == ["x: f32[3, 5]", "y: f32[5]"]
    first = line_of("    def returned")
    assert driver("maker.<locals>.returned", lines=(first, first + 1), kind="nested")["inputs"] == ["x: f32[4, 4]"]
    first = line_of("        def chosen")
    assert driver("several.<locals>.chosen", lines=(first, first + 1), kind="nested")["inputs"] == ["x: f32[4, 4]"]


def test_a_function_made_inside_one_that_is_itself_made_inside_another(driver: Driver) -> None:
    first = line_of("        def deepest")
    found = driver("deep.<locals>.middle.<locals>.deepest", lines=(first, first + 1), kind="nested")
    assert found["inputs"] == ["y: f32[7]"]
    first = line_of("        def innermost")
    found = driver("deep_maker.<locals>.given.<locals>.innermost", lines=(first, first + 1), kind="nested")
    assert found["inputs"] == ["y: f32[4]"]


def test_a_function_that_counts_outside_of_it_begins_as_it_was_called(driver: Driver) -> None:
    first = line_of("    def step(")
    found = driver("stepped.<locals>.step", lines=(first, first + 3), kind="nested")
    assert found["inputs"] == ["thresholds: f32[4]"]
    assert found["shapes"]  # which its count would not allow behind the calls that looked for inputs


def test_what_a_class_above_has_by_default_comes_first(driver: Driver) -> None:
    assert driver("Frozen.loss")["how"].startswith("Frozen(rate: 4, trainable: True)")


def test_what_cannot_be_called_says_why_and_what_to_write(driver: Driver) -> None:
    assert "returns no tensor (Adam)" in driver("optimizer")["not"]
    assert "returns no tensor (_BatchDataset)" in driver("batches")["not"]  # whose operations have no kernels
    assert "OSError: there is no such network" in driver("impossible")["not"]
    assert "File format not supported" in driver("Spoilt")["not"]  # a file that is there, but has no weights
    assert "`# xlalint: probe(x: ..)`" in driver("impossible")["not"]
    assert "has no `missing`" in driver("missing")["not"]


def test_the_user_s_word_is_taken(driver: Driver) -> None:
    given = (Given("x", "f32[2..4, 7]"),)
    found = driver("four", given=(Given("x", "f32[2, 3, 5, 2]"),))
    assert found["shapes"] == [[2, 15, 2]]
    assert driver("optional", given=given)["shapes"] == [[2, 7], [3, 7], [4, 7]]
    assert "the eager call fails: ValueError" in driver("four", given=(Given("x", "f32[2]"),))["not"]
    assert driver("Gated", made_of=(Given("units", "9"),), given=(Given(None, "f32[5, 2]"),))["shapes"] == [[5, 9]]
    assert driver("builder", given=(Given("inputs", "f32[5..6, 3]"),))["shapes"] == [[5, 2], [6, 2]]
    flagged = (Given("inputs", "f32[5, 2]"), Given("training", "True"))  # Keras takes a flag by its name only
    assert driver("Gated", made_of=(Given("units", "9"),), given=flagged)["shapes"] == [[5, 9]]


def test_inputs_reach_the_lines_that_are_wanted(driver: Driver) -> None:
    line = line_of("    return x[labels > 0]")
    assert line not in driver("optional")["reached"]
    assert line in driver("optional", wanted=(line,))["reached"]
    line = line_of("        return tf.sparse.reduce_sum")
    assert driver("degrees", wanted=(line,))["inputs"] == ["a: f32[4, 4] sparse"]
    line = line_of('        return features["words"].to_tensor()')
    assert "ragged" in driver("padded", wanted=(line,))["inputs"][0]
    # What a layer runs when it is built does not count for its method, and an error on the way is followed.
    line = line_of("            return tf.sparse.sparse_dense_matmul(a, x)")
    assert driver("Modes.spread", wanted=(line,))["inputs"][1] == "a: f32[4, 4] sparse"
    line = line_of("            return tf.math.unsorted_segment_sum(x, index, 4)")
    assert line in driver("Pooled", wanted=(line,))["reached"]


def test_what_fails_first_on_the_way_to_a_line_is_followed(driver: Driver) -> None:
    line = line_of("    return x * kept")
    assert line in driver("dropped", wanted=(line,))["reached"]


def test_the_numbers_of_segments_are_sorted(driver: Driver) -> None:
    assert driver("by_segment")["inputs"][1] == "numbers: i32[4] sorted"


def test_the_user_s_own_function_makes_the_inputs(driver: Driver) -> None:
    found = driver("optional", factory=f"{MODULE}:make_inputs")
    assert (found["sets"], found["shapes"]) == (6, [[2, 3], [3, 3], [4, 3]])
    missing = driver("optional", factory=f"{MODULE}:missing")["not"]
    assert f"`{MODULE}:missing` cannot create its inputs: AttributeError" in missing


def test_a_fragment_is_a_function_of_its_free_names(driver: Driver, tmp_path: Path) -> None:
    file = tmp_path / "pasted.py"
    file.write_text(
        "hidden = tf.matmul(x, kernel)\nif tf.reduce_sum(hidden) > 0:\n    hidden = -hidden\nhidden + 1.0\n"
    )
    found = driver("", file=str(file), kind="fragment")
    assert found["inputs"] == ["x: f32[4, 4]", "kernel: f32[4, 4]"]
    assert found["moved"] == [[str(file), 1]]


def test_what_a_fragment_does_is_said_of_its_own_lines(worker: Worker, tmp_path: Path) -> None:
    file = tmp_path / "pasted.py"
    file.write_text("doubled = x * 2.0\ntf.strings.as_string(doubled)\n")
    target = Target(str(file), "", kind="fragment", roots=(str(file),))
    outcome = worker.ask(target, Plan(gradients=False), Limits())
    [failure] = outcome.observations
    assert (failure.kind, failure.spots) == (FAILS, (Spot(str(file), 2),))
    assert outcome.reached == {str(file): (1, 2)}


def test_what_a_method_of_its_object_leaves_is_there_when_that_calls_it(driver: Driver) -> None:
    first = line_of("def joined")
    assert "not" in driver("Stateful.joined", lines=(first, first + 1), seconds=1.0)
    found = driver("Stateful.joined", lines=(first, first + 1), callers=(Frame(str(CODE), "Stateful.run"),))
    assert "as `Stateful.run` does" in found["how"]


def test_what_autograph_makes_another_function_of(driver: Driver) -> None:
    first = line_of("def row(one)")
    assert driver("mapped.<locals>.row", lines=(first, first + 1), kind="nested")["inputs"] == ["one: f32[4]"]
    first = line_of("def row(self, one)")
    found = driver("Rows.row", lines=(first, first + 2), callers=(Frame(str(CODE), "Rows.all"),))
    assert found["how"].endswith("as `Rows.all` does")


def test_what_autograph_writes_goes_with_the_session(driver: Driver) -> None:
    first = line_of("def row(one)")
    driver("mapped.<locals>.row", lines=(first, first + 1), kind="nested")  # which `map_fn` converts
    assert list(Path(tempfile.gettempdir()).glob("__autograph_generated_file*"))


def test_a_file_named_like_its_folder(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").touch()
    (tmp_path / "deepest").mkdir()
    (tmp_path / "deepest" / "layers.py").write_text("DEPTH = 2.0\n")
    model = tmp_path / "deepest" / "deepest.py"
    model.write_text("from .layers import DEPTH\n\ndef deepened(x):\n    return x * DEPTH\n")
    assert driver("deepened", str(model))["inputs"] == ["x: f32[4, 4]"]
    trained = tmp_path / "deepest" / "trained.py"
    trained.write_text("from deepest.deepest import deepened\n\ndef trained(x):\n    return deepened(x)\n")
    assert driver("trained", str(trained))["inputs"] == ["x: f32[4, 4]"]


def test_folders_inside_of_a_package_that_are_none_by_themselves(driver: Driver, tmp_path: Path) -> None:
    inner = tmp_path / "outermost" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "README.md").touch()
    (inner.parent / "__init__.py").touch()
    (inner / "scales.py").write_text("SCALE = 2.0\n")
    for name in ("one", "other"):
        file = inner / f"{name}.py"
        file.write_text(f"from outermost.inner.scales import SCALE\n\ndef {name}(x):\n    return x * SCALE\n")
        assert driver(name, str(file)).get("inputs") == ["x: f32[4, 4]"]


def test_a_folder_whose_package_a_program_forgets_is_forgotten_with_it(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "outer_folder" / "inner").mkdir(parents=True)
    (tmp_path / "outer_folder" / "inner" / "scales.py").write_text("SCALE = 2.0\n")
    program = tmp_path / "forgetful.py"
    program.write_text(
        "import sys\nfrom outer_folder.inner.scales import SCALE\ndel sys.modules['outer_folder']\n\n"
        "def scaled(x):\n    return x * SCALE\n"
    )
    for _ in range(2):
        assert driver("scaled", str(program)).get("inputs") == ["x: f32[4, 4]"]


def test_flags_of_a_program_have_their_defaults(driver: Driver, tmp_path: Path) -> None:
    program = tmp_path / "flagged.py"
    program.write_text(
        "from absl import flags\nflags.DEFINE_integer('most_boxes', 3, 'the most boxes')\n\n"
        "def first_boxes(x):\n    return x[: flags.FLAGS.most_boxes]\n"
    )
    for _ in range(2):  # it is imported again, and defines them again
        assert driver("first_boxes", str(program))["shapes"][0] == [3, 4]


def test_flags_that_another_file_of_the_project_defines(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    (tmp_path / "started.py").write_text(
        "from absl import flags\n\ndef create():\n    flags.DEFINE_integer('most_rows', 3, 'the most rows')\n"
        "    flags.DEFINE_enum(name='kept_side', default='right', enum_values=['left', 'right'], help='which')\n"
        "    flags.DEFINE_string('unknown_side', other(), 'not known')\n"
    )
    part = tmp_path / "part.py"
    part.write_text(
        "from absl import flags\nFLAGS = flags.FLAGS\n\ndef first_rows(x):\n    return x[: FLAGS.most_rows]\n\n"
        "def kept_side(x):\n    return {'right': x[:2]}[FLAGS.kept_side]\n\n"
        "def other_side(x):\n    return x * FLAGS.unknown_side\n"
    )
    assert driver("first_rows", str(part))["shapes"][0] == [3, 4]
    assert driver("kept_side", str(part))["shapes"][0] == [2, 4]
    assert "unknown_side" in driver("other_side", str(part))["not"]
    own = tmp_path / "own.py"  # defines one itself
    own.write_text(part.read_text().replace("FLAGS\n\n", "FLAGS\nflags.DEFINE_integer('most_rows', 2, '')\n\n", 1))
    assert driver("first_rows", str(own))["shapes"][0] == [2, 4]
    own.unlink()
    assert driver("first_rows", str(part))["shapes"][0] == [3, 4]


def test_a_caller_helps_where_the_parameters_say_too_little(driver: Driver) -> None:
    hidden, caller = "_unpacked", Frame(str(CODE), "packed")
    first = line_of("def _unpacked")
    assert "not" in driver(hidden)
    found = driver(hidden, lines=(first, first + 4), callers=(caller,))
    assert "as `packed` does" in found["how"]


TESTED = """
import tensorflow as tf

class Grid:
    def __init__(self, shape, names):
        if sorted(names) != ["east", "north"]:
            raise ValueError("no such names")
        self.shape = shape

    def placed(self, x, offsets):
        assert offsets.dtype == tf.int64 and offsets.shape[0] == 7
        return tf.reshape(x, self.shape) + tf.cast(offsets[0], tf.float32)
"""
TESTS = """
import unittest
import tensorflow as tf
from model import Grid

NAMES = ["north"]

class GridTest(unittest.TestCase):
    def setUp(self):
        self.names = [*NAMES, "east"]

    def test_placed(self, missing=None):
        rows, columns = 3, 5
        grid = Grid([rows, columns], names=self.names)
        offsets = [one + rows for one in range(7)]
        grid.placed(tf.ones([rows * columns]), tf.constant(offsets, tf.int64), *[])
"""


def test_the_project_s_tests_show_what_is_passed(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(TESTED)
    assert "not" in driver("Grid.placed", str(tmp_path / "model.py"))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_model.py").write_text(TESTS)
    found = driver("Grid.placed", str(tmp_path / "model.py"), search=(str(tmp_path),))
    assert found["inputs"] == ["x: f32[15]", "offsets: i64[7]"]
    assert found["shapes"][0] == [3, 5]


def test_what_a_caller_passes_is_varied_where_nothing_else_is_accepted(driver: Driver) -> None:
    first = line_of("def _in_rows")
    found = driver("_in_rows", lines=(first, first + 2), callers=(Frame(str(CODE), "rows"),))
    assert "most: <EagerTensor []>" in found["inputs"]
    assert found["sets"] > 1


def test_a_method_as_the_call_of_its_object_comes_to_it(driver: Driver) -> None:
    first = line_of("def message")
    assert "as `Messaging.call` does" in driver("Messaging.message", lines=(first, first + 1))["how"]


def test_an_object_is_made_in_part_where_its_constructor_needs_more_than_there_is(driver: Driver) -> None:
    found = driver("OfFiles.scaled")
    assert found["how"] == "OfFiles(size: 4).scaled with x: f32[4, 4]"
    assert found["notes"][0] == "of its object only what its constructor does for `count`, `half` was made"
    assert driver("OfFiles.turned", seconds=0.0)["inputs"] == ["x: f32[4, 4, 4]"]  # all of it took all the time
    assert "not" in driver("OfFiles.seen", seconds=1.0)
    assert "not" in driver("OfFiles.highest", seconds=1.0)
