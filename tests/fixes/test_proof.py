"""Fixes that are proven before they are written: which functions are run, what counts, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import FIXABLE, HAZARD
from xlalint.cli import run
from xlalint.probe.proof import Rewritten, changed_functions, changed_places, function_around, judged
from xlalint.probe.protocol import DIVERGES, FAILS, RECOMPILES, Call, Observation, Outcome

BEFORE = """\
class A:
    def f(self):
        def inner():
            return 1
        return inner()
    def g(self):
        return 2
def h():
    return 3
"""


def test_functions_whose_source_changes_are_run() -> None:
    after = f"import a\n{BEFORE}".replace("return 1", "return 4").replace("return 3", "return 5")
    assert changed_functions(Rewritten(Path("/a.py"), BEFORE, after)) == ["A.f", "h"]


@pytest.mark.parametrize(("line", "name"), [(1, None), (2, "A.f"), (4, "A.f"), (7, "A.g"), (9, "h")])
def test_a_line_belongs_to_the_function_around_it(line: int, name: str | None) -> None:
    assert function_around(BEFORE, line) == name


@pytest.mark.parametrize(
    ("outcome", "holds"),
    [
        (Outcome(calls=(Call(0, 0, 1), Call(0, 1))), True),
        (Outcome(calls=(Call(0, 0, 1),), observations=(Observation(RECOMPILES, "for shapes", per="shape"),)), True),
        (Outcome(calls=(Call(0, 0, 1),), observations=(Observation(RECOMPILES, "for values", per="value"),)), False),
        (Outcome(calls=(Call(0, 0, 1),), observations=(Observation(DIVERGES, "other"),)), False),
        (Outcome(calls=(Call(0, 0, 1),), observations=(Observation(FAILS, "error", gradient=True),)), False),
        (Outcome(not_run="it needs a file"), False),
        (Outcome(death="died of SIGSEGV"), False),
        (Outcome(), False),
    ],
)
def test_only_what_was_seen_to_be_equal_holds(outcome: Outcome, holds: bool) -> None:
    assert judged(outcome)[0] is holds


def test_what_was_compared_and_compiled_is_said_in_one_line() -> None:
    outcome = Outcome(how="called with x: f32[2]", calls=(Call(0, 0, 1), Call(0, 1), Call(1, 0, 1)))
    assert judged(outcome)[1] == "equal for 3 sets of values of 2 shapes in 2 compilations; called with x: f32[2]"


def test_what_runs_none_of_the_changed_lines_proves_nothing() -> None:
    before = "@a\ndef f(x):\n    if x:\n        y = [\n            x,\n            1,\n        ]\n    return 2\n"
    places = changed_places(Rewritten(Path("/a.py"), before, before.replace("            1", "            3")))
    assert places == {"f": [range(4, 8)]}
    reached: dict[str, tuple[int, ...]] = {"/a.py": (3, 8)}
    outcome = Outcome(how="called", calls=(Call(0, 0, 1),), reached=reached)
    assert judged(outcome, "/a.py", places["f"]) == (False, "not run: none of its changed lines is reached; called")
    two = [*places["f"], range(8, 9)]
    said = "equal for 1 set of values of 1 shape in 1 compilation, 1 of 2 changed places not reached; called"
    assert judged(outcome, "/a.py", two) == (True, said)
    decorated = changed_places(Rewritten(Path("/a.py"), before, before.replace("@a\n", "")))
    assert judged(outcome, "/a.py", decorated["f"])[0]


def test_a_function_inside_counts_as_run_where_it_is_made() -> None:
    before = "def f(x):\n    def inner(y):\n        return y + 1\n    return tf.map_fn(inner, x)\n"
    places = changed_places(Rewritten(Path("/a.py"), before, before.replace("y + 1", "y + 2")))
    assert places == {"f": [range(2, 4)]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("arguments", [["--prove"], ["--prove", "--fix", "-"]])
def test_proofs_are_of_fixes_to_files(project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert run(arguments) == 2
    assert "--prove needs files, and --fix" in capsys.readouterr().err


def test_an_interpreter_without_tensorflow_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.py").write_text(FIXABLE)
    assert run(["--fix", "--prove", "--config", "probe.python = 'no-such-python'"]) == 2
    assert capsys.readouterr().err == "xlalint: error: no-such-python: No such file or directory\n"
    assert (project / "a.py").read_text() == FIXABLE


@pytest.mark.slow
@pytest.mark.compiler
def test_only_what_holds_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = project / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "limits.py").write_text("LIMIT = 1.0\n")
    differs = (
        "\n\n# xlalint: probe(x: f32[4], at: i32[])\n@tf.function(jit_compile=True)\n"
        "def pick(x, at):\n    return x[at - 3]\n\n# xlalint: probe(x: f32[4], at: i32[] below4)\n"
        "@tf.function(jit_compile=True)\ndef maybe(x, at, one=False):\n"
        "    if one:\n        return x[at]\n    return x\n"
    )
    code = HAZARD.replace("import tensorflow as tf\n", "import tensorflow as tf\nfrom .limits import LIMIT\n").replace(
        "10.0", "LIMIT"
    )
    (package / "a.py").write_text(code + differs)
    assert run(["--fix-only", "--unsafe-fixes", "--prove"]) == 0
    said = capsys.readouterr()
    assert said.out == "Fixed 1 finding in 1 file.\n"
    assert "proven: package/a.py: `step`: equal for " in said.err
    assert "not proven, not fixed: package/a.py: `pick`: " in said.err
    assert "not proven, not fixed: package/a.py: `maybe`: not run: none of its changed lines is reached" in said.err
    after = (package / "a.py").read_text()
    assert after.endswith(differs)
    assert "if tf.reduce_sum" not in after
