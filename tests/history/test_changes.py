"""`--diff-base`: what changed since a revision, and what a change makes of code that did not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.repository import Repository
from tests.samples import FIXABLE, FIXED, HAZARD
from tests.sources.test_notebooks import notebook, saved
from xlalint.cli import run
from xlalint.history.changes import same_lines
from xlalint.history.git import Repository as Git
from xlalint.history.isolated import GitError

HELPER: Final = "def halve(x):\n    if x > 10.0:\n        x = x / 2.0\n    return x\n"
CALLER: Final = (
    "import tensorflow as tf\nfrom helper import halve\n\n\n"
    "@tf.function(jit_compile=True, autograph=False)\ndef step(x: tf.Tensor):\n    return halve(x)\n"
)
SECOND: Final = HAZARD.replace("import tensorflow as tf\n", "").replace("step", "again")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository whose first commit has a hazard, and a helper that nobody calls yet."""
    made = Repository(tmp_path / "here", NO_COLOR="1")
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(made.folder)
    made.write(".gitignore", ".xlalint_cache/\nignored.py\n")
    made.write("step.py", HAZARD)
    made.write("helper.py", HELPER)
    made.commit()
    return made


def since(capsys: pytest.CaptureFixture[str], revision: str, *arguments: str) -> list[str]:
    """Where something is found that came since a revision."""
    code = run(["--diff-base", revision, "--output-format", "concise", *arguments])
    out, err = capsys.readouterr()
    assert err == ""
    locations = [line.partition(": ")[0] for line in out.splitlines() if ": XLA" in line]
    assert code == bool(locations)
    return locations


def refused(capsys: pytest.CaptureFixture[str], revision: str, *arguments: str) -> str:
    """The one line with which a revision is refused."""
    assert run(["--diff-base", revision, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("xlalint: error: --diff-base: ")
    assert len(err.splitlines()) == 1
    return err


def test_only_changed_lines_are_reported(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert since(capsys, "HEAD") == []
    repository.write("step.py", "# a line\n" + HAZARD + SECOND)
    assert since(capsys, "HEAD") == ["step.py:14:8"]
    run(["--diff-base", "HEAD"])
    assert capsys.readouterr().out.endswith("1 finding of HEAD not shown (--diff-base).\n")
    repository.write("step.py", HAZARD.replace("> 10.0", "> 11.0"))
    assert since(capsys, "HEAD") == ["step.py:6:8"]
    repository.git("add", "step.py")
    assert since(capsys, "HEAD") == ["step.py:6:8"]
    repository.commit()
    assert since(capsys, "HEAD") == []
    assert since(capsys, "HEAD~1") == ["step.py:6:8"]


def test_code_that_a_change_makes_reachable(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write("main.py", CALLER)
    assert since(capsys, "HEAD") == ["helper.py:2:8"]  # also where a file is not under version control yet
    assert since(capsys, "HEAD", "helper.py", "--project", ".") == ["helper.py:2:8"]
    assert since(capsys, "HEAD", "helper.py") == []
    repository.commit()
    assert since(capsys, "HEAD") == []
    assert since(capsys, "HEAD~1") == ["helper.py:2:8"]
    repository.write("helper.py", "# more\n" + HELPER)
    assert since(capsys, "HEAD") == []


def test_what_has_become_graver_is_new(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Information where nothing shows XLA, an error once it compiles the code."""
    helper = "import tensorflow as tf\n\n\ndef pick(x: tf.Tensor):\n    assert x > 0\n    return x\n"
    repository.write("helper.py", helper)
    repository.commit()
    assert run(["helper.py", "--output-format", "concise"]) == 0
    assert "Found 1 info finding" in capsys.readouterr().out
    repository.write("main.py", CALLER.replace("halve", "pick"))
    assert since(capsys, "HEAD") == ["helper.py:5:12"]
    assert since(capsys, "HEAD", "--fail-on", "error") == ["helper.py:5:12"]


def test_renamed_files(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.git("mv", "step.py", "first.py")
    assert since(capsys, "HEAD") == []
    assert since(capsys, "HEAD", "first.py") == []
    repository.write("first.py", HAZARD + SECOND)
    assert since(capsys, "HEAD") == ["first.py:13:8"]
    repository.commit()
    assert since(capsys, "HEAD~1") == ["first.py:13:8"]
    repository.git("rm", "--quiet", "first.py")
    assert since(capsys, "HEAD") == []


def test_files_that_git_does_not_know(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write("größe.py", HAZARD)
    repository.write("a b/new.py", HAZARD)
    repository.write("ignored.py", HAZARD)
    assert since(capsys, "HEAD") == ["a b/new.py:6:8", "größe.py:6:8"]
    assert since(capsys, "HEAD", "a b") == ["a b/new.py:6:8"]


def test_cells_of_notebooks(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Outputs, and cells above, are no change."""
    repository.write("train.ipynb", saved(notebook("x = 1", HAZARD)))
    repository.commit()
    content = notebook("y = 2", "x = 1", HAZARD)
    content["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["1"]}]
    repository.write("train.ipynb", saved(content, indent=None))
    assert since(capsys, "HEAD") == []
    repository.write("train.ipynb", saved(notebook("y = 2", "x = 1", HAZARD, SECOND)))
    assert since(capsys, "HEAD") == ["train.ipynb:cell 5:5:8"]


def test_fixes_are_made_where_something_changed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    second = FIXABLE.partition("\n")[2].replace("step", "again")
    repository.write("step.py", FIXABLE)
    repository.commit()
    repository.write("step.py", FIXABLE + second)
    assert since(capsys, "HEAD", "--fix") == []
    assert repository.read("step.py") == FIXABLE + second.replace("not m", "tf.logical_not(m)")
    repository.write("step.py", FIXED)
    assert since(capsys, "HEAD", "--fix") == []


def test_the_base_is_where_the_work_parted(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.git("switch", "--quiet", "--create", "topic")
    repository.write("topic.py", HAZARD)
    repository.commit()
    repository.git("switch", "--quiet", "main")
    repository.write("step.py", HAZARD.replace("> 10.0", "> 11.0"))
    repository.commit()
    repository.git("switch", "--quiet", "topic")
    assert since(capsys, "main") == ["topic.py:6:8"]
    repository.git("switch", "--quiet", "--orphan", "other")
    repository.write("step.py", HAZARD)
    assert "Git knows no commit called 'HEAD'" in refused(capsys, "HEAD")
    repository.commit()
    assert since(capsys, "main") == ["step.py:6:8"]


def test_what_a_revision_had_is_kept(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("main.py", CALLER)
    assert since(capsys, "HEAD") == ["helper.py:2:8"]
    with monkeypatch.context() as patch:
        patch.setattr("xlalint.history.changes.Since._analyse", None)
        repository.write("main.py", CALLER + "\n")
        assert since(capsys, "HEAD") == ["helper.py:2:8"]
    for kept in Path(".xlalint_cache/revisions").glob("*.json"):
        kept.write_text("[[1, 2, 3, 4, 5]]")
    assert since(capsys, "HEAD") == ["helper.py:2:8"]


def test_a_work_tree_in_a_folder_of_the_current_one(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.folder.parent / "link").symlink_to(repository.folder)
    monkeypatch.chdir(repository.folder.parent)
    repository.write("step.py", HAZARD + SECOND)
    assert since(capsys, "HEAD", "here") == ["here/step.py:13:8"]
    assert since(capsys, "HEAD", "link/step.py") == ["link/step.py:13:8"]


def test_a_repository_that_is_a_package(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """It is imported by the name of its folder, also where its files of then are looked at elsewhere."""
    repository.write("__init__.py", "")
    repository.write("main.py", CALLER.replace("from helper", "from here.helper"))
    repository.commit()
    assert run(["--output-format", "concise"]) == 1
    assert "helper.py:2:8: XLA101" in capsys.readouterr().out
    repository.write("helper.py", "# more\n" + HELPER)
    assert since(capsys, "HEAD") == []


def test_requirements_that_change(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Keras 2 converts `call` with AutoGraph, Keras 3 does not: what they do to the code comes with the change."""
    repository.write("requirements.txt", "tensorflow<2.16\n")
    model = "import tensorflow as tf\n\n\nclass Model(tf.keras.Model):\n    def call(self, x):\n"
    repository.write("model.py", f"{model}        if tf.reduce_sum(x) > 1:\n            x = x / 2\n        return x\n")
    repository.commit()
    repository.write("requirements.txt", "tensorflow>=2.16\n")
    assert since(capsys, "HEAD") == ["model.py:6:12"]
    assert since(capsys, "HEAD", "--keras", "3") == []


def test_in_a_hook_that_git_runs(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("pkg/step.py", HAZARD)
    repository.commit()
    repository.write("pkg/step.py", HAZARD + SECOND)
    monkeypatch.setenv("GIT_DIR", str(repository.folder / ".git"))
    assert since(capsys, "HEAD", "pkg") == ["pkg/step.py:13:8"]


def test_revisions_that_cannot_be_had(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Git knows no commit called 'gone'" in refused(capsys, "gone")
    assert "Git knows no commit called '--help'" in refused(capsys, "--help")
    assert f"{repository.folder.parent} is in no Git repository" in refused(capsys, "HEAD", "..")
    assert "is outside the repository" in refused(capsys, "HEAD", "step.py", "..")
    repository.commit()
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.folder}", "../shallow")
    monkeypatch.chdir(repository.folder.parent / "shallow")
    assert since(capsys, "HEAD") == []
    assert "there is no commit in this shallow clone called 'HEAD~1'; fetch it" in refused(capsys, "HEAD~1")
    monkeypatch.setenv("PATH", os.devnull)
    assert "git cannot be run: " in refused(capsys, "HEAD")


def test_links_and_settings_of_the_work_tree(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """What the settings leave out, they leave out of the revision, too; a link is the file that it leads to."""
    os.symlink("step.py", "again.py")
    os.symlink("/dev/null", "outside.py")
    repository.write("old/step.py", HAZARD)
    repository.write("pyproject.toml", "[tool.xlalint]\nextend-exclude = ['/old']\n")
    repository.commit()
    repository.write("pyproject.toml", "[tool.xlalint]\n")
    repository.write("other.py", "")
    os.unlink("outside.py")
    assert since(capsys, "HEAD") == []
    shutil.rmtree("old")
    assert since(capsys, "HEAD") == []


def test_each_folder_goes_by_its_settings_of_now_in_the_revision_too(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write("part/step.py", HAZARD)
    repository.write("part/xlalint.toml", 'ignore = ["XLA101"]')
    repository.commit()
    repository.write("part/xlalint.toml", "")
    repository.write("main.py", CALLER)
    for arguments in ([], ["--force-exclude"], ["--force-exclude", "main.py", "helper.py", "part/step.py"]):
        assert since(capsys, "HEAD", *arguments) == ["helper.py:2:8"]
    repository.write("part/xlalint.toml", 'severity = { XLA101 = "info" }')
    repository.write("part/step.py", HAZARD + SECOND)
    assert since(capsys, "HEAD", "--fail-on", "info") == ["helper.py:2:8", "part/step.py:13:8"]


def test_no_commit_writes_elsewhere(repository: Repository, tmp_path: Path) -> None:
    """Git itself would not make such a tree, but reads it."""

    def tree(*entries: str) -> str:
        made = subprocess.run(
            ["git", "mktree"], cwd=repository.folder, input="".join(entries), capture_output=True, text=True, check=True
        )
        return made.stdout.strip()

    def blob(text: str) -> str:
        repository.write("content", text)
        return repository.git("hash-object", "-w", "content")

    code, up, here = blob("x = 1\n"), blob("../.."), blob(".")
    inner = tree(f"100644 blob {code}\tevil.py\n")
    links = tree(f"120000 blob {here}\tdot.py\n", f"120000 blob {up}\tout.py\n", f"040000 tree {inner}\tout.py\n")
    root = tree(f"040000 tree {inner}\t..\n", f"040000 tree {links}\tpkg\n", f"100644 blob {code}\tgood.py\n")
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    Git.around(repository.folder).extract(repository.git("commit-tree", "-m", "x", root), (".py",), folder)
    written = {path.relative_to(tmp_path / "deep").as_posix() for path in (tmp_path / "deep").rglob("*")}
    assert written == {"er", "er/good.py", "er/pkg", "er/pkg/dot.py", "er/pkg/out.py", "er/pkg/out.py/evil.py"}
    assert not (folder / "pkg" / "out.py").is_symlink()
    both = tree(f"100644 blob {code}\tout.py\n", f"040000 tree {inner}\tout.py\n")
    commit = repository.git("commit-tree", "-m", "x", both)
    with pytest.raises(GitError, match=r"cannot write out\.py/evil\.py as it was"):
        Git.around(repository.folder).extract(commit, (".py",), folder)


TEXT = st.lists(st.sampled_from("ab c"), max_size=8)


@given(TEXT, TEXT)
def test_lines_that_stay_are_the_same_and_in_order(old: list[str], new: list[str]) -> None:
    same = same_lines(old, new)
    assert all(old[before - 1] == new[after - 1] for after, before in same.items())
    assert [same[after] for after in sorted(same)] == sorted({*same.values()})
    assert same_lines(new, new) == {line: line for line in range(1, len(new) + 1)}
    if old and new:
        assert len(same_lines(old, [*old, *new])) == len(old)
