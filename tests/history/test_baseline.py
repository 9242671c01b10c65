"""Baselines: entries outlive what happens around the code, and nothing new hides behind them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import ran
from tests.samples import FIXABLE, FIXED, HAZARD
from tests.sources.test_notebooks import notebook, saved
from xlalint.history.baseline import Baseline
from xlalint.history.marks import contents
from xlalint.linter.run import check
from xlalint.settings.config import Settings

FILE: Final = "xlalint-baseline.json"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pyproject.toml").write_text(f'[tool.xlalint]\nbaseline = "{FILE}"\ncache-dir = "cache"\n')
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "step.py").write_text(HAZARD)
    (tmp_path / "train.ipynb").write_bytes(saved(notebook("x = 1", FIXABLE)))
    return tmp_path


def entries(file: str = FILE) -> list[tuple[str, str]]:
    found = json.loads(Path(file).read_text("utf-8"))["findings"]
    return [(one["path"], one["code"]) for one in found for _ in range(one.get("count", 1))]


# -- what a baseline recognises ---------------------------------------------------------------------------------------

HEAD: Final = "@tf.function(jit_compile=True, autograph=False)\n"
# How one and the same code can be laid out.
LAYOUTS: Final = (
    "def {name}(x):\n    if tf.reduce_sum(x) > {number}:\n        return x / 2.0\n    return x\n",
    "def {name}(x):\n\n    # more\n    if (tf.reduce_sum(x)) > {number} :\n        x = 3.0 * x\n    return x\n",
    "def {name}(x):\n  if (\n      tf.reduce_sum(\n          x,\n      )\n      > {number}\n  ): x += 1\n  return x\n",
)


@dataclass(frozen=True)
class Function:
    number: int

    def text(self, layout: int) -> str:
        return HEAD + LAYOUTS[layout].format(name=f"f{self.number}", number=self.number)


def program(functions: Sequence[Function], layouts: Sequence[int]) -> str:
    texts = (function.text(layouts[function.number]) for function in functions)
    return "\n\n".join(("import tensorflow as tf\n", *texts))


LAYOUT: Final = st.lists(st.integers(0, len(LAYOUTS) - 1), min_size=8, max_size=8)
SOME: Final = st.lists(st.integers(0, 7).map(Function), unique=True, max_size=5)


@settings(max_examples=25)
@given(SOME, SOME, LAYOUT, LAYOUT, st.booleans())
def test_an_entry_speaks_for_its_code_wherever_that_went(
    before: list[Function], after: list[Function], first: list[int], second: list[int], renamed: bool
) -> None:
    """Functions are laid out anew and in another order, some come and some go, and the file gets another name."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        old, new = folder / "a.py", folder / ("b.py" if renamed else "a.py")
        old.write_text(program(before, first))
        baseline = Baseline(folder / FILE)
        found = check([folder], Settings()).findings
        Baseline(folder / FILE, baseline.marks(found, contents({}))).write()
        baseline = Baseline.read(folder / FILE)
        assert len(baseline.entries) == len(before)

        old.unlink()
        new.write_text(program(after, second))
        compared = baseline.compare(check([folder], Settings()).findings, contents({}), [folder], Settings().codes)
        reported = [mark.scope for mark in baseline.marks(compared.fresh, contents({}))]
        assert sorted(reported) == sorted(f"f{one.number}" for one in {*after} - {*before})
        assert sorted(one.scope for one in compared.stale) == sorted(f"f{one.number}" for one in {*before} - {*after})
        assert len(compared.kept) == len({*before} & {*after})


def test_each_entry_speaks_for_one_finding(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = HAZARD.replace("    return x", "    if tf.reduce_sum(x) > 10.0:\n        x = x / 2.0\n    return x")
    twice = once.replace("    return x", "    if tf.reduce_sum(x) > 10.0:\n        x = x + 2.0\n    return x")
    Path("pkg/step.py").write_text(once)
    assert ran(capsys, "baseline", "write") == (0, f"Wrote 3 entries to {FILE}.\n", "")
    assert entries() == [("pkg/step.py", "XLA101")] * 2 + [("train.ipynb", "XLA104")]
    Path("pkg/step.py").write_text(twice)
    code, out, _ = ran(capsys, "--output-format", "concise")
    assert code == 1
    assert [line.partition(": ")[0] for line in out.splitlines()[:-3]] == ["pkg/step.py:10:8"]
    Path("pkg/step.py").write_text(HAZARD)
    code, out, _ = ran(capsys, "baseline", "check")
    assert code == 0
    assert out.splitlines()[0] == "stale: pkg/step.py: XLA101 in `step`: if tf.reduce_sum(x) > 10.0:"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" > 10.0", " > 11.0"),  # another condition
        ("reduce_sum(x) >", "reduce_max(x) >"),
        ("if tf", "while tf"),
    ],
)
def test_changed_code_is_new(project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str) -> None:
    ran(capsys, "baseline", "write")
    Path("pkg/step.py").write_text(HAZARD.replace(old, new))
    code, out, _ = ran(capsys, "baseline", "check")
    assert code == 1
    assert "stale: pkg/step.py: XLA101 in `step`: " in out
    assert "Found 1 error in 1 file" in out


def test_what_is_no_python_is_known_by_its_text(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pkg/step.py").write_text("import tensorflow as tf\nif tf.zeros(:\n")
    unused = "import tensorflow as tf\n\ndef f():\n    # xlalint: ignore[XLA101] no\n    return 1\n"
    Path("unused.py").write_text(unused)
    ran(capsys, "baseline", "write")
    assert entries() == [("pkg/step.py", "XLA900"), ("train.ipynb", "XLA104"), ("unused.py", "XLA901")]
    Path("pkg/step.py").write_text("\nimport tensorflow as tf\n\nif   tf.zeros(:\n")
    Path("unused.py").write_text(unused.replace("def f():", "\n\ndef g(x):"))
    code, out, _ = ran(capsys, "baseline", "check")
    assert (code, out.splitlines()) == (0, ["No findings (3 files checked).", "3 entries of the baseline still found."])
    Path("unused.py").write_text(unused.replace("XLA101", "XLA102"))
    assert ran(capsys, "baseline", "check")[0] == 1


# -- the commands -----------------------------------------------------------------------------------------------------


def test_a_project_begins_and_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "baseline", "write")[:2] == (0, f"Wrote 2 entries to {FILE}.\n")
    before = Path(FILE).read_bytes()
    assert ran(capsys, "baseline", "write")[0] == 0
    assert Path(FILE).read_bytes() == before
    assert ran(capsys) == (0, "No findings (2 files checked).\n2 findings in the baseline not shown.\n", "")
    assert ran(capsys, "--quiet") == (0, "", "")
    assert ran(capsys, "--output-format", "jsonl") == (0, "", "")
    assert ran(capsys, "--no-baseline")[0] == 1
    os.rename("pkg/step.py", "pkg/first.py")
    Path("train.ipynb").write_bytes(saved(notebook("x = 1", FIXED)))
    code, out, _ = ran(capsys)
    assert code == 0
    assert out.splitlines()[1:] == [
        "1 finding in the baseline not shown.",
        "1 stale entry in the baseline: `xlalint baseline check` lists them, `prune` removes them.",
    ]
    assert ran(capsys, "baseline", "prune") == (0, "Removed 1 entry; 1 left.\n", "")
    assert entries() == [("pkg/first.py", "XLA101")]


def test_what_a_run_is_not_about_stays(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, "baseline", "write")
    Path("pkg/step.py").write_text("")
    Path("train.ipynb").write_bytes(saved(notebook("x = 1")))
    both = [("pkg/step.py", "XLA101"), ("train.ipynb", "XLA104")]
    for arguments in (["--config", "select=['XLA2']"], ["pyproject.toml"]):
        assert ran(capsys, "baseline", "prune", *arguments)[:2] == (0, "Removed 0 entries; 2 left.\n")
        assert entries() == both
    assert ran(capsys, "baseline", "prune", "pkg")[:2] == (0, "Removed 1 entry; 1 left.\n")
    assert ran(capsys, "baseline", "write", "pkg")[:2] == (0, f"Wrote 1 entry to {FILE}.\n")
    assert entries() == both[1:]


def test_fixes_leave_alone_what_is_in_the_baseline(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.py").write_text(FIXABLE)
    ran(capsys, "baseline", "write")
    Path("new.py").write_text(FIXABLE)
    code, out, _ = ran(capsys, "--fix")
    assert (code, out.splitlines()[0]) == (0, "Fixed 1 finding in 1 file.")
    assert Path("old.py").read_text() == FIXABLE
    assert Path("new.py").read_text() == FIXED


def test_paths_count_from_the_file(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(capsys, "baseline", "write", "--baseline", "pkg/known.json")
    assert entries("pkg/known.json") == [("../train.ipynb", "XLA104"), ("step.py", "XLA101")]
    monkeypatch.chdir(project / "pkg")
    assert ran(capsys, "--baseline", "known.json", "..")[0] == 0


def test_a_command_is_needed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "baseline") == (2, "", "xlalint: error: Missing command.\n")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, [], "there is no such baseline; `xlalint baseline write` creates one"),
        (None, ["baseline", "check"], "there is no such baseline; `xlalint baseline write` creates one"),
        ("", [], "not a baseline: Input data was truncated"),
        ("{}", ["baseline", "write"], "not a baseline: Object missing required field `version`"),
        ('{"version": 2, "findings": []}', [], "written by another version of xlalint (format 2)"),
        ("\udcff", ["baseline", "prune"], "not a baseline: "),
        ('{"version": 1, "findings": [[]]}', [], "not a baseline: Expected `object`, got `array`"),
    ],
)
def test_a_baseline_that_is_none(
    project: Path, capsys: pytest.CaptureFixture[str], content: str | None, arguments: list[str], message: str
) -> None:
    if content is not None:
        Path(FILE).write_bytes(content.encode("utf-8", "surrogateescape"))
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"xlalint: error: {FILE}: {message}")
    assert len(err.splitlines()) == 1
    assert content is None or Path(FILE).read_bytes() == content.encode("utf-8", "surrogateescape")


def test_nothing_is_written_where_something_could_not_be_read(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken.ipynb").write_text("")
    code, _, err = ran(capsys, "baseline", "write")
    assert code == 2
    assert "broken.ipynb" in err
    assert not Path(FILE).exists()
    code, _, err = ran(capsys, "baseline", "write", "pkg", "--baseline", "gone/known.json")
    assert (code, err) == (2, "xlalint: error: gone/known.json: No such file or directory\n")
