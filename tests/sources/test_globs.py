"""Patterns of ignore files: they match what pathspec's own do, in time that no pattern can stretch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from xlalint.sources.discovery import MOST_PATTERNS, PathPatterns, discover
from xlalint.sources.globs import is_pattern, spec

NAMES = st.text("ab", min_size=1, max_size=6)
PATHS = st.lists(NAMES, min_size=1, max_size=6).map("/".join)
SEGMENTS = st.one_of(
    st.just("**"), st.lists(st.sampled_from(["a", "b", "*", "**", "?", "[ab]", "\\a"]), min_size=1).map("".join)
)
PATTERNS = st.tuples(
    st.sampled_from(["", "/", "!"]),
    st.lists(SEGMENTS, min_size=1, max_size=6).map("/".join),
    st.sampled_from(["", "/"]),
).map("".join)


@given(st.lists(PATTERNS, min_size=1, max_size=3), PATHS, st.booleans())
@example(["a*b*a"], "abba", False)
@example(["**/a/**/b/**/a"], "b/a/b/a/b/a", False)
@example(["/*a*[ab]?*b/**/b"], "aabb/a/b", False)
def test_what_they_match_is_what_pathspec_matches(patterns: list[str], path: str, folder: bool) -> None:
    asked = f"{path}/" if folder else path
    assert (
        spec(tuple(patterns)).check_file(asked).include == GitIgnoreSpec.from_lines(patterns).check_file(asked).include
    )


def test_git_agrees(tmp_path: Path) -> None:
    patterns = ["*a*b*.py", "x/**/y/**/z.py", "/top?.py", "[ab]c.py", "**/deep/**", "!kept.py", "\\#name.py"]
    names = ["1a2b3.py", "ba.py", "x/y/z.py", "x/1/2/y/3/z.py", "x/z.py", "top1.py", "s/top1.py", "ac.py", "cc.py"]
    names += ["deep/a/b.py", "s/deep/kept.py", "#name.py"]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("\n".join(patterns) + "\n")
    asked = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=tmp_path,
        input="\n".join(names),
        text=True,
        capture_output=True,
    )
    ours = {name for name in names if spec(tuple(patterns)).match_file(name)}
    assert ours == set(asked.stdout.splitlines())


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "**/a/" * 60 + "b", "*[ab]*?" * 40 + "c"])
def test_no_pattern_takes_longer_than_its_length_says(pattern: str) -> None:
    """Each of these would take longer than the universe is old, where wildcards take places back."""
    patterns = spec(tuple(f"{pattern}{number}" for number in range(200)))
    assert not patterns.match_file("a" * 250)
    assert not patterns.match_file("a/" * 1000 + "a")


def test_a_line_that_is_no_pattern_is_passed_over() -> None:
    assert not is_pattern("\\")
    assert spec(("\\", "a.py")).match_file("a.py")


def test_more_patterns_than_there_may_be_are_told(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("")
    (tmp_path / ".gitignore").write_text("x\n" * MOST_PATTERNS + "a.py\n")
    files, problems = discover([tmp_path], PathPatterns((), tmp_path))
    assert [file.path.name for file in files] == ["a.py"]
    assert [problem.message for problem in problems] == ["more than 10000 patterns; the rest is ignored"]
