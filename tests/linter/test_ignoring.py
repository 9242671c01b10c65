"""`--add-ignores`: comments that make a file silent, wherever in it something is found, and nothing else."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.commands import ran
from tests.recall.fixtures import CASES
from tests.samples import FIXABLE, HAZARD
from tests.sources.test_notebooks import notebook, saved
from xlalint.linter.run import check
from xlalint.linter.suppress_runs import suppress
from xlalint.settings.config import Settings


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return ran(capsys, "--no-cache", *arguments)


def test_a_comment_stands_above_its_statement(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("step.py").write_text(HAZARD)
    done = lint(capsys, "--add-ignores", "--reason", "not  compiled yet")
    assert done == (0, "No findings (1 file checked).\nSuppressed 1 finding in 1 file.\n", "")
    above = "    # xlalint: ignore[XLA101] not compiled yet\n    if tf"
    assert Path("step.py").read_text() == HAZARD.replace("    if tf", above)
    assert lint(capsys) == (0, "No findings (1 file checked).\n", "")
    before = Path("step.py").read_bytes()
    assert lint(capsys, "--add-ignores")[1].endswith("Nothing to suppress.\n")
    assert Path("step.py").read_bytes() == before


def test_encodings_line_ends_and_notebooks_stay(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = b"# coding: latin-1\r\n# \xfc\r\n" + HAZARD.replace("\n", "\r\n").encode()
    Path("old.py").write_bytes(old)
    Path("train.ipynb").write_bytes(saved(notebook("%matplotlib inline", "%%time\n" + FIXABLE), indent=2))
    assert lint(capsys, "--add-ignores")[0] == 0
    comment = b"    # xlalint: ignore[XLA101] branch-on-tensor\r\n"
    assert Path("old.py").read_bytes() == old.replace(b"    if tf", comment + b"    if tf")
    source = json.loads(Path("train.ipynb").read_bytes())["cells"][2]["source"]
    expected = ("%%time\n" + FIXABLE).splitlines(keepends=True)
    expected.insert(-1, "    # xlalint: ignore[XLA104] bool-operator-on-tensor\n")
    assert source == expected
    assert lint(capsys)[0] == 0
    Path("old.py").write_bytes(old)
    code, _, err = lint(capsys, "--add-ignores", "--reason", "→")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "old.py: not suppressed: " in err
    assert Path("old.py").read_bytes() == old


STATEMENTS = """\
import tensorflow as tf


@tf.function(jit_compile=True, autograph=False)
def step(x,
         y):
    x, y = tf.abs(x), tf.abs(y)
    if x > 0: y = y + 1
    elif y > 1:
        y = tf.cast(
            not x,  # a comment
            tf.float32,
        ); z = not y
    # xlalint: ignore[XLA105] known
    assert x > 0; z = not y
    message = f'''
        {bool(x)}
    '''
    return [not x
            for _ in range(3)], \\
        not y
"""


def test_statements_of_every_form(project: Path) -> None:
    Path("step.py").write_text(STATEMENTS)
    found = check(["step.py"], Settings()).findings
    assert len({finding.span.line for finding in found}) >= 6
    outcome = suppress(["step.py"], Settings())
    assert outcome.report.findings == ()
    assert outcome.report.problems == ()
    [change] = outcome.changes
    lines = change.after.decode().splitlines()
    kept = [line for line in lines if not line.lstrip().startswith("# xlalint: ignore[XLA") or "known" in line]
    assert kept == STATEMENTS.splitlines()


def test_every_finding_of_the_collection_can_be_switched_off() -> None:
    """No finding remains, no comment is idle (XLA901), and the code stays what it was."""
    outcome = suppress([CASES / name for name in ("functional.py", "loops.py", "train_steps.py")], Settings())
    assert outcome.report.problems == ()
    assert outcome.report.findings == ()
    assert len(outcome.changes) == 3
    for change in outcome.changes:
        assert ast.dump(ast.parse(change.after)) == ast.dump(ast.parse(change.before))


def test_what_wants_repair_is_not_switched_off(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.py").write_text("import tensorflow as tf\nif tf.zeros(:\n")
    Path("idle.py").write_text("import tensorflow as tf\nx = 1  # xlalint: ignore[XLA101]\n")
    before = [Path(name).read_bytes() for name in ("broken.py", "idle.py")]
    code, out, _ = lint(capsys, "--add-ignores", "--output-format", "concise")
    assert code == 1
    assert [line.split()[1] for line in out.splitlines()[:2]] == ["XLA900", "XLA901"]
    assert [Path(name).read_bytes() for name in ("broken.py", "idle.py")] == before


def test_a_comment_that_would_change_the_program(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the first two lines a comment can name the encoding."""
    Path("branch.py").write_text("if tf.reduce_sum(x) > 10:\n    x = x / len('größer')\n", "utf-8")
    before = Path("branch.py").read_bytes()
    for reason, message in (("coding: latin-1", "would be a different program"), ("coding: x", "unknown encoding: x")):
        code, _, err = lint(capsys, "--add-ignores", "--reason", reason)
        assert (code, len(err.splitlines())) == (2, 1)
        assert message in err
        assert Path("branch.py").read_bytes() == before


def test_a_file_that_cannot_be_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "elsewhere.py").write_text(HAZARD)
    (project / "here").mkdir()
    (project / "here" / "link.py").symlink_to("../elsewhere.py")
    code, out, err = lint(capsys, "here", "--add-ignores")
    assert code == 2
    assert "here/link.py: not suppressed: a link to" in err
    assert "Nothing to suppress." in out
    assert (project / "elsewhere.py").read_text() == HAZARD


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--add-ignores", "--fix"], "--add-ignores needs files, and does not combine with fixes or --probe"),
        (["--add-ignores", "--diff"], "--add-ignores needs files"),
        (["--add-ignores", "-"], "--add-ignores needs files"),
        (["--reason", "x"], "--reason needs --add-ignores"),
        (["--add-ignores", "--reason", "a\nb"], "printable text of one line"),
        (["--add-ignores", "--reason", "#"], "printable text of one line"),
        (["--add-ignores", "--reason", " "], "printable text of one line"),
    ],
)
def test_what_cannot_be_asked_for(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    Path("step.py").write_text(HAZARD)
    code, out, err = lint(capsys, *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert Path("step.py").read_text() == HAZARD
