"""What the worker sees of functions whose behaviour is certain: what XLA does, and at which line of theirs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import FAILS, RECOMPILES, SHAPES, Outcome, Plan, Spot
from xlalint.probe.target import Given, Target

pytestmark = pytest.mark.compiler

# `# <- KIND` stands at the line where it must be seen; `per value`, `gradient` say more of it.
CODE = """
import numpy as np
import tensorflow as tf


def fine(x):
    return tf.nn.softmax(x) * 2.0


class Space:
    dtype = tf.float64

    def __eq__(self, other):
        return True


def in_space(x, space: Space):
    return tf.cast(x, space.dtype)


def no_kernel(x):
    y = x * 2.0
    return helper(y)


def helper(x):
    return tf.strings.as_string(x)  # <- fails


def with_summary(x):
    tf.summary.scalar("first", x[0], 1)  # <- fails
    return x * 2.0


def without_step(x):
    tf.summary.write(tag="all", tensor=x)  # <- fails
    return x * 2.0


def several_without_kernel(x):
    y = tf.strings.as_string(x)  # <- fails
    gone = tf.unique_with_counts(x * 2.0)
    folded = tf.unique(tf.constant([1, 1])).y
    if x[0] > 0.0:
        z = tf.linalg.lu(tf.reshape(x, [2, 2]))[0]  # <- fails
    else:
        z = tf.reshape(x, [2, 2])
    return y, z, folded


def several_reads(x):
    y = x[0] if bool(x[0] > 0.0) else x[1]  # <- fails
    z = np.abs(x) + y.numpy()  # <- fails
    shape = np.asarray([x.shape[0], len(x.shape)])
    return tf.strings.as_string(x), z, shape, OUTSIDE.numpy()  # <- fails


OUTSIDE = tf.constant(3.0)


def truth(x):
    return tf.cond(x[0] > 0.0, lambda: x, lambda: -x) if bool(x[1] > 0.0) else x  # <- fails


def branch(x):
    if tf.reduce_sum(x) > 1.0:
        x = x / 2.0
    return x


def several_lines(x):
    return tf.reduce_sum(
        x,
    ) + x[  # <- fails
        0
    ].numpy()


def in_a_loop(x, n):
    total = 0.0
    for i in tf.range(n):
        total += tf.reduce_sum(  # <- fails
            tf.zeros([i]))
    return total


def sized(x, n):
    k = n * 2
    y = tf.nn.relu(x)[:k]  # <- recompiles per value
    z = y * 2.0
    return tf.reduce_sum(z), tf.range(n)  # <- recompiles per value


@tf.function
def inner(n):
    return tf.zeros([n, 2])  # <- recompiles per value


def nested(n):
    return inner(n) + 1.0


def masked(x):
    m = tf.boolean_mask(x, x > 0.0)  # <- bounded
    return m * 2.0


def wrong(x):
    m = tf.boolean_mask(x, x > 0.0)  # <- bounded
    k = m * 2.0
    ones = tf.ones_like(k)  # <- diverges
    return tf.reduce_sum(k), tf.reduce_sum(ones)


@tf.custom_gradient
def clipped(x, limit):
    return tf.minimum(x, limit), lambda upstream: (upstream, None)


def frozen(x):
    return x + np.random.uniform()  # <- diverges


def random(x):
    return x + tf.random.uniform(tf.shape(x))


def seeded(x):
    return x + tf.random.uniform(tf.shape(x), seed=3)  # <- diverges


def looped(x):
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, x])[1]  # <- fails gradient


def cancelling(x):
    w = tf.reshape(tf.range(256.0 * 256.0), [256, 256]) / 1000.0
    return tf.reduce_sum(tf.matmul(x, w) - tf.matmul(x, w + 1e-3), axis=-1)


def saturated(x):
    p = tf.clip_by_value(tf.sigmoid(40.0 + x), 1e-7, 1.0 - 1e-7)
    return tf.math.log(1.0 - p + 1e-7)


count = tf.Variable(0)


class Count:
    def __init__(self):
        self.calls = [tf.Variable(0.0)]


counted = Count()


def counting_in_object(x):
    counted.calls[0].assign_add(1.0)
    return x * counted.calls[0]


def counting(x):
    count.assign_add(1)
    return x * tf.cast(count, tf.float32)


def endless(x):
    while tf.reduce_all(x > 0.0):
        x = x + 0.0
    return x


def refuses(x):
    return missing(x)
"""
INPUTS = {
    "in_a_loop": ("f32[4]", "i32[]"),
    "sized": ("f32[8]", "i32[]"),
    "nested": ("i32[]",),
    "clipped": ("f32[4]", "f32[]"),
    "cancelling": ("f32[64, 256]",),
}
UNCONVERTED = ("several_reads",)  # run without AutoGraph
SHOWN = [name for name in re.findall(r"^def (\w+)", CODE, re.MULTILINE) if name not in ("helper", "inner", "refuses")]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measured") / "code.py"
    path.write_text(CODE)
    return path


def measured(worker: Worker, file: Path, name: str, autograph: bool | None = None) -> Outcome:
    given = tuple(Given(None, spec) for spec in INPUTS.get(name, ("f32[4]",)))
    target = Target(str(file), name, given=given, roots=(str(file.parent),), autograph=autograph)
    plan = Plan(seconds=2.0) if name == "endless" else Plan()
    return worker.ask(target, plan, Limits(function=300.0))


def test_shapes_that_eager_execution_takes_are_no_matter_of_the_compiler(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "filling.py"
    path.write_text("import tensorflow as tf\n\ndef f(x):\n    return tf.fill([2], x)\n")
    target = Target(str(path), "f", given=(Given(None, "f32[1]"),), roots=(str(path),))
    [seen] = worker.ask(target, Plan(), Limits()).observations
    assert (seen.kind, seen.per, [spot.line for spot in seen.spots]) == (FAILS, SHAPES, [4])
    # Nor are Python's numbers, of which eager execution makes what it needs.
    path = tmp_path / "filled.py"
    path.write_text("import tensorflow as tf\n\ndef f(x, y):\n    return tf.where(x > 0.0, y, x)\n")
    given = (Given("x", "f32[4]"), Given("y", "2"))
    [seen] = worker.ask(Target(str(path), "f", given=given, roots=(str(path),)), Plan(), Limits()).observations
    assert (seen.kind, seen.per) == (FAILS, SHAPES)


def expected(name: str) -> set[tuple[int, str]]:
    """The marks in a function, and in those of its helpers."""
    bodies = {"no_kernel": ("helper",), "nested": ("inner",)}
    found = set()
    current = ""
    for number, line in enumerate(CODE.split("\n"), 1):
        if match := re.match(r"def (\w+)", line):
            current = match[1]
        if current in (name, *bodies.get(name, ())) and "# <- " in line:
            found.add((number, line.partition("# <- ")[2]))
    return found


@pytest.mark.parametrize("name", SHOWN)
def test_what_xla_does_is_seen_at_its_line(worker: Worker, file: Path, name: str) -> None:
    outcome = measured(worker, file, name, autograph=False if name in UNCONVERTED else None)
    assert outcome.not_run is None, outcome.not_run
    seen = set()
    for one in outcome.observations:
        assert one.spots, one
        assert {spot.path for spot in one.spots} == {str(file)}
        per = f" per {one.per}" if one.per else ""
        seen.add((one.spots[0].line, f"{one.kind}{per}{' gradient' if one.gradient else ''}"))
    assert seen == expected(name)


FOLLOWING = """
import tensorflow as tf


@tf.function
def inner(y, n):
    return tf.reshape(y, [1, n])  # <- recompiles


def following(x, n):
    y = tf.zeros([n])
    z = tf.reshape(y, [n, 1])  # <- recompiles
    w = tf.reshape(y, [1, -1])  # ..
    v = tf.tile(y, [tf.shape(x)[0]])  # ..
    return z, w, v, inner(y, n)
"""


def test_every_constant_of_a_value_counts_where_something_is_compiled_for_each(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "following.py"
    path.write_text(FOLLOWING)
    lines = FOLLOWING.split("\n")
    marked = tuple(number for number, line in enumerate(lines, 1) if "# " in line)
    given = (Given("x", "f32[4]"), Given("n", "i32[]"))
    target = Target(str(path), "following", given=given, wanted=marked, roots=(str(path),))
    outcome = worker.ask(target, Plan(gradients=False), Limits())
    seen = {one.spots[0].line for one in outcome.observations if one.per == "value"}
    expected = {number for number in marked if lines[number - 1].endswith("recompiles")}
    assert seen & set(marked) == expected, outcome.observations


def test_autograph_makes_the_difference(worker: Worker, file: Path) -> None:
    [failed] = measured(worker, file, "branch", autograph=False).observations
    assert CODE.split("\n")[failed.spots[0].line - 1] == "    if tf.reduce_sum(x) > 1.0:"


def test_what_eager_execution_refuses_is_not_run(worker: Worker, file: Path) -> None:
    outcome = measured(worker, file, "refuses")
    assert "NameError" in (outcome.not_run or "")
    assert outcome.observations == ()


def test_the_lines_that_ran_are_known(worker: Worker, file: Path) -> None:
    reached = measured(worker, file, "branch").reached[str(file)]
    lines = CODE.split("\n")
    assert {lines[line - 1].strip() for line in reached} == {
        "if tf.reduce_sum(x) > 1.0:",
        "x = x / 2.0",
        "return x",
    }


def test_a_rewrite_gets_the_inputs_of_its_original(worker: Worker, tmp_path: Path) -> None:
    head = "import tensorflow as tf\n\nclass Size:\n    def __init__(self, rows: int): self.rows = rows\n\n"
    body = "def f(x, size: Size):\n    assert {}\n    return tf.reshape(x, [size.rows, -1])\n"
    targets = []
    for name, asked in (("before", "len(x.shape) == 3"), ("after", "x.dtype == tf.float32")):
        path = tmp_path / name / "code.py"
        path.parent.mkdir()
        path.write_text(head + body.format(asked))
        targets.append(Target(str(path), "f", roots=(str(path.parent),)))
    before, after = targets
    outcome = worker.ask(after, Plan(gradients=False), Limits(function=300.0), before)
    assert outcome.inputs == ("x: f32[4, 4, 4]", "size: Size(rows=4)")
    assert {call.difference for call in outcome.calls} == {""}
    assert len({call.variant for call in outcome.calls}) > 1
    alone = worker.ask(after, Plan(drive_only=True), Limits(function=300.0))
    assert alone.inputs[0] == "x: f32[4, 4]"


def test_what_an_object_draws_by_chance_is_not_compared(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(
        "import keras\n\nclass Noise(keras.layers.Layer):\n    def call(self, x):\n"
        "        if self.scaled is not None and tf.reduce_sum(x) > 1.0:\n            x = x / 2.0\n"
        "        return x + tf.random.normal(tf.shape(x))\n\n"
        "class Plain(Noise):\n    scaled = None\n\nclass Scaled(Noise):\n    scaled = 2.0\n"
    )
    plain, scaled = (
        worker.ask(Target(str(path), name, kind="class", roots=(str(path),)), Plan(gradients=False), Limits(300.0))
        for name in ("Plain", "Scaled")
    )
    assert (plain.random, [one for one in plain.observations if one.kind != RECOMPILES]) == (True, [])
    [failed] = scaled.observations  # and watching the rest of a layer ends no process
    assert (failed.kind, scaled.notes) == (FAILS, ())


def test_equal_code_in_two_files_is_told_apart(worker: Worker, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.py", "other.py")]
    for path in paths:
        path.write_text("import tensorflow as tf\n\ndef f(x):\n    return tf.strings.as_string(x)\n")
        target = Target(str(path), "f", given=(Given(None, "f32[4]"),), roots=(str(tmp_path),))
        [failed] = worker.ask(target, Plan(gradients=False), Limits(function=300.0)).observations
        assert failed.spots[0] == Spot(str(path), 4)


def test_what_a_program_leaves_on_is_off_for_the_next(worker: Worker, tmp_path: Path) -> None:
    code = "import tensorflow as tf\n\n{switch}def f(x):\n    return tf.strings.as_string(x)\n"
    for name, switch in (("eager.py", "tf.config.run_functions_eagerly(True)\n\n"), ("compiled.py", "")):
        (tmp_path / name).write_text(code.format(switch=switch))
        target = Target(str(tmp_path / name), "f", given=(Given(None, "f32[4]"),), roots=(str(tmp_path),))
        outcome = worker.ask(target, Plan(gradients=False), Limits(function=300.0))
    assert [one.kind for one in outcome.observations] == [FAILS]


SIGNED = """\
import tensorflow as tf

@tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None], tf.int32)])
def rows(x, ids):
    return tf.gather(x, ids)

def doubled(x, ids):
    return rows(x, ids) * 2.0

class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0.0)

    def step(self, x):
        return tf.group(self.count.assign_add(tf.reduce_sum(x)))
"""


def test_a_signature_is_kept_to_and_an_operation_is_no_result(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "signed.py"
    path.write_text(SIGNED)
    outcomes = {
        name: worker.ask(Target(str(path), name, kind=kind, roots=(str(path),)), Plan(gradients=False), Limits(300.0))
        for name, kind in (("rows", "function"), ("doubled", "function"), ("Counter.step", "method"))
    }
    for name, outcome in outcomes.items():
        assert outcome.not_run is None, (name, outcome.not_run)
        assert FAILS not in {one.kind for one in outcome.observations}, (name, outcome.observations)
        assert {call.difference for call in outcome.calls} == {""}, name
    assert outcomes["doubled"].inputs == ("x: f32[4, 4]", "ids: i32[4]")
