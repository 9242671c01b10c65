"""Fixes of a file: which are made together, what of the file stays, and how it is written."""

from __future__ import annotations

import os
import re
import stat
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.samples import FIXABLE
from xlalint.findings.findings import Edit, Fix, Safety, Span
from xlalint.fixes.apply import apply_fixes, compatible
from xlalint.linter import fix_runs as fixing
from xlalint.linter.fix_runs import Change, fix, write
from xlalint.linter.run import Stdin
from xlalint.settings.config import Settings
from xlalint.sources.text import decode, encoding_of, kept_lines
from xlalint.sources.write import UnwritableSource, edited

A = Path("a.py")
IMPORT = Edit(Span(1, 1, 1, 1), "import a\n")


def at(line: int, column: int, end_line: int, end_column: int, text: str) -> Fix:
    return Fix(Safety.SAFE, "title", (Edit(Span(line, column, end_line, end_column), text),), imports=(IMPORT,))


def test_the_outermost_of_fixes_that_meet_is_made_and_an_import_once() -> None:
    outer, inner, apart = at(1, 1, 1, 8, "g(x)"), at(1, 3, 1, 4, "y"), at(2, 1, 2, 2, "z")
    data, applied, broken = apply_fixes(b"f(a, b)\nb\n", [inner, outer, apart, apart], A)
    assert (data, applied, broken) == (b"import a\ng(x)\nz\n", [outer, apart], [])


def test_a_fix_reaches_from_its_first_edit_to_its_last() -> None:
    wide = Fix(Safety.SAFE, "t", (Edit(Span(1, 1, 1, 2), "A"), Edit(Span(3, 1, 3, 2), "C")))
    between = at(2, 1, 2, 2, "B")
    assert apply_fixes(b"a\nb\nc\n", [between, wide], A)[:2] == (b"A\nb\nC\n", [wide])


def test_what_would_not_be_python_is_not_made() -> None:
    good, bad = at(1, 1, 1, 2, "A"), at(2, 1, 2, 2, "(")
    assert apply_fixes(b"a\nb\n", [bad, good], A) == (b"import a\nA\nb\n", [good], [bad])


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 5), st.booleans()), max_size=9))
def test_what_is_left_out_meets_what_is_made(written: list[tuple[int, int, bool]]) -> None:
    fixes = []
    for number, (start, length, twice) in enumerate(written):
        end = start + length
        edits = (Edit(Span(1, start, 1, end), f"{number}"), Edit(Span(1, end + 1, 1, end + 2), ""))[: 1 + twice]
        fixes.append(Fix(Safety.SAFE, "title", edits))
    made = compatible(fixes)

    def reach(fix: Fix) -> tuple[int, int]:
        return fix.edits[0].span.column, fix.edits[-1].span.end_column

    def meet(one: Fix, other: Fix) -> bool:
        first, second = sorted((reach(one), reach(other)))
        return second[0] < first[1] or first == second

    assert not any(meet(one, other) for one, other in combinations(made, 2))
    assert all(any(meet(fix, other) for other in made) for fix in fixes if fix not in made)


def test_a_file_that_would_become_too_long_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.py"
    file.write_text(f"{FIXABLE}#{'x' * (999_999 - len(FIXABLE))}")
    outcome = fix(["a.py"], Settings(jobs=1))
    assert [problem.message for problem in outcome.report.problems] == [
        "not fixed: with its fixes the file would be too long to check again"
    ]
    assert outcome.changes == ()
    assert [finding.code for finding in outcome.report.findings] == ["XLA104"]


TEXT = st.text(st.sampled_from("ab é\t\f\u2028😀\n\r"), max_size=40)


@given(TEXT, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), TEXT), max_size=4), st.booleans())
def test_only_the_spans_change(text: str, wanted: list[tuple[int, int, str]], marked: bool) -> None:
    lines = kept_lines(text) or [""]
    locations = [
        (number, column) for number, line in enumerate(lines, 1) for column in range(1, len(line.rstrip("\r\n")) + 2)
    ]
    offsets: dict[tuple[int, int], int] = {}
    done = 0
    for number, line in enumerate(lines, 1):
        offsets |= {(number, column): done + column - 1 for column in range(1, len(line) + 2)}
        done += len(line)
    edits: list[Edit] = []
    expected, behind = "", 0
    for first, last, new in sorted((min(a, b), max(a, b), new) for a, b, new in wanted):
        start, end = locations[first % len(locations)], locations[last % len(locations)]
        if start > end or offsets[start] < behind or (edits and offsets[start] == behind):
            continue
        edits.append(Edit(Span(*start, *end), new))
        expected += text[behind : offsets[start]] + new
        behind = offsets[end]
    data = text.encode("utf-8-sig" if marked else "utf-8")
    after = edited(data, edits, A)
    assert after.startswith(b"\xef\xbb\xbf") == marked or not marked
    assert decode(after) == expected + text[behind:]


def test_an_encoding_that_lacks_a_character_is_told() -> None:
    data = "# coding: latin-1\nx = 'é'\n".encode("latin-1")
    assert edited(data, [Edit(Span(2, 5, 2, 8), "'ü'")], A).decode("latin-1").endswith("x = 'ü'\n")
    with pytest.raises(UnwritableSource, match="iso8859-1 does not have"):
        edited(data, [Edit(Span(2, 5, 2, 8), "'\u2192'")], A)


def test_an_encoding_that_is_not_written_as_it_was_read_is_left_alone() -> None:
    with pytest.raises(UnwritableSource, match="cannot be written back"):
        edited(b"# coding: utf-7\nx = '+AOk-+AOk-'\n", [], A)


# -- whole runs -------------------------------------------------------------------------------------------------------

HAZARDS = (
    "m{n} = not m",
    "m{n} = (0.0 <  tf.reduce_sum(x)  < 5.0)  # chain",
    "m{n} = m and (m or  # why\n  m)",
    "if x is not None: m{n} = not (not m)",
    "m{n} = [not m, {{'é': not m}}]; y = 1",
)
WRITTEN = ("= not m", "= (0.0 <", "= m and (", "= not (not m)", "= [not m, {'")
NEUTRAL = ("# a comment, é", "z{n} = x *  2", "s = '''two\n  lines, é'''", "", "z{n} = x if x is not None else None")


@st.composite
def programs(draw: st.DrawFn) -> bytes:
    """A file with hazards in a compiled function, in some encoding, indentation and line ends."""
    indent = draw(st.sampled_from(("  ", "    ", "\t")))
    lines = draw(st.lists(st.sampled_from(HAZARDS + NEUTRAL), min_size=1, max_size=8))
    body = "".join(f"{indent}{line.format(n=number)}\n" if line else "\n" for number, line in enumerate(lines))
    imports = draw(st.sampled_from(("import tensorflow as tf", "import tensorflow\nfrom tensorflow import math as tf")))
    owner = "tf" if imports.endswith("as tf") and "math" not in imports else "tensorflow"
    encoding, mark, cookie = draw(
        st.sampled_from((("utf-8", b"", ""), ("utf-8", b"\xef\xbb\xbf", ""), ("latin-1", b"", "# coding: latin-1\n")))
    )
    text = (
        f"{cookie}{imports}\n\n@{owner}.function(jit_compile=True, autograph=False)\ndef f(x):\n"
        f"{indent}m = tf.reduce_sum(x) > 1.0\n{body}{indent}return x\n"
    )
    newline = draw(st.sampled_from(("\n", "\r\n", "\r")))
    return mark + text.replace("\n", newline).encode(encoding)


@hypothesis_settings(max_examples=30, deadline=None)
@given(programs())
def test_a_fixed_file_is_python_and_has_nothing_left_to_fix(data: bytes) -> None:
    settings = Settings(unsafe_fixes=True)
    first = fix([], settings, Stdin(Path("a.py"), data))
    assert first.report.problems == ()
    assert bool(first.report.fixed) == any(text.encode() in data for text in WRITTEN)
    after = next((change.after for change in first.changes), data)
    compile(after, "a.py", "exec")
    assert [finding.code for finding in first.report.findings] == []
    second = fix([], settings, Stdin(Path("a.py"), after))
    assert (second.changes, second.report.fixed) == ((), ())
    assert encoding_of(after) == encoding_of(data)
    ends = re.compile(r"\r\n|\r|\n")
    assert set(ends.findall(decode(after))) == set(ends.findall(decode(data)))
    lines = iter(kept_lines(decode(after)))
    for line in kept_lines(decode(data)):  # what was no hazard stands there still, in order
        if not re.search(r"\bnot m|and|or  #|5\.0|  m\)", line):
            assert line in lines


def test_places_inside_each_other_are_fixed_in_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = (
        "import tensorflow as tf\n@tf.function(jit_compile=True, autograph=False)\ndef f(x):\n"
        "    m = tf.reduce_sum(x) > 1.0\n    return not [not {0: not m}[0]][0]\n"
    )
    (tmp_path / "a.py").write_text(code)
    outcome = fix(["a.py"], Settings(unsafe_fixes=True))
    [change] = outcome.changes
    assert b"tf.logical_not([tf.logical_not({0: tf.logical_not(m)}[0])][0])" in change.after
    assert len(outcome.report.fixed) == 3
    assert (tmp_path / "a.py").read_text() == code


def test_fixes_that_undo_each_other_or_never_end_are_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fixing, "_ROUNDS", 5)
    (tmp_path / "a.py").write_text(FIXABLE)
    comment = b"# once more\n"
    for grow, said in (
        (lambda data: data.removesuffix(comment) if data.endswith(comment) else data + comment, "undo each other"),
        (lambda data: data + comment, "after 5 rounds there is still something to fix"),
    ):
        monkeypatch.setattr(fixing, "apply_fixes", lambda data, fixes, path, grow=grow: (grow(data), fixes, []))
        outcome = fix(["a.py"], Settings())
        assert (outcome.changes, outcome.report.fixed) == ((), ())
        assert [finding.code for finding in outcome.report.findings] == ["XLA104"]
        [problem] = outcome.report.problems
        assert said in problem.message


# -- writing ----------------------------------------------------------------------------------------------------------


def change(path: Path, before: bytes = b"a\n", after: bytes = b"b\n") -> Change:
    return Change(path, path.name, before, after)


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_bytes(b"a\n")
    real.chmod(0o751)
    link.symlink_to("real.py")
    assert write([change(link)], [tmp_path]) == []
    assert link.is_symlink()
    assert real.read_bytes() == b"b\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o751
    assert sorted(os.listdir(tmp_path)) == ["link.py", "real.py"]


def test_a_link_out_of_what_was_asked_for_is_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside.py"
    inside.mkdir()
    outside.write_bytes(b"a\n")
    link = inside / "link.py"
    link.symlink_to(outside)
    [problem] = write([change(link)], [inside])
    assert "outside the paths to fix" in problem.message
    assert outside.read_bytes() == b"a\n"
    assert write([change(link)], [link]) == []  # named itself
    assert outside.read_bytes() == b"b\n"


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"other\n")
    [problem] = write([change(path)], [path])
    assert "has changed" in problem.message
    assert path.read_bytes() == b"other\n"


def test_two_names_of_one_file_are_written_once(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_bytes(b"a\n")
    link.symlink_to(real)
    assert write([change(link), change(real)], [tmp_path]) == []
    assert real.read_bytes() == b"b\n"


def test_what_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"a\n")

    def refuse(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    [problem] = write([change(path)], [path])
    assert problem.message == "not fixed: No space left on device"
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"a\n", ["a.py"])


def test_a_protected_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"a\n")
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    [problem] = write([change(path)], [path])
    assert "write-protected" in problem.message
