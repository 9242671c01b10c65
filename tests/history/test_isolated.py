"""Git is asked, and runs nothing that the repository which it reads names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.repository import Repository
from tests.samples import HAZARD
from xlalint.cli import run
from xlalint.history import git, isolated
from xlalint.history.git import Repository as Git
from xlalint.history.isolated import GitError

CHANGED: Final = f"{HAZARD}# more\n"


class Hostile(Repository):
    """A repository that has what it names run leave a file beside it."""

    def trap(self, name: str, then: str = "cat") -> str:
        """A command that leaves a mark, and goes on as what it stands for."""
        script = self.folder.parent / f"{name}.sh"
        script.write_text(f"#!/bin/sh\ntouch '{self.folder.parent / 'ran'}-{name}'\n{then}\n")
        script.chmod(0o755)
        return str(script)

    @property
    def ran(self) -> list[str]:
        return sorted(file.name for file in self.folder.parent.glob("ran-*"))


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """A repository with a hazard in what was committed and in what has changed."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = Hostile(tmp_path / "here")
    made.write("step.py", HAZARD)
    made.write("moved.py", "x = 1\n" * 50)
    made.commit()
    made.write("step.py", CHANGED)
    made.git("mv", "moved.py", "there.py")
    monkeypatch.chdir(made.folder)
    return made


def found(capsys: pytest.CaptureFixture[str], *arguments: str, base: str = "HEAD") -> tuple[int, list[str]]:
    """The exit code, where something is found, and what is printed on the standard error."""
    code = run(["-q", "--no-cache", "--output-format", "concise", "--diff-base", base, *arguments])
    out, err = capsys.readouterr()
    return code, [line.partition(": ")[0] for line in out.splitlines()] + err.splitlines()


CONFIGURED: Final[dict[str, Callable[[Hostile], dict[str, str]]]] = {
    "a filter": lambda it: {f"filter.evil.{what}": it.trap(what) for what in ("clean", "smudge", "process")},
    "a filter that is required": lambda it: {"filter.evil.clean": it.trap("clean"), "filter.evil.required": "true"},
    "a conversion of text": lambda it: {
        "diff.evil.textconv": it.trap("textconv"),
        "diff.evil.command": it.trap("diff"),
    },
    "a program that shows differences": lambda it: {"diff.external": it.trap("external")},
    "a monitor of files": lambda it: {"core.fsmonitor": it.trap("fsmonitor", "false")},
    "hooks": lambda it: {"core.hooksPath": str(Path(it.trap("post-index-change")).parent)},
    "aliases": lambda it: {f"alias.{name}": f"!{it.trap('alias')}" for name in ("diff", "ls-files", "rev-parse")},
    "a pager": lambda it: {"core.pager": it.trap("pager"), "pager.diff": "true"},
    "another file": lambda it: {"include.path": str(_other_configuration(it))},
}


def _other_configuration(it: Hostile) -> Path:
    file = it.folder.parent / "more"
    file.write_text(f'[filter "evil"]\n\tclean = {it.trap("clean")}\n[core]\n\tfsmonitor = {it.trap("monitor")}\n')
    return file


@pytest.mark.parametrize("attack", CONFIGURED)
def test_no_command_of_the_configuration_is_run(
    attack: str, hostile: Hostile, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    hostile.git("add", ".gitattributes")
    for key, value in CONFIGURED[attack](hostile).items():
        hostile.git("config", key, value)
    for hook in ("post-index-change", "post-checkout", "reference-transaction"):
        Path(hostile.trap(hook)).rename(hostile.folder / ".git" / "hooks" / hook)
    for file in hostile.folder.parent.glob("ran-*"):
        file.unlink()  # Git itself ran them while this was prepared
    assert found(capsys) == (0, [])
    assert hostile.ran == []


def test_a_repository_that_was_committed_is_no_repository(
    hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an ordinary clone there is one without work tree in a folder, which says where its work tree is."""
    inner = Hostile(hostile.folder.parent / "inner")
    inner.write("step.py", CHANGED)
    inner.commit()
    (inner.folder / ".git").rename(hostile.folder / "sub")
    for name in ("hooks", "logs", "info"):
        for file in (hostile.folder / "sub" / name).rglob("*"):
            file.unlink() if file.is_file() else None
    (hostile.folder / "sub" / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = {inner.trap('monitor')}\n"
        f'[filter "evil"]\n\tclean = {inner.trap("clean")}\n'
    )
    (hostile.folder / "sub" / "refs" / "heads" / "kept").write_text(
        (hostile.folder / "sub/refs/heads/main").read_text()
    )
    hostile.write("sub/.gitattributes", "*.py filter=evil\n")
    hostile.write("sub/step.py", CHANGED)
    hostile.commit()
    hostile.git("clone", "--quiet", f"file://{hostile.folder}", "../clone")
    clone = hostile.folder.parent / "clone"
    assert (clone / "sub" / "index").exists()
    (clone / "sub" / "step.py").write_text(CHANGED + HAZARD)
    monkeypatch.chdir(clone / "sub")
    assert found(capsys) == (1, ["step.py:15:8"])
    assert hostile.ran == []


def test_nothing_is_fetched(hostile: Hostile, capsys: pytest.CaptureFixture[str]) -> None:
    """A clone that lacks what it can be asked for says how to get it: by a program of its own."""
    hostile.git("config", "uploadpack.allowFilter", "true")
    hostile.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{hostile.folder}", "../clone")
    os.chdir("../clone")
    hostile.git("-C", "../clone", "read-tree", "HEAD")
    hostile.git("-C", "../clone", "config", "remote.origin.uploadpack", hostile.trap("fetched", 'git-upload-pack "$@"'))
    for name in ("step.py", "there.py"):
        Path(name).write_text((hostile.folder / name).read_text())
    code, [line] = found(capsys)
    assert code == 2
    assert line.startswith("xlalint: error: --diff-base: ")
    assert "partial" in line
    assert hostile.ran == []


@pytest.mark.parametrize("folder", ["", ".", "bin"])
def test_git_is_no_program_of_the_checkout(
    folder: str, hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the search path says of the folder that the command is run in."""
    (hostile.folder / folder).mkdir(exist_ok=True)
    Path(hostile.trap("git", 'PATH=/usr/bin:/bin exec git "$@"')).rename(hostile.folder / folder / "git")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert found(capsys) == (0, [])
    assert hostile.ran == []


def test_what_is_too_large_is_not_read(
    hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was too large in the commit was not checked there, and is not read to be compared."""
    large = f"{HAZARD}# {'x' * 5_000}\n"
    hostile.write("large.py", large)
    hostile.write("step.py", HAZARD)
    hostile.commit()
    hostile.write("large.py", large.replace("x" * 5_000, ""))
    monkeypatch.setattr(git, "MOST_BYTES", 4_000)
    assert found(capsys) == (1, ["large.py:6:8"])
    monkeypatch.setattr(git, "_AT_ONCE", 10)  # each file by itself
    hostile.write("there.py", "x = 1\n")
    hostile.write("other.py", HAZARD)
    assert found(capsys, "other.py", "step.py", "there.py") == (1, ["other.py:6:8"])


def test_a_commit_that_lists_without_end(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of trees, a file of which has ten million names."""
    tree = hostile.git("hash-object", "-w", "step.py")
    kind = "100644 blob"
    for _ in range(7):
        lines = "".join(f"{kind} {tree}\tm{number}{'' if kind[3] == '0' else '.py'}\n" for number in range(10))
        hostile.write("listing", lines)
        tree = hostile.run("sh", "-c", "git mktree < listing").stdout.strip()
        kind = "040000 tree"
    commit = hostile.git("commit-tree", "-m", "x", tree)
    monkeypatch.setattr(isolated, "_MOST_ANSWERED", 1_000_000)
    with pytest.raises(GitError, match="git says more than 1,000,000 bytes"):
        Git.around(hostile.folder).extract(commit, (".py",), hostile.folder / "out")
    monkeypatch.setattr(isolated, "_MOST_ANSWERED", 10**12)
    monkeypatch.setattr(isolated, "_LONGEST", 0.2)
    with pytest.raises(GitError, match="git ls-tree takes too long"):
        Git.around(hostile.folder).extract(commit, (".py",), hostile.folder / "out")


# -- and answers as it would without ----------------------------------------------------------------------------------


def a_work_tree(it: Hostile) -> None:
    it.git("commit", "--quiet", "--all", "--message", "change")
    it.git("worktree", "add", "--quiet", "../tree", "HEAD~1")
    os.chdir("../tree")


def a_submodule(it: Hostile) -> None:
    other = Repository(it.folder.parent / "other")
    other.run("git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(it.folder), "sub")
    os.chdir("../other/sub")


def packed(it: Hostile) -> None:
    it.git("gc", "--quiet")
    it.git("checkout", "--quiet", "--", "step.py")


def linked(it: Hostile) -> None:
    (it.folder / ".git").rename(it.folder.parent / "elsewhere")
    (it.folder / ".git").symlink_to("../elsewhere")
    it.git("checkout", "--quiet", "--", "step.py")


def detached(it: Hostile) -> None:
    it.git("checkout", "--quiet", "--detach")
    it.git("checkout", "--quiet", "--", "step.py")


def split(it: Hostile) -> None:
    it.git("checkout", "--quiet", "--", "step.py")
    it.git("update-index", "--split-index")
    assert list((it.folder / ".git").glob("sharedindex.*"))


@pytest.mark.parametrize("form", [a_work_tree, a_submodule, packed, linked, detached, split])
def test_every_form_of_a_repository_is_read(
    form: Callable[[Hostile], None], hostile: Hostile, capsys: pytest.CaptureFixture[str]
) -> None:
    form(hostile)
    assert found(capsys) == (0, [])
    Path("step.py").write_text(HAZARD.replace("10.0", "11.0"))
    assert found(capsys) == (1, ["step.py:6:8"])
    Path("new.py").write_text(HAZARD)
    assert found(capsys) == (1, ["new.py:6:8", "step.py:6:8"])


def test_revisions_are_named_in_every_way(hostile: Hostile, capsys: pytest.CaptureFixture[str]) -> None:
    first = hostile.git("rev-parse", "HEAD")
    hostile.git("tag", "--annotate", "--message", "x", "v1")
    hostile.write("step.py", HAZARD.replace("10.0", "11.0"))
    hostile.commit()
    hostile.git("fetch", "--quiet", ".", first)
    for base in (first, first[:8], "v1", "HEAD~1", "HEAD@{1}", "main^", "FETCH_HEAD", "tags/v1"):
        assert found(capsys, base=base) == (1, ["step.py:6:8"]), base


def test_a_repository_with_longer_names_of_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Repository(tmp_path / "here", GIT_DEFAULT_HASH="sha256")
    made.write("step.py", HAZARD)
    commit = made.commit()
    monkeypatch.chdir(made.folder)
    assert len(commit) == 64
    assert run(["-q", "--no-cache", "--diff-base", commit]) == 0
    made.write("step.py", HAZARD.replace("10.0", "11.0"))
    assert run(["-q", "--no-cache", "--diff-base", commit]) == 1


def test_the_index_that_a_hook_is_told(
    hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`git commit FILE` has one of its own."""
    hostile.write("new.py", HAZARD)
    hostile.run("sh", "-c", "cp .git/index .git/next && GIT_INDEX_FILE=.git/next git rm --quiet --cached step.py")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next")
    monkeypatch.setenv("GIT_DIR", ".git")
    assert Git.around(hostile.folder).changes("HEAD") == {"new.py": None, "step.py": None, "there.py": "moved.py"}


def test_what_is_no_repository_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("step.py").write_text(HAZARD)
    for content in (None, b"gitdir: nowhere\n", b"gitdir: \0\n", b"\xff", b""):
        if content is not None:
            Path(".git").write_bytes(content)
        assert found(capsys) == (2, [f"xlalint: error: --diff-base: {tmp_path} is in no Git repository"])
    Path(".git").unlink()
    for name in ("objects", "refs"):
        Path(".git", name).mkdir(parents=True)
    Path(".git", "HEAD").write_bytes(b"ref: refs/heads/\xff\n")
    Path(".git", "config").write_bytes(b"\0[")
    Path(".git", "index").write_bytes(b"DIRC")
    code, [line] = found(capsys)
    assert (code, line) == (2, "xlalint: error: --diff-base: Git knows no commit called 'HEAD'")
