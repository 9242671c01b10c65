"""Findings behind the first failure of their function: their statements are compiled by themselves."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Outcome, Plan
from xlalint.probe.target import Given, Target
from xlalint.probe.worker.code.pieces import pieces

# `# <- KIND` stands at the line where it must be seen, `# ..` at those that are asked about and must stay silent.
CODE = """
import tensorflow as tf


class Thing:
    def __init__(self):
        self.last = None
        self.__width = 2

    def late(self, x):
        bool(x[0] > 0.0)  # <- fails
        n = tf.cast(tf.reduce_max(tf.abs(x)), tf.int32)
        y = tf.range(n)  # <- recompiles
        rows = tf.shape(x)[0]
        z = tf.range(rows)  # ..
        self.last = tf.range(n)  # <- recompiles
        w = tf.reshape(tf.concat([x, x], 0), [self.__width, -1])  # ..
        for _ in range(3):
            u = tf.unique_with_counts(  # <- fails
                x,
            ).y
            if n > 100:
                break
        if tf.reduce_sum(x) > 0.0:  # <- fails
            return y
        u = [int(one) for one in y]  # <- fails
        return z, w, u


def twice(x):
    with tf.Graph().as_default():
        tf.nn.relu(tf.constant(1.0))
    n = tf.cast(tf.reduce_max(tf.abs(x)), tf.int32)
    y = tf.range(n)  # <- recompiles
    z = tf.reduce_sum(y) + tf.shape(x)[0]  # ..
    kept = tf.boolean_mask(x, x > 0.0)
    z = z, tf.pad(kept, [[0, n]])  # <- recompiles
    return y, z, tf.ones([n + 1])  # <- recompiles


def beyond(x, n, ids):
    x = tf.concat([x, tf.zeros([tf.minimum(n, 4)])], 0)  # ..
    y = tf.gather(x, tf.minimum(ids, 1))  # <- diverges
    return tf.gather(x, ids) + y  # <- diverges


def beyond_a_failure(x, n, ids):
    if x[0] > 0.0:  # <- fails
        x = -x
    last = tf.gather(x, tf.argmax(x))  # ..
    return tf.gather(x, ids) + last  # <- diverges


def beyond_rows(x, edges):
    edges = tf.sparse.reorder(edges)  # <- fails
    return tf.gather(x, edges.indices[:, 0])  # <- diverges


def both(x):
    n = tf.cast(tf.reduce_max(tf.abs(x)), tf.int32)
    return tf.concat(
        [
            tf.range(n),  # <- recompiles
            tf.zeros([n], tf.int32),  # <- recompiles
            tf.range(tf.shape(x)[0]),  # ..
        ],
        0,
    )


def around(x):
    n = tf.cast(tf.reduce_max(tf.abs(x)), tf.int32)
    m = tf.pad(  # <- recompiles
        tf.zeros([n]),  # <- recompiles
        [[n, 0]],
    )
    return m


def branched(x):
    if x[0] < x[1]:  # <- fails
        begin = tf.argmin(x, output_type=tf.int32)
    else:
        begin = 0
    return x[begin:]  # <- recompiles


def chosen(x):
    bool(x[0] > 0.0)  # <- fails
    n = tf.cast(tf.reduce_max(tf.abs(x)), tf.int32)
    many = {
        0: lambda: tf.zeros([n]),  # <- recompiles
        1: lambda: tf.zeros([tf.shape(x)[0]]),  # ..
        2: lambda: tf.ones([n]),  # ..
    }
    y = sorted([3, 1], key=lambda one: -one), (lambda: tf.shape(x))(), (lambda m: tf.range(m))(n)  # <- recompiles
    return y, many[0](), many[1]()


def sized(x):
    bool(x[0] > 0.0)  # <- fails
    n = tf.cast(tf.reduce_max(tf.abs(x)), tf.int32)
    # what it takes has another shape for each value
    y = tf.concat([tf.zeros([n]), tf.ones([n])], 0)
    y = tf.reshape(y, [2, n])  # <- recompiles
    y = tf.tile(y, [2, 1]) * x[0]  # ..
    u = tf.reshape(y, [4, n, 1])  # <- recompiles
    rows = tf.shape(x)[0]
    y = u, tf.reshape(tf.zeros([rows + 2]), [2, -1])  # ..
    return y


def never(x, words):
    s = tf.strings.as_string(x)  # <- fails
    t = x + 1.0  # ..
    raise ValueError(words + t)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "alone.py").write_text(CODE)
    return tmp_path / "alone.py"


def expected(name: str) -> dict[int, str]:
    """By line of a function, what must be seen there; nothing for the lines that are asked about besides."""
    lines = CODE[: CODE.index(f"def {name}")].count("\n") + 1
    marked: dict[int, str] = {}
    for number, line in enumerate(CODE.splitlines()[lines:], lines + 1):
        if line.startswith(("def ", "class ")):
            break
        if "# <- " in line:
            marked[number] = line.partition("# <- ")[2]
        elif line.endswith("# .."):
            marked[number] = ""
    return marked


def seen(outcome: Outcome) -> dict[int, str]:
    """By line, the kinds of what was seen there, of single values."""
    found: dict[int, set[str]] = {}
    for one in outcome.observations:
        if one.spots and one.per != "shape":
            found.setdefault(one.spots[0].line, set()).add(one.kind)
    return {line: " ".join(sorted(kinds)) for line, kinds in found.items()}


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("qualname", "driven"),
    [
        *((name, True) for name in ("Thing.late", "twice", "both", "around", "branched", "chosen", "sized")),
        ("never", False),
    ],
)
def test_what_is_behind_a_failure_is_seen(worker: Worker, file: Path, qualname: str, driven: bool) -> None:
    marked = expected(qualname.rpartition(".")[2])
    kind = "method" if "." in qualname else "function"
    given = (Given("x", "f32[4]"),)
    target = Target(
        str(file), qualname, kind=kind, given=given, wanted=tuple(marked), roots=(str(file),), autograph=False
    )
    outcome = worker.ask(target, Plan(gradients=False), Limits())
    assert (outcome.not_run is None) is driven, outcome
    first = {line: kind for line, kind in marked.items() if kind}
    assert {line: kind for line, kind in seen(outcome).items() if line in marked} == first, outcome.observations


LINE = """
import tensorflow as tf


def shifted(x):
    n = tf.cast(tf.reduce_max(tf.abs(x)), tf.int32)
    m = n + tf.random.uniform([], 0, 1, tf.int32)
    return tf.pad(tf.zeros([m]), [[n, 0]])
"""


@pytest.mark.compiler
def test_two_hazards_of_one_line_are_told_apart(worker: Worker, tmp_path: Path) -> None:
    file = tmp_path / "line.py"
    file.write_text(LINE)
    target = Target(str(file), "shifted", given=(Given("x", "f32[4]"),), wanted=(8,), roots=(str(file),))
    outcome = worker.ask(replace(target, autograph=False), Plan(gradients=False), Limits())
    found = {(one.kind, *one.ops) for one in outcome.observations if one.spots and one.spots[0].line == 8}
    assert {("fails", "Fill"), ("recompiles", "Pad")} <= found, outcome.observations


@pytest.mark.compiler
@pytest.mark.parametrize(("name", "autograph"), [("beyond", True), ("beyond_a_failure", False), ("beyond_rows", False)])
def test_indices_out_of_range_are_tried(worker: Worker, file: Path, name: str, autograph: bool) -> None:
    others = (
        [Given("edges", "f32[4, 4] sparse")] if name == "beyond_rows" else [Given("n", "i32[]"), Given("ids", "i32[2]")]
    )
    given = (Given("x", "f32[4]"), *others)
    marked = expected(name)
    target = Target(str(file), name, given=given, wanted=tuple(marked), roots=(str(file),), extreme=True)
    outcome = worker.ask(replace(target, autograph=autograph), Plan(gradients=False), Limits())
    raising = {one.spots[0].line for one in outcome.observations if one.extreme}
    assert raising == {line for line, kind in marked.items() if kind == "diverges"}, outcome.observations


CONVERTED = """
def f(x, many):
    for one in many:
        if one > 0:
            break
        x = x + one
    if x > 0:
        y = x
        z = x
    if x > 1:
        return y
    q = x; x += 1
    many[0].value, x = x, q
    with many:
        x = 2
    return super().f(x, y)
"""


def test_a_statement_is_taken_where_it_means_the_same_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "converted.py"
    file.write_text(CONVERTED)
    every = frozenset(range(1, 20))
    found = {piece.lines[0]: piece for piece in pieces(str(file), every, converted=True)}
    texts = {line: piece.of(["a"]).splitlines()[1:] for line, piece in found.items()}
    assert 4 not in texts  # it ends the loop around it
    assert 10 not in texts  # it ends the function in some cases
    assert 16 not in texts
    assert texts[3][-1].strip() == "return x"
    assert texts[7][-1].strip() == "z = x"  # what it binds in one case only is nothing that it leaves behind
    assert texts[6 + 6][0].strip() == "x += 1"
    assert texts[13] == ["    many[0].value, x = x, q", "    return many[0].value, x"]
    assert found[13].changes == {"many"}
    plain = {piece.lines[0]: piece.of(["a"]) for piece in pieces(str(file), every, converted=False)}
    assert plain[4].endswith("        if (one > 0): pass\n")
    assert plain[10].endswith("    if (x > 1): pass\n")


LONGER = """
def f(x, n):
    for one in x:
        y = n
        if one:
            break
        z = g(y)

        # between
        z = h(
            z)
    y = super().g(z)
    a, b = n(x), 1; c = a
    return c + b
"""


def test_a_statement_takes_along_those_before_it(tmp_path: Path) -> None:
    file = tmp_path / "longer.py"
    file.write_text(LONGER)
    found = {piece.lines[0]: piece for piece in pieces(str(file), frozenset(range(1, 20)), converted=True)}
    [longer] = found[10].longer  # the one before that leaves the loop in some cases
    assert longer.of(["a"]).splitlines() == [
        "def piece(a):",
        "        z = g(y)",
        "",
        "        # between",
        "        z = h(",
        "            z)",
        "        return z",
    ]
    assert (longer.lines, longer.first, longer.last) == ((7, 7), 10, 11)
    assert longer.names == {"g", "h", "y"}
    assert found[13].longer == ()  # what `super` is depends on the class around it
    assert found[14].longer == ()  # two statements of one line stand at different columns


@pytest.mark.compiler
def test_a_call_ends_behind_the_last_statement_that_is_wanted_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    from xlalint.probe.worker.code.user_lines import UserLines
    from xlalint.probe.worker.compiling.alone import _Moments
    from xlalint.probe.worker.compiling.with_tensorflow.further_failures import Refused

    file = tmp_path / "ended_early.py"
    file.write_text("import tensorflow as tf\n\nLATE = []\n\ndef f(n):\n    y = tf.range(n)\n    LATE.append(y)\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("ended_early")
    n = tf.constant(3)
    for wanted, late in (({6}, 0), ({6, 7}, 0), ({6, 9}, 0)):
        several = list(pieces(str(file), frozenset(wanted), converted=True))
        found = _Moments(str(file), several).run(lambda: module.f(n), Refused(UserLines([str(file)]), [n], True))
        assert len(found) == len({*several, *(longer for one in several for longer in one.longer)})
        assert len(module.LATE) == late
