"""From paths to text: decoding, discovery and suppression comments."""

from __future__ import annotations

import ast
import contextlib
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.findings.findings import Finding, Severity, Span
from xlalint.sources.discovery import DEFAULT_EXCLUDE, PathPatterns, discover
from xlalint.sources.outline import ClassOutline, FunctionOutline, Stretch, outline
from xlalint.sources.reading import may_matter, read_source
from xlalint.sources.suppressions import Suppressions, suppressions_of
from xlalint.sources.text import UnreadableSource, decode, display_path, split_lines

ALL = frozenset(("XLA101", "XLA102", "XLA105", "XLA901", "XLA902"))


# -- text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\r\n", "x = 1\r\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        ("# coding: latin-1\nx = 'é'\n".encode("latin-1"), "# coding: latin-1\nx = 'é'\n"),
        (
            "#!/usr/bin/python\n# -*- coding: cp1252 -*-\n'€'".encode("cp1252"),
            "#!/usr/bin/python\n# -*- coding: cp1252 -*-\n'€'",
        ),
        ("x = 1\n# coding: latin-1\n'é'".encode(), "x = 1\n# coding: latin-1\n'é'"),  # code before it: no cookie
        (b"\xef\xbb\xbf# coding: utf-8\n1", "# coding: utf-8\n1"),
        (b"", ""),
    ],
)
def test_source_is_decoded_as_python_decodes_it(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = 1\ny = '\xff'\n", "line 2 is not utf-8 text"),
        (b"# coding: nonsense\n", "unknown encoding: nonsense"),
        (b"# coding: hex\n", "not a text encoding"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "byte order mark"),
        (b"x = 1\0", "null bytes"),
        (b"# coding: raw_unicode_escape\n'\\ud800'", "surrogates"),
    ],
)
def test_what_is_not_python_text_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableSource, match=reason):
        decode(data)


@given(st.binary(max_size=200))
def test_decoding_ends_in_text_or_a_reason(data: bytes) -> None:
    with contextlib.suppress(UnreadableSource):
        text = decode(data)
        assert text.encode("utf-8").decode("utf-8") == text


@given(st.text(alphabet="ab\r\n\f\v\x1c\u2028 ", max_size=40))
def test_lines_are_those_that_python_counts(text: str) -> None:
    python = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert split_lines(text) == python


@pytest.mark.parametrize("path", ["missing.py", "folder"])
def test_unreadable_paths(path: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnreadableSource):
        read_source(tmp_path / path, path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(UnreadableSource, match="regular"):
        read_source(tmp_path / "pipe.py", "pipe.py")


@pytest.mark.parametrize(
    ("data", "matters"),
    [
        (b"import tensorflow as tf", True),
        (b"from keras import ops", True),
        (b"import tf_keras", True),
        (b"def f(x: 'tf.Tensor'): ...", True),
        (b"import numpy", False),
        (b"import gift\ngift.stuff()", False),
        (b"masked = loss[labels >= 0]", True),
        (b"# tf and keras\nimport os\n  from keras_cv import layers, tf", True),
        (b"import os  # and tensorflow\ntnp = keras = 1\nimport gift, tfoo", False),
    ],
)
def test_files_that_cannot_matter(data: bytes, matters: bool) -> None:
    assert may_matter(data, Path("a.py")) is matters


@pytest.mark.parametrize(
    "written",
    ["property", "tf.function", "tf.keras.layers.Layer", "tf.function(jit_compile=True)", "made().by.us", "(1).real.x"],
)
def test_an_outline_says_how_decorators_and_bases_are_written(written: str) -> None:
    bindings = outline(f"@{written}\nclass C({written}): ...").bindings
    [made] = bindings["C"]
    assert isinstance(made, ClassOutline)
    assert made.bases == made.decorators == (ast.unparse(ast.parse(written)),)


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("a = f(); import os; b = g(\n1)\nc = h()\n", [(1, 3)]),
        ("a = f(\n); import os\n", [(1, 2)]),
        ("a = f(); \\\nimport os\nimport sys\nb = f()\n", [(1, 2), (4, 4)]),
        ("a = f(); \\\r\nimport os\r\n", [(1, 2)]),
    ],
)
def test_statements_that_share_lines_are_one_stretch(text: str, stretches: list[tuple[int, int]]) -> None:
    assert [(stretch.first, stretch.last) for stretch in outline(text).code] == stretches


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_definition_begins_with_its_first_decorator(end: str) -> None:
    [binding] = outline(f"x = f(){end}@ \\{end}\tg{end}def h(): pass{end}").bindings["h"]
    assert isinstance(binding, FunctionOutline)
    assert binding.stretch == Stretch(2, 4)


def test_displayed_paths_are_relative_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert display_path(tmp_path / "here" / "a" / "b.py") == "a/b.py"
    assert display_path(tmp_path / "c.py") == str(tmp_path / "c.py")


# -- discovery --------------------------------------------------------------------------------------------------------


def found(root: Path, *paths: str, exclude: tuple[str, ...] = DEFAULT_EXCLUDE, force: bool = False) -> list[str]:
    """The files that are found, relative to `root`."""
    given_paths = [root / path for path in paths or (".",)]
    files, problems = discover(given_paths, PathPatterns(exclude, root), force=force)
    assert problems == []
    return [file.path.relative_to(root).as_posix() for file in files]


def tree(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def test_python_files_in_order_and_once(tmp_path: Path) -> None:
    tree(tmp_path, "b.py", "a/z.py", "a/a.py", "a/stub.pyi", "readme.txt", "venv/x.py", "a/site-packages/y.py")
    assert found(tmp_path) == ["a/a.py", "a/z.py", "b.py"]
    assert found(tmp_path, "b.py", ".", "a") == ["a/a.py", "a/z.py", "b.py"]


def test_an_excluded_file_is_taken_when_named_unless_forced(tmp_path: Path) -> None:
    tree(tmp_path, "build/x.py", "script")
    assert found(tmp_path, "build/x.py", "build", "script") == ["build/x.py", "script"]
    assert found(tmp_path, "build/x.py", "build", "script", force=True) == ["script"]


def test_exclude_patterns_are_relative_to_their_root(tmp_path: Path) -> None:
    tree(tmp_path, "gen/a.py", "src/gen/b.py", "src/c_pb2.py", "src/d.py")
    assert found(tmp_path, exclude=("/gen", "*_pb2.py")) == ["src/d.py", "src/gen/b.py"]
    assert found(tmp_path, "src", exclude=("src/gen/",)) == ["src/c_pb2.py", "src/d.py"]


def test_git_ignored_files_are_the_ones_git_ignores(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    tree(
        tmp_path,
        "a.py",
        "out/b.py",
        "out/deep/keep.py",
        "pkg/c.py",
        "pkg/keep.py",
        "pkg/gen/d.py",
        "pkg/deep/gen/e.py",
        "local.py",
        "pkg/bad.py",
    )
    (tmp_path / ".gitignore").write_text("out/\n# comment\nkeep.py\n\\\n")
    (tmp_path / "pkg" / ".gitignore").write_text("/gen\n!keep.py\n")
    (tmp_path / ".git" / "info" / "exclude").write_text("local.py\n")
    listed = subprocess.run(
        ["git", "-C", str(tmp_path), "ls-files", "-co", "--exclude-standard", "*.py"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert found(tmp_path) == sorted(listed)
    assert "pkg/gen/d.py" not in listed
    # the same from below, where the ignore file stands above the path
    assert found(tmp_path, "pkg") == sorted(name for name in listed if name.startswith("pkg/"))
    # an ignored folder that is named is meant, with all that is in it
    assert found(tmp_path, "out") == ["out/b.py", "out/deep/keep.py"]
    assert found(tmp_path, "out/deep") == ["out/deep/keep.py"]


@pytest.mark.parametrize(
    "patterns",
    [
        "*\n!*/\n!*.py\n",
        "/*\n!/pkg/\n",
        "*\n!pkg\n!pkg/deep/\n!pkg/deep/**\n",
        "pkg/*\n!pkg/deep/\n",
        "*.py\n!/a.py\n!deep/*.py\n",
        "*\n!*/\n/out/\n!*.py\nb.py\n",
        "pkg/\n!pkg/deep/\n",
    ],
)
def test_what_a_list_of_exceptions_allows_is_read(tmp_path: Path, patterns: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    tree(tmp_path, "a.py", "out/b.py", "pkg/b.py", "pkg/c.py", "pkg/deep/d.py", "pkg/deep/er/e.py", "b.py")
    (tmp_path / ".gitignore").write_text(patterns)
    command = ["git", "-C", str(tmp_path), "ls-files", "-co", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert found(tmp_path) == sorted(listed)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, "a/b.py")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    assert found(tmp_path) == ["a/b.py", "self.py"]


def test_a_missing_path_is_a_problem_and_the_rest_goes_on(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    files, problems = discover([tmp_path / "nope", tmp_path / "a.py"], PathPatterns((), tmp_path))
    assert [file.path.name for file in files] == ["a.py"]
    assert [problem.message for problem in problems] == ["no such file or directory"]


# -- suppressions -----------------------------------------------------------------------------------------------------


def at(line: int, end_line: int | None = None, code: str = "XLA101") -> Finding:
    return Finding("a.py", Span(line, 1, end_line or line, 2), code, "a-name", Severity.ERROR, None, "message")


@pytest.mark.parametrize(
    ("text", "finding", "suppressed"),
    [
        ("x  # xlalint: ignore[XLA101] because\n", at(1), True),
        ("x  # xlalint: ignore[XLA102]\n", at(1), False),
        ("x  # xlalint: ignore[XLA1]\n", at(1), True),
        ("x  # xlalint: ignore[branch-on-tensor]\n", at(1), True),
        ("x  # xlalint: ignore[XLA102, XLA101]\n", at(1), True),
        ("x  # xlalint: ignore\n", at(1), True),
        ("x  # xlalint:ignore  # noqa: E501\n", at(1), True),
        ("x  # noqa\n", at(1), True),
        ("x  # NOQA: E501, XLA101\n", at(1), True),
        ("x  # noqa: E501\n", at(1), False),
        ("x  # noqa: XLA1\n", at(1), True),
        ("x  # type: ignore  # noqa:XLA101 reason\n", at(1), True),
        ("x = '# xlalint: ignore'\n", at(1), False),
        ("x\ny  # xlalint: ignore\n", at(1), False),
        ("f(  # xlalint: ignore\n  a,\n  b)\n", at(3), True),
        ("f(\n  a,\n  b)  # xlalint: ignore\n", at(2), True),
        ("f(\n  a,  # xlalint: ignore\n  b)\n", at(2), True),
        ("f(\n  a,  # xlalint: ignore\n  b)\n", at(3), False),
        ("f(\n  a,  # xlalint: ignore\n  b)\n", at(1, 3), True),
        ("# xlalint: ignore\n\nf(a,\n  b)\n", at(4), True),
        ("# xlalint: ignore\nx\ny\n", at(3), False),
        ("f(\n  # xlalint: ignore\n  a,\n  b)\n", at(3), True),
        ("f(\n  # xlalint: ignore\n  a,\n  b)\n", at(4), False),
        ("if (a and\n    b):  # xlalint: ignore\n    c\n", at(1), True),
        ("if (a and\n    b):  # xlalint: ignore\n    c\n", at(3), False),
        ("x\n# xlalint: file-ignore[XLA1]\n", at(1), True),
        ("x\n# xlalint: disable[XLA1]\ny\n# xlalint: enable[XLA1]\nz\n", at(1), False),
        ("x\n# xlalint: disable[XLA1]\ny\n# xlalint: enable[XLA1]\nz\n", at(3), True),
        ("x\n# xlalint: disable[XLA1]\ny\n# xlalint: enable[XLA1]\nz\n", at(5), False),
        ("# xlalint: disable\ny\n# xlalint: enable[XLA102]\nz\n", at(4), True),
        ("# xlalint: disable\ny\n# xlalint: enable\nz\n", at(4), False),
        ("x  # xlalint: ignore[XLA101]\r\ny\r\n", at(1), True),
        ("x  # xlalint: ignore[XLA101]\ndef (:\n'''", at(1), True),  # does not tokenize to its end
    ],
)
def test_what_a_comment_suppresses(text: str, finding: Finding, suppressed: bool) -> None:
    assert suppressions_of(text).suppress(finding) is suppressed


def unused(suppressions: Suppressions, ran: frozenset[str] = ALL) -> list[str]:
    return [message for _, message in suppressions.unused(ran)]


def test_unused_suppressions_are_told_one_by_one() -> None:
    suppressions = suppressions_of("x  # xlalint: ignore[XLA101, XLA102]\ny  # noqa: XLA105, E501\nz  # noqa\n")
    assert suppressions.suppress(at(1))
    assert unused(suppressions) == [
        "`XLA102` in this `ignore` suppresses nothing",
        "`XLA105` in this `noqa` suppresses nothing",
    ]
    [first, _] = [entry.span for entry, _ in suppressions.unused(ALL)]
    assert first == Span(1, 30, 1, 36)


def test_a_suppression_of_a_rule_that_did_not_run_is_not_unused() -> None:
    suppressions = suppressions_of("x  # xlalint: ignore[XLA101]\ny  # xlalint: ignore\n")
    assert unused(suppressions, frozenset(("XLA102", "XLA901"))) == []


def test_only_a_name_suppresses_what_is_said_of_suppressions() -> None:
    bare, named = suppressions_of("x  # xlalint: ignore\n"), suppressions_of("x  # xlalint: ignore[XLA901]\n")
    assert not bare.suppress(at(1, code="XLA901"))
    assert named.suppress(at(1, code="XLA901"))
    assert unused(suppressions_of("x  # xlalint: ignore[XLA901]\n")) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# xlalint: ignor[XLA101]", "did you mean 'ignore'?"),
        ("# xlalint: ignore[XLA1001]", "no rule is called 'XLA1001'; did you mean 'XLA101'?"),
        ("# xlalint: ignore[brnch-on-tensor]", "did you mean 'branch-on-tensor'?"),
        ("# xlalint: ignore XLA101", "rules must be in brackets: `ignore[XLA101]`"),
        ("# xlalint: disable=XLA203", "rules must be in brackets: `disable[XLA203]`"),
        ("# xlalint: disable = XLA203, XLA205", "rules must be in brackets: `disable[XLA203, XLA205]`"),
        ("# xlalint: disable: XLA203", "rules must be in brackets: `disable[XLA203]`"),
        ("# xlalint: ignore=XLA203", "rules must be in brackets: `ignore[XLA203]`"),
        ("# xlalint: ignore(XLA203)", "rules must be in brackets: `ignore[XLA203]`"),
        ("# xlalint: ignore(boolean-mask) padded", "rules must be in brackets: `ignore[boolean-mask]`"),
        ("# xlalint: file-ignore:XLA2", "rules must be in brackets: `file-ignore[XLA2]`"),
        ("# xlalint: ignore: W0511", "rules must be in brackets: `ignore[W0511]`"),
        ("# xlalint: disable=no-such-rule", "rules must be in brackets: `disable[no-such-rule]`"),
        ("# xlalint: disable=", "rules must be in brackets: `disable[XLA203]`"),
        ("# xlalint: ignore[XLA101", "not closed"),
        ("# xlalint: ignore[]", "no rule between the brackets"),
        ("# xlalint: enable[XLA101]", "without a `disable`"),
        ("# xlalint:", "a suppression starts with one of"),
        ("# noqa: XLA999", "no rule is called 'XLA999'"),
    ],
)
def test_comments_that_say_nothing(comment: str, message: str) -> None:
    [misuse] = suppressions_of(f"x  {comment}\n").misuses
    assert message in misuse.message
    assert misuse.span.line == 1
    assert misuse.span.end_column <= len(f"x  {comment}") + 1


@given(st.text(alphabet="#xlalint: ignoreXA1[],noqadsbfE\n()'\"", max_size=80))
def test_any_text_can_be_read_for_suppressions(text: str) -> None:
    for entry in suppressions_of(text).entries:
        assert entry.stretches or entry.verb in ("ignore", "enable")
