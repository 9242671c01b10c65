"""Runs that follow each other: they share what was parsed, find what a single run finds, and end when they are told."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xlalint.analysis.files.file import File
from xlalint.analysis.files.files import Stopped
from xlalint.analysis.files.session import Session
from xlalint.analysis.files.unit import Unit
from xlalint.analysis.interpreter.functions import Functions
from xlalint.findings.findings import Report
from xlalint.linter.fix_runs import fix
from xlalint.linter.run import Stdin, check
from xlalint.settings.config import Settings
from xlalint.sources.outline import Stretch
from xlalint.sources.text import Source, digest_of
from xlalint.syntax import nodes as cst

MODEL = """\
import tensorflow as tf

from .ops import normalise, positive


class Tagger(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)

    def call(self, features):
        features = normalise(features)
        if tf.reduce_any(positive(features)):
            return self.dense(features)
        return features


@tf.function(jit_compile=True)
def step(x):
    return normalise(x)[x > 0.0]
"""
OPS = """\
import tensorflow as tf


def positive(x):
    return x > 0.0


def normalise(x):
    assert tf.reduce_all(positive(x))
    return x / tf.reduce_max(x)


def same(x):
    return x.numpy()


def same(x):
    return x.numpy()
"""
PLAIN = replace(Settings(), jobs=1)
# What an edit puts in the place of a stretch of lines.
LINES = [line for line in (MODEL + OPS).splitlines() if line.strip()]
PIECES = st.lists(st.sampled_from([*LINES, "", "    x = x[x > 1.0]", "    def (", "# 𝒳"]), max_size=3)
EDITS = st.lists(st.tuples(st.booleans(), st.integers(0, 40), st.integers(0, 4), PIECES), min_size=1, max_size=4)


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Path]:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, text in (("model", MODEL), ("ops", OPS)):
        (package / f"{name}.py").write_text(text)
    return package / "model.py", package / "ops.py"


def seen(report: Report) -> object:
    """Everything that is reported; `detail` holds where in memory things are."""
    return report.findings, [replace(problem, detail="") for problem in report.problems]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS, both=st.booleans())
def test_every_run_finds_what_a_fresh_one_finds(
    project: tuple[Path, Path], edits: list[tuple[bool, int, int, list[str]]], both: bool
) -> None:
    texts = {path: path.read_text() for path in project}
    session = Session()
    paths = project if both else project[:1]
    for which, at, length, put in [(False, 0, 0, []), *edits]:
        path = project[which]
        lines = texts[path].split("\n")
        lines[at : at + length] = put
        texts[path] = "\n".join(lines)
        overlay = {path: text.encode() for path, text in texts.items()}
        assert seen(check(paths, PLAIN, overlay=overlay, session=session)) == seen(check(paths, PLAIN, overlay=overlay))


def test_only_what_has_changed_is_parsed(project: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def read(unit: Unit, *given: Any) -> None:
        real(unit, *given)
        parsed.append(cst.text_of(unit.tree).text)

    real = Unit.__init__
    monkeypatch.setattr(Unit, "__init__", read)
    session = Session()
    check(project, PLAIN, session=session)
    assert any("def call" in text for text in parsed)
    parsed.clear()
    after = MODEL.replace("import tensorflow as tf\n", "import tensorflow as tf\n\n# moved\n").replace(
        "Dense(4)", "Dense(5)"
    )
    report = check(project, PLAIN, overlay={project[0]: after.encode()}, session=session)
    assert [text.strip().splitlines()[1] for text in parsed if "Dense" in text] == ["    def __init__(self):"]
    assert not any("def normalise" in text or "def call" in text for text in parsed)
    assert {finding.span.line for finding in report.findings if finding.path.endswith("model.py")} == {15, 22}
    parsed.clear()
    check(project, PLAIN, overlay={project[0]: after.encode()}, session=session)
    assert not any(parsed)  # there is a unit without source


def test_nothing_is_executed_again_for_a_comment(project: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[str] = []

    def analyse(functions: Functions, *given: Any) -> Any:
        executed.append(str(given))
        return real(functions, *given)

    real = Functions.analyse
    monkeypatch.setattr(Functions, "analyse", analyse)
    session = Session()
    plain = MODEL.replace("@tf.function", "# moved\n\n@tf.function")
    more = MODEL.replace("Dense(4)", "Dense(5)")
    both = plain.replace("Dense(4)", "Dense(5)")
    # Each time: what is in the file, and whether it is what it was in either of the last two runs but for comments.
    for text, same in [(MODEL, False), (plain, True), (both, False), (more, True), (MODEL, True), (both, True)]:
        overlay = {project[0]: text.encode()}
        fresh = check(project, PLAIN, overlay=overlay)
        executed.clear()
        assert seen(check(project, PLAIN, overlay=overlay, session=session)) == seen(fresh)
        assert bool(executed) != same


def test_a_session_sees_what_changes_on_the_disk(project: tuple[Path, Path]) -> None:
    session = Session()
    before = check(project[:1], PLAIN, session=session)
    assert seen(check(project[:1], PLAIN, session=session)) == seen(before)
    project[1].write_text(OPS.replace("return x / tf.reduce_max(x)", "return None"))
    after = check(project[:1], PLAIN, session=session)
    assert seen(after) == seen(check(project[:1], PLAIN)) != seen(before)


def test_definitions_that_read_alike_stay_two(tmp_path: Path) -> None:
    text = "def f(x):\n    return x\n"

    def file(times: int, before: File | None) -> File:
        data = text * times
        return File(Source(tmp_path / "a.py", "a.py", data, digest_of(data.encode())), before)

    first = file(2, None)
    trees = [first.unit(Stretch(1, 2)).tree, first.unit(Stretch(3, 4)).tree]
    second = file(3, first)
    units = [second.unit(Stretch(at, at + 1)) for at in (1, 3, 5)]
    assert len({id(unit.tree) for unit in units}) == 3
    assert {id(tree) for tree in trees} < {id(unit.tree) for unit in units}
    assert [unit.span(unit.body[0])[0] for unit in units] == [1, 3, 5]
    assert [unit.file for unit in units] == [second] * 3


def test_earlier_versions_are_not_kept(tmp_path: Path) -> None:
    text = "".join(f"def f{number}(x):\n    return x\n" for number in range(3))
    versions: list[weakref.ref[File]] = []
    file: File | None = None
    for number in range(4):
        data = f"{text}# {number}\n"
        file = File(Source(tmp_path / "a.py", "a.py", data, digest_of(data.encode())), file)
        file.unit(Stretch(2 * number % 6 + 1, 2 * number % 6 + 2))
        versions.append(weakref.ref(file))
    gc.collect()
    assert [version() is None for version in versions] == [True, True, True, False]


def test_a_run_that_is_not_wanted_any_more_ends_and_leaves_the_session_sound(project: tuple[Path, Path]) -> None:
    session = Session()
    whole = seen(check(project, PLAIN))
    for asked in (0, 1, 3, 6):
        times = count()
        session.stopped = lambda times=times, asked=asked: next(times) >= asked  # type: ignore[misc]
        with pytest.raises(Stopped):
            check(project, PLAIN, session=session)
    session.stopped = lambda: False
    assert seen(check(project, PLAIN, session=session)) == whole


def test_text_that_is_not_on_the_disk_is_linted_beside_the_files_that_are(project: tuple[Path, Path]) -> None:
    model, ops = project
    new = model.with_name("new.py")
    text = "import tensorflow as tf\nfrom .ops import same\n\n\n@tf.function(jit_compile=True)\n"
    text += "def f(x):\n    return same(x)\n"
    overlay = {new: text.encode(), ops: OPS.encode()}
    assert [Path(finding.path).name for finding in check([new], PLAIN, overlay=overlay).findings] == []
    report = check([new, ops], PLAIN, overlay=overlay)
    assert [(Path(one.path).name, one.code, one.severity.label) for one in report.findings] == [
        ("ops.py", "XLA105", "warning"),
        ("ops.py", "XLA106", "error"),
    ]
    given = Stdin(new, text.replace("same(x)", "x.numpy()").encode())
    assert [one.code for one in fix([new], PLAIN, given, overlay={ops: b"x ="}).report.findings] == ["XLA106"]


def test_the_records_of_a_session_do_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlalint.linter.incremental._PARTITIONS_LEFT", 3)
    session = Session()
    for number in range(5):
        folder = tmp_path / f"p{number}"
        folder.mkdir()
        (folder / "m.py").write_text("import tensorflow as tf\n", encoding="utf-8")
        check([folder], Settings(), session=session)
    assert len(session.left) == 3
